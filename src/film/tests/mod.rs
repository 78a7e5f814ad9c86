//! The film as a whole: files contain the deposited pixels.

mod append;
mod files;
mod save;

use super::*;
use crate::scene::{
    Camera, Display, DisplayMode, DisplayPart, FORMAT_WINDOW, Motion, Options, ParamValue, Projection, Quantize,
    RESOLUTION_MAX, ShaderInstance, ValueType,
};
use crate::schedule::Axis;
use ::exr::prelude::{FlatSamples, read_first_flat_layer_from_file};
use glam::DMat4;
use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use tempfile::TempDir;

type Layer = ::exr::image::Layer<::exr::image::AnyChannels<FlatSamples>>;
type FlatLayer = ::exr::image::Image<Layer>;

pub(super) fn camera(resolution: [u32; 2]) -> Camera {
    Camera {
        camera_from_world: Motion::still(DMat4::IDENTITY),
        projection: Projection::Orthographic,
        resolution,
        pixel_aspect: 1.0,
        screen_window: [-1.0, 1.0, -1.0, 1.0],
        crop_window: FORMAT_WINDOW,
        whole_window: FORMAT_WINDOW,
        clip: [1e-10, 1e38],
        clip_planes: Vec::new(),
        depth_of_field: None,
        shutter: [0.0, 0.0],
    }
}

pub(super) const RGB: DisplayMode = DisplayMode::Image { rgb: true, a: false, z: false };
pub(super) const RGBA: DisplayMode = DisplayMode::Image { rgb: true, a: true, z: false };
pub(super) const Z: DisplayMode = DisplayMode::Image { rgb: false, a: false, z: true };
const FLOATS: Quantize = Quantize { one: 0.0, min: 0.0, max: 0.0, dither: 0.0 };
const BYTES: Quantize = Quantize { one: 255.0, min: 0.0, max: 255.0, dither: 0.0 };
const WORDS: Quantize = Quantize { one: 65535.0, min: 0.0, max: 65535.0, dither: 0.0 };

pub(super) fn display(name: impl Into<String>, driver: &str, mode: DisplayMode) -> Display {
    let location = SourceLocation { file: "scene.rib".into(), line: 2, column: 1 };
    let (name, driver) = (name.into(), driver.into());
    let part = DisplayPart { mode, quantize: FLOATS, exposure: [1.0, 1.0], filter: None };
    Display { name, driver, parts: vec![part], params: BTreeMap::new(), location }
}

pub(super) fn quantized(quantize: Quantize, mut display: Display) -> Display {
    display.parts.iter_mut().for_each(|part| part.quantize = quantize);
    display
}

pub(super) fn exposed(exposure: [f32; 2], mut display: Display) -> Display {
    display.parts.iter_mut().for_each(|part| part.exposure = exposure);
    display
}

pub(super) fn options(displays: Vec<Display>) -> Options {
    Options { displays, ..Options::default() }
}

fn world(resolution: [u32; 2], displays: Vec<Display>) -> World {
    World {
        options: options(displays),
        camera: camera(resolution),
        drawables: Vec::new(),
        solids: Vec::new(),
        lights: Vec::new(),
        spaces: Vec::new(),
        location: SourceLocation { file: "scene.rib".into(), line: 9, column: 1 },
        notes: Default::default(),
    }
}

fn film(world: &World, reporter: &Reporter) -> Film {
    Film::new(world, u64::MAX, &Arc::default(), reporter).expect("a small film fits")
}

/// Returns a value that no other pixel and channel has.
fn value_at(x: i32, y: i32, float: usize) -> f32 {
    (x as f32 + 100.0 * y as f32) / 1024.0 + float as f32 / 8192.0
}

/// Returns the region `[x0, y0, x1, y1]`.
fn region(array: [i32; 4]) -> Region {
    Region::new(array).expect("not empty")
}

