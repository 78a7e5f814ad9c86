//! Builds the picture of a world: its compiled shaders, and its geometry in pages.

use crate::film::{Film, PixelLayout};
use crate::gpu::Device;
use crate::pipeline::frame;
use crate::pipeline::look::ShadingKernel;
use crate::pipeline::world::DrawnWorld;
use crate::render::device::picture::{DevicePipelines, Keeps, Picture, WorldImager};
use crate::render::device::renderer::prepare_kernels;
use crate::render::region::bakes::BakeMemory;
use crate::render::region::layers::DeepSettings;
use crate::render::report::advice::on_few_keyframes;
use crate::render::resident::picture_textures::PictureTextures;
use crate::render::session::draw::Session;
use crate::render::session::outputs::FilmOutputs;
use crate::render::session::resident::Resident;
use crate::scene::{ParamValue, World};
use crate::shading::{CompiledImager, NamedTextures, Shading};
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
        if let Some(profile) = &self.options.line_profile {
            shaded.once.iter().for_each(|(pipeline, took)| profile.add_host(pipeline, *took));
        }
        let begin = Instant::now();
        let page_bytes = self.page_bytes();
        let drawn = match &mut self.resident {
            Some(resident) => resident.lower(world, &shaded.looks, page_bytes),
            None => DrawnWorld::new(world, &shaded.looks, page_bytes),
        };
        self.stats.stages.add(Stage::Upload, begin.elapsed());
        self.stats.counts.primitives += drawn.primitive_count();
        on_few_keyframes(self.reporter, &drawn);
        let picture = self.picture(world, film.layout(), outputs, shaded, drawn);
        if !self.options.check {
            picture.textures.open_known();
            self.textures.report_tiled();
        }
        match &mut self.resident {
            Some(resident) => resident.number(picture),
            None => Arc::new(picture),
        }
    }

    /// Lets the devices begin with the kernels that a world needs of which an outline is known, and with those of the
    /// maps of lights that cast shadows by themselves. Reports nothing: all is looked at again when the world was read.
    pub(super) fn foresee(&self, mut outline: World) {
        let devices: Vec<&Device> = self.slots.iter().filter_map(|slot| slot.device.as_ref()).collect();
        if devices.is_empty() || outline.options.hider.name == "null" {
            return;
        }
        // Maps are drawn first.
        let map = self.foresee_maps(&mut outline);
        let outline = if outline.moves() { outline.in_shutter() } else { outline };
        for world in map.into_iter().chain([outline]) {
            let picture = self.silent_picture(&world);
            for device in &devices {
                prepare_kernels(device, &picture);
            }
        }
    }

    /// Returns the picture of a world without a film, and reports nothing.
    fn silent_picture(&self, world: &World) -> Picture {
        let layout = Film::layout_of(&world.options);
        let outputs = FilmOutputs::of(&layout, world.options.filter);
        let shaded = self.shading.shade_silently(world, &outputs.variables);
        let drawn = DrawnWorld::new(world, &shaded.looks, self.page_bytes());
        self.picture(world, &layout, outputs, shaded, drawn)
    }

    /// Returns the bytes of a page of geometry, at most: every device must have room for some.
    fn page_bytes(&self) -> u64 {
        let limits = self.slots.iter().filter_map(|slot| slot.open_options.memory_bytes);
        self.tuning.page_bytes(limits.min().unwrap_or(u64::MAX))
    }

    fn picture(
        &self,
        world: &World,
        layout: &PixelLayout,
        outputs: FilmOutputs,
        shaded: Shading,
        drawn: DrawnWorld,
    ) -> Picture {
        let depths = wants_depths(layout, &drawn, &shaded.kernels);
        let pipelines = if depths { DevicePipelines::Depths } else { DevicePipelines::Colours };
        Picture {
            location: world.location.clone(),
            world: Arc::new(drawn),
            inputs: self.resident.as_ref().map(|_| shaded.inputs()),
            kernels: shaded.kernels,
            params: shaded.params,
            space_table: shaded.space_table,
            counters: shaded.counters,
            lookup_counters: shaded.lookup_counters,
            line_profile: self.options.line_profile.clone(),
            widest_filter: world.options.widest_filter(),
            filtered: outputs.filtered.into(),
            depth_filter: layout.has_depth().then_some(world.options.hider.depth_filter),
            film_records: outputs.records.into(),
            variables: outputs.variables.len() as u64,
            composition: outputs.composition,
            textures: self.textures(world, shaded.textures, &DMat4::IDENTITY),
            deep: layout.has_light().then(|| deep_settings(world)),
            bake_memory: Arc::new(BakeMemory::new(&self.memory)),
            pipelines: pipelines(self.options.pipelines.clone()),
            in_flight: self.tuning.in_flight,
            is_last: self.is_last,
            keeps: self.resident.as_ref().map_or(Keeps::Nothing, Resident::keeps),
            reserve_bytes: u64::from(world.options.reserve_kib) << 10,
            pages_bytes_max: self.tuning.resident_pages_bytes_max,
            grid_residency: self.tuning.grid_residency,
            visibility: self.tuning.visibility,
            perturb: self.tuning.perturb,
            interrupt: self.ticker.interrupt.clone(),
            tally: Arc::clone(&self.ticker.tally),
        }
    }
}

