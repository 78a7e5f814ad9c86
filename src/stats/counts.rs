//! Amounts of work.

use serde::Serialize;

/// Amounts of work. Work that several regions repeat is counted each time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Primitives that overlapped a region.
    pub primitives: u64,
    /// Grids diced.
    pub grids: u64,
    /// Micropolygons diced.
    pub micropolygons: u64,
    /// Vertices that were shaded.
    pub shaded_vertices: u64,
    /// Sample points, that is, subpixels.
    pub sample_points: u64,
    /// Visible micropolygons with values that were not finite, and were replaced.
    pub replaced_micropolygons: u64,
    /// Regions whose opaque surfaces were not hidden again, because what samples see was kept.
    pub recalled_regions: u64,
}

impl Counts {
    /// Adds the work of others.
    pub(super) fn add(&mut self, other: &Self) {
        self.primitives += other.primitives;
        self.grids += other.grids;
        self.micropolygons += other.micropolygons;
        self.shaded_vertices += other.shaded_vertices;
        self.replaced_micropolygons += other.replaced_micropolygons;
        self.sample_points += other.sample_points;
        self.recalled_regions += other.recalled_regions;
    }
}
