//! The memory of the pipeline: what a device keeps for a frame, and what each region in flight works in. All sizes are
//! known in advance.

use super::kernels::constants::{
    BATCHES, CELL_SAMPLES, CLUSTER_GRIDS, DEPTH_BUCKETS, GROUP_VERTICES, SCAN_BLOCK, SIZE_CLASSES, SLOT_LOG2_MIN,
    VISIBLE_WORDS,
};
use super::kernels::records::{
    Appended, Cluster, Culled, Drawable, Entry, FrameBuffer, GridBound, Instance, Keyframe, Layer, LensCell, Piece,
    Primitive, PrimvarBinding, Rest, Round, Slot, Subpatch, Total, Unfinished,
};
use super::look::Interpolation;
use super::pixels::RegionPixels;
use super::recording::{Arena, ArenaFull, ArenaNeeds, BINDING_BYTES_MAX, Buffer, Slice};
use super::slab::layers_capacity;
use super::textures::{TextureSlices, misses_words};

/// A record of four floats.
pub type Vec4 = [f32; 4];

/// A page of geometry on a device.
#[derive(Clone, Copy, Debug)]
pub struct PageSlices {
    /// Primitives.
    pub primitives: Slice<Primitive>,
    /// Control data and primvar values.
    pub data: Slice<Vec4>,
}

/// What a device keeps for the whole frame, except pages of geometry.
#[derive(Clone, Copy, Debug)]
pub struct FrameSlices {
    /// Camera and sampling.
    pub frame: Slice<FrameBuffer>,
    /// Instances.
    pub instances: Slice<Instance>,
    /// Parameter blocks of compiled kernels.
    pub params: Slice<Vec4>,
    /// Lists of primvars.
    pub primvar_bindings: Slice<PrimvarBinding>,
    /// For each instance, how far displacement has moved its vertices, as float bits.
    pub displaced_by: Slice<u32>,
    /// Clipping planes (glsl/lib/sampling/clip.glsl).
    pub clip_planes: Slice<Vec4>,
    /// Primitive solids (`SolidTable`).
    pub solid_primitives: Slice<[u32; 4]>,
    /// Steps of their trees.
    pub solid_steps: Slice<u32>,
    /// Keyframes of what moves.
    pub motion: Slice<Keyframe>,
    /// Cells of the lens and wedges of its aperture; none where all is in focus.
    pub lens: Slice<LensCell>,
    /// Record of the space table in the parameters.
    pub space_table: u32,
    /// Tiles of textures, where programs look them up.
    pub textures: Option<TextureSlices>,
    /// What programs count of their lines, two words a counter, if they do.
    pub counters: Option<Slice<u32>>,
    /// The number of the first counter of lookups.
    pub lookup_counters: u32,
}

/// Grids: a page of the frame's, or those that a region selected.
#[derive(Clone, Copy, Debug)]
pub struct GridSlices {
    /// Subpatches that are grids.
    pub grids: Slice<Subpatch>,
    /// The pixels and depths that each may cover.
    pub bounds: Slice<GridBound>,
}

impl GridSlices {
    fn cut(arena: &mut Arena, count: u64) -> Result<Self, ArenaFull> {
        Ok(Self { grids: arena.cut(count)?, bounds: arena.cut(count)? })
    }
}

/// A page of the frame's grids, in an order in which neighbours are close to each other in the picture.
#[derive(Clone, Copy, Debug)]
pub struct GridPageSlices {
    /// The grids.
    pub listed: GridSlices,
    /// The number of each among all grids of the frame in authored order.
    pub order: Slice<u32>,
    /// The pixels of each [`CLUSTER_GRIDS`] of them.
    pub clusters: Slice<Cluster>,
}

impl GridPageSlices {
    /// Bytes for `count` grids.
    pub fn bytes(count: u64) -> u64 {
        Arena::measure(|arena| Self::cut_from(arena, count)).bytes
    }

    /// Cuts a buffer.
    ///
    /// # Errors
    /// [`ArenaFull`] when the buffer is too small.
    pub fn cut(buffer: Buffer, count: u64) -> Result<Self, ArenaFull> {
        Self::cut_from(&mut Arena::new(buffer), count)
    }

    fn cut_from(arena: &mut Arena, count: u64) -> Result<Self, ArenaFull> {
        let listed = GridSlices::cut(arena, count)?;
        Ok(Self { listed, order: arena.cut(count)?, clusters: arena.cut(clusters(count))? })
    }

