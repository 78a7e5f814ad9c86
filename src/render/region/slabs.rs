//! Depth slabs of translucent surfaces: the whole depth at first, thinner where entries do not fit, then as thick as is
//! expected to fit.
//!
//! Pure arithmetic on keys (depth bits << 32 | number). How entries spread over depth is guessed from the vertices of
//! each depth batch, and corrected by what each slab came to. A slab of one key holds at most one entry a sample, so
//! cutting always ends. Cuts do not show: composition goes strictly front to back through keys.

use crate::pipeline::sample::Slab;

/// Keys of positive depths end here: the bits of infinity.
const END: u64 = (0x7f80_0000_u64 << 32) | u32::MAX as u64;

/// The fraction of the room that a slab should fill, so that a wrong guess still fits.
const FILL: f64 = 0.7;

/// The slabs of a region.
#[derive(Clone, Debug)]
pub(crate) struct Slabs {
    /// Entries that a slab should come to.
    wanted: f64,
    low: u64,
    high: u64,
    /// First key of each depth batch, and the work (vertices) in and after it: a falling staircase with `END` and 0
    /// last.
    stairs: Vec<(u64, f64)>,
    /// Entries of the slab that was sampled last.
    entries: u64,
}

impl Slabs {
    /// One slab over all depths, with room for `capacity` entries. `batches` are the first key and the work of each
    /// depth batch, nearest first; `far` is the key of the farthest depth.
    pub(crate) fn new(capacity: u64, batches: &[(u64, u64)], far: u64) -> Self {
        let mut left: f64 = batches.iter().map(|(_, work)| *work as f64).sum();
        let mut stairs = vec![(0, left)];
        for (key, work) in batches {
            stairs.push((*key, left));
            left -= *work as f64;
        }
        stairs.push((far.max(batches.last().map_or(1, |b| b.0 + 1)), 0.0));
        stairs.push((END, 0.0));
        stairs.dedup_by_key(|stair| stair.0);
        Self { wanted: FILL * capacity as f64, low: 0, high: END, stairs, entries: 0 }
    }

    /// The slab at work.
    pub(crate) fn current(&self) -> Slab {
        Slab { low: self.low, high: self.high }
    }

    /// The part of the work that is in front of the slab at work, and the part up to its end.
    pub(crate) fn parts(&self) -> [f64; 2] {
        let all = self.behind(0).max(1.0);
        [self.low, self.high].map(|key| 1.0 - self.behind(key) / all)
    }

    /// Work behind a key, linear between the stairs.
    fn behind(&self, key: u64) -> f64 {
        let next = self.stairs.partition_point(|stair| stair.0 <= key);
        let (Some(&(k0, w0)), Some(&(k1, w1))) = (self.stairs.get(next.wrapping_sub(1)), self.stairs.get(next)) else {
            return 0.0;
        };
        w0 + (w1 - w0) * ((key - k0) as f64 / (k1 - k0).max(1) as f64)
    }

    /// The key that has this much work behind it.
    fn key_before(&self, work: f64) -> u64 {
        let next = self.stairs.partition_point(|stair| stair.1 > work).clamp(1, self.stairs.len() - 1);
        let ((k0, w0), (k1, w1)) = (self.stairs[next - 1], self.stairs[next]);
        let part = if w0 > w1 { ((w0 - work) / (w0 - w1)).clamp(0.0, 1.0) } else { 1.0 };
        k0 + ((k1 - k0) as f64 * part) as u64
    }

    /// Reports the entries of the slab at work, and how many times its content would fit into the fullest store
    /// (`room`, below 1 if it did not fit). Returns false if it did not: then the slab is thinner, and its farther part
    /// is left for later.
    pub(crate) fn fits(&mut self, entries: u64, room: f64) -> bool {
        self.entries = entries;
        self.wanted = FILL * entries.max(1) as f64 * room;
        if room < 1.0 {
            self.thin();
        }
        room >= 1.0
    }

    fn thin(&mut self) {
        assert!(self.high - self.low > 1, "one key is at most one entry a sample");
        let (near, far) = (self.behind(self.low), self.behind(self.high));
        let part = (self.wanted / self.entries.max(1) as f64).min(0.5);
        let high = self.key_before(near - (near - far) * part);
        let middle = self.low + (self.high - self.low) / 2;
        self.high = if high > self.low && high < self.high { high } else { middle };
    }

    /// Goes on to the next slab, when the one at work is composited; returns whether there is one. It is as thick as is
    /// expected to fit by the last one's entries for its work.
    pub(crate) fn next(&mut self) -> bool {
        let done = self.behind(self.low) - self.behind(self.high);
        let per_entry = done / self.entries.max(1) as f64;
        let wanted = self.behind(self.high) - self.wanted * per_entry;
        let thickness = self.high - self.low;
        self.low = self.high;
        let high = if wanted > 0.0 { self.key_before(wanted) } else { END };
        self.high = high.max(self.low.saturating_add(thickness.min(1 << 40))).min(END);
        self.low < END
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries at given keys; slabs must cover each exactly once, in order, never more than the capacity at once.
    fn tries(keys: &[u64], batches: &[(u64, u64)]) -> u32 {
        let mut slabs = Slabs::new(100, batches, keys.last().copied().unwrap_or(1));
        let (mut seen, mut tries) = (Vec::new(), 0);
        loop {
            tries += 1;
            let (slab, parts) = (slabs.current(), slabs.parts());
            assert!(0.0 <= parts[0] && parts[0] <= parts[1] && parts[1] <= 1.0, "{parts:?}");
            let inside: Vec<u64> = keys.iter().copied().filter(|k| (slab.low..slab.high).contains(k)).collect();
            if !slabs.fits(inside.len() as u64, 100.0 / inside.len().max(1) as f64) {
                continue;
            }
            seen.extend(inside);
            if !slabs.next() {
                break;
            }
        }
        assert_eq!(seen, keys);
        tries
    }

    fn key(z: f32, number: u64) -> u64 {
        u64::from(z.to_bits()) << 32 | number
    }

    #[test]
    fn slabs_cover_every_key_once_in_order() {
        let mut keys: Vec<u64> = (0..5000_u64).map(|i| key(1.0 + (i * i) as f32 * 0.01, i)).collect();
        keys.extend((0..500).map(|i| key(3.0, i)));
        keys.sort_unstable();
        assert!(tries(&keys, &[]) < 2000);
        assert!(tries(&keys, &[(key(1.0, 0), 10), (key(1000.0, 0), 90)]) < 2000);
        assert_eq!(tries(&[], &[]), 1);
    }

    #[test]
    fn batches_with_the_true_work_make_few_slabs() {
        let keys: Vec<u64> = (0..5000_u64).map(|i| key(1.0 + i as f32 * 0.01, i)).collect();
        let batches: Vec<(u64, u64)> = keys.chunks(250).map(|c| (c[0], c.len() as u64)).collect();
        let tries = tries(&keys, &batches);
        assert!(tries < 5000 / 70 + 20, "{tries} tries");
    }
}
