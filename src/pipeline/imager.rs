//! Imager: the imager shader runs at pixels that were filtered and exposed (RISpec 4.1.4 and figure 4.2).
//!
//! To the compiled kernel a *tile* of 16 x 16 pixels is a grid: pixels are its vertices, u and v run along raster x and
//! y, one pixel apart. Tiles are laid out from raster (0, 0), so that derivatives and `random()` do not depend on the
//! crop window.

use super::look::ImagerProgram;
use super::program::{KeptLoops, LoopRun, LoopState, record_kept_loops};
use super::recording::{Arena, ArenaFull, Buffer, Dispatch, Groups, Items, Recording, Slice};
use super::textures::{TextureSlices, misses_words};
use std::sync::Arc;

/// Pixels along a side of a tile.
pub const TILE_PX: u32 = 16;
/// Pixels of a tile: vertices of a slot.
pub const TILE_PIXELS: u32 = TILE_PX * TILE_PX;
const SLOT_LOG2: u32 = TILE_PIXELS.ilog2();

/// Outputs of an imager's kernel in order: `Ci`, `Oi`, `alpha`, a channel each.
pub const OUTPUT_CHANNELS: u32 = 3;

/// The memory that an imager works in, for a number of tiles.
#[derive(Clone, Copy, Debug)]
pub struct ImagerSlices {
    /// Two records a tile (spirv-gen's abi.rs).
    pub work: Slice<[u32; 4]>,
    /// Channels of all pixels: inputs, then outputs.
    pub arena: Slice<[f32; 4]>,
    /// The program's parameters.
    pub params: Slice<[f32; 4]>,
    /// Word 0: pixels whose loops have not ended yet.
    pub status: Slice<u32>,
    /// Tiles that were missed, and marks of those that were used, where textures are looked up.
    pub misses: Slice<u32>,
    /// What the program counts, two words a counter.
    pub counters: Slice<u32>,
}

impl ImagerSlices {
    fn arena_records(program: &ImagerProgram, tiles: u64) -> u64 {
        // Saved loops are kept twice where a run may have to be made again.
        let state = program.state_channels * if program.uses_textures { 2 } else { 1 };
        tiles * u64::from(TILE_PIXELS) * u64::from(program.input_channels + OUTPUT_CHANNELS + state)
    }

    /// Bytes that `tiles` tiles take up, where as many tiles of textures have slots as are given.
    pub fn bytes(program: &ImagerProgram, tiles: u64, texture_slots: u64) -> u64 {
        Arena::measure(|arena| Self::cut_from(arena, program, tiles, texture_slots)).bytes
    }

    /// Cuts a buffer for `tiles` tiles.
    ///
    /// # Errors
    /// When it has fewer than [`Self::bytes`].
    pub fn cut(buffer: Buffer, program: &ImagerProgram, tiles: u64, texture_slots: u64) -> Result<Self, ArenaFull> {
        Self::cut_from(&mut Arena::new(buffer), program, tiles, texture_slots)
    }

    fn cut_from(arena: &mut Arena, program: &ImagerProgram, tiles: u64, texture_slots: u64) -> Result<Self, ArenaFull> {
        Ok(Self {
            work: arena.cut(2 * tiles)?,
            arena: arena.cut(Self::arena_records(program, tiles))?,
            params: arena.cut(program.params.len() as u64)?,
            status: arena.cut(1)?,
            misses: arena.cut(misses_words(texture_slots))?,
            counters: arena.cut(2 * program.counters)?,
        })
    }
}

/// The work records of tiles, which are named by their column and row.
pub fn work(program: &ImagerProgram, tiles: &[[i32; 2]]) -> Vec<[u32; 4]> {
    const SIZE: u32 = (TILE_PX - 1) | (TILE_PX - 1) << 8;
    let step = 1.0_f32.to_bits();
    tiles
        .iter()
        .map(|tile| tile.map(i32::cast_unsigned))
        .flat_map(|[column, row]| [[SIZE, program.block, row << 16 | column & 0xffff, 0], [step, step, 0, 0]])
        .collect()
}

/// The first record of input channel `channel` when `tiles` tiles run.
pub fn input_record(channel: u32, tiles: u32) -> usize {
    (channel * tiles * TILE_PIXELS) as usize
}

/// The records of the outputs when `tiles` tiles run.
pub fn output_records(program: &ImagerProgram, tiles: u32) -> std::ops::Range<u64> {
    let first = input_record(program.input_channels, tiles) as u64;
    first..first + u64::from(OUTPUT_CHANNELS * tiles * TILE_PIXELS)
}

/// How an imager's loops run: with a number of trips, from the start or on from where the last run stopped, or with
/// `restore` from where that began.
pub fn loops(program: &ImagerProgram, tiles: u32, trips: u32, [resume, restore]: [bool; 2]) -> LoopRun {
    let base = output_records(program, tiles).end as u32;
    let records = program.state_channels * tiles * TILE_PIXELS;
    let kept = program.uses_textures.then_some(KeptLoops { base: base + records, records, restore });
    let saved = (program.state_channels > 0).then_some(LoopState { resume, kept });
    LoopRun { base, saved, ..LoopRun::plain(trips) }
}

/// A run of an imager.
#[derive(Clone, Copy, Debug)]
pub struct ImagerRun<'a> {
    /// The imager.
    pub program: &'a ImagerProgram,
    /// Tiles that it runs over: the first ones.
    pub tiles: u32,
    /// How its loops run.
    pub loops: LoopRun,
}

/// Appends the run of an imager; `textures` are the tiles of textures, if it looks any up.
pub fn record(
    recording: &mut Recording,
    slices: &ImagerSlices,
    textures: Option<&TextureSlices>,
    ImagerRun { program, tiles, loops }: ImagerRun<'_>,
) {
    let outputs = output_records(program, tiles);
    let [trips, state_base] = loops.push();
    let output_base = outputs.start as u32;
    // The push constants of spirv-gen's abi.rs.
    let stride = tiles * TILE_PIXELS;
    let mut push = vec![0, SLOT_LOG2, tiles, 0, output_base, stride, program.space_table, trips, state_base, 0, 0];
    push.extend(program.first_counters.into_iter().flatten());
    recording.fill(slices.status, 0);
    record_kept_loops(recording, slices.arena, &loops);
    recording.dispatch(Dispatch {
        kernel: Arc::clone(&program.kernel),
        constants: textures.map_or_else(Vec::new, TextureSlices::constants),
        groups: Groups::from(tiles),
        items: Some(Items { count: u64::from(tiles * TILE_PIXELS), unit: "pixels" }),
        bindings: [
            slices.work.range(),
            slices.arena.range(),
            slices.params.range(),
            slices.status.range(),
            slices.arena.range(),
        ]
        .into_iter()
        .chain(textures.into_iter().flat_map(|textures| textures.bindings(slices.misses)))
        .chain(program.first_counters.map(|_| slices.counters.range()))
        .collect(),
        push: bytemuck::cast_slice(&push).to_vec(),
    });
}