    /// The first `count` grids of the page.
    #[must_use]
    pub fn first(&self, count: u64) -> Self {
        let GridSlices { grids, bounds } = self.listed;
        Self {
            listed: GridSlices { grids: grids.part(0..count), bounds: bounds.part(0..count) },
            order: self.order.part(0..count),
            clusters: self.clusters.part(0..clusters(count)),
        }
    }
}

/// Clusters of a page of `grids` grids.
pub fn clusters(grids: u64) -> u64 {
    grids.div_ceil(CLUSTER_GRIDS.into())
}

/// Scratch memory of prefix sums.
#[derive(Clone, Copy, Debug)]
pub struct ScanSlices {
    /// Sums of scan blocks.
    pub sums: Slice<u32>,
    /// The grand total of the last scan.
    pub total: Slice<Total>,
}

impl ScanSlices {
    /// Scratch memory for sums of up to `values` values.
    fn cut(arena: &mut Arena, values: u64) -> Result<Self, ArenaFull> {
        Ok(Self { sums: arena.cut(scan_blocks(values))?, total: arena.cut(1)? })
    }
}

/// Blocks of a prefix sum over `count` values.
pub fn scan_blocks(count: u64) -> u64 {
    count.div_ceil(SCAN_BLOCK.into())
}

/// What the counting pass works in.
#[derive(Clone, Copy, Debug)]
pub struct CountSlices {
    /// The chunk's drawables.
    pub drawables: Slice<Drawable>,
    /// The lists of two successive rounds.
    pub lists: [Slice<Subpatch>; 2],
    /// Their bounds.
    pub bounds: [Slice<GridBound>; 2],
    /// Their verdicts; those on grids are there before a round.
    pub children: [Slice<u32>; 2],
    /// Which of a list are no grids yet.
    pub open: Slice<u32>,
    /// First child of each.
    pub offsets: Slice<u32>,
    /// Scratch memory of prefix sums.
    pub scan: ScanSlices,
    /// State of the round.
    pub round: Slice<Round>,
}

impl CountSlices {
    /// Bytes for chunks of `capacity` subpatches.
    pub fn bytes(drawables: u64, capacity: u64) -> u64 {
        Arena::measure(|arena| Self::cut_from(arena, drawables, capacity)).bytes
    }

    /// Cuts a buffer.
    ///
    /// # Errors
    /// [`ArenaFull`] when the buffer is too small.
    pub fn cut(buffer: Buffer, drawables: u64, capacity: u64) -> Result<Self, ArenaFull> {
        Self::cut_from(&mut Arena::new(buffer), drawables, capacity)
    }

    fn cut_from(arena: &mut Arena, drawables: u64, capacity: u64) -> Result<Self, ArenaFull> {
        Ok(Self {
            drawables: arena.cut(drawables)?,
            lists: [arena.cut(capacity)?, arena.cut(capacity)?],
            bounds: [arena.cut(capacity)?, arena.cut(capacity)?],
            children: [arena.cut(capacity)?, arena.cut(capacity)?],
            open: arena.cut(capacity)?,
            offsets: arena.cut(capacity)?,
            scan: ScanSlices::cut(arena, capacity)?,
            round: arena.cut(1)?,
        })
    }
}

/// The most pieces of a load, whose states are part of a recording.
pub const PIECES_MAX: u32 = 512;
/// Empty work records after those of the last slot, up to the end of a compiled kernel's last workgroup.
const WORK_PADDING: u64 = 2 * (GROUP_VERTICES >> SLOT_LOG2_MIN) as u64;

/// How large the parts of a region's memory are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionCapacity {
    /// Grids of the frame.
    pub frame_grids: u64,
    /// Grids that a region may select.
    pub grids: u64,
    /// Subpixels that a region may sample.
    pub subpixels: u64,
    /// Samples of a pixel.
    pub pixel_samples: u64,
    /// Records of the vertex arena.
    pub arena: u64,
    /// Slots of one piece.
    pub slots: u64,
    /// Places of the colour store.
    pub colours: u64,
    /// Translucent entries of a slab; 0 when nothing is translucent.
    pub entries: u64,
    /// Outputs besides colour, alpha and depth.
    pub variables: u64,
    /// Records of a finished pixel: colour and variables, each once for every filter that it goes through.
    pub filtered: u64,
    /// Sublists of hiding and of shading.
    pub sublists: u64,
    /// What is kept of the colours of a micropolygon.
    pub interpolation: Interpolation,
    /// Whether the depth of the surface behind the nearest one is kept.
    pub behind: bool,
    /// Whether anything moves or is out of focus.
    pub blurred: bool,
    /// Whether there are solids.
    pub solids: bool,
    /// Whether what light is left at each depth is found, for deep shadow maps.
    pub deep: bool,
    /// Records of `status` behind the first: a head, and what shaders print. 0 where they print nothing.
    pub prints: u64,
    /// Slots of tiles whose use is marked; 0 where no program looks textures up.
    pub texture_slots: u64,
}

