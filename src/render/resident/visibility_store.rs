//! What the samples of regions see of opaque surfaces, kept on a device for another drawing of the same regions: then
//! nothing opaque is hidden again.
//!
//! One buffer, in which each region has a contiguous part. It is allocated last and given up first, so that a picture
//! is never drawn in smaller regions, or with fewer tiles of textures, because of it. What does not fit is not kept:
//! its regions go through the whole pipeline each time.
//!
//! A region is recalled only in exactly the rectangle, and under the key, that it was kept in. The key stands for all
//! that hiding depends on; whoever draws says it. What was kept under another key makes room, as does what overlaps a
//! region that is to be kept, because a device keeps only the latest of overlapping regions.

use crate::gpu::{Device, GpuError, Usage};
use crate::pipeline::kept::KeptSlices;
use crate::pipeline::recording::Buffer;
use crate::schedule::Region;
use crate::stats::MemoryCategory;
use std::ops::Range;

/// Stands for all that hiding depends on: what is kept under one key is of no use under another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VisibilityKey(pub u128);

/// How what samples see is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeepVisibility {
    /// The key of the picture.
    pub key: VisibilityKey,
    /// Bytes on each device, at most.
    pub bytes_max: u64,
    /// Whether each region that is kept is drawn once more, recalled, and only that is delivered (a test aid).
    pub again: bool,
}

/// Keys of the smallest store that is worth its memory.
const KEYS_MIN: u64 = 1 << 12;

/// What the samples of regions see; empty where nothing is kept.
#[derive(Debug, Default)]
pub(crate) struct VisibilityStore {
    memory: Option<(Buffer, KeptSlices)>,
    /// By where they are.
    kept: Vec<KeptRegion>,
}

/// A region in the store.
#[derive(Clone, Debug)]
struct KeptRegion {
    region: Region,
    key: VisibilityKey,
    /// Where its keys are.
    keys: Range<u64>,
    /// Whether they are there; else it is being drawn.
    whole: bool,
}

