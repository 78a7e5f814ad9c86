//! `--crop` is for pictures that are looked at: those that later worlds of a scene read are drawn whole.

use crate::diagnostic::{Diagnostic, Reporter, Severity};
use crate::film::{Film, display_path};
use crate::host_memory::{ChargeKind, HostMemory};
use crate::render::session::outputs::FilmOutputs;
use crate::render::session::reading::{ReadItem, ReadWorld};
use crate::scene::{Attributes, Geometry, ParamValue, PrimvarData, ShaderInstance, World};
use crate::shading::ShaderLibrary;
use crate::shading::texts::TextReader;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

/// Takes the crop of the command line from the worlds of a batch whose pictures are read later, as far as there is
/// memory for them.
pub(super) fn uncrop(batch: &mut [ReadItem], library: &ShaderLibrary, memory: &HostMemory, reporter: &Reporter) {
    if memory.is_waited_for() {
        warn_of_unread_worlds(batch, reporter);
    }
    let mut read = ReadNames::new(library);
    for (index, item) in batch.iter_mut().enumerate().rev() {
        match item {
            ReadItem::Texture(texture, _) => texture.make.inputs.iter().for_each(|input| read.add(input)),
            ReadItem::World(world) => {
                if read.has_picture_of(&world.world) {
                    draw_whole(world, reporter);
                } else if read.any {
                    let message = "this picture is drawn whole, whatever --crop says: a later world may read it";
                    let note = Diagnostic::new(Severity::Info, "crop", world.world.location.clone(), message);
                    reporter.report(note);
                    draw_whole(world, reporter);
                }
                // Nothing is drawn before the first.
                if index > 0 {
                    read.add_world(&world.world);
                }
            }
            // What is read only now needs files that are drawn by then, and may need any.
            ReadItem::Settle(_) => read.any = true,
        }
    }
}

/// Warns that worlds are drawn while it is unknown what later ones read, because memory is short.
fn warn_of_unread_worlds(batch: &[ReadItem], reporter: &Reporter) {
    let place =
        |item: &ReadItem| if let ReadItem::World(read) = item { Some(read.world.location.clone()) } else { None };
    if let Some(last) = batch.iter().rev().find_map(place) {
        let message = "there is no host memory to read more of the scene before pictures are drawn: later worlds find \
            only the part that --crop names of this one and those before it";
        reporter.warn("limitcheck", &last, message);
    }
}

fn draw_whole(read: &mut ReadWorld, reporter: &Reporter) {
    let world = &mut read.world;
    let cropped = Film::bytes_of(&world.options, &world.camera);
    let crop = std::mem::replace(&mut world.camera.crop_window, world.options.scene_crop);
    let whole = Film::bytes_of(&world.options, &world.camera);
    if !read.charge.try_take(ChargeKind::Textures, whole.saturating_sub(cropped)) {
        world.camera.crop_window = crop;
        let message =
            "a later world reads this picture, but there is no host memory to draw more of it than --crop names";
        reporter.warn("limitcheck", &world.location, message);
    }
}

/// The names of files that later worlds read, without folders: shaders name files in others than displays do.
struct ReadNames<'l> {
    names: FxHashSet<OsString>,
    /// Whether any other may be read, too.
    any: bool,
    library: &'l ShaderLibrary,
    shaders: TextReader,
}

impl<'l> ReadNames<'l> {
    fn new(library: &'l ShaderLibrary) -> Self {
        Self { names: FxHashSet::default(), any: false, library, shaders: library.text_reader() }
    }

    fn has_picture_of(&self, world: &World) -> bool {
        let mut paths = world.options.displays.iter().map(display_path);
        paths.any(|path| path.file_name().is_some_and(|name| self.names.contains(name)))
    }

    fn add(&mut self, path: &Path) {
        self.names.extend(path.file_name().map(OsStr::to_owned));
    }

    /// Adds the names of all files that a world's shaders may read: every text that they have, make, or are given.
    fn add_world(&mut self, world: &World) {
        world.options.other.values().for_each(|value| self.add_value(value));
        let mut shaders: FxHashMap<*const ShaderInstance, &ShaderInstance> = FxHashMap::default();
        shaders.extend(world.options.imager.iter().map(|imager| (Arc::as_ptr(imager), &**imager)));
        shaders.extend(world.lights.iter().map(|light| (&raw const light.shader, &light.shader)));
        let (mut states, mut geometries) = (FxHashSet::default(), FxHashSet::default());
        for drawable in &world.drawables {
            if geometries.insert(Arc::as_ptr(&drawable.geometry)) {
                self.add_texts_of(&drawable.geometry);
            }
            if states.insert(Arc::as_ptr(&drawable.attributes)) {
                let Attributes { surface, displacement, atmosphere, other, .. } = &*drawable.attributes;
                other.values().for_each(|value| self.add_value(value));
                let all = [surface, displacement, atmosphere].into_iter().flatten();
                shaders.extend(all.map(|shader| (Arc::as_ptr(shader), &**shader)));
            }
        }
        let mut computes = false;
        for shader in shaders.into_values() {
            shader.params.iter().for_each(|param| self.add_value(&param.value));
            let own = self.shaders.read(shader, &world.options.search.shader);
            own.texts.iter().for_each(|text| self.add_text(text));
            computes |= own.computes;
        }
        if computes {
            self.add_computed(world);
        }
    }

