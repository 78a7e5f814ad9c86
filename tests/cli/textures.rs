//! Textures on the command line and in scenes.

use super::{anthill, directory, run};
use crate::determinism::make_texture;
use std::fs;
use std::path::Path;

const MAKE: &str = "MakeTexture \"a.png\" \"a.tex\" \"black\" \"black\" \"box\" 1 1\n";

#[test]
fn a_scene_may_only_make_textures() {
    let folder = directory();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("a.rib"), MAKE).expect("writable");
    let missing = anthill(folder.path(), &["render", "a.rib"]);
    let expected = [
        "a.rib:1:1: error: MakeTexture: there is no file \"a.png\" [nofile]",
        "  help: Option \"searchpath\" \"texture\" sets where else to look for pictures",
    ];
    assert_eq!((missing.code, missing.messages()), (Some(1), expected.to_vec()), "{}", missing.err);
    fs::create_dir(at("maps")).expect("writable");
    let mut encoder = png::Encoder::new(fs::File::create(at("maps/a.png")).expect("writable"), 2, 1);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().and_then(|mut writer| writer.write_image_data(&[0, 128, 255, 0, 0, 0])).expect("writable");
    // In a folder of the texture path, whoever names it.
    let made = anthill(folder.path(), &["render", "a.rib", "--textures", "maps"]);
    assert_eq!((made.code, made.messages()), (Some(0), vec![]), "{}", made.err);
    assert!(made.err.contains("anthill: a.tex: "), "{}", made.err);
    let info = anthill(folder.path(), &["texture", "info", "a.tex"]);
    assert!(info.out.contains("2 x 1, 3 channels, 8-bit"), "{}", info.out);
    // Nothing is made by a check, and nothing of frames that are not wanted.
    fs::remove_file(at("a.tex")).expect("it was made");
    let checked = anthill(folder.path(), &["render", "a.rib", "--textures", "maps", "--check"]);
    assert_eq!((checked.code, checked.messages(), at("a.tex").exists()), (Some(0), vec![], false), "{}", checked.err);
    fs::write(at("b.rib"), format!("FrameBegin 2\n{MAKE}FrameEnd\n")).expect("writable");
    let ran = anthill(folder.path(), &["render", "b.rib", "--textures", "maps", "--frames", "1"]);
    assert_eq!((ran.code, at("a.tex").exists()), (Some(0), false), "{}", ran.err);
}

#[test]
fn levels_are_written_as_pictures_and_making_shows_progress() {
    let folder = directory();
    let colours = |x: usize, y: usize| (x as f32 / 64.0, y as f32 / 64.0, 0.5_f32);
    exr::prelude::write_rgb_file(folder.path().join("a.exr"), 64, 64, colours).expect("writable");
    let made = anthill(folder.path(), &["texture", "make", "a.exr", "-o", "a.tex", "--progress", "percent"]);
    assert!(made.code == Some(0) && made.err.contains("R90000    0%") && made.err.contains("R90000  100%"), "{made:?}");
    let written = anthill(folder.path(), &["texture", "convert", "a.tex", "b.exr", "--level", "5"]);
    assert_eq!((written.code, written.out.as_str(), written.err.as_str()), (Some(0), "", ""));
    let image = exr::prelude::read_first_flat_layer_from_file(folder.path().join("b.exr")).expect("a picture");
    assert_eq!(image.layer_data.size, exr::math::Vec2(2, 2));
    for (level, picture, code, message) in [
        ("7", "c.png", 2, "has no level 7: its last one is 6"),
        ("0", "a.tex", 2, "is the same file as"),
        ("0", "c.jpg", 2, "must end with .exr or .png"),
        ("0", "none/c.png", 1, "cannot write \"none/c.png\""),
    ] {
        let refused = anthill(folder.path(), &["texture", "convert", "a.tex", picture, "--level", level]);
        assert!(refused.code == Some(code) && refused.err.contains(message), "{picture}: {}", refused.err);
    }
}