/// Deposits a region with [`value_at`] everywhere.
fn deposit(film: &Film, region: Region) {
    let floats = film.layout().floats();
    let pixels = region.rows().flat_map(|y| region.columns().map(move |x| (x, y)));
    let values: Vec<f32> = pixels.flat_map(|(x, y)| (0..floats).map(move |float| value_at(x, y, float))).collect();
    film.deposit(region, &values);
}

/// Makes a whole film of one display, deposited as two regions, and returns what was said.
fn make(world: &World) -> (Vec<DisplayOutcome>, Vec<String>) {
    let reporter = Reporter::silent();
    let film = film(world, &reporter);
    let (start, end) = film.crop().span(Axis::X);
    let [left, right] = film.crop().cut(Axis::X, (start + end) / 2).expect("wider than a pixel");
    deposit(&film, right);
    deposit(&film, left);
    let outcomes = film.finish(None, &reporter);
    (outcomes, reporter.all().iter().map(|(diagnostic, _)| diagnostic.message.clone()).collect())
}

fn directory() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

fn path_in(directory: &TempDir, name: &str) -> String {
    directory.path().join(name).to_string_lossy().into_owned()
}

fn read_exr(path: impl AsRef<Path>) -> FlatLayer {
    read_first_flat_layer_from_file(path).expect("a valid OpenEXR file")
}

fn channel<'a>(image: &'a FlatLayer, name: &str) -> &'a FlatSamples {
    let list = &image.layer_data.channel_data.list;
    &list.iter().find(|channel| channel.name.to_string() == name).expect("the channel is there").sample_data
}

fn tiff_decoder(path: &str) -> ::tiff::decoder::Decoder<std::io::BufReader<fs::File>> {
    let file = std::io::BufReader::new(fs::File::open(path).expect("the file was written"));
    ::tiff::decoder::Decoder::new(file).expect("a valid TIFF file")
}

fn read_png(path: &str) -> (::png::OutputInfo, Vec<u8>) {
    let file = std::io::BufReader::new(fs::File::open(path).expect("the file was written"));
    let mut reader = ::png::Decoder::new(file).read_info().expect("a valid PNG file");
    let mut bytes = vec![0; reader.output_buffer_size().expect("a small picture")];
    let info = reader.next_frame(&mut bytes).expect("a valid PNG file");
    bytes.truncate(info.buffer_size());
    (info, bytes)
}

const WHOLE: [DisplayState; 1] = [DisplayState::Whole];

fn states(outcomes: &[DisplayOutcome]) -> Vec<DisplayState> {
    outcomes.iter().map(|outcome| outcome.state).collect()
}

#[test]
fn equal_pictures_are_equal_files() {
    let directory = directory();
    let names = ["a.exr", "a.tif", "a.png", "b.exr", "b.tif", "b.png"];
    let paths = names.map(|name| path_in(&directory, name));
    let displays = |from: usize| {
        let dithered = |path: &String| quantized(Quantize { dither: 0.5, ..BYTES }, display(path, "file", RGBA));
        paths[from..from + 3].iter().map(dithered).collect()
    };
    let reporter = Reporter::silent();
    let (first, second) =
        (film(&world([65, 33], displays(0)), &reporter), film(&world([65, 33], displays(3)), &reporter));
    deposit(&first, region([0, 0, 65, 33]));
    for y in 0..33 {
        deposit(&second, region([40, y, 65, y + 1]));
        deposit(&second, region([0, y, 40, y + 1]));
    }
    first.finish(None, &reporter);
    second.finish(None, &reporter);
    for (a, b) in paths.iter().zip(&paths[3..]) {
        assert!(fs::read(a).expect("written") == fs::read(b).expect("written"), "{a}");
    }
}

#[test]
fn a_crop_is_dithered_like_the_whole() {
    let directory = directory();
    let [whole, part] = ["whole.png", "part.png"].map(|name| path_in(&directory, name));
    let dithered = |path: &str| quantized(Quantize { dither: 0.5, ..BYTES }, display(path, "png", RGB));
    make(&world([40, 10], vec![dithered(&whole)]));
    let mut cropped = world([40, 10], vec![dithered(&part)]);
    cropped.camera.crop_window = [0.5, 1.0, 0.0, 1.0];
    make(&cropped);
    let (whole, part) = (read_png(&whole).1, read_png(&part).1);
    for y in 0..10 {
        assert_eq!(whole[y * 120 + 60..(y + 1) * 120], part[y * 60..(y + 1) * 60]);
    }
}

