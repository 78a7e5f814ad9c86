//! The cache of texture tiles on a device: slots of a fixed number, filled with what programs miss and with what is
//! near it (docs/textures.md). Where all slots are full, the least recently used (LRU) tiles are evicted.
//!
//! Programs that miss tiles run again until they miss nothing, so what is in which slot cannot be seen in a picture.
//! Uploads are in order with submissions: one that is under way sees the tiles that were there when it was submitted.

use crate::gpu::{Device, GpuError, Usage};
use crate::pipeline::look::{MISSES_ENTRIES, MISSES_MARKS, MISSES_ROOM, TILE_BUFFERS};
use crate::pipeline::recording::{Arena, Buffer, Slice};
use crate::pipeline::textures::{TextureSlices, forms};
use crate::render::resident::picture_textures::PictureTextures;
use crate::render::resident::prefetch::tiles_near;
use crate::render::resident::slot_table::SlotTable;
use crate::stats::MemoryCategory;
use crate::texture::{TILE_WORDS, TexelFormat, TextureHeader, TextureKind, TileKey, TileNeed, WrapMode};
use glam::{DMat4, Vec4};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Slots of a buffer of tiles: 128 MiB (spirv-gen's abi.rs).
const SLOTS_PER_BUFFER: u64 = 8192;
/// The most slots.
const SLOTS_MAX: u64 = SLOTS_PER_BUFFER * TILE_BUFFERS as u64;
/// Bytes of a slot.
const SLOT_BYTES: u64 = 4 * TILE_WORDS as u64;
/// The fewest slots.
const SLOTS_MIN: u64 = 256;
/// The part of a device's free memory that slots may take, where no number is given: 1 / this.
const MEMORY_PART: u64 = 4;
/// Bytes of slots where no other number is given, at most.
const MEMORY_BYTES: u64 = 256 << 20;
/// The first word of a key that asks for a name.
const NAME_KEY: u32 = u32::MAX;
/// Records of a texture in the table, and of its matrices.
const TABLE_RECORDS: usize = 4;
const MATRIX_RECORDS: usize = 8;
/// Slots that are uploaded at once, at most.
const UPLOAD_SLOTS: usize = 512;
/// The name of its buffers.
const NAME: &str = MemoryCategory::Textures.name();
/// The most tiles that are loaded together, those that were missed and others: a submission waits for them.
const LOADED_AT_ONCE: usize = 2048;
/// The part of the slots that is left to tiles that are missed: 1 / this.
const RESERVED_PART: usize = 8;

/// A tile as programs name it (spirv-gen's abi.rs): texture, level and plane in the first word, its place in the
/// second.
pub(crate) type MissedKey = [u32; 2];

/// Bits of the texture in a key's first word. Above them is the level.
const TEXTURE_BITS: u32 = 20;
/// Bits of the level in a key's first word. Above them is the plane.
const LEVEL_BITS: u32 = 5;

/// The texture of a key's first word.
fn texture_of(what: u32) -> u32 {
    what & ((1 << TEXTURE_BITS) - 1)
}

/// The level of a key's first word.
pub(super) fn level_of(what: u32) -> u32 {
    what >> TEXTURE_BITS & ((1 << LEVEL_BITS) - 1)
}

/// Returns a key's first word with a level that is coarser by `levels`.
pub(super) fn coarser(what: u32, levels: u32) -> u32 {
    what + (levels << TEXTURE_BITS)
}

/// The tile of a key's second word, along x and y.
pub(super) fn place_of(at: u32) -> [u32; 2] {
    [at & 0xffff, at >> 16]
}

/// The tiles of a picture's textures on a device.
pub(crate) struct TextureTiles {
    textures: Arc<PictureTextures>,
    buffers: Vec<Buffer>,
    slices: TextureSlices,
    /// What is in the buffer of the directory.
    records: Vec<[u32; 4]>,
    /// First records of the table and of the matrices.
    table: usize,
    matrices: usize,
    /// Numbers of the store's textures, by their numbers here.
    numbers: Vec<u32>,
    /// The number here of a number of the store.
    known: FxHashMap<u32, u32>,
    /// Where tiles are.
    hash: SlotTable,
    /// The first record of `hash`.
    hash_record: usize,
    slots: Vec<TileSlot>,
    /// The tiles in them.
    resident: u64,
    /// The tiles of all textures that may be looked up.
    tiles_max: u64,
    /// The slots that textures were given, whatever single grids need.
    given: usize,
    /// The stamp of the last submission that looked textures up.
    stamp: u32,
    /// Whether tiles were missed by the last submission of loads that were not submitted before; at first, that they
    /// will be.
    misses: bool,
}

/// A place for a tile.
#[derive(Clone, Copy, Debug, Default)]
struct TileSlot {
    tile: Option<MissedKey>,
    /// The stamp of the last submission that used it, as far as is known; 0 where none did.
    used: u32,
    /// Whether there is no memory behind its number.
    is_absent: bool,
}

/// What became of tiles that programs missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TilesLoaded {
    /// All are there.
    All,
    /// They are this many more than there are slots.
    TooMany(usize),
}

