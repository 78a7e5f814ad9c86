//! A region's memory on the device, and grids of given vertices in it: for the stages from hide on.

use super::grids::arm;
use super::lab::Lab;
use crate::reference::hide::Candidate;
use crate::reference::micropolygon::Micropolygon;
use crate::reference::sampling::Pattern;
use anthill::pipeline::buffers::{
    ActiveRegion, FrameSlices, GeometrySources, PageSlices, RegionCapacity, RegionSlices, StageMemory, Vec4,
};
use anthill::pipeline::frame;
use anthill::pipeline::hidden::{HidingForm, KeyframedPositions};
use anthill::pipeline::hide;
use anthill::pipeline::kernels::constants::{
    FIXED, FRAME_JITTER, NUMBER_MP_BITS, PIXEL_LAST, PIXELS_BEFORE, SLOT_FLAGS_SHIFT, SLOT_FLIP, SLOT_MATTE,
    SLOT_NV_SHIFT, SLOT_ONE_SIDED,
};
use anthill::pipeline::kernels::records::{Frame, Slot};
use anthill::pipeline::look::Interpolation;
use anthill::pipeline::piece::{ListRecords, Piece, RegionPiece};
use anthill::pipeline::pixels::{RegionPixels, packed_range};
use anthill::pipeline::plan::Division;
use anthill::schedule;
use std::ops::Range;

/// A diced grid as a test wants it.
#[derive(Clone, Debug)]
pub(crate) struct Mesh {
    pub nu: u32,
    pub nv: u32,
    /// Vertices in camera space, row by row.
    pub p: Vec<[f32; 3]>,
    /// Pixels that it may touch, inclusive.
    pub bound_px: [i32; 4],
    /// Depths that it may have.
    pub bound_z: [f32; 2],
    /// Seen only from the side of dP/du x dP/dv, or (true) from the other.
    pub one_sided: Option<bool>,
    /// It leaves no colour behind.
    pub matte: bool,
}

/// Bounds that exclude nothing.
pub(crate) const EVERYWHERE: [i32; 4] = [-PIXELS_BEFORE, -PIXELS_BEFORE, PIXEL_LAST, PIXEL_LAST];

impl Mesh {
    /// A grid without bounds.
    pub(crate) fn new(nu: u32, nv: u32, p: Vec<[f32; 3]>) -> Self {
        assert_eq!(p.len() as u32, (nu + 1) * (nv + 1));
        Self { nu, nv, p, bound_px: EVERYWHERE, bound_z: [0.0, f32::INFINITY], one_sided: None, matte: false }
    }

    /// One micropolygon with corners (0,0) (1,0) (0,1) (1,1).
    pub(crate) fn quad(corners: [[f32; 3]; 4]) -> Self {
        Self::new(1, 1, corners.to_vec())
    }

    /// log2 of the vertices of its slot.
    fn slot_log2(&self) -> u32 {
        self.p.len().next_power_of_two().max(4).ilog2()
    }

    fn slot(&self, rank: u32) -> Slot {
        let [x0, y0, x1, y1] = self.bound_px;
        let flag = |on: bool, flag: u32| if on { flag } else { 0 };
        let flags = flag(self.one_sided.is_some(), SLOT_ONE_SIDED)
            | flag(self.one_sided == Some(true), SLOT_FLIP)
            | flag(self.matte, SLOT_MATTE);
        Slot {
            rank,
            dims: self.nu | self.nv << SLOT_NV_SHIFT | flags << SLOT_FLAGS_SHIFT,
            bound_x: packed_range([x0, x1]),
            bound_y: packed_range([y0, y1]),
            zmin: self.bound_z[0],
            zmax: self.bound_z[1],
            instance: 0,
            detail: 0,
            motion: 0,
        }
    }

    /// Its micropolygons, as the grid of rank `rank` of a region.
    pub(crate) fn candidates(&self, frame: &Frame, rank: u32) -> Vec<Candidate> {
        let corner = |i: u32, j: u32| self.p[(j * (self.nu + 1) + i) as usize];
        let of = |local: u32| {
            let (i, j) = (local % self.nu, local / self.nu);
            let corners = [corner(i, j), corner(i + 1, j), corner(i, j + 1), corner(i + 1, j + 1)];
            Some(Candidate {
                micropolygon: Micropolygon::new(frame, corners)?,
                number: rank << NUMBER_MP_BITS | local,
                bound_px: self.bound_px,
                bound_z: self.bound_z,
                one_sided: self.one_sided,
            })
        };
        (0..self.nu * self.nv).filter_map(of).collect()
    }
}

