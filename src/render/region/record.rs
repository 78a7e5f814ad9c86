//! Recording of loads: what happens to the slots of one load when it is hidden, sampled or shaded.

use crate::gpu::{Device, GpuError};
use crate::pipeline::buffers::{FrameSlices, PageSlices, RegionCapacity, RegionSlices};
use crate::pipeline::dice;
use crate::pipeline::displace::{self, ProgramPlaces, Slice};
use crate::pipeline::kernels::constants::{CHANNEL_PARAMETERS, CHANNEL_POSITION};
use crate::pipeline::look::ShadingKernel;
use crate::pipeline::plan::Pipeline;
use crate::pipeline::recording::{self, Recording};
use crate::pipeline::sample::{self, Slab};
use crate::pipeline::select::{DepthBuckets, RegionPixels};
use crate::pipeline::shade::{self, ShadeLayout};
use crate::pipeline::world::DrawnWorld;
use crate::pipeline::{self, hide};
use crate::render::region::loads::{Cost, Load, LoadPiece};
use crate::render::resident::geometry_pages::GeometryPages;
use crate::render::resident::grid_pages::GridPages;
use crate::scene::Filter;
use std::ops::Range;
use std::sync::Arc;

/// What all regions of a world share on one device.
pub(crate) struct DeviceWorld {
    pub world: Arc<DrawnWorld>,
    pub kernels: Arc<[ShadingKernel]>,
    pub frame: FrameSlices,
    pub grids: GridPages,
    pub depth: DepthBuckets,
    pub pipeline: Pipeline,
    pub stage: pipeline::Device,
    pub pages: GeometryPages,
    pub filter: Filter,
    /// The hider's depth filter, when a display asks for depth.
    pub depth_filter: Option<String>,
    /// Variables that hold their opacity already, by number.
    pub weighted: [u32; 2],
    /// Only find out how far displacement moves things: nothing is culled, hidden or shaded.
    pub measuring: bool,
}

/// A region at work: where, in what memory, how large.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub pixels: RegionPixels,
    pub slices: RegionSlices,
    pub capacity: RegionCapacity,
    pub pixel_samples: u32,
}

impl Place {
    /// An empty recording of one of the region's steps, labelled with the step and the region's pixels.
    pub(crate) fn recording(&self, step: &str) -> Recording {
        let [x0, y0, x1, y1] = self.pixels.inside;
        Recording::new(format!("{step} [{x0}, {x1}) x [{y0}, {y1})"))
    }
}

/// What becomes of diced micropolygons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// They hide.
    Hide,
    /// They leave entries in a slab.
    Sample(Slab),
}

impl DeviceWorld {
    fn kernel(&self, number: Option<usize>) -> Option<&ShadingKernel> {
        number.map(|number| &self.kernels[number])
    }

    /// What hiding or sampling a bin needs.
    pub(crate) fn hide_cost(&self, bin: usize) -> Cost {
        let bin = &self.world.hide_bins[bin];
        let (vertex, slot) = self
            .kernel(bin.displace)
            .map_or((1, 0), |kernel| (kernel.input_channels + kernel.output_channels, kernel.uniform_records));
        Cost { vertex, slot, page: bin.page }
    }

    /// What shading a bin needs.
    pub(crate) fn shade_cost(&self, bin: usize) -> Cost {
        let bin = &self.world.shade_bins[bin];
        let (vertex, slot) = ShadeLayout::cost(self.kernel(bin.displace), self.kernel(bin.shade));
        Cost { vertex, slot, page: bin.page }
    }

    /// Records that the largest slot of any bin takes up.
    pub(crate) fn slot_records_max(&self) -> u64 {
        let records = |cost: Cost| (u64::from(cost.vertex) << 8) + u64::from(cost.slot);
        let hide = (0..self.world.hide_bins.len()).map(|bin| records(self.hide_cost(bin)));
        let shade = (0..self.world.shade_bins.len()).map(|bin| records(self.shade_cost(bin)));
        hide.chain(shade).max().unwrap_or(256)
    }

