//! Bin: the micropolygons of opaque grids are listed for the bins of pixels that they may touch, and hidden bin by
//! bin, with depths in shared memory: a sort in the middle, between dicing and hiding (Molnar et al. 1994; Piko's
//! *binned* pipelines). The lists are kept in the colour store, which nothing else uses while opaque grids are hidden.

use super::buffers::ActiveRegion;
use super::hidden::{Division, HidingForm, KeyframedPositions, SampleTests};
use super::kernels::constants::{BIN_LISTED_MIN, BIN_SAMPLES_MAX, BLOCK_PX};
use super::kernels::records::Total;
use super::kernels::{bin, hide_binned};
use super::piece::{Per, RegionPiece, micropolygons_expected};
use super::recording::{Groups, Recording, Slice};
use super::scan::{self, PrefixSum, Summed};
use super::variants::KernelList;

/// Words to which parts of the store are aligned, as devices demand of texels.
const ALIGN_WORDS: u64 = 64;

/// A piece is listed if its micropolygons would fill the shortest lists of this part of the bins, because pieces are
/// often all in one place.
const WORTH_SHARE: u64 = 8;

/// The bins of a region, and where their lists are.
struct ScreenBins {
    /// Log2 of the pixels along each side.
    log2: u32,
    /// Bins of a row.
    row: u32,
    /// All bins.
    count: u32,
    counts: Slice<u32>,
    offsets: Slice<u32>,
    total: Slice<Total>,
    listed: Slice<u32>,
}

impl ScreenBins {
    /// The bins of a region; `None` where a pixel has more samples than a bin may, or the colour store is too small
    /// for useful lists.
    fn of(region: &ActiveRegion) -> Option<Self> {
        let pixels_max = u64::from(BIN_SAMPLES_MAX) / u64::from(region.pixel_samples());
        let log2 = pixels_max.checked_ilog2()? / 2;
        let [row, rows] = region.pixels.size().map(|side| side.div_ceil(1 << log2));
        let count = u64::from(row) * u64::from(rows);
        let store = region.slices.colours.cast::<u32>();
        let aligned = count.next_multiple_of(ALIGN_WORDS);
        let first = 2 * aligned + ALIGN_WORDS;
        if first + count > store.count() || count > region.capacity.scan_values() {
            return None;
        }
        Some(Self {
            log2,
            row,
            count: count as u32,
            counts: store.part(0..count),
            offsets: store.part(aligned..aligned + count),
            total: store.part(2 * aligned..2 * aligned + 1).cast(),
            listed: store.part(first..store.count()),
        })
    }
}

impl ScreenBins {
    /// Whether the lists of as many micropolygons are likely to be long enough.
    fn are_worth(&self, micropolygons: u64) -> bool {
        micropolygons >= u64::from(BIN_LISTED_MIN) * u64::from(self.count) / WORTH_SHARE
    }

    /// The kernel that hides them; it finds the farthest depth of blocks where bins have whole ones.
    fn variant(&self, division: Division) -> hide_binned::Variant {
        hide_binned::Variant { blocks: division == Division::BinnedFused && 1 << self.log2 >= BLOCK_PX }
    }
}

/// Whether micropolygons are hidden in bins: in plain pictures, where only coverage and depth are tested.
pub(super) fn can_hide(tests: SampleTests) -> bool {
    !tests.clipped && !tests.trimmed && !tests.blurred
}

/// Appends the hiding of a piece in bins, apart from the rest pass. `false`, and nothing is appended, if the region
/// has no room for lists, or the piece is too small for lists.
pub(super) fn record_piece(
    recording: &mut Recording,
    of: &RegionPiece<'_>,
    positions: KeyframedPositions,
    form: HidingForm,
) -> bool {
    let micropolygons = micropolygons_expected(of.piece.slot_count, of.piece.slot_log2);
    let Some(bins) = ScreenBins::of(of.region).filter(|bins| bins.are_worth(micropolygons)) else { return false };
    recording.fill(bins.counts, 0);
    record_lists(recording, of, positions, &bins, bin::Variant { fill: false });
    let sum = PrefixSum {
        values: bins.counts,
        offsets: bins.offsets,
        count: bins.count,
        summed: Summed::WORD,
        total: bins.total,
    };
    scan::record(recording, form.variants, of.region.slices.scan, &sum);
    record_lists(recording, of, positions, &bins, bin::Variant { fill: true });
    record_bins(recording, of, positions, &bins, bins.variant(form.division));
    true
}

fn record_lists(
    recording: &mut Recording,
    of: &RegionPiece<'_>,
    positions: KeyframedPositions,
    bins: &ScreenBins,
    variant: bin::Variant,
) {
    let RegionPiece { region, sources, piece } = of;
    let (slices, [region_width, region_height]) = (&region.slices, region.pixels.size());
    let bindings = bin::Bindings {
        frame_buffer: sources.frame.frame,
        slots: slices.slots,
        arena: slices.arena.cast(),
        keys: slices.keys,
        dirty: slices.dirty,
        rest: slices.rest,
        pieces: slices.pieces,
        bin_counts: bins.counts,
        bin_offsets: bins.offsets,
        total: bins.total,
        listed: bins.listed,
    };
    let push = bin::Push {
        slot_base: piece.slot_base,
        piece: piece.number,
        vertex_base: positions.base,
        region_x: region.pixels.sampled[0],
        region_y: region.pixels.sampled[1],
        region_width,
        region_height,
        bin_log2: bins.log2,
        bins_x: bins.row,
        bins: bins.count,
        capacity: bins.listed.count() as u32,
    };
    recording.dispatch(bin::dispatch(variant, of.groups(Per::Micropolygon), &bindings, &push));
}

fn record_bins(
    recording: &mut Recording,
    of: &RegionPiece<'_>,
    positions: KeyframedPositions,
    bins: &ScreenBins,
    variant: hide_binned::Variant,
) {
    let RegionPiece { region, sources, piece } = of;
    let (slices, [region_width, region_height]) = (&region.slices, region.pixels.size());
    let bindings = hide_binned::Bindings {
        frame_buffer: sources.frame.frame,
        slots: slices.slots,
        arena: slices.arena.cast(),
        keys: slices.keys,
        dirty: slices.dirty,
        pieces: slices.pieces,
        bin_offsets: bins.offsets,
        total: bins.total,
        listed: bins.listed,
        blocks: slices.blocks,
    };
    let push = hide_binned::Push {
        slot_base: piece.slot_base,
        piece: piece.number,
        vertex_base: positions.base,
        region_x: region.pixels.sampled[0],
        region_y: region.pixels.sampled[1],
        region_width,
        region_height,
        bin_log2: bins.log2,
        bins_x: bins.row,
        bins: bins.count,
        capacity: bins.listed.count() as u32,
    };
    let groups = Groups::Direct([bins.row, bins.count / bins.row, 1]);
    recording.dispatch(hide_binned::dispatch(variant, groups, &bindings, &push));
}

/// The kernels of hiding in bins; what is wide is hidden by those that are always there.
pub(super) fn kernels(form: HidingForm) -> KernelList {
    let mut own = vec![bin::kernel(bin::Variant { fill: false }), bin::kernel(bin::Variant { fill: true })];
    own.push(hide_binned::kernel(hide_binned::Variant { blocks: false }));
    if form.division == Division::BinnedFused {
        own.push(hide_binned::kernel(hide_binned::Variant { blocks: true }));
    }
    [own, scan::kernels(form.variants, Summed::WORD)].concat()
}
