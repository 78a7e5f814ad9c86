//! Builds the picture of a world: its compiled shaders, and its geometry in pages.

use crate::film::{Film, PixelLayout};
use crate::pipeline::frame;
use crate::pipeline::look::ShadingKernel;
use crate::pipeline::world::DrawnWorld;
use crate::render::device::picture::{DevicePipelines, Picture, WorldImager};
use crate::render::region::layers::DeepSettings;
use crate::render::resident::picture_textures::PictureTextures;
use crate::render::session::draw::Session;
use crate::render::session::outputs::FilmOutputs;
use crate::scene::{ParamValue, World};
use crate::shading::NamedTextures;
use crate::stats::Stage;
use glam::DMat4;
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
        let depths = wants_depths(film.layout(), &drawn, &shaded.kernels);
        let pipelines = if depths { DevicePipelines::Depths } else { DevicePipelines::Colours };
        Arc::new(Picture {
            location: world.location.clone(),
            world: Arc::new(drawn),
            kernels: shaded.kernels,
            params: shaded.params,
            space_table: shaded.space_table,
            widest_filter: world.options.widest_filter(),
            filtered: outputs.filtered.into(),
            depth_filter: film.layout().has_depth().then_some(world.options.hider.depth_filter),
            film_records: outputs.records.into(),
            variables: outputs.variables.len() as u64,
            composition: outputs.composition,
            textures: self.textures(world, shaded.textures, &DMat4::IDENTITY),
            deep: film.wants_light().then(|| deep_settings(world)),
            pipelines: pipelines(self.options.pipelines.clone()),
            in_flight: self.tuning.in_flight,
            is_last: self.is_last,
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

/// Whether depths are all that is wanted: those of what is opaque need no colours, unless computing these prints
/// something.
fn wants_depths(layout: &PixelLayout, world: &DrawnWorld, kernels: &[ShadingKernel]) -> bool {
    let translucent = world.hide_bins.iter().any(|bin| bin.translucent);
    let prints = kernels.iter().any(|kernel| kernel.print_words > 0);
    layout.is_depth() && !translucent && !prints
}

impl Session<'_> {
    /// A world's imager, if it has one that can be used.
    pub(super) fn imager(&mut self, world: &World) -> Option<WorldImager> {
        let (program, names) = self.shading.imager(world, self.reporter)?;
        let raster_from_camera = frame::raster_from_camera(&world.camera);
        Some(WorldImager { program, textures: self.textures(world, names, &raster_from_camera) })
    }

    /// The textures that programs look up which compute in a space given from the camera's. They are opened unless the
    /// world is only checked, because it may make some of them itself.
    fn textures(&self, world: &World, names: NamedTextures, space_from_camera: &DMat4) -> Arc<PictureTextures> {
        let scene_bytes = u64::from(world.options.texture_memory_kib) << 10;
        let textures = Arc::new(PictureTextures {
            store: Arc::clone(&self.textures),
            names,
            folders: world.options.search.texture.clone().into(),
            location: world.location.clone(),
            memory_bytes: self.options.texture_memory_bytes.or((scene_bytes > 0).then_some(scene_bytes)),
            current_from_world: *space_from_camera * *world.camera.camera_from_world.first(),
        });
        if !self.options.check {
            textures.open_known();
        }
        textures
    }
}

/// The error of deep shadow maps is that of `Option "limits" "deepshadowerror"`, as in PRMan.
fn deep_settings(world: &World) -> DeepSettings {
    let given = match world.options.other.get("limits:deepshadowerror") {
        Some(ParamValue::Floats(error)) => error.first().copied().filter(|error| (0.0..=1.0).contains(error)),
        _ => None,
    };
    DeepSettings { tolerance: given.unwrap_or(0.01) }
}