impl VisibilityStore {
    /// Allocates `bytes` bytes, or fewer where they do not fit. `behind` says that the depths behind are kept too.
    pub(crate) fn new(device: &mut Device, bytes: u64, behind: bool) -> Result<Self, GpuError> {
        let each = KeptSlices::bytes(KEYS_MIN, behind).div_ceil(KEYS_MIN);
        let mut keys = bytes / each;
        while keys >= KEYS_MIN {
            let name = MemoryCategory::Visibility.name();
            match device.allocate(name, KeptSlices::bytes(keys, behind), Usage::DeviceOnly) {
                Ok(buffer) => {
                    let slices = KeptSlices::cut(buffer, keys, behind).expect("the buffer was made for it");
                    return Ok(Self { memory: Some((buffer, slices)), kept: Vec::new() });
                }
                Err(GpuError::OutOfMemory { .. } | GpuError::TooLarge { .. } | GpuError::DriverOutOfMemory { .. }) => {
                    keys /= 2;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Self::default())
    }

    /// Frees its memory, and forgets everything.
    pub(crate) fn free(&mut self, device: &mut Device) {
        self.kept.clear();
        if let Some((buffer, _)) = self.memory.take() {
            device.free(buffer);
        }
    }

    /// The same, for what needs memory at once. Returns whether there was any.
    pub(crate) fn give_up(&mut self, device: &mut Device) -> Result<bool, GpuError> {
        let Some((buffer, _)) = self.memory else { return Ok(false) };
        // Reading waits for the submissions that use the buffer, without which it would stay allocated.
        device.read(buffer.slice::<u32>().part(0..1))?;
        self.free(device);
        Ok(true)
    }

    /// Whether a region can be recalled.
    pub(crate) fn has(&self, region: Region, key: VisibilityKey) -> bool {
        self.kept.iter().any(|kept| kept.whole && (kept.region, kept.key) == (region, key))
    }

    /// Begins a region with so many subpixels. Returns whether it is to be recalled; else it is kept if there is room.
    pub(crate) fn begin(&mut self, region: Region, key: VisibilityKey, subpixels: u64) -> bool {
        if self.has(region, key) {
            return true;
        }
        self.kept.retain(|kept| kept.region.intersection(region).is_none());
        let size = KeptSlices::keys_of(subpixels);
        let mut place = self.place(size);
        if place.is_none() {
            self.kept.retain(|kept| kept.key == key);
            place = self.place(size);
        }
        if let Some((at, keys)) = place {
            self.kept.insert(at, KeptRegion { region, key, keys, whole: false });
        }
        false
    }

    /// Returns the first room for so many keys, and before which region it is.
    fn place(&self, size: u64) -> Option<(usize, Range<u64>)> {
        let (_, slices) = self.memory.as_ref()?;
        let ends = self.kept.iter().map(|kept| kept.keys.end);
        let starts = self.kept.iter().map(|kept| kept.keys.start).chain([slices.count()]);
        let mut gaps = [0].into_iter().chain(ends).zip(starts).enumerate();
        gaps.find_map(|(at, (start, end))| (end - start >= size).then_some((at, start..start + size)))
    }

    /// Where what the samples of a region see is kept, or is to be kept.
    pub(crate) fn slices(&self, region: Region) -> Option<KeptSlices> {
        let kept = self.kept.iter().find(|kept| kept.region == region)?;
        self.memory.map(|(_, slices)| slices.part(kept.keys.clone()))
    }

    /// Exchanges what the first two regions of equal size see, as a mutant.
    #[cfg(test)]
    pub(crate) fn mix_up(&mut self) {
        let size = |kept: &KeptRegion| kept.keys.end - kept.keys.start;
        let pair =
            |a: usize| (a + 1..self.kept.len()).find(|&b| size(&self.kept[a]) == size(&self.kept[b])).map(|b| (a, b));
        let (a, b) = (0..self.kept.len()).find_map(pair).expect("two regions of equal size are kept");
        (self.kept[a].region, self.kept[b].region) = (self.kept[b].region, self.kept[a].region);
    }

    /// Ends a region, of which all was kept if it is finished, and nothing else.
    pub(crate) fn end(&mut self, region: Region, finished: bool) {
        self.kept.retain_mut(|kept| {
            kept.whole |= finished && kept.region == region;
            kept.whole || kept.region != region
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [VisibilityKey; 2] = [VisibilityKey(1), VisibilityKey(2)];

    fn region(x0: i32, x1: i32) -> Region {
        Region::new([x0, 0, x1, 4]).expect("not empty")
    }

    /// Returns a store with room for so many regions of 100 subpixels.
    fn store(regions: u64) -> VisibilityStore {
        let keys = regions * KeptSlices::keys_of(100);
        let buffer = Buffer::new("visibility", 0, 0, 0, KeptSlices::bytes(keys, true));
        let slices = KeptSlices::cut(buffer, keys, true).expect("made for it");
        VisibilityStore { memory: Some((buffer, slices)), kept: Vec::new() }
    }

    /// Draws a region; whether it was recalled, and whether it is kept now.
    fn draw(store: &mut VisibilityStore, region: Region, key: VisibilityKey) -> [bool; 2] {
        let recalled = store.begin(region, key, 100);
        store.end(region, true);
        [recalled, store.has(region, key)]
    }

    #[test]
    fn a_region_is_recalled_in_its_rectangle_and_under_its_key_only() {
        let mut store = store(3);
        assert_eq!(draw(&mut store, region(0, 8), KEYS[0]), [false, true]);
        assert_eq!(draw(&mut store, region(0, 8), KEYS[0]), [true, true]);
        assert!(!store.has(region(0, 4), KEYS[0]) && !store.has(region(0, 8), KEYS[1]));
        // What overlaps a region that is kept is gone; a neighbour stays.
        assert_eq!(draw(&mut store, region(8, 12), KEYS[0]), [false, true]);
        assert_eq!(draw(&mut store, region(4, 8), KEYS[0]), [false, true]);
        assert_eq!([region(0, 8), region(8, 12)].map(|region| store.has(region, KEYS[0])), [false, true]);
        assert_eq!(draw(&mut store, region(4, 8), KEYS[1]), [false, true]);
        assert!(!store.has(region(4, 8), KEYS[0]));
    }

    #[test]
    fn what_does_not_fit_is_not_kept_and_what_is_stale_makes_room() {
        let mut store = store(2);
        let regions = [region(0, 4), region(4, 8), region(8, 12)];
        assert_eq!(regions.map(|region| draw(&mut store, region, KEYS[0])[1]), [true, true, false]);
        assert_eq!(store.slices(regions[2]), None);
        assert_eq!(draw(&mut store, regions[2], KEYS[1]), [false, true]);
        assert_eq!(regions.map(|region| store.has(region, KEYS[0])), [false; 3]);
        // Room in front of others is used again, and no two regions share any.
        assert_eq!(draw(&mut store, regions[0], KEYS[1]), [false, true]);
        let slices = [regions[2], regions[0]].map(|region| store.slices(region).expect("kept"));
        assert_ne!(slices[0], slices[1]);
        store.kept.remove(0);
        assert_eq!(draw(&mut store, regions[1], KEYS[1]), [false, true]);
        assert_eq!(store.slices(regions[1]), Some(slices[0]));
    }

    #[test]
    fn nothing_is_kept_of_a_region_that_was_given_up_or_cut() {
        let mut store = store(1);
        assert!(!store.begin(region(0, 4), KEYS[0], 100) && store.slices(region(0, 4)).is_some());
        store.end(region(0, 4), false);
        assert_eq!((store.has(region(0, 4), KEYS[0]), store.slices(region(0, 4))), (false, None));
        // Its room is free; what was kept before stays when a region that recalls it is given up.
        assert_eq!(draw(&mut store, region(4, 8), KEYS[0]), [false, true]);
        assert!(store.begin(region(4, 8), KEYS[0], 100));
        store.end(region(4, 8), false);
        assert!(store.has(region(4, 8), KEYS[0]));
        assert_eq!(draw(&mut VisibilityStore::default(), region(0, 4), KEYS[0]), [false, false]);
    }
}