/// Returns the number of slots for textures of `tiles_max` tiles, where `wanted` bytes are asked for and `free_bytes`
/// are free.
fn slot_count(wanted: Option<u64>, tiles_max: u64, free_bytes: u64) -> u64 {
    let bytes = wanted.unwrap_or(MEMORY_BYTES.min(free_bytes / MEMORY_PART));
    (bytes / SLOT_BYTES).min(tiles_max).clamp(SLOTS_MIN, SLOTS_MAX)
}

impl TextureTiles {
    /// Reports that one grid needs more tiles than there are slots, and is drawn without some of them.
    pub(crate) fn report_too_few_slots(&self) {
        let present = self.slots.iter().filter(|slot| !slot.is_absent).count();
        self.textures.store.report_too_few_slots(present);
    }

    /// Takes memory for `lacking` more slots than textures were given, because one grid needs them together. Returns
    /// `false` if there is too little.
    pub(crate) fn grow(&mut self, device: &mut Device, lacking: usize) -> Result<bool, GpuError> {
        let mut lacking = lacking as u64;
        while lacking > 0 {
            let buffer = self.slots.len().div_ceil(SLOTS_PER_BUFFER as usize);
            if buffer == TILE_BUFFERS {
                return Ok(false);
            }
            let count = lacking.next_power_of_two().clamp(SLOTS_MIN, SLOTS_PER_BUFFER);
            let memory = match device.allocate(NAME, SLOT_BYTES * count, Usage::DeviceOnly) {
                Err(GpuError::OutOfMemory { .. }) => return Ok(false),
                allocated => allocated?,
            };
            self.buffers.push(memory);
            let words = count * TILE_WORDS as u64;
            self.slices.tiles[buffer] = Arena::new(memory).cut(words).expect("the buffer was made for it");
            self.slices.last = buffer;
            // Numbers of slots go on with the next buffer.
            let first = buffer * SLOTS_PER_BUFFER as usize;
            self.slots.resize(first, TileSlot { is_absent: true, ..TileSlot::default() });
            self.slots.resize(first + count as usize, TileSlot::default());
            lacking = lacking.saturating_sub(count);
        }
        self.textures.store.report_more_slots(self.given);
        Ok(true)
    }

    /// Allocates the slots: fewer than are wanted where memory is short.
    pub(crate) fn new(device: &mut Device, textures: &Arc<PictureTextures>, free_bytes: u64) -> Result<Self, GpuError> {
        let mut slots = slot_count(textures.memory_bytes, textures.tiles_max(), free_bytes);
        loop {
            match Self::with_slots(device, textures, slots) {
                Err(GpuError::OutOfMemory { .. }) if slots > SLOTS_MIN => slots = (slots / 2).max(SLOTS_MIN),
                made => return made,
            }
        }
    }

    fn with_slots(device: &mut Device, textures: &Arc<PictureTextures>, slots: u64) -> Result<Self, GpuError> {
        let mut buffers = Vec::new();
        let made = Self::in_buffers(device, textures, slots, &mut buffers);
        if made.is_err() {
            buffers.into_iter().for_each(|buffer| device.free(buffer));
        }
        made
    }

