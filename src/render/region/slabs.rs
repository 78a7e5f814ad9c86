//! Depth slabs of translucent surfaces: as thick as is expected to fit, thinner where entries do not.
//!
//! Pure arithmetic on keys (depth bits << 32 | number). How many entries there are, and how they spread over depth, is
//! guessed from the micropolygons of each depth batch. What slabs came to is remembered: of a slab that did not fit the
//! rest is known once its near part is done, so that it is not sampled again to no purpose. Where the guess was far
//! off, as it is where displacement bounds are much larger than displacements, what did not fit is halved by depth
//! instead. A slab of one key holds at most one entry a sample, so cutting always ends. Cuts do not show: composition
//! goes strictly front to back through keys.

use crate::pipeline::slab::Slab;

/// Keys of positive depths end here: the bits of infinity.
const END: u64 = (0x7f80_0000_u64 << 32) | u32::MAX as u64;

/// The fraction of the room that a slab should fill, so that a wrong guess still fits.
const FILL: f64 = 0.7;

/// The depth batches are no guide once a slab came to this many times what they say, or to as small a part of it.
const GUESS_ERROR_MAX: f64 = 4.0;

/// After a slab with little in it, at least this part of what was expected is expected of the rest.
const EXPECTATION_KEPT: f64 = 0.25;

/// Ranges of more octaves of depth are halved by octaves, others by depth.
const LINEAR_OCTAVES: u64 = 6;

/// A range of depth from the slab at work on that does not fit.
#[derive(Clone, Copy, Debug)]
struct Overfull {
    /// Its end.
    high: u64,
    /// How many times the room that its content needs.
    load: f64,
    /// Whether that is only expected; else it was sampled.
    is_expected: bool,
    /// Whether lists of entries are what does not fit, whose lengths do not add up: another may be the longest behind.
    is_lists: bool,
}

/// The slabs of a region.
#[derive(Clone, Debug)]
pub(crate) struct Slabs {
    low: u64,
    high: u64,
    /// First key of each depth batch, and the micropolygons in and after it: a falling staircase with `END` and 0
    /// last.
    stairs: Vec<(u64, f64)>,
    /// The ranges that did not fit, each inside the one before.
    overfull: Vec<Overfull>,
    /// How many times the room that the slab needed that was sampled last.
    load: f64,
    /// Whether the depth batches are no guide.
    misled: bool,
    /// How many times the room all depths need, as far as slabs showed it, and what of that is done.
    all: f64,
    done: f64,
}

impl Slabs {
    /// One slab over all depths, or the nearest of several if they are expected to need more than the room, `load`
    /// times. `batches` are the first key and the work of each depth batch, nearest first; `far` is the key of the
    /// farthest depth.
    pub(crate) fn new(batches: &[(u64, u64)], far: u64, load: f64) -> Self {
        let mut left: f64 = batches.iter().map(|(_, work)| *work as f64).sum();
        let mut stairs = vec![(0, left)];
        for (key, work) in batches {
            stairs.push((*key, left));
            left -= *work as f64;
        }
        stairs.push((far.max(batches.last().map_or(1, |b| b.0 + 1)), 0.0));
        stairs.push((END, 0.0));
        stairs.dedup_by_key(|stair| stair.0);
        let overfull = Vec::new();
        let mut this = Self { low: 0, high: END, stairs, overfull, load: 0.0, misled: false, all: 0.0, done: 0.0 };
        if load > 1.0 {
            this.overfull.push(Overfull { high: END, load, is_expected: true, is_lists: false });
            this.cut();
        }
        this
    }

    /// The slab at work.
    pub(crate) fn current(&self) -> Slab {
        Slab { low: self.low, high: self.high }
    }

    /// Whether nothing lies behind the slab at work.
    pub(crate) fn is_last(&self) -> bool {
        self.high == END
    }

    /// Whether the slab at work cannot be thinner.
    pub(crate) fn is_thinnest(&self) -> bool {
        self.high - self.low <= 1
    }

