//! Shadow maps that lights make by themselves (`Attribute "light" "shadows"`, `Attribute "autoshadows"`): drawn before
//! the world that needs them, and kept for later worlds that would draw the same.

use crate::diagnostic::{Diagnostic, Severity};
use crate::files::{FileClaims, FileRole, open_file, read_file};
use crate::film::{DisplayState, Film};
use crate::render::session::draw::Session;
use crate::render::session::shadow_keys::{CasterInputs, KnownGeometry};
use crate::render::session::tiling_watch::{show, take_memory};
use crate::scene::{
    Camera, DepthFilter, Display, DisplayMode, DisplayPart, Drawable, FORMAT_WINDOW, Filter, FilterKind, Hider, Light,
    Motion, Options, Projection, Quantize, ShadowRequest, SolidId, SpaceBox, World,
};
use crate::shading::LightShape;
use crate::stats::WorldStats;
use crate::texture::{MakeKind, MakeRequest, make, make_bytes};
use glam::{DMat4, DVec3};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// A cone that opens wider is seen in six maps, as all directions are.
const CONE_MAX_DEGREES: f64 = 75.0;
/// What a map shows beyond the light's cone, or beyond a side of a cube, for the width of shadows.
const RIM_DEGREES: f64 = 2.0;
/// The nearest that a light's camera sees, in sizes of the scene.
const NEAR_PART: f64 = 1e-4;

/// The maps of a render.
#[derive(Default)]
pub(super) struct AutoShadows {
    /// The folder that they are in, once there is one; it is removed at the end.
    folder: Option<MapFolder>,
    /// By what is drawn in them.
    known: FxHashMap<String, Arc<str>>,
    /// What was drawn in them.
    pub(super) geometry: KnownGeometry,
    /// Whether a map is being drawn.
    pub(super) drawing: bool,
}

/// What the names of folders with maps begin with.
const FOLDER_PREFIX: &str = "anthill-shadows-";
/// The file of such a folder that is locked as long as its process runs.
const LOCK_FILE: &str = "lock";

/// A folder for files of this process alone.
struct MapFolder {
    folder: TempDir,
    _lock: File,
}