#[test]
fn brick_maps_are_made_of_points_and_described() {
    let folder = directory();
    let points = |name: &str, channels: &str| {
        let header = "ply\nformat ascii 1.0\ncomment channel vector v\nelement vertex 1\nproperty float x\nproperty \
                      float y\nproperty float z\n";
        fs::write(folder.path().join(name), format!("{header}{channels}end_header\n1 2 3 4 5 6 7\n"))
            .expect("writable");
    };
    let floats = |names: [&str; 4]| names.map(|name| format!("property float {name}\n")).concat();
    points("a.ply", &floats(["v.x", "v.y", "v.z", "k"]));
    points("b.ply", &floats(["k", "v.x", "v.y", "v.z"]));
    points("c.ply", &floats(["l", "v.x", "v.y", "v.z"]));
    let make = ["texture", "make", "--kind", "brickmap", "-o", "d.bkm", "a.ply"];
    for (state, other) in [("", "b.ply"), ("up to date: ", "b.ply")] {
        let made = anthill(folder.path(), &[&make[..], &[other, "--update"]].concat());
        let message = format!("anthill: d.bkm: {state}brick map, 2 tiles");
        assert!(made.code == Some(0) && made.err.contains(&message), "{made:?}");
    }
    let info = anthill(folder.path(), &["texture", "info", "d.bkm"]);
    assert!(info.out.starts_with("d.bkm: brick map, 2 tiles, channels vector v, float k, "), "{}", info.out);
    let checked = anthill(folder.path(), &["texture", "check", "d.bkm"]);
    let readable = "d.bkm: brick map, 2 tiles, channels vector v, float k: 2 tiles are readable, ";
    assert!(checked.code == Some(0) && checked.out.starts_with(readable), "{}", checked.out);
    for (args, code, message) in [
        (
            &[&make[..], &["c.ply"]].concat()[..],
            1,
            "\"c.ply\" cannot be used as a texture: its channels are not those of",
        ),
        (&["texture", "make", "a.ply", "b.ply", "-o", "e.tex"], 2, "A texture is made of one picture"),
        (&["texture", "make", "--kind", "brickmap", "d.bkm", "-o", "e.bkm"], 1, "is not a whole PLY file of points"),
        (&["texture", "make", "d.bkm", "-o", "e.tex"], 1, "is a point cloud, which only texture3d() looks up"),
        (&["texture", "convert", "d.bkm", "e.exr"], 1, "is a point cloud, which only texture3d() looks up"),
    ] {
        let refused = anthill(folder.path(), args);
        assert!(refused.code == Some(code) && refused.err.contains(message), "{args:?}: {}", refused.err);
    }
}

/// The picture that follows `--wrap` is none of its modes.
#[test]
fn a_picture_may_follow_the_wrap_modes() {
    let folder = directory();
    exr::prelude::write_rgb_file(folder.path().join("a.exr"), 8, 8, |_, _| (0.5_f32, 0.5, 0.5)).expect("writable");
    for (modes, wrap) in [("periodic", "periodic,periodic"), ("mirror,clamp", "mirror,clamp")] {
        let made = anthill(folder.path(), &["texture", "make", "--wrap", modes, "a.exr", "-o", "a.tex"]);
        assert_eq!(made.code, Some(0), "{}", made.err);
        let info = anthill(folder.path(), &["texture", "info", "a.tex"]);
        assert!(info.out.contains(&format!("wrap {wrap},")), "{}", info.out);
    }
}

/// The name of `-o` is for the picture of a scene, not for those that it makes textures of.
#[test]
fn pictures_for_textures_keep_their_names() {
    let folder = directory();
    let world =
        |name: &str| format!("Format 8 8 1\nDisplay \"{name}\" \"tiff\" \"rgb\"\nWorldBegin\nDisk 2 1 360\nWorldEnd\n");
    let text = format!("{}{}{}", world("a.png"), MAKE, world("b.tif"));
    fs::write(folder.path().join("a.rib"), text).expect("writable");
    let ran = anthill(folder.path(), &["render", "a.rib", "-o", "out.exr"]);
    assert_eq!((ran.code, ran.messages()), (Some(0), vec![]), "{}", ran.err);
    let there = ["a.png", "a.tex", "out.exr", "b.tif"].map(|name| folder.path().join(name).exists());
    assert_eq!(there, [true, true, true, false]);
}