    fn in_buffers(
        device: &mut Device,
        textures: &Arc<PictureTextures>,
        slots: u64,
        buffers: &mut Vec<Buffer>,
    ) -> Result<Self, GpuError> {
        let texts = textures.names.texts.len();
        let textures_max = textures.textures_max();
        // Single grids may need more slots.
        let hash = SlotTable::new(slots.max(textures.tiles_max().min(SLOTS_MAX) / 2));
        let table = 2 + texts.div_ceil(4);
        let matrices = table + TABLE_RECORDS * textures_max;
        let hash_record = matrices + MATRIX_RECORDS * textures_max;
        let mut records = vec![[0; 4]; hash_record];
        records[0] = [2, table as u32, hash_record as u32, hash.log2_entries()];
        records[1] = [texts as u32, textures_max as u32, 0, 0];
        let count = (hash_record + hash.entries().len()) as u64;
        let cut_directory = |arena: &mut Arena| arena.cut::<[u32; 4]>(count);
        let buffer = device.allocate(NAME, Arena::measure(cut_directory).bytes, Usage::DeviceOnly)?;
        buffers.push(buffer);
        let directory = cut_directory(&mut Arena::new(buffer)).expect("the buffer was made for it");
        let mut tiles = Vec::new();
        for first in (0..slots).step_by(SLOTS_PER_BUFFER as usize) {
            let words = (slots - first).min(SLOTS_PER_BUFFER) * TILE_WORDS as u64;
            let buffer = device.allocate(NAME, 4 * words, Usage::DeviceOnly)?;
            buffers.push(buffer);
            tiles.push(Arena::new(buffer).cut(words).expect("the buffer was made for it"));
        }
        let slices = TextureSlices {
            directory,
            tiles: std::array::from_fn(|i| tiles.get(i).copied().unwrap_or(tiles[0])),
            last: tiles.len() - 1,
            // Whatever environment() looks up is a sphere, if it is no cube.
            forms: if textures.names.environments { forms::MIRRORED } else { 0 },
        };
        device.upload(directory.part(hash_record as u64..count), hash.entries())?;
        let mut made = Self {
            textures: Arc::clone(textures),
            buffers: buffers.clone(),
            slices,
            records,
            table,
            matrices,
            numbers: Vec::new(),
            known: FxHashMap::default(),
            hash,
            hash_record,
            slots: vec![TileSlot::default(); slots as usize],
            resident: 0,
            tiles_max: textures.tiles_max(),
            given: slots as usize,
            stamp: 0,
            misses: true,
        };
        for &token in textures.names.known.keys() {
            made.open(token);
        }
        made.upload_directory(device)?;
        Ok(made)
    }

    /// Goes on with the textures of another picture, if what is on the device is theirs: the same names in the same
    /// space, of files that have not changed. Returns whether it is.
    pub(crate) fn renew(&mut self, device: &mut Device, textures: &Arc<PictureTextures>) -> Result<bool, GpuError> {
        if !self.textures.is_like(textures) {
            return Ok(false);
        }
        let record = |token: usize| self.records[2 + token / 4][token % 4];
        let opened = (0..textures.names.texts.len()).filter(|&token| record(token) != 0);
        let found = |token: usize| match textures.find(token as u32) {
            Some(stored) => self.known.get(&stored).map(|number| number + 2),
            None => Some(1),
        };
        if !opened.into_iter().all(|token| found(token) == Some(record(token))) {
            return Ok(false);
        }
        self.textures = Arc::clone(textures);
        let opened = textures.names.known.keys().filter(|&&token| self.open(token)).count();
        if opened > 0 {
            self.upload_directory(device)?;
        }
        Ok(true)
    }

    /// Returns the number of tiles on the device.
    pub(crate) fn resident(&self) -> u64 {
        self.resident
    }

    /// Returns what programs are bound to.
    pub(crate) fn slices(&self) -> TextureSlices {
        self.slices
    }

    /// Returns the number that slots end before, now or when a single grid needs more.
    pub(crate) fn slots_end(&self) -> u64 {
        if self.tiles_max > self.given as u64 { SLOTS_MAX } else { self.given as u64 }
    }