/// The micropolygons of grids, whose ranks are their places.
pub(crate) fn candidates(frame: &Frame, meshes: &[Mesh]) -> Vec<Candidate> {
    (0..).zip(meshes).flat_map(|(rank, mesh)| mesh.candidates(frame, rank)).collect()
}

/// A frame without perspective in which x and y are pixels.
pub(crate) fn flat_frame(samples: [u32; 2], jitter: bool) -> Frame {
    Frame {
        raster_scale: [FIXED as f32; 2],
        raster_offset: [0.0; 2],
        near: 0.25,
        far: 1e6,
        eye_z: 1e-6,
        flags: if jitter { FRAME_JITTER } else { 0 },
        sampled_px: [-100, -100, 1000, 1000],
        picture_px: [0, 0, 900, 900],
        samples,
        sample_step: samples.map(|n| (FIXED.cast_unsigned() << 16) / n),
        eye_splits: 0,
        stratum: 1.0 / (samples[0] * samples[1]) as f32,
        opacity_threshold: 0.996,
        z_threshold: 0.996,
        lens_far: [0.0; 2],
        lens_near: [0.0; 2],
        spread: frame::spread(samples[0]),
        time_lattice: frame::time_lattice(samples),
        nth_step: (1 << 22) / (samples[0] * samples[1]),
        ramps: [0.0; 2],
        ramp_parts: [0.0; 2],
        ramp_inverse: [0.0; 2],
        open_time: 1.0,
        lens_wedges: 0,
        lens_density: 0.0,
        lens_density_scale: 0.0,
        least_width: 0.0,
    }
}

/// The pattern of a frame.
pub(crate) fn pattern(frame: &Frame) -> Pattern {
    Pattern { samples: frame.samples, jitter: frame.flags & FRAME_JITTER != 0 }
}

/// The pixels x0, y0, x1, y1, half-open.
pub(crate) const fn delivered(px: [i32; 4]) -> schedule::Region {
    schedule::Region::new(px).expect("not empty")
}

/// A region without an apron.
pub(crate) fn region(x0: i32, y0: i32, x1: i32, y1: i32) -> RegionPixels {
    RegionPixels { sampled: [x0, y0, x1, y1], inside: delivered([0, 0, 1, 1]) }
}

/// Records items as they are in a region that is cut into portions: the first half, then the second.
pub(crate) fn in_halves(items: u64, mut record: impl FnMut(&Range<u64>)) {
    for some in [0..items / 2, items / 2..items] {
        record(&some);
    }
}

/// What the stages of a region are given, apart from the lab that runs them.
#[derive(Clone, Copy)]
pub(crate) struct Given {
    pub frame: FrameSlices,
    pub page: PageSlices,
    pub region: ActiveRegion,
}

impl Given {
    pub(crate) fn memory(&self) -> StageMemory<'_> {
        StageMemory { frame: &self.frame, region: &self.region }
    }

    pub(crate) fn piece(&self, piece: &Piece) -> RegionPiece<'_> {
        let sources = GeometrySources { frame: &self.frame, page: self.page };
        RegionPiece { region: &self.region, sources, piece: *piece }
    }
}

/// A region at work.
pub(crate) struct Region {
    pub lab: Lab,
    pub frame: FrameSlices,
    /// A page without primitives: only trimmed ones are read when they are hidden.
    pub page: PageSlices,
    pub pixels: RegionPixels,
    pub capacity: RegionCapacity,
    pub slices: RegionSlices,
    pub division: Division,
}

impl Region {
    /// Takes memory for a region. `room` may change the capacities: 4096 grids, slots and colours, no entries.
    pub(crate) fn new(record: Frame, pixels: RegionPixels, room: impl FnOnce(&mut RegionCapacity)) -> Self {
        let mut lab = Lab::new();
        let pixel_samples = u64::from(record.samples[0] * record.samples[1]);
        let mut capacity = RegionCapacity {
            frame_grids: 1,
            grids: 4096,
            subpixels: pixels.count() * pixel_samples,
            pixel_samples,
            arena: 1 << 17,
            slots: 4096,
            colours: 4096,
            entries: 0,
            variables: 0,
            filtered: 1,
            sublists: 1,
            interpolation: Interpolation::Constant,
            behind: false,
            blurred: false,
            solids: false,
            deep: false,
            prints: 0,
            texture_slots: 0,
        };
        room(&mut capacity);
        let buffer = lab.buffer("region", capacity.bytes());
        let slices = RegionSlices::cut(buffer, &capacity).expect("it has the bytes");
        let frame = FrameSlices {
            frame: lab.upload("frame", bytemuck::cast_slice(&[record])),
            instances: lab.space("instances", 0),
            params: lab.space("params", 0),
            primvar_bindings: lab.space("primvar bindings", 0),
            displaced_by: lab.space("displaced_by", 0),
            clip_planes: lab.space("clip planes", 0),
            solid_primitives: lab.space("solid primitives", 0),
            solid_steps: lab.space("solid steps", 0),
            motion: lab.space("motion", 0),
            lens: lab.space("lens", 0),
            space_table: 0,
            textures: None,
            counters: None,
            lookup_counters: 0,
        };
        let page = PageSlices { primitives: lab.space("primitives", 0), data: lab.space("data", 0) };
        Self { lab, frame, page, pixels, capacity, slices, division: Division::Micropolygons }
    }