/// Tiles are named before programs run that look them up; only what depends on a texture is missed. What that takes is
/// in the statistics, and in the trace with a slice for each event.
#[test]
fn tiles_are_named_or_missed_as_statistics_and_trace_say() {
    let folder = directory();
    let mut encoder = png::Encoder::new(fs::File::create(folder.path().join("a.png")).expect("writable"), 256, 256);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().and_then(|mut writer| writer.write_image_data(&[7; 3 << 16])).expect("writable");
    // Two textures, because what else there is of the first is loaded together with what is named.
    let twice = "surface twice(string texturename = \"\";) { Ci = texture(\"b.tex\", texture(texturename), t); }";
    fs::write(folder.path().join("twice.sl"), twice).expect("writable");
    for (shader, depends) in [("paintedplastic", false), ("twice", true)] {
        let scene = format!(
            "{MAKE}{}Format 128 128 1\nDisplay \"b.exr\" \"exr\" \"rgb\"\nWorldBegin\n\
             Surface \"{shader}\" \"string texturename\" \"a.tex\"\nSphere 1 -1 1 360\nWorldEnd\n",
            MAKE.replace("a.tex", "b.tex")
        );
        fs::write(folder.path().join("a.rib"), scene).expect("writable");
        let flags = ["render", "a.rib", "--stats", "s.json", "--trace", "t.json", "--devices", "0"];
        let ran = anthill(folder.path(), &flags);
        assert_eq!((ran.code, ran.messages()), (Some(0), vec![]), "{}", ran.err);
        let json = |name: &str| -> serde_json::Value {
            serde_json::from_slice(&fs::read(folder.path().join(name)).expect("written")).expect("JSON")
        };
        let (stats, trace) = (json("s.json"), json("t.json"));
        let loss = &stats["texture_loss"];
        let [naming, loading] = ["naming_s", "loading_s"].map(|name| loss[name].as_f64().unwrap_or_default());
        assert!(naming > 0.0 && loading > 0.0, "{shader}: {loss}");
        assert_eq!(loss["submissions"].as_u64() > Some(0), depends, "{shader}: {loss}");
        let events = trace["traceEvents"].as_array().expect("a list");
        let slices = |name: &str| events.iter().filter(|event| event["name"] == name).collect::<Vec<_>>();
        assert!(!slices("name tiles").is_empty(), "{shader}");
        assert_eq!(slices("missed tiles, runs again").len() as u64, loss["submissions"], "{shader}: {loss}");
        let tiles = slices("load tiles").iter().filter_map(|event| event["args"]["tiles"].as_u64()).sum::<u64>();
        assert!(tiles >= stats["texture"]["misses"].as_u64().expect("a number") && tiles > 0, "{tiles} {stats}");
    }
}

/// Programs that run renders read exit codes, not messages. The picture is whole in each case.
#[test]
fn textures_that_cannot_be_read_and_points_that_cannot_be_written_make_the_exit_code_1() {
    let folder = directory();
    let at = |name: &str| folder.path().join(name);
    make_texture(folder.path(), "whole.tex", [256, 256]);
    let mut damaged = fs::read(at("whole.tex")).expect("it was made");
    damaged[200..3000].fill(0x5a);
    fs::write(at("damaged.tex"), damaged).expect("writable");
    fs::write(at("text.tex"), "not a picture at all, but longer than a header of one").expect("writable");
    for (name, call) in [
        ("show", "Ci = texture(f, s, t, \"width\", 0)"),
        ("look", "texture3d(f, P, N, \"Cs\", Ci)"),
        ("bake", "bake3d(f, \"c\", P, N, \"c\", Cs)"),
    ] {
        fs::write(at(&format!("{name}.sl")), format!("surface {name}(string f = \"\";) {{ Ci = Cs; {call}; }}"))
            .expect("writable");
    }
    for (shader, file, code, lost) in [
        ("show", "whole.tex", 0, 0),
        ("show", "none.tex", 1, 1),
        ("show", "damaged.tex", 1, 1),
        ("show", "text.tex", 1, 1),
        ("look", "none.ptc", 1, 1),
        ("look", "text.tex", 1, 1),
        ("bake", "new.ptc", 0, 0),
        ("bake", "none/new.ptc", 1, 1),
    ] {
        let text = format!(
            "Format 16 16 1\nDisplay \"a.exr\" \"exr\" \"rgb\"\nWorldBegin\nSurface \"{shader}\" \"string f\" \"{file}\"\n\
             Patch \"bilinear\" \"P\" [-1 1 1 1 1 1 -1 -1 1 1 -1 1]\nWorldEnd\n"
        );
        fs::write(at("a.rib"), text).expect("writable");
        let ran = anthill(folder.path(), &["render", "a.rib", "--stats", "s.json", "--devices", "0"]);
        assert_eq!(ran.code, Some(code), "{shader} {file}: {}", ran.err);
        let stats: serde_json::Value = serde_json::from_slice(&fs::read(at("s.json")).expect("written")).expect("JSON");
        assert_eq!((&stats["files_lost"], &stats["outputs"][0]["state"]), (&lost.into(), &"whole".into()), "{file}");
    }
}

