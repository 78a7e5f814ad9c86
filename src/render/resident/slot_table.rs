//! The slots that tiles are in: an open hash table with linear probing, as programs search it (spirv-gen's abi.rs).

use crate::render::resident::texture_tiles::MissedKey;
use std::ops::Range;

/// Places that a search looks at.
const PROBES_MAX: usize = 32;
/// Entries for each slot: few enough are full that searches are short.
const ENTRIES_PER_SLOT: u64 = 4;
/// The entries of a chunk, whose changes are noted together.
const CHUNK: usize = 64;

/// The table of a device.
#[derive(Debug)]
pub(super) struct SlotTable {
    /// A key and its slot + 1; 0 where there is none.
    entries: Vec<[u32; 4]>,
    /// Chunks that changed since they were taken.
    changed: Vec<bool>,
}

impl SlotTable {
    /// Creates an empty table for `slots` slots.
    pub(super) fn new(slots: u64) -> Self {
        let entries = (slots * ENTRIES_PER_SLOT).next_power_of_two().max(CHUNK as u64) as usize;
        Self { entries: vec![[0; 4]; entries], changed: vec![false; entries / CHUNK] }
    }

    /// Returns the entries.
    pub(super) fn entries(&self) -> &[[u32; 4]] {
        &self.entries
    }

    /// Returns log2 of the number of entries.
    pub(super) fn log2_entries(&self) -> u32 {
        self.entries.len().ilog2()
    }

    fn home(&self, key: MissedKey) -> usize {
        hash(key) as usize & (self.entries.len() - 1)
    }

    /// Returns the places of a search, in order.
    fn places(&self, key: MissedKey) -> impl Iterator<Item = usize> + use<> {
        let (home, mask) = (self.home(key), self.entries.len() - 1);
        (0..PROBES_MAX).map(move |probe| (home + probe) & mask)
    }

    /// Returns the slot that holds a tile.
    pub(super) fn slot_of(&self, key: MissedKey) -> Option<usize> {
        let mut full = self.places(key).take_while(|&place| self.entries[place][2] != 0);
        let place = full.find(|&place| self.entries[place][..2] == key)?;
        Some(self.entries[place][2] as usize - 1)
    }

    /// Adds a tile that is not there, and returns `false` if a search would not come to it.
    pub(super) fn insert(&mut self, key: MissedKey, slot: usize) -> bool {
        let Some(place) = self.places(key).find(|&place| self.entries[place][2] == 0) else { return false };
        self.set(place, [key[0], key[1], slot as u32 + 1, 0]);
        true
    }

    /// Removes a tile that is evicted. Those behind it move up, so that searches still come to them.
    pub(super) fn remove(&mut self, key: MissedKey) {
        let mask = self.entries.len() - 1;
        let mut full = self.places(key).take_while(|&place| self.entries[place][2] != 0);
        let Some(mut hole) = full.find(|&place| self.entries[place][..2] == key) else { return };
        drop(full);
        let mut place = hole;
        loop {
            place = (place + 1) & mask;
            let entry = self.entries[place];
            if entry[2] == 0 {
                break;
            }
            let home = self.home([entry[0], entry[1]]);
            // It may move to the hole unless its home is between the two.
            if (place.wrapping_sub(home) & mask) >= (place.wrapping_sub(hole) & mask) {
                self.set(hole, entry);
                hole = place;
            }
        }
        self.set(hole, [0; 4]);
    }

    fn set(&mut self, place: usize, entry: [u32; 4]) {
        self.entries[place] = entry;
        self.changed[place / CHUNK] = true;
    }

    /// Returns the entries that changed since the last call.
    pub(super) fn take_changed(&mut self) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for (chunk, changed) in self.changed.iter_mut().enumerate().filter(|(_, changed)| **changed) {
            *changed = false;
            let (first, end) = (chunk * CHUNK, (chunk + 1) * CHUNK);
            match ranges.last_mut().filter(|last| last.end == first) {
                Some(last) => last.end = end,
                None => ranges.push(first..end),
            }
        }
        ranges
    }
}

/// Returns the hash of a key, as in glsl/lib/rsl/tiles.glsl.
fn hash([a, b]: MissedKey) -> u32 {
    let h = a.wrapping_mul(0x9e37_79b1) ^ b.wrapping_mul(0x85eb_ca6b);
    let h = (h ^ h >> 15).wrapping_mul(0xc2b2_ae35);
    h ^ h >> 13
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn searches_find_what_is_there_and_nothing_else_after_any_changes() {
        let mut table = SlotTable::new(32);
        let mut there: BTreeMap<MissedKey, usize> = BTreeMap::new();
        let mut seed = 7_u32;
        let mut copy = table.entries().to_vec();
        for step in 0..4000 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let key = [seed >> 24, seed >> 8 & 3];
            if there.remove(&key).is_some() {
                table.remove(key);
            } else if there.len() < 32 {
                assert!(table.insert(key, step % 32));
                there.insert(key, step % 32);
            }
            table
                .take_changed()
                .into_iter()
                .for_each(|range| copy[range.clone()].copy_from_slice(&table.entries()[range]));
            assert_eq!(copy, table.entries(), "what changed is said");
            let found = (0..256).flat_map(|a| (0..4).map(move |b| [a, b]));
            assert!(found.into_iter().all(|key| table.slot_of(key) == there.get(&key).copied()), "step {step}");
        }
    }
}