    /// Whether tiles should be named before programs run: other loads lacked some just now, so the next ones will,
    /// unless all are there.
    pub(crate) fn should_be_named(&self) -> bool {
        self.misses && self.resident < self.tiles_max
    }

    /// Notes whether loads that were not submitted before missed tiles.
    pub(crate) fn note_first_run(&mut self, missed: bool) {
        self.misses = missed;
    }

    /// Returns the stamp of a submission that is about to be made.
    pub(crate) fn next_stamp(&mut self) -> u32 {
        self.stamp += 1;
        self.stamp
    }

    /// Reads and returns the tiles that a submission missed, and notes which slots it used.
    pub(crate) fn read_misses(
        &mut self,
        device: &mut Device,
        misses: Slice<u32>,
        stamp: u32,
    ) -> Result<Vec<MissedKey>, GpuError> {
        let count = u64::from(device.read(misses.part(0..1))?[0]).min(MISSES_ROOM);
        let marks = device.read(misses.part(MISSES_MARKS..MISSES_MARKS + self.slots.len() as u64))?;
        let mut requests: FxHashMap<u32, u64> = FxHashMap::default();
        for (slot, &mark) in self.slots.iter_mut().zip(&marks) {
            if mark == 0 {
                continue;
            }
            slot.used = slot.used.max(stamp);
            if let Some([what, _]) = slot.tile {
                *requests.entry(self.numbers[texture_of(what) as usize]).or_default() += 1;
            }
        }
        self.textures.store.count_requests(requests);
        if count == 0 {
            return Ok(Vec::new());
        }
        let words = device.read(misses.part(MISSES_ENTRIES..MISSES_ENTRIES + 2 * count))?;
        Ok(words.chunks_exact(2).map(|key| [key[0], key[1]]).collect())
    }

    /// Loads what a program needs of which `needed` is known, besides the tiles in slots that it used since stamp
    /// `since`: none of these is evicted.
    pub(crate) fn load(
        &mut self,
        device: &mut Device,
        needed: &FxHashSet<MissedKey>,
        since: u32,
    ) -> Result<TilesLoaded, GpuError> {
        let mut missing: Vec<MissedKey> = Vec::new();
        let mut kept: Vec<bool> = self.slots.iter().map(|slot| slot.tile.is_some() && slot.used >= since).collect();
        let mut opened = false;
        for &key in needed {
            match (key[0], self.hash.slot_of(key)) {
                (NAME_KEY, _) => opened |= self.open(key[1]),
                (_, Some(slot)) => kept[slot] = true,
                (_, None) => missing.push(key),
            }
        }
        if opened {
            self.upload_directory(device)?;
        }
        let evictable = self.evictable_slots(&kept);
        if missing.len() > evictable.len() {
            return Ok(TilesLoaded::TooMany(missing.len() - evictable.len()));
        }
        let empty = evictable.iter().filter(|&&slot| self.slots[slot].tile.is_none()).count();
        let room = self.room_ahead(empty, missing.len());
        let mut ahead = self.tiles_ahead(&missing, needed, room);
        missing.sort_unstable();
        ahead.sort_unstable();
        let (slots, spare) = evictable.split_at(missing.len());
        self.fill(device, &missing, slots, TileNeed::Missed)?;
        self.fill(device, &ahead, spare, TileNeed::Ahead)?;
        self.upload_hash(device)?;
        Ok(TilesLoaded::All)
    }

    /// Returns the slots that can be filled, in the order in which they are: empty ones first, then those of the least
    /// recently used (LRU) tiles, which are evicted. Slots that are `kept` are not among them.
    fn evictable_slots(&self, kept: &[bool]) -> Vec<usize> {
        let is_evictable = |&slot: &usize| !kept[slot] && !self.slots[slot].is_absent;
        let mut slots: Vec<usize> = (0..self.slots.len()).filter(is_evictable).collect();
        slots.sort_by_key(|&slot| (self.slots[slot].tile.is_some(), self.slots[slot].used));
        slots
    }