/// Writes a PNG of one colour, which is as wide as it is high.
pub(super) fn write_flat(path: &Path, side: u32, colour: png::ColorType) {
    let mut encoder = png::Encoder::new(fs::File::create(path).expect("writable"), side, side);
    encoder.set_color(colour);
    let texels = vec![200_u8; colour.samples() * side as usize * side as usize];
    encoder.write_header().and_then(|mut writer| writer.write_image_data(&texels)).expect("writable");
}

/// A world with a picture as a texture.
const WORLD: &str = "Format 8 8 1\nDisplay \"b.exr\" \"exr\" \"rgb\"\nWorldBegin\nSurface \"paintedplastic\" \
                     \"string texturename\" \"a.png\"\nSphere 1 -1 1 360\nWorldEnd\n";

/// Its header says how much memory it takes to make a texture of a picture.
#[test]
fn pictures_that_are_too_large_for_the_host_memory_are_refused_before_they_are_decoded() {
    let folder = directory();
    let written = || -> tiff::TiffResult<()> {
        let mut encoder = tiff::encoder::TiffEncoder::new(fs::File::create(folder.path().join("a.png"))?)?;
        let mut image = encoder.new_image::<tiff::encoder::colortype::Gray8>(5000, 5000)?;
        // In one strip, which is decoded whole.
        image.rows_per_strip(5000)?;
        image.write_data(&vec![7; 25_000_000])
    };
    written().expect("writable");
    for text in [MAKE, WORLD] {
        fs::write(folder.path().join("a.rib"), text).expect("writable");
        let ran = anthill(folder.path(), &["render", "a.rib", "--host-memory", "128M", "--devices", "0"]);
        let message = "a.png\" is too large a picture for a texture to be made of it: it takes about 190.7 MiB";
        assert!(ran.code == Some(1) && ran.err.contains(message), "{}", ran.err);
    }
}

/// Writes a picture of one colour in blocks of rows, of this side: PNG, TIFF, or OpenEXR by scan lines or tiles.
fn write_large(path: &Path, side: usize, container: usize) {
    use exr::prelude::{
        AnyChannel, AnyChannels, Blocks, Encoding, FlatSamples, Image, Layer, LineOrder, WritableImage,
    };
    match container {
        0 => write_flat(path, side as u32, png::ColorType::Grayscale),
        1 => {
            let mut encoder = tiff::encoder::TiffEncoder::new(fs::File::create(path).expect("writable"))
                .expect("writable")
                .with_compression(tiff::encoder::Compression::Packbits);
            let written = encoder.write_image::<tiff::encoder::colortype::Gray8>(
                side as u32,
                side as u32,
                &vec![200; side * side],
            );
            written.expect("writable");
        }
        _ => {
            let samples = FlatSamples::F16(vec![half::f16::from_f32(0.75); side * side]);
            let channels = AnyChannels::sort(std::iter::once(AnyChannel::new("Y", samples)).collect());
            let blocks = if container == 2 { Blocks::ScanLines } else { Blocks::Tiles((128, 128).into()) };
            let encoding = Encoding { blocks, line_order: LineOrder::Increasing, ..Encoding::FAST_LOSSLESS };
            let image = Image::from_layer(Layer::new((side, side), Default::default(), encoding, channels));
            image.write().to_file(path).expect("writable");
        }
    }
}