impl MapFolder {
    /// Makes a new folder in `parent`, and removes those of processes that were killed.
    fn new(parent: &Path) -> io::Result<Self> {
        remove_abandoned(parent)?;
        loop {
            let folder = tempfile::Builder::new().prefix(FOLDER_PREFIX).tempdir_in(parent)?;
            let lock = File::create_new(folder.path().join(LOCK_FILE))?;
            // Another process may have taken it for abandoned just now.
            if lock.try_lock().is_ok() {
                return Ok(Self { folder, _lock: lock });
            }
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes folders whose process has ended without doing so.
fn remove_abandoned(parent: &Path) -> io::Result<()> {
    for entry in fs::read_dir(parent)?.filter_map(Result::ok) {
        if entry.file_name().to_string_lossy().starts_with(FOLDER_PREFIX) {
            let lock = open_file(&entry.path().join(LOCK_FILE)).ok();
            if lock.is_some_and(|lock| lock.try_lock().is_ok()) {
                // Those of other users stay.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
    Ok(())
}

impl Session<'_> {
    /// Draws the maps of a world's lights that cast shadows by themselves, and hands them to the lights.
    pub(super) fn cast_shadows(&mut self, world: &mut World) {
        if !self.draws_maps(world) {
            return;
        }
        let lights = self.lights_with_maps(&casters(world));
        for (index, light) in lights {
            world.lights[index] = light;
        }
    }

    /// Whether lights of a world cast shadows by themselves that a display shows.
    fn draws_maps(&self, world: &World) -> bool {
        let mut parts = world.options.displays.iter().flat_map(|display| &display.parts);
        let is_drawn = !self.options.check && world.options.hider.name != "null";
        is_drawn && world.lights.iter().any(|light| light.casts.is_some()) && parts.any(|part| shows_light(&part.mode))
    }

    /// Gives the lights of an outline as many maps as its world's will have, by other names, and returns what one that
    /// sees all of it would draw in a map; `None` if lights cast no shadows.
    pub(super) fn foresee_maps(&self, outline: &mut World) -> Option<World> {
        if !self.draws_maps(outline) {
            return None;
        }
        let casters = casters(outline);
        let (mut lights, mut map) = (outline.lights.clone(), None);
        for (index, light) in casters.lights.iter().enumerate().filter(|(_, light)| light.casts.is_some()) {
            let Some(Ok(shape)) = self.shading.light_shape_silently(&casters, light) else { continue };
            let count = cameras(&casters, &shape, &DMat4::IDENTITY, [1, 1]).len();
            let maps = (0..count).map(|side| format!("{index}.{side}").into()).collect();
            lights[index] = Arc::new(Light { maps, ..(**light).clone() });
            map.get_or_insert_with(|| {
                let all = LightShape::Distant { axis: DVec3::Z };
                let cameras = cameras(&casters, &all, &DMat4::IDENTITY, [1, 1]);
                map_world(&casters, light, &cameras[0], Path::new("foreseen"))
            });
        }
        drop(casters);
        outline.lights = lights;
        map
    }

    /// Draws the maps of the lights of a world, and returns these lights with their indices.
    fn lights_with_maps(&mut self, casters: &World) -> Vec<(usize, Arc<Light>)> {
        let inputs = CasterInputs::new(casters, &mut self.shading, &mut self.shadows.geometry, self.reporter);
        let mut lights = Vec::new();
        for (index, light) in casters.lights.iter().enumerate() {
            let Some(request) = &light.casts else { continue };
            let maps = match self.shadow_cameras(casters, light, request) {
                Some(Ok(cameras)) => self.shadow_maps(casters, &inputs, light, cameras),
                Some(Err(why)) => Err(why),
                None => continue,
            };
            // A map that is too large for the files that the scene may write ends the render.
            self.ticker.limits.check_output(self.options, &self.ticker.interrupt);
            match maps {
                Ok(maps) => lights.push((index, Arc::new(Light { maps: maps.into(), ..(**light).clone() }))),
                Err(_) if self.ticker.interrupt.is_raised() => break,
                Err(why) => {
                    let message = format!("the light \"{}\" casts no shadow: {why}", light.handle);
                    self.reporter.report(Diagnostic::new(
                        Severity::Warning,
                        "incapable",
                        light.shader.location.clone(),
                        message,
                    ));
                }
            }
        }
        lights
    }

    /// Returns the cameras of a light's maps: one, or six along the axes of the world.
    fn shadow_cameras(
        &mut self,
        world: &World,
        light: &Light,
        request: &ShadowRequest,
    ) -> Option<Result<Vec<Camera>, String>> {
        let shape = self.shading.light_shape(world, light)?;
        let world_from_shader = *light.shader.world_from_shader.first();
        Some(shape.map(|shape| cameras(world, &shape, &world_from_shader, request.resolution)))
    }

    fn shadow_maps(
        &mut self,
        world: &World,
        inputs: &CasterInputs,
        light: &Light,
        cameras: Vec<Camera>,
    ) -> Result<Vec<Arc<str>>, String> {
        let around = cameras.len() > 1;
        let mut maps = Vec::new();
        for (camera, side) in cameras.into_iter().zip(["px", "nx", "py", "ny", "pz", "nz"]) {
            let key = self.map_key(inputs, light, &camera);
            let map = match self.shadows.known.get(&key) {
                Some(map) => Arc::clone(map),
                None => self.shadow_map(key, |file| map_world(world, light, &camera, file))?,
            };
            let named = light
                .casts
                .as_ref()
                .and_then(|request| request.map_name.as_ref())
                .map(|name| side_name(name, around.then_some(side)));
            maps.push(match named {
                Some(name) => self.keep_map(&map, &name)?,
                None => map,
            });
        }
        Ok(maps)
    }

    /// Returns the key of a light's map, seen from a camera.
    fn map_key(&mut self, inputs: &CasterInputs, light: &Light, camera: &Camera) -> String {
        let seen = |world: &World| map_world(world, light, camera, Path::new(""));
        inputs.map_key(&mut self.shading, &self.textures, seen)
    }

    /// Draws a map and returns its file; `world` is what draws its depths to a file.
    fn shadow_map(&mut self, key: String, world: impl Fn(&Path) -> World) -> Result<Arc<str>, String> {
        let folder = self.map_folder().map_err(|error| format!("there is no folder for its map: {error}"))?;
        let number = self.shadows.known.len();
        let (depths, map) = (folder.join(format!("{number}.z")), folder.join(format!("{number}.shad")));
        // The files are the program's own, wherever scenes may write.
        let (world, files) = (world(&depths), Arc::new(FileClaims::default()));
        let film =
            Film::new(&world, u64::MAX, &files, self.reporter).map_err(|_| "its map has no pixels".to_string())?;
        let picture = self.build_picture(&world, &film);
        self.ticker.begin_world(None);
        self.stats.worlds.push(WorldStats { crop_px: film.crop().to_array(), ..WorldStats::default() });
        drop(world);
        self.shadows.drawing = true;
        let displays = self.draw_film(&picture, film, None, None);
        self.shadows.drawing = false;
        self.ticker.end_world();
        if !displays.iter().all(|display| display.state == DisplayState::Whole) {
            return Err("its map could not be drawn whole".into());
        }
        let request = MakeRequest::new(MakeKind::Shadow, vec![depths.clone()], map.clone());
        let bytes = make_bytes(&request).map_err(|error| error.to_string())?;
        let _charge = take_memory(&self.memory, bytes)?;
        let ticker = self.ticker;
        make(&request, &|fraction| show(&ticker.tally, &ticker.interrupt, &map, fraction))
            .map_err(|error| error.to_string())?;
        let _ = fs::remove_file(depths);
        self.textures.add_own(&map, key.clone());
        let map: Arc<str> = map.display().to_string().into();
        self.shadows.known.insert(key, Arc::clone(&map));
        Ok(map)
    }

    /// Copies a map to where the scene wants it.
    fn keep_map(&self, map: &str, name: &str) -> Result<Arc<str>, String> {
        self.options.files.claim(Path::new(name), FileRole::MadeTexture).map_err(|refused| refused.to_string())?;
        let bytes = read_file(Path::new(map)).map_err(|error| error.to_string())?;
        // An equal file stays as it is, so that what was read of it still holds.
        if read_file(Path::new(name)).ok().as_ref() != Some(&bytes) {
            let budget = self.options.files.budget();
            let written: io::Result<()> =
                budget.write_whole(Path::new(name), |sink| io::Write::write_all(sink, &bytes));
            written.map_err(|error| format!("cannot write \"{name}\": {error}"))?;
        }
        Ok(name.into())
    }

    fn map_folder(&mut self) -> io::Result<PathBuf> {
        let folder = match self.shadows.folder.take() {
            Some(folder) => folder,
            None => MapFolder::new(&std::env::temp_dir())?,
        };
        Ok(self.shadows.folder.insert(folder).path().to_owned())
    }
}

/// Returns a world without the objects that cast no shadows. What is made of several solids is kept whole unless none
/// of its surfaces casts one.
fn casters(world: &World) -> Cow<'_, World> {
    if world.drawables.iter().all(|drawable| drawable.attributes.casts_shadows()) {
        return Cow::Borrowed(world);
    }
    // What a solid is a part of comes before it.
    let mut outermost: Vec<SolidId> = Vec::with_capacity(world.solids.len());
    for (id, solid) in (0..).map(SolidId).zip(&world.solids) {
        outermost.push(solid.parent.map_or(id, |parent| outermost[parent.0 as usize]));
    }
    let whole = |solid: SolidId| outermost[solid.0 as usize];
    let casting = world.drawables.iter().filter(|drawable| drawable.attributes.casts_shadows());
    let solids: FxHashSet<SolidId> = casting.filter_map(|drawable| drawable.solid).map(whole).collect();
    let casts = |drawable: &&Drawable| match drawable.solid {
        Some(solid) => solids.contains(&whole(solid)),
        None => drawable.attributes.casts_shadows(),
    };
    Cow::Owned(World {
        options: world.options.clone(),
        camera: world.camera.clone(),
        drawables: world.drawables.iter().filter(casts).cloned().collect(),
        solids: world.solids.clone(),
        lights: world.lights.clone(),
        spaces: world.spaces.clone(),
        location: world.location.clone(),
        notes: Default::default(),
    })
}

/// Whether a display shows what lights do.
fn shows_light(mode: &DisplayMode) -> bool {
    !matches!(mode, DisplayMode::Image { rgb: false, .. })
}

/// Returns the name of a map of six: what distinguishes them comes before the extension.
fn side_name(name: &str, side: Option<&str>) -> String {
    let Some(side) = side else { return name.to_owned() };
    let path = Path::new(name);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some(extension) => path.with_extension(format!("{side}.{extension}")).display().to_string(),
        None => format!("{name}.{side}"),
    }
}

/// Returns what a light sees: the depth halfway between the first two surfaces, at the middle of each pixel.
fn map_world(world: &World, light: &Light, camera: &Camera, file: &Path) -> World {
    let location = light.shader.location.clone();
    let depth = DisplayPart {
        mode: DisplayMode::Image { rgb: false, a: false, z: true },
        quantize: Quantize { one: 0.0, min: 0.0, max: 0.0, dither: 0.0 },
        exposure: [1.0, 1.0],
        filter: None,
    };
    let display = Display {
        name: file.display().to_string(),
        driver: "zfile".into(),
        parts: vec![depth],
        params: BTreeMap::new(),
        location: location.clone(),
    };
    let options = Options {
        frame: None,
        pixel_samples: [1, 1],
        filter: Filter { kind: FilterKind::Box, width: [1.0, 1.0] },
        exposure: [1.0, 1.0],
        imager: None,
        displays: vec![display],
        // Shading looks maps up at the time when the shutter opens.
        hider: Hider {
            name: "hidden".into(),
            jitter: false,
            depth_filter: DepthFilter::Midpoint,
            sample_motion: false,
            ..world.options.hider.clone()
        },
        ..world.options.clone()
    };
    World { options, camera: camera.clone(), location, ..world.clone() }.in_shutter()
}

fn cameras(world: &World, shape: &LightShape, world_from_shader: &DMat4, resolution: [u32; 2]) -> Vec<Camera> {
    let extent = bound(world, &DMat4::IDENTITY);
    let size = if extent.is_empty() { 1.0 } else { (extent.high - extent.low).length().max(1e-6) };
    let camera = |camera_from_world: DMat4, projection, screen_window, near: f64| Camera {
        camera_from_world: Motion::still(camera_from_world),
        projection,
        resolution,
        pixel_aspect: 1.0,
        screen_window,
        crop_window: FORMAT_WINDOW,
        whole_window: FORMAT_WINDOW,
        clip: [near as f32, 1e38],
        clip_planes: Vec::new(),
        depth_of_field: None,
        shutter: world.camera.shutter,
    };
    let perspective = |from: DVec3, axis: DVec3, fov_degrees: f64| {
        let projection = Projection::Perspective { fov_degrees };
        camera(looking(from, axis), projection, [-1.0, 1.0, -1.0, 1.0], size * NEAR_PART)
    };
    let sides = |from: DVec3| {
        let axes = [DVec3::X, DVec3::NEG_X, DVec3::Y, DVec3::NEG_Y, DVec3::Z, DVec3::NEG_Z];
        axes.map(|axis| perspective(from, axis, 90.0 + 2.0 * RIM_DEGREES)).to_vec()
    };
    match *shape {
        LightShape::Distant { axis } => {
            let turned = looking(DVec3::ZERO, world_from_shader.transform_vector3(axis));
            let seen = bound(world, &turned);
            let seen = if seen.is_empty() { SpaceBox { low: DVec3::NEG_ONE, high: DVec3::ONE } } else { seen };
            let (middle, rim) = ((seen.low + seen.high) * 0.5, size * 0.005);
            let half = (seen.high - seen.low) * 0.5 + rim;
            let moved = DMat4::from_translation(-middle.with_z(seen.low.z - size * 0.01)) * turned;
            let window = [-half.x, half.x, -half.y, half.y];
            vec![camera(moved, Projection::Orthographic, window, 1e-10)]
        }
        LightShape::Spot { from, axis, angle } if angle.to_degrees() <= CONE_MAX_DEGREES => {
            let (from, axis) = (world_from_shader.transform_point3(from), world_from_shader.transform_vector3(axis));
            vec![perspective(from, axis, 2.0 * (angle.to_degrees().max(0.0) + RIM_DEGREES))]
        }
        LightShape::Spot { from, .. } | LightShape::Point { from } => sides(world_from_shader.transform_point3(from)),
    }
}

/// Returns the space of a camera at a place that looks along an axis.
fn looking(from: DVec3, axis: DVec3) -> DMat4 {
    let z = axis.normalize_or(DVec3::Z);
    let up = if z.y.abs() > 0.9 { DVec3::Z } else { DVec3::Y };
    let x = up.cross(z).normalize();
    let y = z.cross(x);
    let world_from_camera = DMat4::from_cols(x.extend(0.0), y.extend(0.0), z.extend(0.0), from.extend(1.0));
    world_from_camera.inverse()
}

/// Returns a box around everything in a space.
fn bound(world: &World, space_from_world: &DMat4) -> SpaceBox {
    let each = world.drawables.iter().map(|drawable| drawable.bound_in(space_from_world));
    each.fold(SpaceBox::EMPTY, SpaceBox::with)
}

/// Returns the keys of all maps of a world.
#[cfg(test)]
pub(super) fn keys_of(session: &mut Session<'_>, world: World) -> Vec<String> {
    let casters = casters(&world);
    let inputs = CasterInputs::new(&casters, &mut session.shading, &mut session.shadows.geometry, session.reporter);
    let mut keys = Vec::new();
    for light in &casters.lights {
        let cameras = light.casts.as_ref().and_then(|request| session.shadow_cameras(&casters, light, request));
        for camera in cameras.into_iter().flat_map(|cameras| cameras.expect("it can cast shadows")) {
            keys.push(session.map_key(&inputs, light, &camera));
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::session::test_sessions::read;

    #[test]
    fn a_light_looks_along_its_axis() {
        let from = DVec3::new(1.0, 2.0, 3.0);
        for axis in [DVec3::X, DVec3::NEG_Y, DVec3::new(1.0, -2.0, 0.5)] {
            let camera_from_world = looking(from, axis);
            let ahead = camera_from_world.transform_point3(from + axis);
            assert!(ahead.abs_diff_eq(DVec3::Z * axis.length(), 1e-12), "{axis}: {ahead}");
            assert!(camera_from_world.determinant() > 0.0, "it mirrors nothing");
        }
    }

    fn read_world(text: String) -> World {
        read(text).worlds.remove(0)
    }

    #[test]
    fn what_casts_is_kept_and_solids_are_kept_whole() {
        const DEPTH: usize = 200;
        let (sphere, none) = ("Sphere 1 -1 1 360\n", "Attribute \"visibility\" \"int transmission\" [0]\n");
        let nested = |inside: String| {
            let (begin, end) = ("SolidBegin \"union\"\n".repeat(DEPTH), "SolidEnd\n".repeat(DEPTH));
            format!("AttributeBegin\n{begin}{inside}{end}AttributeEnd\n")
        };
        let count = |text: String| casters(&read_world(format!("WorldBegin\n{text}WorldEnd\n"))).drawables.len();
        let world = read_world(format!("WorldBegin\n{sphere}{}WorldEnd\n", nested(sphere.repeat(3))));
        assert!(matches!(casters(&world), Cow::Borrowed(_)), "nothing is copied where all casts");
        let (cast, silent) = (nested(format!("{sphere}{none}{sphere}")), nested(format!("{none}{sphere}{sphere}")));
        assert_eq!([count(cast.clone()), count(silent.clone()), count(silent + &cast + sphere)], [2, 0, 3]);
    }

    #[test]
    fn folders_are_removed_at_the_end_or_by_a_later_process() {
        let parent = tempfile::tempdir().expect("a temporary folder");
        let abandoned = parent.path().join("anthill-shadows-1-0");
        fs::create_dir(&abandoned).expect("a folder");
        fs::write(abandoned.join(LOCK_FILE), "").expect("a file");
        let kept = MapFolder::new(parent.path()).expect("a folder");
        let other = MapFolder::new(parent.path()).expect("a folder");
        assert!(kept.path().is_dir() && other.path().is_dir() && kept.path() != other.path() && !abandoned.exists());
        drop(other);
        drop(kept);
        assert_eq!(fs::read_dir(parent.path()).expect("it is there").count(), 0);
    }

    #[test]
    fn maps_of_six_have_names_of_their_own() {
        assert_eq!(side_name("a/b.shad", Some("px")), "a/b.px.shad");
        assert_eq!((side_name("b", Some("nz")).as_str(), side_name("b.z", None).as_str()), ("b.nz", "b.z"));
    }
}
