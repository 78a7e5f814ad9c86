//! Builds the picture of a world: its compiled shaders, and its geometry in pages.

use crate::film::Film;
use crate::pipeline::plan::Pipeline;
use crate::pipeline::world::DrawnWorld;
use crate::render::device::picture::Picture;
use crate::render::session::draw::Session;
use crate::render::session::outputs::FilmOutputs;
use crate::scene::World;
use crate::stats::Stage;
use std::sync::Arc;
use std::time::Instant;

impl Session<'_> {
    /// Compiles the shaders of a world and lays out its geometry in pages, ready for devices.
    pub(super) fn build_picture(&mut self, world: &World, film: &Film) -> Arc<Picture> {
        let begin = Instant::now();
        let outputs = FilmOutputs::of(film.layout(), world.options.filter);
        let shaded = self.shading.shade(world, &outputs.variables, self.reporter);
        self.stats.stages.add(Stage::Compile, begin.elapsed());
        let begin = Instant::now();
        let drawn = DrawnWorld::new(world, &shaded.looks, self.tuning.page_bytes);
        self.stats.stages.add(Stage::Upload, begin.elapsed());
        self.stats.counts.primitives += drawn.primitive_count();
        Arc::new(Picture {
            location: world.location.clone(),
            world: Arc::new(drawn),
            kernels: shaded.kernels,
            params: shaded.params,
            space_table: shaded.space_table,
            texts: shaded.texts,
            widest_filter: world.options.widest_filter(),
            filtered: outputs.filtered.into(),
            depth_filter: film.layout().has_depth().then_some(world.options.hider.depth_filter),
            film_records: outputs.records.into(),
            variables: outputs.variables.len() as u64,
            composition: outputs.composition,
            pipeline: Pipeline::ANTHILL,
            in_flight: self.tuning.in_flight,
            reserve_bytes: u64::from(world.options.reserve_kib) << 10,
            pages_bytes_max: self.tuning.resident_pages_bytes_max,
            grid_residency: self.tuning.grid_residency,
            perturb: self.tuning.perturb,
            captured_region: self.tuning.captured_region,
            interrupt: self.ticker.interrupt.clone(),
            tally: Arc::clone(&self.ticker.tally),
        })
    }
}