    /// Returns how many tiles that were not missed may be loaded with `missing` tiles that were, where `empty` slots
    /// are empty: no tile is evicted for them, and some slots are left to tiles that will be missed, unless all fit.
    fn room_ahead(&self, empty: usize, missing: usize) -> usize {
        let fits = self.tiles_max <= self.slots.len() as u64;
        let reserve = if fits { 0 } else { self.slots.len() / RESERVED_PART };
        empty.saturating_sub(missing + reserve).min(LOADED_AT_ONCE.saturating_sub(missing))
    }

    /// Returns at most `most` tiles that are likely to be missed after `missing`, and that are neither there nor in
    /// `needed`.
    fn tiles_ahead(&self, missing: &[MissedKey], needed: &FxHashSet<MissedKey>, most: usize) -> Vec<MissedKey> {
        if most == 0 {
            return Vec::new();
        }
        let mut by_texture: BTreeMap<u32, Vec<MissedKey>> = BTreeMap::new();
        missing.iter().for_each(|&key| by_texture.entry(texture_of(key[0])).or_default().push(key));
        let mut ahead = FxHashSet::default();
        for (number, missed) in by_texture {
            let stored = self.numbers.get(number as usize).and_then(|&stored| self.textures.store.texture(stored));
            let Some(stored) = stored else { continue };
            let lacks = |key: &MissedKey| self.hash.slot_of(*key).is_none() && !needed.contains(key);
            for key in tiles_near(stored.header(), &missed).filter(lacks) {
                if ahead.len() == most {
                    return ahead.into_iter().collect();
                }
                ahead.insert(key);
            }
        }
        ahead.into_iter().collect()
    }

    /// Puts tiles in slots, and evicts those that were there.
    fn fill(
        &mut self,
        device: &mut Device,
        keys: &[MissedKey],
        slots: &[usize],
        need: TileNeed,
    ) -> Result<(), GpuError> {
        let used = if need == TileNeed::Missed { self.stamp } else { 0 };
        for (keys, slots) in keys.chunks(UPLOAD_SLOTS).zip(slots.chunks(UPLOAD_SLOTS)) {
            let asked: Vec<TileKey> = keys.iter().map(|&key| self.key_of(key)).collect();
            let tiles = self.textures.store.tiles(&asked, need);
            let parts: Vec<(Slice<u32>, &[u32])> =
                slots.iter().zip(&tiles).map(|(&slot, tile)| (self.slot(slot), &tile[..])).collect();
            device.upload_all(&parts)?;
            for (&key, &slot) in keys.iter().zip(slots) {
                self.evict(slot);
                let placed = self.hash.insert(key, slot);
                self.resident += u64::from(placed);
                self.slots[slot] = TileSlot { tile: placed.then_some(key), used, is_absent: false };
            }
        }
        Ok(())
    }

    /// Evicts the tile in a slot, if there is one.
    fn evict(&mut self, slot: usize) {
        if let Some(tile) = self.slots[slot].tile.take() {
            self.hash.remove(tile);
            self.resident -= 1;
        }
    }

    /// Returns the words of a slot.
    fn slot(&self, slot: usize) -> Slice<u32> {
        let (buffer, number) = (slot as u64 / SLOTS_PER_BUFFER, slot as u64 % SLOTS_PER_BUFFER);
        let first = number * TILE_WORDS as u64;
        self.slices.tiles[buffer as usize].part(first..first + TILE_WORDS as u64)
    }

    fn upload_hash(&mut self, device: &mut Device) -> Result<(), GpuError> {
        let changed = self.hash.take_changed();
        let entries = |range: &Range<usize>| {
            let first = (self.hash_record + range.start) as u64;
            (self.slices.directory.part(first..first + range.len() as u64), &self.hash.entries()[range.clone()])
        };
        device.upload_all(&changed.iter().map(entries).collect::<Vec<_>>())
    }

    fn upload_directory(&self, device: &mut Device) -> Result<(), GpuError> {
        device.upload(self.slices.directory.part(0..self.hash_record as u64), &self.records)
    }

    /// Finds the texture that a token names, and returns whether it was unknown before.
    fn open(&mut self, token: u32) -> bool {
        let (record, lane) = (2 + token as usize / 4, token as usize % 4);
        if token as usize >= self.textures.names.texts.len() || self.records[record][lane] != 0 {
            return false;
        }
        let number = self.textures.find(token).map(|stored| self.number_of(stored));
        self.records[record][lane] = number.map_or(1, |number| number + 2);
        true
    }

