//! Dispatches of a region's steps, as ARCHITECTURE.md, "Cost of a region", counts them.

use super::buffers::{FrameSlices, GridPageSlices, PageSlices, RegionCapacity, RegionSlices};
use super::dice::{self, Piece};
use super::geometry::Kind;
use super::kernels::constants::CHANNEL_POSITION;
use super::kernels::test::facing;
use super::look::ShadingKernel;
use super::plan::Pipeline;
use super::recording::{Buffer, Recording};
use super::sample::Slab;
use super::select::{DepthBuckets, RegionPixels};
use super::{ALL, Device, composite, displace, filter, hide, sample, select, shade};
use crate::scene::{Filter, FilterKind};
use std::sync::Arc;

/// A region of 16x16 pixels with an apron of 1 at 4x4 samples, in memory that is only a name.
struct Region {
    frame: FrameSlices,
    grids: GridPageSlices,
    capacity: RegionCapacity,
    slices: RegionSlices,
    pixels: RegionPixels,
}

const SAMPLES: u32 = 16;
const FILTER: Filter = Filter { kind: FilterKind::Box, width: [2.0, 2.0] };

impl Region {
    fn new(entries: u64, variables: u64) -> Self {
        let capacity = RegionCapacity {
            frame_grids: 1000,
            grids: 1000,
            subpixels: 18 * 18 * u64::from(SAMPLES),
            pixel_samples: u64::from(SAMPLES),
            arena: 1 << 14,
            slots: 1 << 10,
            colours: 1 << 10,
            entries,
            variables,
            bins: 3,
            smooth: false,
        };
        let buffer = Buffer::new("frame", 0, 0, 0, 1 << 20);
        let frame = FrameSlices {
            frame: buffer.slice_at(0, 1),
            instances: buffer.slice_at(4096, 4),
            params: buffer.slice_at(8192, 4),
            primvar_bindings: buffer.slice_at(12_288, 4),
            moved: buffer.slice_at(16_384, 4),
            clip_planes: buffer.slice_at(20_480, 0),
            space_table: 0,
        };
        let buffer = Buffer::new("grids", 0, 1, 0, GridPageSlices::bytes(1000));
        let grids = GridPageSlices::cut(buffer, 1000).expect("made for it");
        let slices =
            RegionSlices::cut(Buffer::new("region", 0, 2, 0, capacity.bytes()), &capacity).expect("made for it");
        let pixels = RegionPixels { sampled: [-1, -1, 17, 17], inside: [0, 0, 16, 16] };
        Self { frame, grids, capacity, slices, pixels }
    }

    fn memory(&self) -> (&RegionSlices, &RegionCapacity) {
        (&self.slices, &self.capacity)
    }

    fn region(&self) -> (&RegionPixels, u32) {
        (&self.pixels, SAMPLES)
    }

    fn page(&self) -> PageSlices {
        let buffer = Buffer::new("page", 0, 3, 0, 4096);
        PageSlices { primitives: buffer.slice_at(0, 1), data: buffer.slice_at(1024, 64) }
    }
}

const SERIAL: Device = Device { serial: true };

fn dispatches(record: impl FnOnce(&mut Recording)) -> usize {
    let mut recording = Recording::new("counted");
    record(&mut recording);
    recording.dispatches().count()
}

fn pieces(count: u32) -> Vec<Piece> {
    let piece =
        |number| Piece { number, slot_base: number, slot_log2: 4, mp_log2: 3, slot_count: 1, base: 256 * number };
    (0..count).map(piece).collect()
}

/// The making of slots of a load: what hiding and shading begin with.
fn record_slots(region: &Region, recording: &mut Recording, pieces: &[Piece]) {
    hide::record_pieces(recording, &region.slices, pieces);
    for piece in pieces {
        let from = (region.slices.sorted_hide, piece.slot_base, piece);
        hide::record_cull(recording, &region.frame, &region.slices, &region.pixels, from, (true, Slab::WHOLE));
    }
    hide::record_arm(recording, &region.slices, pieces.len());
}

#[test]
fn select_is_eleven_and_two_for_each_further_page_of_grids() {
    let r = Region::new(0, 0);
    for device in [SERIAL, Device { serial: false }] {
        let depth = DepthBuckets::new(1.0, 10.0);
        let select = |pages: usize| {
            dispatches(|recording| {
                hide::record_clear(recording, &r.slices, r.region());
                select::record_clear(recording, &r.slices);
                for _ in 0..pages {
                    select::record_choice(recording, device, &r.grids, &r.slices, &r.pixels, &ALL);
                }
                select::record_ranks(recording, device, &r.slices);
                for _ in 0..pages {
                    select::record_gather(recording, device, &r.grids, r.memory(), (&r.pixels, depth), &ALL);
                }
                let order = (depth, 500);
                select::record_batches(recording, device, Pipeline::ANTHILL, &r.frame, r.memory(), order);
            })
        };
        assert_eq!([1, 2, 5].map(select), [11, 13, 19]);
    }
}