#[test]
fn each_display_has_its_own_exposure_and_alpha_has_none() {
    let directory = directory();
    let [a, b] = ["a.tif", "b.tif"].map(|name| path_in(&directory, name));
    let bright = exposed([4.0, 1.0], display(&a, "tiff", RGBA));
    let normal = DisplayMode::Variable { name: "N".into(), ty: ValueType::Normal, composited: true };
    let world = world([1, 1], vec![bright, exposed([4.0, 1.0], display(&b, "tiff", normal))]);
    let reporter = Reporter::silent();
    let film = film(&world, &reporter);
    film.deposit(region([0, 0, 1, 1]), &[0.25, 0.5, 1.0, 0.75, 0.1, 0.2, 0.3]);
    film.finish(None, &reporter);
    let floats = |path: &str| match tiff_decoder(path).read_image().expect("decodes") {
        ::tiff::decoder::DecodingResult::F32(values) => values,
        _ => panic!("not floats"),
    };
    assert_eq!(floats(&a), [1.0, 2.0, 4.0, 0.75]);
    assert_eq!(floats(&b), [0.1, 0.2, 0.3]);
}

/// Shows the background through what is not covered, as STD-15 does.
struct Background([f32; 3]);

impl Imager for Background {
    fn shade(&self, pixels: &mut ImagerPixels<'_>) {
        for ((ci, oi), alpha) in pixels.ci.iter_mut().zip(pixels.oi.iter_mut()).zip(pixels.alpha.iter_mut()) {
            for (channel, background) in self.0.iter().enumerate() {
                ci[channel] += (1.0 - oi[channel]) * background;
                oi[channel] = 1.0;
            }
            *alpha = 1.0;
        }
    }

    fn failure(&self) -> Option<String> {
        None
    }
}

/// Writes the raster position of each pixel as its colour, or fails.
struct Position {
    fails: bool,
}

impl Imager for Position {
    fn shade(&self, pixels: &mut ImagerPixels<'_>) {
        let [x, y] = pixels.corner;
        for (index, ci) in pixels.ci.iter_mut().enumerate() {
            let (index, width) = (index as i32, pixels.size[0].cast_signed());
            *ci = [(x + index % width) as f32, (y + index / width) as f32, pixels.size[1] as f32];
        }
    }

    fn failure(&self) -> Option<String> {
        self.fails.then(|| "no device".to_string())
    }
}