    /// Returns the number here of a texture of the store.
    fn number_of(&mut self, stored: u32) -> u32 {
        if let Some(&number) = self.known.get(&stored) {
            return number;
        }
        let number = self.numbers.len();
        self.numbers.push(stored);
        self.known.insert(stored, number as u32);
        if let Some(texture) = self.textures.store.texture(stored) {
            let header = texture.header();
            self.slices.forms |= forms_of(header);
            let record = self.table + TABLE_RECORDS * number;
            self.records[record] = shape_record(header);
            let mut matrices = 0;
            if let Some(maps) = self.map_matrices(header) {
                let first = self.matrices + MATRIX_RECORDS * number;
                self.records[first..first + MATRIX_RECORDS].copy_from_slice(&maps);
                matrices = first as u32;
            }
            self.records[record + 1] = [matrices, header.fov.map_or(0, f32::to_bits), 0, 0];
        }
        number as u32
    }

    /// Returns the columns of a shadow map's camera and of its picture, from the space in which programs compute; of
    /// several maps in one, those of world space.
    fn map_matrices(&self, header: &TextureHeader) -> Option<[[u32; 4]; MATRIX_RECORDS]> {
        let world_from_current = self.textures.current_from_world.inverse();
        let from_world = |matrix: [f32; 16]| DMat4::from_cols_array(&matrix.map(f64::from));
        let of_maps = || (header.kind == TextureKind::Occlusion).then_some([DMat4::IDENTITY; 2]);
        let matrices = header.matrices.map(|of| [of.camera_from_world, of.ndc_from_world].map(from_world));
        let mut columns = matrices.or_else(of_maps)?.into_iter().flat_map(|matrix| {
            let from_current = matrix * world_from_current;
            [from_current.x_axis, from_current.y_axis, from_current.z_axis, from_current.w_axis]
        });
        Some(std::array::from_fn(|_| {
            let column: Vec4 = columns.next().unwrap_or_default().as_vec4();
            column.to_array().map(f32::to_bits)
        }))
    }

    fn key_of(&self, [what, at]: MissedKey) -> TileKey {
        let texture = self.numbers.get(texture_of(what) as usize).copied().unwrap_or(u32::MAX);
        TileKey { texture, level: level_of(what), plane: what >> (TEXTURE_BITS + LEVEL_BITS), at: place_of(at) }
    }

    /// Frees the buffers.
    pub(crate) fn free(self, device: &mut Device) {
        self.buffers.into_iter().for_each(|buffer| device.free(buffer));
    }
}

/// Returns the forms that kernels must know for a texture.
fn forms_of(header: &TextureHeader) -> u32 {
    let is_mirrored = header.kind == TextureKind::LatLong || header.wrap.contains(&WrapMode::Mirror);
    let word = match header.format {
        TexelFormat::U16 => forms::WORD16,
        TexelFormat::F16 => forms::HALF,
        TexelFormat::U8 | TexelFormat::F32 => 0,
    };
    let of = |form, holds: bool| if holds { form } else { 0 };
    let kind = match header.kind {
        TextureKind::DeepShadow => forms::DEEP,
        TextureKind::Cube => forms::CUBE,
        TextureKind::Occlusion => forms::VIEWS,
        _ => 0,
    };
    let is_float = matches!(header.format, TexelFormat::F16 | TexelFormat::F32);
    word | of(forms::MIRRORED, is_mirrored) | of(forms::FLOAT, is_float) | kind
}

/// Returns the first record of a texture in the table.
fn shape_record(header: &TextureHeader) -> [u32; 4] {
    // The words of a point cloud are no texels, nor are those of an occlusion map.
    let is_picture = !matches!(header.kind, TextureKind::Points | TextureKind::Occlusion);
    let channels = if is_picture { header.channels } else { 0 };
    let what = header.levels | channels << 8 | (header.format as u32) << 16 | (header.kind as u32) << 20;
    [header.width, header.height, what, header.wrap[0] as u32 | (header.wrap[1] as u32) << 4]
}

#[cfg(test)]
mod tests;