#[test]
fn what_is_seen_is_ten_and_a_round_s_sort_five() {
    let r = Region::new(0, 0);
    let order = |recording: &mut Recording| {
        shade::record_order(recording, SERIAL, &r.frame, r.memory(), (500, 0..1024));
    };
    let marked = dispatches(|recording| {
        shade::record_mark(recording, &r.slices, r.region(), &ALL);
        shade::record_places(recording, SERIAL, r.memory(), 500);
        order(recording);
    });
    assert_eq!((marked, dispatches(order)), (10, 5));
}

#[test]
fn a_load_to_hide_or_to_sample() {
    for count in [1, 2, 7] {
        let pieces = pieces(count);
        let r = Region::new(100, 0);
        let load = |sampled: bool| {
            dispatches(|recording| {
                record_slots(&r, recording, &pieces);
                for piece in &pieces {
                    let sources = (&r.frame, r.page());
                    dice::record(recording, sources, &r.slices, Kind::Patch, piece, (piece.base, CHANNEL_POSITION));
                    let vertices = (piece, piece.base);
                    if sampled {
                        let slab = (&r.pixels, Slab::WHOLE);
                        sample::record_piece(recording, &r.frame, r.memory(), slab, vertices);
                    } else {
                        hide::record_piece(recording, &r.frame, &r.slices, &r.pixels, vertices);
                    }
                }
            })
        };
        assert_eq!([load(false), load(true)], [4 * count as usize + 1; 2]);
        assert_eq!(dispatches(|recording| hide::record_blocks(recording, &r.slices, &r.pixels, SAMPLES)), 1);
    }
}

fn program() -> ShadingKernel {
    ShadingKernel {
        kernel: Arc::clone(facing::kernel()),
        geometry_channels: 3,
        input_channels: 4,
        uniform_records: 0,
        output_channels: 2,
        opacity_channel: Some(1),
        variable_channels: Vec::new(),
    }
}

#[test]
fn a_load_to_shade_and_what_programs_add() {
    let (r, program) = (Region::new(0, 0), program());
    let places = displace::ProgramPlaces { input_base: 0, output_base: 64, uniform_base: 96 };
    let run = |recording: &mut Recording, piece: &Piece, primvars: bool| {
        let sources = (&r.frame, r.page());
        let kernel = (displace::Slice::Colour, &program, primvars);
        displace::record_program(recording, sources, &r.slices, kernel, piece, places);
    };
    for count in [1, 3] {
        let pieces = pieces(count);
        let load = |primvars: bool| {
            dispatches(|recording| {
                record_slots(&r, recording, &pieces);
                for piece in &pieces {
                    let sources = (&r.frame, r.page());
                    dice::record(recording, sources, &r.slices, Kind::Curve, piece, (piece.base, 3));
                    run(recording, piece, primvars);
                    let kernel = (Some(&program), piece);
                    shade::record_pack(recording, &r.frame, r.memory(), kernel, (0, 64), 0..1024);
                }
            })
        };
        let count = count as usize;
        assert_eq!([load(false), load(true)], [5 * count + 1, 6 * count + 1]);
    }
    let piece = pieces(1)[0];
    let displaced = dispatches(|recording| {
        run(recording, &piece, false);
        displace::record_measure(recording, &r.frame, &r.slices, &piece, (0, 64));
    });
    assert_eq!(displaced, 3, "more for a displaced piece that is hidden");
}

#[test]
fn the_end_of_a_region() {
    for variables in [0, 2] {
        let r = Region::new(0, variables);
        let count = dispatches(|recording| {
            composite::record(recording, &r.frame, r.memory(), r.region(), (0..1024, &ALL));
            filter::record(recording, &r.frame, r.memory(), (&r.pixels, &FILTER), &ALL);
            filter::record_depth(recording, r.memory(), r.region(), ("min", &ALL));
        });
        assert_eq!(count, 1 + (1 + variables as usize) + 1);
    }
}

#[test]
fn a_slab_is_fifteen_and_its_compositing() {
    let r = Region::new(5000, 0);
    assert_eq!(dispatches(|recording| composite::record_clear(recording, r.memory(), r.region(), &ALL)), 1);
    assert_eq!(dispatches(|recording| sample::record_clear(recording, r.memory(), &r.pixels, 500)), 0);
    let order = dispatches(|recording| {
        sample::record_lists(recording, SERIAL, r.memory(), &r.pixels);
        sample::record_scatter(recording, &r.slices, 700, &ALL);
        sample::record_sort(recording, r.memory(), &r.pixels, &ALL);
        shade::record_places(recording, SERIAL, r.memory(), 500);
        composite::record_places(recording, &r.slices, 700, &ALL);
        shade::record_order(recording, SERIAL, &r.frame, r.memory(), (500, 0..1024));
    });
    assert_eq!(order, 15);
    for again in [false, true] {
        let slab = dispatches(|recording| {
            composite::record_slab(recording, &r.frame, r.memory(), r.region(), ([u32::MAX; 2], again, &ALL));
        });
        assert_eq!(slab, 1);
    }
}