    /// Adds the texts that a world's shaders make of others, which are known when its programs are.
    fn add_computed(&mut self, world: &World) {
        let outputs = FilmOutputs::of(&Film::layout_of(&world.options), world.options.filter);
        let shaded = self.library.shade_silently(world, &outputs.variables);
        shaded.textures.texts.iter().for_each(|text| self.add_text(text));
    }

    /// Adds the texts of primitive variables, which may set parameters.
    fn add_texts_of(&mut self, geometry: &Geometry) {
        for primvar in &geometry.primvars {
            if let PrimvarData::Strings(texts) = &primvar.data {
                texts.iter().for_each(|text| self.add_text(text));
            }
        }
    }

    fn add_value(&mut self, value: &ParamValue) {
        if let ParamValue::Strings(texts) = value {
            texts.iter().for_each(|text| self.add_text(text));
        }
    }

    fn add_text(&mut self, text: &str) {
        // shadow() takes lists of names.
        text.split(',').for_each(|name| self.add(Path::new(name.trim())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host_memory::Charge;
    use crate::rib;
    use crossbeam::channel::bounded;
    use std::ops::ControlFlow;
    use std::time::Duration;

    const CROP: [f64; 4] = [0.25, 0.5, 0.0, 1.0];
    const WHOLE: [f64; 4] = [0.0, 1.0, 0.0, 1.0];
    /// The second picture is made of the first.
    const SCENE: &str = "Display \"a.exr\" \"exr\" \"rgb\" WorldBegin WorldEnd\n\
        Display \"b.exr\" \"exr\" \"rgb\" WorldBegin Surface \"paintedplastic\" \"string texturename\" \"a.exr\" Sphere 1 -1 1 360 WorldEnd\n";

    fn batch() -> Vec<ReadItem> {
        let input = rib::Input::Memory { name: "t.rib".to_owned(), bytes: SCENE.into() };
        let overrides = rib::RibOverrides { crop: Some(CROP), ..rib::RibOverrides::default() };
        let settings = rib::Settings { overrides, ..rib::Settings::default() };
        let (memory, mut items) = (HostMemory::new(u64::MAX), Vec::new());
        rib::read(&input, &settings, &Reporter::silent(), &mut |world: World| {
            let charge = Arc::new(Charge::new(&memory));
            items.push(ReadItem::World(Box::new(ReadWorld { world, charge })));
            ControlFlow::Continue(())
        });
        items
    }

    /// Returns the crops of the worlds after [`uncrop`], and the codes of the messages.
    fn uncropped(mut batch: Vec<ReadItem>, memory: &HostMemory) -> (Vec<[f64; 4]>, Vec<&'static str>) {
        let reporter = Reporter::silent();
        let library = ShaderLibrary::new(Arc::default(), &[]).expect("the helper library was built with the compiler");
        uncrop(&mut batch, &library, memory, &reporter);
        let crop = |item: &ReadItem| match item {
            ReadItem::World(read) => Some(read.world.camera.crop_window),
            ReadItem::Texture(..) | ReadItem::Settle(_) => None,
        };
        let codes = reporter.all().iter().map(|(message, _)| message.code).collect();
        (batch.iter().filter_map(crop).collect(), codes)
    }

    #[test]
    fn pictures_that_are_read_are_whole() {
        let memory = HostMemory::new(u64::MAX);
        assert_eq!(uncropped(batch(), &memory), (vec![WHOLE, CROP], vec![]));
        // What follows reads files with its requests.
        let (done, _) = bounded(1);
        let settled = batch().into_iter().chain([ReadItem::Settle(done)]).collect();
        assert_eq!(uncropped(settled, &memory), (vec![WHOLE; 2], vec!["crop"]));
    }

    #[test]
    fn worlds_that_cannot_be_read_in_time_are_warned_of() {
        let memory = HostMemory::new(100);
        let lent = Charge::new(&memory);
        assert!(lent.take(ChargeKind::Geometry, 100));
        lent.lend();
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(Charge::new(&memory).take(ChargeKind::Geometry, 1)));
            while !memory.is_waited_for() {
                std::thread::sleep(Duration::from_millis(1));
            }
            assert_eq!(uncropped(batch(), &memory), (vec![WHOLE, CROP], vec!["limitcheck"]));
            drop(lent);
        });
    }
}
