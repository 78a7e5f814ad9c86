//! Depth slabs of translucent surfaces: the whole depth at first; thinner where entries do not fit, thicker again where there is room.
//! Pure arithmetic on keys (depth bits << 32 | number): a slab of one key holds at most one entry a sample, so halving always ends.
//! Where slabs are cut cannot show: composition goes strictly front to back through keys (DESIGN 4).

use crate::pipeline::sample::Slab;

/// Keys of positive depths end here: the bits of infinity.
const END: u64 = (0x7f80_0000_u64 << 32) | u32::MAX as u64;

/// The slabs of a region.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slabs {
    capacity: u64,
    low: u64,
    high: u64,
    /// Entries of the slab that was sampled last.
    pub entries: u32,
}

impl Slabs {
    /// One slab over all depths, with room for `capacity` entries.
    pub(crate) fn new(capacity: u64) -> Self {
        Self { capacity, low: 0, high: END, entries: 0 }
    }

    /// The slab at work.
    pub(crate) fn current(&self) -> Slab {
        Slab { low: self.low, high: self.high }
    }

    /// The slab at work has too many entries: its farther half is left for later.
    pub(crate) fn too_thick(&mut self) {
        assert!(self.high - self.low > 1, "one key is at most one entry a sample");
        self.high = self.low + (self.high - self.low) / 2;
    }

    /// The slab at work is composited; whether there is another. It is as thick as the last one, or thicker when that was thin.
    pub(crate) fn next(&mut self) -> bool {
        let thickness = self.high - self.low;
        let room = self.capacity / (4 * u64::from(self.entries).max(1));
        self.low = self.high;
        self.high = self.low.saturating_add(thickness.saturating_mul(room.clamp(1, 1 << 20))).min(END);
        self.low < END
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries at given keys; slabs must cover each exactly once, in order, never more than the capacity at once.
    #[test]
    fn slabs_cover_every_key_once_in_order() {
        let mut keys: Vec<u64> =
            (0..5000_u64).map(|i| (f32::to_bits(1.0 + (i * i) as f32 * 0.01) as u64) << 32 | i).collect();
        keys.extend((0..500).map(|i| (u64::from(3.0_f32.to_bits()) << 32) | i));
        keys.sort_unstable();
        let mut slabs = Slabs::new(100);
        let (mut seen, mut tries) = (Vec::new(), 0);
        loop {
            tries += 1;
            let slab = slabs.current();
            let inside: Vec<u64> = keys.iter().copied().filter(|k| (slab.low..slab.high).contains(k)).collect();
            if inside.len() > 100 {
                slabs.too_thick();
                continue;
            }
            slabs.entries = inside.len() as u32;
            seen.extend(inside);
            if !slabs.next() {
                break;
            }
        }
        assert_eq!(seen, keys);
        assert!(tries < 1000, "{tries} tries");
    }
}