impl RegionCapacity {
    /// Whether anything is translucent.
    pub fn translucent(&self) -> bool {
        self.entries > 0
    }

    /// Records of what a micropolygon, or a vertex of it, shows: colour, opacity where anything is translucent,
    /// variables.
    pub fn value_records(&self) -> u64 {
        1 + u64::from(self.translucent()) + self.variables
    }

    /// Records of one place of the colour store (glsl/lib/colour/colour.glsl).
    pub fn colour_records(&self) -> u64 {
        let vertices = if self.interpolation == Interpolation::Constant { 1 } else { 4 };
        vertices * self.value_records() + u64::from(self.interpolation.position_records())
    }

    /// Records of one resolved subpixel.
    pub fn resolved_records(&self) -> u64 {
        self.value_records()
    }

    /// Cells of one pixel.
    pub fn cells(&self) -> u64 {
        self.pixel_samples.div_ceil(CELL_SAMPLES.into())
    }

    fn pixels(&self) -> u64 {
        self.subpixels.div_ceil(self.pixel_samples)
    }

    /// 4x4-pixel blocks of any rectangle with that many pixels: a strip one pixel high has the most.
    fn blocks(&self) -> u64 {
        self.pixels()
    }

    /// Counters of the counting sort.
    pub fn sort_keys(&self) -> u64 {
        u64::from(BATCHES) * self.sublists * u64::from(SIZE_CLASSES)
    }

    fn cell_count(&self) -> u64 {
        if self.translucent() { self.pixels() * self.cells() } else { 0 }
    }

    /// Words with a bit for each grid of the frame.
    pub fn choice_words(&self) -> u64 {
        self.frame_grids.div_ceil(32)
    }

    /// Entries that solids may cut.
    fn cut_entries(&self) -> u64 {
        if self.solids { self.entries } else { 1 }
    }

    /// Cells of the lens, and samples with their times.
    fn blur_samples(&self) -> u64 {
        if self.blurred { self.pixel_samples + self.subpixels } else { 1 }
    }

    /// Layers that there is room for at once.
    pub fn layers(&self) -> u64 {
        if self.deep { layers_capacity(self.pixel_samples) } else { 1 }
    }

    /// Values of the longest prefix sum.
    pub(super) fn scan_values(&self) -> u64 {
        self.choice_words().max(self.grids).max(self.sort_keys()).max(self.cell_count())
    }

    fn needs(&self) -> ArenaNeeds {
        Arena::measure(|arena| RegionSlices::cut_from(arena, self))
    }

    /// Bytes of all parts together.
    pub fn bytes(&self) -> u64 {
        self.needs().bytes
    }

    /// Whether every part can be bound.
    pub fn bindable(&self) -> bool {
        self.needs().largest_bytes <= BINDING_BYTES_MAX
    }
}