#[test]
fn the_imager_runs_after_exposure_and_leaves_missing_pixels_black() {
    let directory = directory();
    let path = path_in(&directory, "a.tif");
    let mut world = world([3, 1], vec![exposed([2.0, 1.0], display(&path, "tiff", RGBA))]);
    let still = Arc::new(Motion::still(DMat4::IDENTITY));
    let imager = ShaderInstance {
        name: "background".into(),
        params: vec![],
        world_from_shader: still,
        location: SourceLocation::default(),
    };
    world.options.imager = Some(Arc::new(imager));
    let reporter = Reporter::silent();
    let film = film(&world, &reporter);
    assert_eq!(film.layout().floats(), 7, "colour, alpha and opacity");
    film.deposit(region([0, 0, 2, 1]), &[0.25, 0.0, 0.0, 0.5, 0.5, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    film.finish(Some(&Background([0.0, 0.0, 1.0])), &reporter);
    let ::tiff::decoder::DecodingResult::F32(values) = tiff_decoder(&path).read_image().expect("decodes") else {
        panic!("not floats")
    };
    assert_eq!(values, [0.5, 0.0, 0.5, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
}

/// Returns a world of colour and alpha with some imager.
fn imaged_world(path: &str, resolution: [u32; 2]) -> World {
    let mut world = world(resolution, vec![display(path, "tiff", RGBA)]);
    let world_from_shader = Arc::new(Motion::still(DMat4::IDENTITY));
    let imager =
        ShaderInstance { name: "i".into(), params: vec![], world_from_shader, location: SourceLocation::default() };
    world.options.imager = Some(Arc::new(imager));
    world
}

#[test]
fn imagers_get_bands_that_lie_alike_in_every_crop() {
    let directory = directory();
    let path = path_in(&directory, "a.tif");
    let mut world = imaged_world(&path, [4, 200]);
    world.camera.crop_window = [0.25, 0.75, 0.25, 0.75];
    let reporter = Reporter::silent();
    let film = film(&world, &reporter);
    film.deposit(region([1, 50, 3, 150]), &[0.0; 2 * 100 * 7]);
    film.finish(Some(&Position { fails: false }), &reporter);
    let ::tiff::decoder::DecodingResult::F32(values) = tiff_decoder(&path).read_image().expect("decodes") else {
        panic!("not floats")
    };
    for (index, pixel) in values.chunks(4).enumerate() {
        let (x, y) = (1 + index % 2, 50 + index / 2);
        let band_rows = [14.0, 64.0, 22.0][y / 64];
        assert_eq!(pixel[..3], [x as f32, y as f32, band_rows], "row {y}");
    }
}

#[test]
fn a_display_whose_imager_fails_is_not_written() {
    let directory = directory();
    let path = path_in(&directory, "a.tif");
    let world = imaged_world(&path, [2, 1]);
    let reporter = Reporter::silent();
    let film = film(&world, &reporter);
    film.deposit(region([0, 0, 2, 1]), &[0.5; 14]);
    let outcomes = film.finish(Some(&Position { fails: true }), &reporter);
    assert_eq!(states(&outcomes), [DisplayState::Missing]);
    assert!(!Path::new(&path).exists());
}

#[test]
fn depth_files_are_float_exr_whatever_their_name() {
    let directory = directory();
    let path = path_in(&directory, "shadow.z");
    let world = world([4, 2], vec![exposed([2.0, 2.2], display(&path, "zfile", Z))]);
    let reporter = Reporter::silent();
    let film = film(&world, &reporter);
    assert_eq!(film.layout().channels(), [FilmChannel { group: ChannelGroup::Depth, filter: None }]);
    film.deposit(region([0, 0, 2, 2]), &[1.5, 2.5, 1e38, 3.5]);
    let outcomes = film.finish(None, &reporter);
    assert_eq!(states(&outcomes), [DisplayState::Partial { missing: 4 }]);
    let image = read_exr(&path);
    let FlatSamples::F32(samples) = channel(&image, "Z") else { panic!("not float") };
    assert_eq!(samples[..], [1.5, 2.5, 1e38, 1e38, 1e38, 3.5, 1e38, 1e38]);
}

#[test]
fn a_partial_film_is_written_and_marked() {
    let directory = directory();
    let paths = ["a.exr", "a.tif", "a.png"].map(|name| path_in(&directory, name));
    let world = world([10, 10], paths.iter().map(|path| display(path, "file", RGBA)).collect());
    let reporter = Reporter::silent();
    let film = film(&world, &reporter);
    deposit(&film, region([0, 0, 10, 4]));
    assert_eq!(film.progress(), (40, 100));
    let outcomes = film.finish(None, &reporter);
    assert_eq!(states(&outcomes), [DisplayState::Partial { missing: 60 }; 3]);
    assert_eq!(reporter.count_at_least(Severity::Severe), 3);
    let note = "partial: 60 of 100 pixels were not rendered";
    let attribute =
        read_exr(&paths[0]).layer_data.attributes.other.remove(&::exr::meta::attribute::Text::from("partial"));
    assert_eq!(attribute, Some(::exr::meta::attribute::AttributeValue::Text(note.into())));
    let description = tiff_decoder(&paths[1]).get_tag_ascii_string(::tiff::tags::Tag::ImageDescription);
    assert_eq!(description.expect("is there"), note);
    let png = fs::read(&paths[2]).expect("written");
    assert!(png.windows(note.len()).any(|window| window == note.as_bytes()));
}

#[test]
fn a_partial_film_leaves_an_older_whole_picture_alone() {
    let directory = directory();
    let path = path_in(&directory, "a.exr");
    let beside = path_in(&directory, "a.exr.partial");
    let world = world([4, 4], vec![display(&path, "exr", RGB)]);
    let finish = |rows: i32| {
        let reporter = Reporter::silent();
        let film = film(&world, &reporter);
        deposit(&film, region([0, 0, 4, rows]));
        let outcomes = film.finish(None, &reporter);
        (outcomes[0].path.display().to_string(), outcomes[0].state)
    };
    let partial = |path: &String, missing| (path.clone(), DisplayState::Partial { missing });
    assert_eq!(finish(2), partial(&path, 8), "nothing else is there");
    assert_eq!(finish(3), partial(&path, 4), "what is there is partial too");
    assert_eq!(finish(4), (path.clone(), DisplayState::Whole));
    let whole = fs::read(&path).expect("written");
    assert_eq!(finish(2), partial(&beside, 8));
    assert_eq!(finish(3), partial(&beside, 4), "an older partial one is replaced");
    assert_eq!(fs::read(&path).expect("there"), whole);
    assert_eq!(finish(4), (path.clone(), DisplayState::Whole));
    assert!(!Path::new(&beside).exists(), "it is no longer needed");
    fs::write(&beside, "something else").expect("writable");
    assert_eq!(finish(2), (beside.clone(), DisplayState::Missing));
    assert_eq!(finish(4), (path.clone(), DisplayState::Whole));
    assert_eq!(fs::read(&beside).expect("there"), b"something else");
}

#[test]
fn a_film_without_pixels_keeps_the_old_file() {
    let directory = directory();
    let path = path_in(&directory, "a.exr");
    fs::write(&path, b"old").expect("writable");
    let reporter = Reporter::silent();
    let film = film(&world([4, 4], vec![display(&path, "exr", RGB)]), &reporter);
    assert_eq!(states(&film.finish(None, &reporter)), [DisplayState::Missing]);
    assert_eq!(fs::read(&path).expect("there"), b"old");
}

#[test]
#[should_panic(expected = "a pixel is deposited once")]
fn a_pixel_deposited_twice_is_a_broken_scheduler() {
    let film = film(&world([8, 8], vec![display("a.exr", "exr", RGB)]), &Reporter::silent());
    deposit(&film, region([0, 0, 4, 4]));
    deposit(&film, region([3, 3, 8, 8]));
}

#[test]
#[should_panic(expected = "is inside the film")]
fn a_region_outside_is_a_broken_scheduler() {
    let film = film(&world([8, 8], vec![display("a.exr", "exr", RGB)]), &Reporter::silent());
    deposit(&film, region([4, 4, 9, 8]));
}

#[test]
fn outputs_that_cannot_be_written_are_found_before_rendering() {
    let directory = directory();
    let (good, bad) = (path_in(&directory, "a.exr"), path_in(&directory, "no/such/b.exr"));
    let world = world([2, 2], vec![display(&bad, "exr", RGB), display(&good, "exr", RGB)]);
    let reporter = Reporter::silent();
    let mut film = film(&world, &reporter);
    assert_eq!(film.check_outputs(&reporter), 1);
    let message = format!("scene.rib:2:1: error: cannot write \"{bad}\": there is no such directory [badfile]");
    assert_eq!(reporter.all()[0].0.to_string(), message);
    deposit(&film, region([0, 0, 2, 2]));
    let outcomes = film.finish(None, &reporter);
    assert_eq!(states(&outcomes), [DisplayState::Missing, DisplayState::Whole]);
    assert_eq!(outcomes[0].path, Path::new(&bad));
    assert_eq!(reporter.all().len(), 1);
}

#[test]
fn a_film_beyond_memory_is_refused() {
    let reporter = Reporter::silent();
    let huge = world([RESOLUTION_MAX; 2], vec![display("a.exr", "exr", RGB)]);
    assert!(Film::new(&huge, 1 << 30, &Arc::default(), &reporter).is_err());
    let small = world([100, 100], vec![display("a.exr", "exr", RGB)]);
    assert!(Film::new(&small, 100_000, &Arc::default(), &reporter).is_err());
    assert!(Film::new(&small, Film::bytes_of(&small.options, &small.camera), &Arc::default(), &reporter).is_ok());
    assert!((120_000..130_000).contains(&Film::bytes_of(&small.options, &small.camera)));
    assert!(Film::bytes_of(&huge.options, &huge.camera) > 12 * 65_000 * 65_000);
    assert_eq!(reporter.count_at_least(Severity::Severe), 2);
}

/// Most scenes show a picture in a window and write it to a file of the same name.
#[test]
fn a_window_gives_way_to_the_file_of_its_name_in_any_order() {
    let directory = directory();
    let (first, second) = (path_in(&directory, "first.exr"), path_in(&directory, "second.exr"));
    let displays = vec![
        display(&first, "framebuffer", RGB),
        display(&first, "file", RGBA),
        display(&second, "file", RGBA),
        display(&second, "framebuffer", RGB),
    ];
    let (outcomes, said) = make(&world([2, 2], displays));
    assert_eq!(states(&outcomes), [DisplayState::Whole; 2]);
    assert!(said.iter().all(|message| message.starts_with("no window is opened")), "{said:?}");
    for path in [first, second] {
        let meta = ::exr::meta::MetaData::read_from_file(path, false).expect("an OpenEXR file");
        assert_eq!(meta.headers[0].channels.list.len(), 4);
    }
}

#[test]
fn bad_displays_are_explained_and_do_not_stop_the_others() {
    let directory = directory();
    let path = |name: &str| path_in(&directory, name);
    let string = DisplayMode::Variable { name: "label".into(), ty: ValueType::String, composited: true };
    let matrix = DisplayMode::Variable { name: "m".into(), ty: ValueType::Matrix, composited: true };
    let mut odd = display(path("odd.exr"), "exr", RGB);
    odd.params.insert("exrcompression".into(), ParamValue::Strings(vec!["best".into()]));
    odd.params.insert("colour".into(), ParamValue::Ints(vec![1]));
    odd = exposed([1.0, 0.0], odd);
    let displays = vec![
        display(path("same.exr"), "exr", RGB),
        display(path("same.exr"), "exr", RGBA),
        display(path("same.exr"), "framebuffer", RGBA),
        display("", "exr", RGB),
        display(path("s.exr"), "exr", string),
        display(path("m.png"), "png", matrix),
        display(path("q.tif"), "tiff", DisplayMode::Image { rgb: true, a: false, z: true }),
        display(path("q.png"), "png", DisplayMode::Image { rgb: true, a: false, z: true }),
        display("nothing", "null", RGB),
        odd,
    ];
    let (outcomes, said) = make(&world([2, 2], displays));
    let expected = [
        format!("no window is opened for \"framebuffer\"; the picture is written to \"{}\"", path("same.exr")),
        "a display has no name, so its picture cannot be written".into(),
        "\"label\" is a string and cannot be displayed".into(),
        format!("PNG cannot hold the 16 floats of \"m\"; \"{}\" is not written", path("m.png")),
        format!("\"{}\" holds quantized colour and no depth", path("q.png")),
        "the \"exr\" driver has no parameter \"colour\"".into(),
        "\"exrcompression\" cannot be \"best\"".into(),
        "exposure 1 0 is invalid; 1 1 is used".into(),
        format!("\"{0}\" (a picture to write) is the same file as \"{0}\" (used before)", path("same.exr")),
    ];
    assert_eq!(said, expected);
    use DisplayState::{Missing, Whole};
    assert_eq!(states(&outcomes), [Whole, Missing, Missing, Missing, Missing, Whole, Whole, Whole]);
}