    /// The pages that a load needs, by piece. They stay while its recording grows, see [`crate::render::region::loads::Loads::take`].
    fn bring(&mut self, device: &mut Device, load: &Load) -> Result<Vec<PageSlices>, GpuError> {
        load.pieces.iter().map(|piece| self.pages.make_resident(device, piece.page)).collect()
    }

    /// Appends the making of a load's slots, which lie in the order `sorted`.
    fn record_slots(
        &self,
        recording: &mut Recording,
        place: &Place,
        (load, sorted): (&Load, recording::Slice<u32>),
        keep: (bool, Slab),
    ) {
        let pieces: Vec<_> = load.pieces.iter().map(|piece| piece.piece).collect();
        hide::record_pieces(recording, &place.slices, &pieces);
        recording.unordered(|recording| {
            for piece in &pieces {
                let from = (sorted, load.first + piece.slot_base, piece);
                hide::record_cull(recording, &self.frame, &place.slices, &place.pixels, from, keep);
            }
        });
        hide::record_arm(recording, &place.slices, pieces.len());
    }

    /// Appends the dicing, displacing and hiding (sampling) of a load.
    pub(crate) fn record_hide(
        &mut self,
        device: &mut Device,
        recording: &mut Recording,
        place: &Place,
        (load, fate): (&Load, Fate),
    ) -> Result<(), GpuError> {
        let pages = self.bring(device, load)?;
        let frame = &self.frame;
        recording.stage("dice", |recording| {
            let slab = match fate {
                Fate::Hide => Slab::WHOLE,
                Fate::Sample(slab) => slab,
            };
            let cull = self.pipeline.cull && !self.measuring;
            self.record_slots(recording, place, (load, place.slices.sorted_hide), (cull, slab));
            recording.unordered(|recording| {
                for (piece, page) in load.pieces.iter().zip(&pages) {
                    let bin = &self.world.hide_bins[piece.bin];
                    let channels = self
                        .kernel(bin.displace)
                        .map_or(CHANNEL_POSITION, |k| k.geometry_channels | CHANNEL_PARAMETERS);
                    let to = (piece.piece.base, channels);
                    dice::record(recording, (frame, *page), &place.slices, bin.kind, &piece.piece, to);
                }
            });
        });
        if load.pieces.iter().any(|piece| self.world.hide_bins[piece.bin].displace.is_some()) {
            recording.stage("displace", |recording| self.record_displace(recording, place, load, &pages));
        }
        if self.measuring {
            return Ok(());
        }
        let stage = if fate == Fate::Hide { "hide" } else { "sample" };
        recording.stage(stage, |recording| {
            for piece in &load.pieces {
                let vertices = (&piece.piece, self.displaced_base(piece));
                match fate {
                    Fate::Hide => hide::record_piece(recording, frame, &place.slices, &place.pixels, vertices),
                    Fate::Sample(slab) => {
                        let memory = (&place.slices, &place.capacity);
                        sample::record_piece(recording, frame, memory, (&place.pixels, slab), vertices);
                    }
                }
            }
        });
        Ok(())
    }

    /// Where the final positions of a piece to be hidden begin.
    fn displaced_base(&self, piece: &LoadPiece) -> u32 {
        let displace = self.kernel(self.world.hide_bins[piece.bin].displace);
        piece.piece.base + displace.map_or(0, |kernel| kernel.input_channels * piece.piece.vertices())
    }

    fn record_displace(&self, recording: &mut Recording, place: &Place, load: &Load, pages: &[PageSlices]) {
        for (piece, page) in load.pieces.iter().zip(pages) {
            let bin = &self.world.hide_bins[piece.bin];
            let Some(kernel) = self.kernel(bin.displace) else { continue };
            let output_base = self.displaced_base(piece);
            let places = ProgramPlaces {
                input_base: piece.piece.base,
                output_base,
                uniform_base: output_base + kernel.output_channels * piece.piece.vertices(),
            };
            let sources = (&self.frame, *page);
            let program = (Slice::Position, kernel, bin.displace_primvars);
            displace::record_program(recording, sources, &place.slices, program, &piece.piece, places);
            let bases = (piece.piece.base, output_base);
            displace::record_measure(recording, &self.frame, &place.slices, &piece.piece, bases);
        }
    }