/// What a region in flight works in.
#[derive(Clone, Copy, Debug)]
pub struct RegionSlices {
    /// A bit for each grid of the frame, in authored order: whether the region needs it.
    pub chosen: Slice<u32>,
    /// The number of set bits before each word of `chosen`.
    pub ranks: Slice<u32>,
    /// Scratch memory of prefix sums.
    pub scan: ScanSlices,
    /// Number of selected grids.
    pub selected_count: Slice<Total>,
    /// Number of visible micropolygons.
    pub visible_count: Slice<Total>,
    /// Selected grids by rank.
    pub grids: GridSlices,
    /// Vertices by depth bucket.
    pub histogram: Slice<u32>,
    /// Batch of each depth bucket, then the bits of the farthest depth of each batch.
    pub batches: Slice<u32>,
    /// Sort key of each rank.
    pub sort_keys: Slice<u32>,
    /// Position of each rank among those of its sort key.
    pub places: Slice<u32>,
    /// Ranks in the order of hiding and sampling, which holds for the whole region.
    pub sorted_hide: Slice<u32>,
    /// Ranks in the order of shading, made again for each slab and round.
    pub sorted_shade: Slice<u32>,
    /// Grids of each sort key.
    pub counts: Slice<u32>,
    /// First of each sort key.
    pub offsets: Slice<u32>,
    /// Depth keys.
    pub keys: Slice<u64>,
    /// Blocks that hiding changed.
    pub dirty: Slice<u32>,
    /// Farthest depth of each block.
    pub blocks: Slice<u32>,
    /// Slots of the piece at work.
    pub slots: Slice<Slot>,
    /// Work records of the slots, for compiled kernels.
    pub work: Slice<[u32; 4]>,
    /// Lists of pieces, and channels of their vertices; in the end, the taps of a filter.
    pub arena: Slice<Vec4>,
    /// States of the load's pieces.
    pub pieces: Slice<Piece>,
    /// What culling dropped.
    pub culled: Slice<Culled>,
    /// Indirect dispatch of the rest passes.
    pub rest: Slice<Rest>,
    /// Status words of compiled kernels.
    pub status: Slice<[u32; 4]>,
    /// Visible micropolygons.
    pub visible: Slice<u32>,
    /// Two words for each grid: the number of visible micropolygons before each word of `visible`, a byte each.
    pub visible_before: Slice<u32>,
    /// Number of visible micropolygons of each grid.
    pub needed: Slice<u32>,
    /// Where the colours of each grid begin in the colour store.
    pub colour_base: Slice<u32>,
    /// The colour store.
    pub colours: Slice<Vec4>,
    /// Resolved samples.
    pub resolved: Slice<Vec4>,
    /// Finished pixels: colour, then each variable; then [`ActiveRegion::replaced_record`].
    pub pixels: Slice<Vec4>,
    /// Finished depths.
    pub depths: Slice<f32>,
    /// Translucent entries.
    pub entries: Slice<Entry>,
    /// Entries in order of cell, then depth.
    pub order: Slice<u32>,
    /// Entries of each cell.
    pub cell_counts: Slice<u32>,
    /// First entry of each cell.
    pub cell_offsets: Slice<u32>,
    /// How many entries of each cell are in its list so far; before that, the depth of the nearest opaque surface.
    pub cell_filled: Slice<u32>,
    /// How many entries were appended, and the longest list of a cell.
    pub appended: Slice<Appended>,
    /// How far each subpixel of a slab is composited.
    pub resume: Slice<u64>,
    /// How many subpixels have more to composite.
    pub unfinished: Slice<Unfinished>,
    /// The bits of the depth behind the nearest surface of each subpixel, where that is kept.
    pub behind: Slice<u32>,
    /// Tiles that programs missed, and marks of those that they used.
    pub misses: Slice<u32>,
    /// Cells of the lens, then the samples of each part of the shutter, pixel by pixel
    /// (glsl/lib/sampling/blur_sample.glsl).
    pub blur_samples: Slice<[u32; 4]>,
    /// What is left of each entry that solids have cut.
    pub cut_masks: Slice<u32>,
    /// Two lists of states that slabs pass on: the primitive solid, samples, cell.
    pub carried: Slice<[u32; 4]>,
    /// How many states each of the lists has.
    pub carried_counts: Slice<u32>,
    /// Layers that samples see, for deep shadow maps: before and after runs of samples are merged.
    pub layers: [Slice<Layer>; 2],
    /// How many layers each run has, at its first subpixel: before and after.
    pub layer_counts: [Slice<u32>; 2],
    /// How many layers the samples of each pixel see.
    pub pixel_layers: Slice<u32>,
}

impl RegionSlices {
    /// Cuts a buffer of [`RegionCapacity::bytes`].
    ///
    /// # Errors
    /// [`ArenaFull`] when the buffer is too small.
    pub fn cut(buffer: Buffer, capacity: &RegionCapacity) -> Result<Self, ArenaFull> {
        Self::cut_from(&mut Arena::new(buffer), capacity)
    }