/// A picture is read row by row where its texels would take too much memory.
#[test]
fn large_pictures_become_textures_within_little_host_memory() {
    for (container, format) in ["8-bit", "8-bit", "half", "half"].into_iter().enumerate() {
        let folder = directory();
        write_large(&folder.path().join("a.png"), 2200, container);
        for text in [MAKE, WORLD].into_iter().take(if container == 0 { 2 } else { 1 }) {
            fs::write(folder.path().join("a.rib"), text).expect("writable");
            let args = ["render", "a.rib", "--host-memory", "32M", "--devices", "0"];
            let cache = folder.path().join("cache");
            let ran = run(folder.path(), &args, &[("XDG_CACHE_HOME", cache.as_os_str())], "");
            assert_eq!(ran.code, Some(0), "{container}: {}", ran.err);
        }
        let info = anthill(folder.path(), &["texture", "info", "a.tex"]);
        assert!(info.out.contains(&format!("2200 x 2200, 1 channel, {format}")), "{}", info.out);
    }
}

/// A file of points says how many they are before any is read.
#[test]
fn points_that_are_too_many_for_the_host_memory_are_not_made_into_textures() {
    let folder = directory();
    let header = "ply\nformat binary_little_endian 1.0\nelement vertex 20000000\nproperty float x\nproperty float y\n\
                  property float z\nproperty float a\nend_header\n";
    fs::write(folder.path().join("a.png"), header).expect("writable");
    let file = fs::OpenOptions::new().append(true).open(folder.path().join("a.png")).expect("it is there");
    file.set_len(header.len() as u64 + 20_000_000 * 16).expect("zeros take no room");
    for text in [MAKE, "MakeBrickMap [\"a.png\"] \"b.bkm\"\n"] {
        fs::write(folder.path().join("a.rib"), text).expect("writable");
        let ran = anthill(folder.path(), &["render", "a.rib", "--host-memory", "128M", "--devices", "0"]);
        let message = "a.png\" is not read: its 20000000 points are too many: it takes ";
        assert!(ran.code == Some(1) && ran.err.contains(message), "{}", ran.err);
    }
}

/// A small file may say that it is a part of a huge picture, and six faces of a cube are packed.
#[test]
fn windows_and_cubes_that_are_too_large_for_the_host_memory_are_refused_too() {
    use tiff::tags::Tag;
    let folder = directory();
    let at = |name: &str| folder.path().join(name);
    let written = || -> tiff::TiffResult<()> {
        let mut encoder = tiff::encoder::TiffEncoder::new(fs::File::create(at("a.png"))?)?;
        let mut image = encoder.new_image::<tiff::encoder::colortype::Gray8>(16, 16)?;
        for (tag, value) in [(33300, 13_000_u32), (33301, 13_000), (286, 5), (287, 5)] {
            image.encoder().write_tag(Tag::from_u16_exhaustive(tag), value)?;
        }
        image.write_data(&[7; 256])
    };
    written().expect("writable");
    let mut encoder = png::Encoder::new(fs::File::create(at("face.png")).expect("writable"), 1025, 1025);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.write_header().and_then(|mut writer| writer.write_image_data(&vec![7; 1025 * 1025])).expect("writable");
    let faces = "\"face.png\" ".repeat(6);
    let cube = format!("MakeCubeFaceEnvironment {faces}\"a.tex\" 90 \"box\" 1 1\n");
    // Faces of 1025 texels become 2048 wide: 12 bytes each, and 4 for what they are made of.
    // Of the whole picture, what the filter sees beyond the upper edge comes last.
    let periodic = "MakeTexture \"a.png\" \"a.tex\" \"periodic\" \"periodic\" \"gaussian\" 2 2\n";
    for (text, picture, takes) in [(periodic, "a.png", "451.3 MiB"), (&*cube, "face.png", "312.0 MiB")] {
        fs::write(at("a.rib"), text).expect("writable");
        let ran = anthill(folder.path(), &["render", "a.rib", "--host-memory", "128M", "--devices", "0"]);
        let message =
            format!("{picture}\" is too large a picture for a texture to be made of it: it takes about {takes}");
        assert!(ran.code == Some(1) && ran.err.contains(&message), "{}", ran.err);
    }
}