    /// Appends the shading of a load; visible colours of `places` are kept.
    pub(crate) fn record_shade(
        &mut self,
        device: &mut Device,
        recording: &mut Recording,
        place: &Place,
        (load, places): (&Load, Range<u32>),
    ) -> Result<(), GpuError> {
        let pages = self.bring(device, load)?;
        recording.stage("dice", |recording| {
            self.record_slots(recording, place, (load, place.slices.sorted_shade), (false, Slab::WHOLE));
            recording.unordered(|recording| {
                for (piece, page) in load.pieces.iter().zip(&pages) {
                    self.record_shade_dice(recording, place, piece, *page);
                }
            });
        });
        if load.pieces.iter().any(|piece| self.world.shade_bins[piece.bin].displace.is_some()) {
            recording.stage("displace", |recording| {
                for (piece, page) in load.pieces.iter().zip(&pages) {
                    self.record_shade_displace(recording, place, piece, *page);
                }
            });
        }
        recording.stage("shade", |recording| {
            for (piece, page) in load.pieces.iter().zip(&pages) {
                self.record_shade_colour(recording, place, (piece, *page), places.clone());
            }
        });
        Ok(())
    }

    fn layout(&self, piece: &LoadPiece) -> (Option<&ShadingKernel>, Option<&ShadingKernel>, ShadeLayout) {
        let bin = &self.world.shade_bins[piece.bin];
        let (displace, shade) = (self.kernel(bin.displace), self.kernel(bin.shade));
        (displace, shade, ShadeLayout::new(&piece.piece, displace, shade))
    }

    fn record_shade_dice(&self, recording: &mut Recording, place: &Place, piece: &LoadPiece, page: PageSlices) {
        let (displace, shade, layout) = self.layout(piece);
        let kind = self.world.shade_bins[piece.bin].kind;
        let sources = (&self.frame, page);
        let mut record = |base: u32, channels: u32| {
            if channels != 0 {
                dice::record(
                    recording,
                    sources,
                    &place.slices,
                    kind,
                    &piece.piece,
                    (base, channels | CHANNEL_PARAMETERS),
                );
            }
        };
        // Interpolated colours need the vertices' places.
        let positions = if self.world.smooth { CHANNEL_POSITION } else { 0 };
        let wanted = shade.map_or(0, |kernel| kernel.geometry_channels | positions);
        match displace {
            None => record(layout.input, wanted),
            Some(displace) => {
                record(layout.displace_input, displace.geometry_channels);
                // P and N come from the displacement program.
                record(layout.input, wanted & dice::CHANNEL_TANGENTS);
            }
        }
    }

    fn record_shade_displace(&self, recording: &mut Recording, place: &Place, piece: &LoadPiece, page: PageSlices) {
        let (Some(displace), _, layout) = self.layout(piece) else { return };
        let places = ProgramPlaces {
            input_base: layout.displace_input,
            output_base: layout.input,
            uniform_base: layout.displace_uniform,
        };
        let sources = (&self.frame, page);
        let program = (Slice::Position, displace, self.world.shade_bins[piece.bin].displace_primvars);
        displace::record_program(recording, sources, &place.slices, program, &piece.piece, places);
    }

    fn record_shade_colour(
        &self,
        recording: &mut Recording,
        place: &Place,
        (piece, page): (&LoadPiece, PageSlices),
        places: Range<u32>,
    ) {
        let (_, shade, layout) = self.layout(piece);
        if let Some(kernel) = shade {
            let at =
                ProgramPlaces { input_base: layout.input, output_base: layout.output, uniform_base: layout.uniform };
            let sources = (&self.frame, page);
            let program = (Slice::Colour, kernel, self.world.shade_bins[piece.bin].shade_primvars);
            displace::record_program(recording, sources, &place.slices, program, &piece.piece, at);
        }
        let memory = (&place.slices, &place.capacity);
        let bases = (layout.input, layout.output);
        shade::record_pack(recording, &self.frame, memory, (shade, &piece.piece), bases, places);
    }
}
