//! What a finished region gives back: its pixels, and what they took.

use crate::deep::Visibility;
use crate::host_memory::Charge;
use crate::pipeline::buffers::RegionCapacity;
use crate::render::region::bakes::BakedPoints;
use crate::render::region::prints::PrintedCalls;
use crate::stats::TextureLossStats;
use std::sync::Arc;

/// A finished region.
#[derive(Clone, Debug, Default)]
pub(crate) struct RegionResult {
    /// Colour and alpha, then each variable: four floats a pixel, group by group.
    pub pixels: Vec<[f32; 4]>,
    /// Depth of each pixel; empty when no display asks for it.
    pub depths: Vec<f32>,
    /// The light that reaches each depth of each pixel; empty when no display asks for it.
    pub light: Vec<Visibility>,
    /// What it took.
    pub counts: RegionCounts,
    /// What its shaders printed.
    pub printed: PrintedCalls,
    /// The points that they baked.
    pub baked: BakedPoints,
    /// The memory that these take.
    pub bake_charge: Option<Arc<Charge>>,
    /// Seconds of its submissions by the device's clock.
    pub device_s: f64,
    /// Subpixels that it sampled.
    pub subpixels: u64,
    /// What it had room for.
    pub capacity: Option<RegionCapacity>,
    /// The memory of its device in use when it was finished.
    pub memory_bytes: u64,
}

/// What a region took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RegionCounts {
    pub selected: u64,
    pub culled_grids: u64,
    pub culled_micropolygons: u64,
    pub visible_micropolygons: u64,
    pub shaded_vertices: u64,
    pub entries: u64,
    pub slabs: u64,
    pub thick_slabs: u64,
    pub rounds: u64,
    pub lost_samples: u64,
    pub submissions: u64,
    pub replaced_values: ReplacedValues,
    pub open_solids: OpenSolids,
    pub texture_loss: TextureLossStats,
    pub missed_tiles: u64,
    /// Regions whose opaque surfaces were not hidden again: what samples see was kept.
    pub recalled_regions: u64,
}

/// Visible micropolygons with values of their programs that were not finite, and were replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReplacedValues {
    /// How many; those that several regions see count in each.
    pub micropolygons: u64,
    /// The first of their instances.
    pub instance: Option<u32>,
}

impl ReplacedValues {
    /// What a device has counted: the number, and the complement of the least instance.
    pub(crate) fn new(micropolygons: u32, instance_complement: u32) -> Self {
        let instance = (micropolygons > 0).then_some(!instance_complement);
        Self { micropolygons: micropolygons.into(), instance }
    }

    fn add(&mut self, other: Self) {
        self.micropolygons += other.micropolygons;
        self.instance = self.instance.into_iter().chain(other.instance).min();
    }
}

/// Samples that end inside of primitive solids, which are open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OpenSolids {
    /// How many; those of several regions count in each.
    pub samples: u64,
    /// The first of the primitives.
    pub primitive: Option<u32>,
}

impl OpenSolids {
    /// What a device has counted: the number, and the complement of the least primitive.
    pub(crate) fn new(samples: u32, primitive_complement: u32) -> Self {
        Self { samples: samples.into(), primitive: (samples > 0).then_some(!primitive_complement) }
    }

    fn add(&mut self, other: Self) {
        self.samples += other.samples;
        self.primitive = self.primitive.into_iter().chain(other.primitive).min();
    }
}

impl RegionCounts {
    /// Adds what another region took.
    pub(crate) fn add(&mut self, other: &Self) {
        self.selected += other.selected;
        self.culled_grids += other.culled_grids;
        self.culled_micropolygons += other.culled_micropolygons;
        self.visible_micropolygons += other.visible_micropolygons;
        self.shaded_vertices += other.shaded_vertices;
        self.entries += other.entries;
        self.slabs += other.slabs;
        self.thick_slabs += other.thick_slabs;
        self.rounds += other.rounds;
        self.lost_samples += other.lost_samples;
        self.submissions += other.submissions;
        self.replaced_values.add(other.replaced_values);
        self.open_solids.add(other.open_solids);
        self.texture_loss.add(&other.texture_loss);
        self.missed_tiles += other.missed_tiles;
        self.recalled_regions += other.recalled_regions;
    }
}
