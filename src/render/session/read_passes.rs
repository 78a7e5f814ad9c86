//! `--crop` is for pictures that are looked at: those that later worlds of a scene read are drawn whole.

use crate::diagnostic::Reporter;
use crate::film::{Film, display_path};
use crate::host_memory::ChargeKind;
use crate::render::session::reading::{ReadItem, ReadWorld};
use crate::scene::{Attributes, ParamValue, ShaderInstance, World};
use rustc_hash::FxHashSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

/// Takes the crop of the command line from the worlds of a batch whose pictures are read later, as far as there is
/// memory for them.
pub(super) fn uncrop(batch: &mut [ReadItem], reporter: &Reporter) {
    let mut read = ReadNames::default();
    for item in batch.iter_mut().rev() {
        match item {
            ReadItem::Texture(texture) => texture.make.inputs.iter().for_each(|input| read.add(input)),
            ReadItem::World(world) => {
                if read.has_picture_of(&world.world) {
                    draw_whole(world, reporter);
                }
                read.add_world(&world.world);
            }
            ReadItem::Settle(_) => {}
        }
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
#[derive(Default)]
struct ReadNames(FxHashSet<OsString>);

impl ReadNames {
    fn has_picture_of(&self, world: &World) -> bool {
        let mut paths = world.options.displays.iter().map(display_path);
        paths.any(|path| path.file_name().is_some_and(|name| self.0.contains(name)))
    }

    fn add(&mut self, path: &Path) {
        self.0.extend(path.file_name().map(OsStr::to_owned));
    }

    /// Adds the names of all files that a world's shaders may read.
    fn add_world(&mut self, world: &World) {
        world.options.other.values().for_each(|value| self.add_value(value));
        world.options.imager.iter().for_each(|imager| self.add_shader(imager));
        world.lights.iter().for_each(|light| self.add_shader(&light.shader));
        let (mut states, mut shaders) = (FxHashSet::default(), FxHashSet::default());
        for drawable in world.drawables.iter().filter(|drawable| states.insert(Arc::as_ptr(&drawable.attributes))) {
            let Attributes { surface, displacement, atmosphere, other, .. } = &*drawable.attributes;
            other.values().for_each(|value| self.add_value(value));
            let all = [surface, displacement, atmosphere].into_iter().flatten();
            all.filter(|shader| shaders.insert(Arc::as_ptr(shader))).for_each(|shader| self.add_shader(shader));
        }
    }

    fn add_shader(&mut self, shader: &ShaderInstance) {
        shader.params.iter().for_each(|param| self.add_value(&param.value));
    }

    fn add_value(&mut self, value: &ParamValue) {
        if let ParamValue::Strings(texts) = value {
            // shadow() takes lists of names.
            let names = texts.iter().flat_map(|text| text.split(','));
            names.for_each(|name| self.add(Path::new(name.trim())));
        }
    }
}