    /// The fraction of the work that is in front of the slab at work, and the fraction up to its end.
    pub(crate) fn fractions(&self) -> [f64; 2] {
        if self.all > 0.0 {
            // What was sampled is a better guide than the depth batches: all of a wall may have one depth.
            let to = if self.high == END { 1.0 } else { (self.done + self.load.min(1.0)) / self.all };
            let from = (self.done / self.all).min(1.0);
            return [from, to.clamp(from, 1.0)];
        }
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
        let fraction = if w0 > w1 { ((w0 - work) / (w0 - w1)).clamp(0.0, 1.0) } else { 1.0 };
        k0 + ((k1 - k0) as f64 * fraction) as u64
    }

    /// Reports how many times the content of the slab at work would fit into the fullest store (`room`, below 1 if it
    /// did not fit). Returns false if it did not: then the slab is thinner, and its farther part is left for later. If
    /// lists of entries are what is fullest, `list_cut` is the key in front of which all of them should fit.
    pub(crate) fn fits(&mut self, room: f64, list_cut: Option<u64>) -> bool {
        self.load = 1.0 / room;
        if self.high == END {
            self.all = self.done + self.load;
        } else if self.all == 0.0 && room < 1.0 {
            let left = self.behind(self.low);
            let work = left - self.behind(self.high);
            self.all = self.done + self.load * if work > 0.0 { left / work } else { 1.0 };
        }
        self.check_guess();
        if room < 1.0 {
            // One key is at most one entry a sample: what does not fit then are states of solids, and the region is
            // cut.
            if !self.is_thinnest() {
                let list_cut = list_cut.filter(|cut| (self.low + 1..self.high).contains(cut));
                let (load, is_lists) = (self.load, list_cut.is_some());
                self.overfull.push(Overfull { high: self.high, load, is_expected: false, is_lists });
                match list_cut {
                    Some(cut) => self.high = cut,
                    None => self.cut(),
                }
            }
        }
        room >= 1.0
    }

    /// Whether the depth batches turned out to be no guide while most is still to be done.
    pub(crate) fn are_blind(&self) -> bool {
        self.misled && self.done < 0.25 * self.all
    }

    /// Goes on to the next slab, when the one at work is composited; returns whether there is one.
    pub(crate) fn next(&mut self) -> bool {
        let thickness = self.high - self.low;
        let end = depth(self.high);
        let per_load = (end - depth(self.low)) / self.load.max(f64::MIN_POSITIVE);
        let work = self.behind(self.low) - self.behind(self.high);
        self.low = self.high;
        self.done += self.load;
        let (low, load) = (self.low, self.load);
        self.overfull.retain(|range| range.high > low);
        let left = self.behind(low);
        for range in &mut self.overfull {
            // Of what was only expected the fraction that is done says more, but not that nothing follows an empty one.
            range.load = match range.is_expected && work > 0.0 {
                true => (load / work).max(EXPECTATION_KEPT * range.load / (left + work)) * left,
                // What follows a list that was too long is tried at once: only then is known where to cut it again.
                false if range.is_lists => range.load.min(1.0),
                false => range.load - load,
            };
        }
        let Some(&Overfull { high, load, .. }) = self.overfull.last() else {
            self.high = END;
            return self.low < END;
        };
        if load <= 1.0 {
            // What is left of it should fit.
            self.overfull.pop();
            self.high = high;
            return true;
        }
        self.cut();
        if self.misled && self.load > 0.1 {
            // As dense as the last one.
            let bits = (end + per_load * FILL) as f32;
            let next = u64::from(bits.to_bits()) << 32;
            let most = self.low.saturating_add(thickness.saturating_mul(4));
            self.high = next.clamp(self.low + 1, most.max(self.low + 1)).min(high);
        }
        true
    }

    /// Notes whether the slab at work came to what the depth batches say, as far as that is known.
    fn check_guess(&mut self) {
        let Some(&Overfull { high, load, is_expected: false, is_lists: false }) = self.overfull.last() else { return };
        let work = |end: u64| self.behind(self.low) - self.behind(end);
        let expected = load * work(self.high) / work(high).max(f64::MIN_POSITIVE);
        let wrong = |x: f64, y: f64| x > GUESS_ERROR_MAX * y;
        self.misled |= wrong(expected, self.load) || wrong(self.load, expected);
    }