/// Whether depths are all that is wanted: those of what is opaque need no colours, unless computing these prints
/// something.
fn wants_depths(layout: &PixelLayout, world: &DrawnWorld, kernels: &[ShadingKernel]) -> bool {
    let translucent = world.hide_sublists.iter().any(|sublist| sublist.translucent);
    let prints = kernels.iter().any(|kernel| kernel.print_words > 0);
    layout.is_depth() && !translucent && !prints
}

impl Session<'_> {
    /// Returns a world's imager, if it has one that can be used.
    pub(super) fn imager(&mut self, world: &World) -> Option<WorldImager> {
        let CompiledImager { program, textures, counters } = self.shading.imager(world, self.reporter)?;
        let raster_from_camera = frame::raster_from_camera(&world.camera);
        let textures = self.textures(world, textures, &raster_from_camera);
        if !self.options.check {
            textures.open_known();
        }
        Some(WorldImager { program, textures, counters, line_profile: self.options.line_profile.clone() })
    }

    /// Returns the textures that programs look up which compute in a space given from the camera's. Those whose names
    /// are known are to be opened next, unless the world is only checked, because it may make some of them itself.
    fn textures(&self, world: &World, names: NamedTextures, space_from_camera: &DMat4) -> Arc<PictureTextures> {
        let scene_bytes = u64::from(world.options.texture_memory_kib) << 10;
        Arc::new(PictureTextures {
            store: Arc::clone(&self.textures),
            names,
            folders: world.options.search.texture.clone().into(),
            location: world.location.clone(),
            memory_bytes: self.options.texture_memory_bytes.or((scene_bytes > 0).then_some(scene_bytes)),
            current_from_world: *space_from_camera * *world.camera.camera_from_world.first(),
        })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::{KernelVariants, kernels_of};
    use crate::render::session::reading::BegunReading;
    use crate::render::session::run::next_batch;
    use crate::render::session::test_sessions::{read, with_session};
    use crossbeam::channel::bounded;
    use std::collections::BTreeSet;
    use std::time::Duration;

    /// Returns the kernels of a world that are known before its textures are.
    fn needed(session: &Session<'_>, world: &World) -> BTreeSet<String> {
        let picture = session.silent_picture(world);
        let device = session.slots[0].device.as_ref().expect("it is open");
        let variants = KernelVariants { serial: device.prefers_serial_kernels() };
        let pipeline = picture.pipeline_of(device.info());
        let kernels = kernels_of(&picture.world, &picture.kernels, &pipeline, variants, &picture.displays());
        let programs = picture.kernels.iter().filter(|kernel| !kernel.uses_textures).flat_map(|kernel| &kernel.passes);
        let labels = kernels.iter().map(|kernel| kernel.label()).chain(programs.map(|pass| pass.kernel.label()));
        labels.map(str::to_owned).collect()
    }

    /// Hands an outline to a session as reading does, and returns the kernels that are prepared, of which as many are
    /// needed.
    fn prepared(session: &Session<'_>, outline: World, needed: usize) -> BTreeSet<String> {
        let ((items_sender, items), (outline_sender, outlines)) = (bounded(1), bounded(1));
        outline_sender.send(outline).expect("it is received");
        let reading = BegunReading::of_channels(items, outlines);
        let batch = std::thread::scope(|scope| {
            scope.spawn(|| {
                // Reading ends once the outline was taken.
                while !outline_sender.is_empty() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                drop(items_sender);
            });
            next_batch(session, &session.memory, &reading, true)
        });
        assert!(batch.is_empty(), "no world was read");
        let device = session.slots[0].device.as_ref().expect("it is open");
        let begin = Instant::now();
        while (device.kernel_counts().ready as usize) < needed {
            assert!(device.kernel_counts().failed == 0 && begin.elapsed() < Duration::from_secs(600));
            std::thread::sleep(Duration::from_millis(5));
        }
        session.ticker.compile_log.take().0.into_iter().map(|compiled| compiled.kernel).collect()
    }

    const POINT: &str = "Points \"P\" [0 0 5] \"constantwidth\" [1] Color 1 0 0\n";

    #[test]
    fn an_outline_prepares_the_kernels_that_its_world_needs_and_no_others() {
        let points = POINT.repeat(5000);
        let mut scene = read(format!(
            "Display \"t\" \"exr\" \"rgba\" WorldBegin Surface \"matte\" Sphere 1 -1 1 360\n{points}WorldEnd"
        ));
        let (outline, world) = (scene.outlines.remove(0), scene.worlds.remove(0));
        assert_eq!((outline.drawables.len(), world.drawables.len()), (2, 5001), "one of each sort");
        with_session(Some("0"), |session| {
            let needed = needed(session, &world);
            assert_eq!(prepared(session, outline, needed.len()), needed);
        });
    }

    #[test]
    fn an_outline_prepares_the_kernels_of_maps_that_lights_make() {
        let points = POINT.repeat(5000);
        let mut scene = read(format!(
            "Display \"t\" \"exr\" \"rgba\" WorldBegin Attribute \"light\" \"string shadows\" \"on\"\n\
             Attribute \"autoshadows\" \"int[2] res\" [16 16]\n\
             LightSource \"pointlight\" 1 \"from\" [0 9 0] LightSource \"distantlight\" 2\n\
             Surface \"matte\" Sphere 1 -1 1 360\n{points}WorldEnd"
        ));
        let (outline, mut world) = (scene.outlines.remove(0), scene.worlds.remove(0));
        with_session(Some("0"), |session| {
            let mut of_maps = world.clone();
            let map = session.foresee_maps(&mut of_maps).expect("lights cast shadows");
            let needed = needed(session, &map).union(&needed(session, &of_maps)).cloned().collect::<BTreeSet<_>>();
            assert_eq!(prepared(session, outline, needed.len()), needed);
            let counts = of_maps.lights.iter().map(|light| light.maps.len()).collect::<Vec<_>>();

            // The maps, and the picture with them, need no other kernels.
            session.cast_shadows(&mut world);
            assert_eq!(world.lights.iter().map(|light| light.maps.len()).collect::<Vec<_>>(), counts);
            assert_eq!(counts, [6, 1]);
            let device = session.slots[0].device.as_ref().expect("it is open");
            prepare_kernels(device, &session.silent_picture(&world));
            let later = session.ticker.compile_log.take().0.into_iter().map(|compiled| compiled.kernel);
            assert_eq!(later.collect::<BTreeSet<_>>(), BTreeSet::new());
        });
    }
}