/// What names one file twice is looked at only once it may be read, and a pipe is not waited for.
#[test]
fn a_shadow_map_in_its_place_is_read_only_if_it_is_a_file_that_may_be_read() {
    let folder = directory();
    let at = |name: &str| folder.path().join(name);
    assert!(std::process::Command::new("mkfifo").arg(at("p")).status().expect("it runs").success());
    fs::create_dir(at("in")).expect("writable");
    for (picture, reason) in [("../p", "the only folder that --confine allows"), ("p", "is a pipe or a device")] {
        fs::write(at("in/a.rib"), format!("MakeShadow \"{picture}\" \"{picture}\"\n")).expect("writable");
        if picture == "p" {
            fs::rename(at("p"), at("in/p")).expect("it is there");
        }
        let ran = anthill(&at("in"), &["render", "a.rib", "--confine", "."]);
        assert!(ran.code == Some(1) && ran.err.contains(reason), "{picture}: {}", ran.err);
    }
}

/// With `-o`, all worlds are read first as far as there is memory for them: there must be some left for textures.
#[test]
fn a_texture_fits_however_many_worlds_are_read_ahead() {
    let folder = directory();
    write_flat(&folder.path().join("a.png"), 600, png::ColorType::Grayscale);
    let points = "0 0 1 ".repeat(20_000);
    let frame = |number: u32| {
        format!(
            "FrameBegin {number}\nDisplay \"a{number}\" \"file\" \"rgb\"\nFormat 8 8 1\nWorldBegin\nSurface \"paintedplastic\" \
             \"string texturename\" \"a.png\"\nSphere 1 -1 1 360\nPoints \"P\" [{points}]\nWorldEnd\nFrameEnd\n"
        )
    };
    fs::write(folder.path().join("a.rib"), (1..=8).map(frame).collect::<String>()).expect("writable");
    for more in [&[][..], &["-o", "x.#.exr"], &["--crop", "0", "0.9", "0", "1"]] {
        let args = [&["render", "a.rib", "--host-memory", "8M", "--devices", "0"], more].concat();
        let cache = folder.path().join(format!("cache{}", more.len()));
        let ran = run(folder.path(), &args, &[("XDG_CACHE_HOME", cache.as_os_str())], "");
        assert!(ran.code == Some(0) && !ran.err.contains("too large a picture"), "{more:?}: {}", ran.err);
    }
}

/// Pictures that a scene reads are not overwritten by textures, and files of other roles by neither.
#[test]
fn textures_overwrite_no_other_file() {
    let folder = directory();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("a.png"), "a picture").expect("writable");
    fs::hard_link(at("a.png"), at("b.png")).expect("links work");
    for (picture, texture) in [("a.png", "a.png"), ("a.png", "b.png"), ("a.png", "a.rib"), ("a.rib", "new.tex")] {
        let text = format!("MakeShadow \"{picture}\" \"{texture}\"\n");
        fs::write(at("a.rib"), &text).expect("writable");
        let ran = anthill(folder.path(), &["render", "a.rib"]);
        let expected = if picture == "a.rib" { Some(1) } else { Some(2) };
        assert_eq!(ran.code, expected, "{picture} {texture}: {}", ran.err);
        let kept = [fs::read(at("a.png")).expect("there"), fs::read(at("a.rib")).expect("there")];
        assert_eq!(kept, [b"a picture".to_vec(), text.into_bytes()], "{picture} {texture}");
    }
    // Outside of the only folder that may be used.
    fs::create_dir(at("in")).expect("writable");
    fs::write(at("in/a.rib"), "MakeShadow \"../a.png\" \"b\"\nMakeShadow \"a\" \"../b\"\n").expect("writable");
    let ran = anthill(&at("in"), &["render", "a.rib", "--confine", "."]);
    assert_eq!(
        (ran.code, ran.err.matches("the only folder that --confine allows").count()),
        (Some(1), 2),
        "{}",
        ran.err
    );
}
