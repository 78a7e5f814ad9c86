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

    /// Lets the devices begin with the kernels that a world needs of which an outline is known. Reports nothing: all is
    /// looked at again when the world was read. Lights that cast shadows by themselves get their maps only then, and
    /// other programs with them, so such worlds are waited for.
    pub(super) fn foresee(&self, outline: World) {
        let devices: Vec<&Device> = self.slots.iter().filter_map(|slot| slot.device.as_ref()).collect();
        let casts = outline.lights.iter().any(|light| light.casts.is_some());
        if devices.is_empty() || casts || outline.options.hider.name == "null" {
            return;
        }
        let world = if outline.moves() { outline.in_shutter() } else { outline };
        let layout = Film::layout_of(&world.options);
        let outputs = FilmOutputs::of(&layout, world.options.filter);
        let shaded = self.shading.shade_silently(&world, &outputs.variables);
        let drawn = DrawnWorld::new(&world, &shaded.looks, self.page_bytes());
        let picture = self.picture(&world, &layout, outputs, shaded, drawn);
        for device in devices {
            prepare_kernels(device, &picture);
        }
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
    use crate::diagnostic::Reporter;
    use crate::gpu::{OpenOptions, open_each};
    use crate::host_memory::{Charge, HostMemory};
    use crate::options::RenderOptions;
    use crate::pipeline::{DisplayDemands, KernelVariants, kernels_of};
    use crate::render::session::devices::DeviceSlot;
    use crate::render::session::draw::SessionSetup;
    use crate::render::session::limits::RenderLimits;
    use crate::render::session::progress_ticker::ProgressTicker;
    use crate::render::session::reading::BegunReading;
    use crate::render::session::run::next_batch;
    use crate::render::session::tuning::Tuning;
    use crate::rib;
    use crossbeam::channel::bounded;
    use std::collections::BTreeSet;
    use std::ops::ControlFlow;
    use std::time::Duration;

    #[derive(Default)]
    struct Consumer {
        outlines: Vec<World>,
        worlds: Vec<World>,
    }

    impl rib::WorldConsumer for Consumer {
        fn foresee(&mut self, outline: World) {
            self.outlines.push(outline);
        }

        fn take(&mut self, world: World, _: Arc<Charge>) -> ControlFlow<()> {
            self.worlds.push(world);
            ControlFlow::Continue(())
        }
    }

    #[test]
    fn an_outline_prepares_the_kernels_that_its_world_needs_and_no_others() {
        let points = "Points \"P\" [0 0 5] \"constantwidth\" [1] Color 1 0 0\n".repeat(5000);
        let text =
            format!("Display \"t\" \"exr\" \"rgba\" WorldBegin Surface \"matte\" Sphere 1 -1 1 360\n{points}WorldEnd");
        let (reporter, mut consumer) = (Arc::new(Reporter::silent()), Consumer::default());
        let input = rib::Input::Memory { name: "t.rib".to_owned(), bytes: text.into() };
        rib::read(&input, &rib::Settings::default(), &reporter, &mut consumer);
        let (outline, world) = (consumer.outlines.remove(0), consumer.worlds.remove(0));
        assert_eq!((outline.drawables.len(), world.drawables.len()), (2, 5001), "one of each sort");

        let options = RenderOptions::default();
        let ticker = ProgressTicker::new(&(), RenderLimits::new(&options, &reporter));
        let open_options = OpenOptions {
            validate: true,
            compile_log: Arc::clone(&ticker.compile_log),
            ..OpenOptions::new(Arc::clone(&reporter))
        };
        let openings = open_each("0", &open_options).expect("there is a device");
        let slots: Vec<_> = openings.into_iter().map(|opening| DeviceSlot::new(opening, &open_options)).collect();
        let (tuning, memory) = (Tuning::default(), HostMemory::new(u64::MAX));
        let setup = SessionSetup { options: &options, reporter: &reporter, ticker: &ticker, tuning, memory };
        let session = Session::new(setup, slots);
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
            next_batch(&session, &session.memory, &reading, true)
        });
        assert!(batch.is_empty(), "no world was read");

        let layout = Film::layout_of(&world.options);
        let outputs = FilmOutputs::of(&layout, world.options.filter);
        let shaded = session.shading.shade_silently(&world, &outputs.variables);
        let drawn = DrawnWorld::new(&world, &shaded.looks, session.page_bytes());
        let picture = session.picture(&world, &layout, outputs, shaded, drawn);
        let device = session.slots[0].device.as_ref().expect("it is open");
        let variants = KernelVariants { serial: device.prefers_serial_kernels() };
        let filters = vec![world.options.filter.kind];
        let displays = DisplayDemands { filters, depth: None, deep: false, variables: false };
        let pipeline = picture.pipeline_of(device.info());
        let needed = kernels_of(&picture.world, &picture.kernels, &pipeline, variants, &displays);
        let programs = picture.kernels.iter().flat_map(|kernel| &kernel.passes).map(|pass| pass.kernel.label());
        let needed: BTreeSet<String> =
            needed.iter().map(|kernel| kernel.label()).chain(programs).map(str::to_owned).collect();
        let begin = Instant::now();
        while (device.kernel_counts().ready as usize) < needed.len() {
            assert!(device.kernel_counts().failed == 0 && begin.elapsed() < Duration::from_secs(600));
            std::thread::sleep(Duration::from_millis(5));
        }
        let prepared = ticker.compile_log.take().0.into_iter().map(|compiled| compiled.kernel);
        assert_eq!(prepared.collect::<BTreeSet<String>>(), needed);
        assert!(reporter.all().is_empty(), "a validation message");
    }
}