    /// Makes the slab end inside the innermost range that does not fit: where the batches say that it is full, or in
    /// the middle.
    fn cut(&mut self) {
        let Some(&Overfull { high, load, .. }) = self.overfull.last() else { return };
        let (near, far) = (self.behind(self.low), self.behind(high));
        let guess = self.key_before(near - (near - far) * (FILL / load).min(0.5));
        let inside = |key: u64| key > self.low && key < high;
        let cut = if !self.misled && inside(guess) { guess } else { self.middle(high) };
        self.high = cut.max(self.low + 1);
    }

    /// A key in the middle between the slab's start and `high`, in as far as anything can be there.
    fn middle(&self, high: u64) -> u64 {
        let [first, last] = [self.stairs.get(1), self.stairs.iter().rev().nth(1)].map(|stair| stair.map_or(0, |s| s.0));
        let (near, far) = (self.low.max(first), high.min(last));
        let octave = 1_u64 << (23 + 32);
        if near + (2 << 32) < far && far - near < LINEAR_OCTAVES * octave {
            let middle = 0.5 * (depth(near) + depth(far));
            return u64::from((middle as f32).to_bits()) << 32;
        }
        if near < far && far - near > 1 { near.midpoint(far) } else { self.low.midpoint(high) }
    }
}

/// The depth of a key.
fn depth(key: u64) -> f64 {
    f64::from(f32::from_bits((key >> 32) as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries at given keys; slabs must cover each exactly once, in order, never more than the capacity at once.
    /// Returns how many were tried, and whether cuts by depth were ever blind.
    fn tries(keys: &[u64], batches: &[(u64, u64)]) -> (u32, bool) {
        tries_with(keys, batches, 0.0)
    }

    /// The same, with the load that is expected.
    fn tries_with(keys: &[u64], batches: &[(u64, u64)], load: f64) -> (u32, bool) {
        let mut slabs = Slabs::new(batches, keys.last().copied().unwrap_or(1), load);
        let (mut seen, mut tries, mut were_blind) = (Vec::new(), 0, false);
        loop {
            tries += 1;
            let (slab, fractions) = (slabs.current(), slabs.fractions());
            assert!(0.0 <= fractions[0] && fractions[0] <= fractions[1] && fractions[1] <= 1.0, "{fractions:?}");
            let fraction = seen.len() as f64 / keys.len().max(1) as f64;
            assert!(tries == 1 || load > 0.0 || (fractions[0] - fraction).abs() < 0.05, "{fractions:?} at {fraction}");
            let inside: Vec<u64> = keys.iter().copied().filter(|k| (slab.low..slab.high).contains(k)).collect();
            let fits = slabs.fits(100.0 / inside.len().max(1) as f64, None);
            were_blind |= slabs.are_blind();
            if !fits {
                continue;
            }
            seen.extend(inside);
            if !slabs.next() {
                break;
            }
        }
        assert_eq!(seen, keys);
        (tries, were_blind)
    }

    fn key(z: f32, number: u64) -> u64 {
        u64::from(z.to_bits()) << 32 | number
    }

    #[test]
    fn slabs_cover_every_key_once_in_order() {
        let mut keys: Vec<u64> = (0..5000_u64).map(|i| key(1.0 + (i * i) as f32 * 0.01, i)).collect();
        keys.extend((0..500).map(|i| key(3.0, i)));
        keys.sort_unstable();
        assert!(tries(&keys, &[]).0 < 250);
        assert!(tries(&keys, &[(key(1.0, 0), 10), (key(1000.0, 0), 90)]).0 < 250);
        assert_eq!(tries(&[], &[]), (1, false));
    }

    #[test]
    fn lists_that_are_too_long_are_cut_where_they_fit() {
        // Lists of cells, of which 100 keys fit. The longest lies behind all batches, one begins with a clump.
        let list = |from: f32, step: f32, count: u64| -> Vec<u64> {
            (0..count).map(|i| key(from + step * i as f32, i)).collect()
        };
        let cells = [list(4.0, 0.01, 150), list(5.99, 0.0001, 160), list(3.5, 0.0, 60), list(5.0, 0.002, 99)];
        let batches = [(key(3.5, 0), 300), (key(3.6, 0), 300)];
        let mut slabs = Slabs::new(&batches, key(3.7, 0), 0.0);
        let (mut tries, mut seen) = (0, 0);
        loop {
            tries += 1;
            let slab = slabs.current();
            let inside = cells.each_ref().map(|cell| -> Vec<u64> {
                cell.iter().copied().filter(|key| (slab.low..slab.high).contains(key)).collect()
            });
            let longest = inside.iter().map(Vec::len).max().unwrap_or(0);
            let cut = inside.iter().filter(|cell| cell.len() > 100).map(|cell| cell[75] >> 32 << 32).min();
            if !slabs.fits(100.0 / longest.max(1) as f64, cut) {
                continue;
            }
            seen += inside.iter().map(Vec::len).sum::<usize>();
            if !slabs.next() {
                break;
            }
        }
        assert_eq!(seen, cells.iter().map(Vec::len).sum::<usize>());
        assert!(tries <= 5, "{tries} tries");
    }

    #[test]
    fn batches_far_from_the_truth_cost_few_tries() {
        // A sphere from depth 32 to 42 whose grids have bounds that begin 30 before them: no batch is where its entries
        // are. 50 slabs are the least that 5000 entries need.
        let depths = (0..5000).map(|i| 37.0 + 5.0 * (i as f32 * 0.000_628).cos());
        let mut keys: Vec<u64> = (0..).zip(depths).map(|(i, z)| key(z, i)).collect();
        keys.sort_unstable();
        let batches: Vec<(u64, u64)> = keys.chunks(250).map(|c| (key(depth(c[0]) as f32 - 30.0, 0), 250)).collect();
        let (tries, were_blind) = tries(&keys, &batches);
        assert!(tries < 100 && were_blind, "{tries} tries");
    }

    #[test]
    fn batches_with_the_true_work_make_few_slabs() {
        let keys: Vec<u64> = (0..5000_u64).map(|i| key(1.0 + i as f32 * 0.01, i)).collect();
        let batches: Vec<(u64, u64)> = keys.chunks(250).map(|c| (c[0], c.len() as u64)).collect();
        let (tries, were_blind) = tries(&keys, &batches);
        assert!(tries < 5000 / 70 + 20 && !were_blind, "{tries} tries");
    }

    #[test]
    fn what_is_expected_saves_a_try_and_is_corrected_where_it_is_wrong() {
        let keys: Vec<u64> = (0..140_u64).map(|i| key(1.0 + i as f32 * 0.01, i)).collect();
        let batches: Vec<(u64, u64)> = keys.chunks(10).map(|c| (c[0], c.len() as u64)).collect();
        let tries = |load| tries_with(&keys, &batches, load);
        // All at once, then two halves; right from the start, two halves.
        assert_eq!([tries(0.0), tries(1.4)], [(3, false), (2, false)]);
        // The first is too thin, or too thick, and shows how thick the others may be.
        assert_eq!([tries(14.0), tries(1.01)], [(4, false), (2, false)]);
        assert_eq!(tries_with(&keys[..50], &batches, 14.0), (4, false));
        // Batches that say nothing still are found out.
        let far_off: Vec<(u64, u64)> = (0..20).map(|i| (key(0.5 + 0.01 * i as f32, 0), 250)).collect();
        let many: Vec<u64> = (0..5000_u64).map(|i| key(2.0 + i as f32 * 0.0001, i)).collect();
        let (tries, were_blind) = tries_with(&many, &far_off, 50.0);
        assert!(tries < 130 && were_blind, "{tries} tries");
    }
}