    /// Samples of a pixel.
    pub(crate) fn pixel_samples(&self) -> u32 {
        self.capacity.pixel_samples as u32
    }

    /// Its pixels and memory.
    pub(crate) fn context(&self) -> ActiveRegion {
        ActiveRegion { pixels: self.pixels, slices: self.slices, capacity: self.capacity }
    }

    /// All that stages are given.
    pub(crate) fn given(&self) -> Given {
        Given { frame: self.frame, page: self.page, region: self.context() }
    }

    /// Puts the grids from `first` on into slots, those of a size into one piece. Channel `c` of a piece's vertices has
    /// what `value` says of (grid, vertex, c).
    pub(crate) fn lay(
        &mut self,
        meshes: &[Mesh],
        first: usize,
        channels: u32,
        value: impl Fn(usize, usize, u32) -> Vec4,
    ) -> Vec<Piece> {
        let mut order: Vec<usize> = (first..meshes.len()).collect();
        order.sort_by_key(|&i| meshes[i].slot_log2());
        let slots: Vec<Slot> = order.iter().map(|&i| meshes[i].slot(i as u32)).collect();
        self.lab.write(self.slices.slots.part(0..slots.len() as u64), &slots);
        let (mut pieces, mut arena, mut slot_base) = (Vec::new(), Vec::new(), 0);
        for (number, part) in (0..).zip(order.chunk_by(|&a, &b| meshes[a].slot_log2() == meshes[b].slot_log2())) {
            let (slot_log2, slot_count, lists) = (meshes[part[0]].slot_log2(), part.len() as u32, arena.len() as u32);
            let base = lists + slot_count * ListRecords::of(slot_log2).all();
            arena.resize(base as usize, [f32::NAN; 4]);
            pieces.push(Piece { number, slot_base, slot_log2, slot_count, lists, base });
            for (channel, &mesh) in (0..channels).flat_map(|c| part.iter().map(move |mesh| (c, mesh))) {
                let start = arena.len();
                arena.extend((0..meshes[mesh].p.len()).map(|vertex| value(mesh, vertex, channel)));
                arena.resize(start + (1 << slot_log2), [f32::NAN; 4]);
            }
            slot_base += part.len() as u32;
        }
        self.lab.write(self.slices.arena.part(0..arena.len() as u64), &arena);
        for piece in &pieces {
            let grids = order[piece.slot_base as usize..].iter().take(piece.slot_count as usize);
            let grids: Vec<_> = grids.map(|&mesh| [meshes[mesh].nu, meshes[mesh].nv]).collect();
            arm(&mut self.lab, &self.slices, piece, &grids);
        }
        pieces
    }

    /// Puts the grids from `first` on into slots with their positions.
    pub(crate) fn lay_from(&mut self, meshes: &[Mesh], first: usize) -> Vec<Piece> {
        self.lay(meshes, first, 1, |mesh, vertex, _| {
            let [x, y, z] = meshes[mesh].p[vertex];
            [x, y, z, 0.0]
        })
    }

    /// Empty samples.
    pub(crate) fn clear(&mut self) {
        let region = self.context();
        self.lab.run(|recording| hide::record_clear(recording, &region));
    }

    /// Hides grids.
    pub(crate) fn hide(&mut self, meshes: &[Mesh]) {
        let pieces = self.lay_from(meshes, 0);
        let given = self.given();
        let form = HidingForm { division: self.division, variants: self.lab.variants() };
        self.lab.run(|recording| {
            for piece in &pieces {
                let positions = KeyframedPositions { base: piece.base, keyframes: 1, trimmed: false };
                hide::record_piece(recording, &given.piece(piece), positions, form);
            }
        });
    }

    /// The depths behind what samples see.
    pub(crate) fn behind(&mut self) -> Vec<u32> {
        let count = self.context().subpixels();
        self.lab.read(self.slices.behind.part(0..count))
    }

    /// The depth keys.
    pub(crate) fn keys(&mut self) -> Vec<u64> {
        let count = self.pixels.count() * self.capacity.pixel_samples;
        self.lab.read(self.slices.keys.part(0..count))
    }
}