    fn cut_from(a: &mut Arena, c: &RegionCapacity) -> Result<Self, ArenaFull> {
        let (pixels, cells) = (c.pixels(), c.cell_count().max(1));
        let deep_subpixels = if c.deep { c.subpixels } else { 1 };
        Ok(Self {
            chosen: a.cut(c.choice_words())?,
            ranks: a.cut(c.choice_words())?,
            scan: ScanSlices::cut(a, c.scan_values())?,
            selected_count: a.cut(1)?,
            visible_count: a.cut(1)?,
            grids: GridSlices::cut(a, c.grids)?,
            histogram: a.cut(u64::from(DEPTH_BUCKETS))?,
            batches: a.cut(u64::from(DEPTH_BUCKETS + BATCHES))?,
            sort_keys: a.cut(c.grids)?,
            places: a.cut(c.grids)?,
            sorted_hide: a.cut(c.grids)?,
            sorted_shade: a.cut(c.grids)?,
            counts: a.cut(c.sort_keys())?,
            offsets: a.cut(c.sort_keys())?,
            keys: a.cut(c.subpixels)?,
            dirty: a.cut(c.blocks())?,
            blocks: a.cut(c.blocks())?,
            slots: a.cut(c.slots)?,
            work: a.cut(2 * c.slots + WORK_PADDING)?,
            arena: a.cut(c.arena)?,
            pieces: a.cut(u64::from(PIECES_MAX))?,
            culled: a.cut(1)?,
            rest: a.cut(1)?,
            status: a.cut(1 + c.prints)?,
            visible: a.cut(u64::from(VISIBLE_WORDS) * c.grids)?,
            visible_before: a.cut(2 * c.grids)?,
            needed: a.cut(c.grids)?,
            colour_base: a.cut(c.grids)?,
            colours: a.cut(c.colours * c.colour_records())?,
            resolved: a.cut(c.subpixels * c.resolved_records())?,
            pixels: a.cut(pixels * c.filtered + 1)?,
            depths: a.cut(pixels)?,
            entries: a.cut(c.entries.max(1))?,
            order: a.cut(c.entries.max(1))?,
            cell_counts: a.cut(cells)?,
            cell_offsets: a.cut(cells)?,
            cell_filled: a.cut(cells)?,
            appended: a.cut(1)?,
            resume: a.cut(if c.translucent() { c.subpixels } else { 1 })?,
            unfinished: a.cut(1)?,
            behind: a.cut(if c.behind { c.subpixels } else { 1 })?,
            misses: a.cut(misses_words(c.texture_slots))?,
            blur_samples: a.cut(c.blur_samples())?,
            cut_masks: a.cut(c.cut_entries())?,
            carried: a.cut(2 * c.cut_entries())?,
            carried_counts: a.cut(2)?,
            layers: [a.cut(c.layers())?, a.cut(c.layers())?],
            layer_counts: [a.cut(deep_subpixels)?, a.cut(deep_subpixels)?],
            pixel_layers: a.cut(if c.deep { pixels } else { 1 })?,
        })
    }
}

/// A region in flight: its pixels, and the memory that its stages work in.
#[derive(Clone, Copy, Debug)]
pub struct ActiveRegion {
    /// The pixels.
    pub pixels: RegionPixels,
    /// The memory.
    pub slices: RegionSlices,
    /// How large the parts of the memory are.
    pub capacity: RegionCapacity,
}

impl ActiveRegion {
    /// The record behind the finished pixels: how many micropolygons had values that were not finite, and the
    /// complement of their least instance (glsl/pack.comp); then the same of samples that end inside of primitive
    /// solids (glsl/cut_solids.comp). It is read together with the pixels.
    pub fn replaced_record(&self) -> u64 {
        self.pixels.inside.pixel_count() * self.capacity.filtered
    }

    /// Samples of a pixel.
    pub fn pixel_samples(&self) -> u32 {
        self.capacity.pixel_samples as u32
    }

    /// Subpixels (samples) of all sampled pixels.
    pub fn subpixels(&self) -> u64 {
        self.pixels.count() * self.capacity.pixel_samples
    }

    /// Cells of all sampled pixels.
    pub fn cells(&self) -> u64 {
        self.pixels.count() * self.capacity.cells()
    }
}

/// What a stage works in: what the device keeps for the frame, and a region.
#[derive(Clone, Copy, Debug)]
pub struct StageMemory<'a> {
    /// What the device keeps for the frame.
    pub frame: &'a FrameSlices,
    /// The region.
    pub region: &'a ActiveRegion,
}

/// What a kernel that evaluates primitives reads: the frame's records and one page of geometry.
#[derive(Clone, Copy, Debug)]
pub struct GeometrySources<'a> {
    /// The frame's records.
    pub frame: &'a FrameSlices,
    /// The page that holds the primitives.
    pub page: PageSlices,
}
