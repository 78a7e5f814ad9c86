//! Textures read, made and damaged.

use super::file::PATIENCE;
use super::*;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

/// Returns what opening a file says.
fn refusal(path: &Path) -> String {
    TextureFile::open(path).expect_err("it is no texture").to_string()
}

#[test]
fn what_is_no_texture_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("sub")).expect("writable");
    fs::write(at("empty"), "").expect("writable");
    fs::write(at("text"), "Sphere 1 -1 1 360").expect("writable");
    fs::write(at("short.exr"), [0x76, 0x2f, 0x31, 0x01, 2, 0]).expect("writable");
    fs::write(at("short.tif"), b"II*\0\x08\0").expect("writable");
    let table = [
        ("none", "there is no file"),
        ("sub", "is a folder, not a file"),
        ("empty", "is damaged or incomplete: it is empty"),
        ("text", "is not a picture of a known format: TIFF, OpenEXR, PNG"),
        ("short.exr", "is damaged or incomplete: it ends too early"),
        ("short.tif", "is damaged or incomplete: it ends too early"),
    ];
    for (name, reason) in table {
        let message = refusal(&at(name));
        assert!(message.contains(reason) && message.contains(name), "{name}: {message}");
    }
}

/// Writes a PNG of 8 bits.
fn png(path: &Path, [width, height]: [u32; 2], channels: u32, value: impl Fn(u32, u32, u32) -> u8) {
    let texel = |index: u32| (index / channels % width, index / channels / width, index % channels);
    let bytes: Vec<u8> =
        (0..width * height * channels).map(texel).map(|(x, y, channel)| value(x, y, channel)).collect();
    let colour = [image::ColorType::L8, image::ColorType::La8, image::ColorType::Rgb8, image::ColorType::Rgba8];
    image::save_buffer(path, &bytes, width, height, colour[channels as usize - 1]).expect("writable");
}

/// Returns a channel of a texel as a number from 0 to 1, or as the float it is.
fn channel(file: &TextureFile, level: u32, [x, y]: [u32; 2], channel: u32) -> f32 {
    let format = file.header().format;
    let per_word = format.channels_per_word();
    let mut tile = [0; TILE_WORDS];
    file.read_tile(level, channel / per_word, x / 64, y / 64, &mut tile).expect("it is readable");
    let word = tile[(y % 64 * 64 + x % 64) as usize] >> (channel % per_word * (32 / per_word));
    match format {
        TexelFormat::U8 => (word & 0xff) as f32 / 255.0,
        TexelFormat::U16 => (word & 0xffff) as f32 / 65535.0,
        TexelFormat::F16 => half::f16::from_bits(word as u16).to_f32(),
        TexelFormat::F32 => f32::from_bits(word),
    }
}

fn made(request: &MakeRequest) -> TextureFile {
    make(request, &go_on).expect("it can be made");
    TextureFile::open(&request.output).expect("it is a texture")
}

#[test]
fn every_format_keeps_a_ramp_and_its_levels() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    // 130 texels are three tiles across: a ramp of red along s, of green along t.
    let size = [130, 70];
    png(&at("ramp.png"), size, 3, |x, y, channel| [x as u8, y as u8, 77][channel as usize]);
    for format in [TexelFormat::U8, TexelFormat::U16, TexelFormat::F16, TexelFormat::F32] {
        let mut request = MakeRequest::new(MakeKind::Plain, vec![at("ramp.png")], at("ramp.tex"));
        request.format = Some(format);
        request.filter = Some(MakeFilter::Box);
        request.wrap = [WrapMode::Periodic, WrapMode::Mirror];
        let file = made(&request);
        let header = file.header();
        assert_eq!([header.width, header.height, header.levels, header.channels], [130, 70, 8, 3], "{format:?}");
        assert_eq!((header.format, header.wrap), (format, request.wrap));
        let near = |level, texel, expected: [f32; 3]| {
            for (index, expected) in (0..).zip(expected) {
                let found = channel(&file, level, texel, index) * 255.0;
                assert!((found - expected).abs() < 0.6, "{format:?} {level} {texel:?}: {found} for {expected}");
            }
        };
        near(0, [0, 0], [0.0, 0.0, 77.0]);
        near(0, [129, 69], [129.0, 69.0, 77.0]);
        near(0, [63, 64], [63.0, 64.0, 77.0]);
        near(1, [64, 34], [128.5, 68.5, 77.0]);
        // 65 texels of level 1 become 32: each covers 65 / 32 of them, 2 * 65 / 32 of the picture.
        near(2, [0, 0], [65.0 / 32.0 - 0.5, 35.0 / 17.0 - 0.5, 77.0]);
        near(7, [0, 0], [64.5, 34.5, 77.0]);
    }
}

/// Where no filter is named, colours keep more of what is fine, and what is bright does not ring.
#[test]
fn levels_are_made_with_what_suits_the_picture() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    let stripes = |x: u32, bright: f32| if x % 5 < 2 { bright } else { 0.0 };
    png(&at("stripes.png"), [80, 40], 3, |x, _, _| stripes(x, 255.0) as u8);
    for (name, bright) in [("calm.exr", 1.0), ("lights.exr", 40.0)] {
        let grey = |x: usize, _: usize| {
            let value = stripes(x as u32, bright);
            (value, value, value)
        };
        exr::prelude::write_rgb_file(at(name), 80, 40, grey).expect("writable");
    }
    for (picture, filter) in
        [("stripes.png", MakeFilter::Lanczos), ("calm.exr", MakeFilter::Lanczos), ("lights.exr", MakeFilter::Box)]
    {
        let mut request = MakeRequest::new(MakeKind::Plain, vec![at(picture)], at("a.tex"));
        let chosen = made(&request);
        (request.filter, request.output) = (Some(filter), at("b.tex"));
        let named = made(&request);
        for (level, x) in (1..4).flat_map(|level| (0..80 >> level).map(move |x| (level, x))) {
            let [chosen, named] = [&chosen, &named].map(|file| channel(file, level, [x, 2], 1));
            let is_as_expected = match filter {
                MakeFilter::Lanczos if level > 1 => (0.0..=1.0).contains(&chosen),
                MakeFilter::Lanczos => chosen == named.clamp(0.0, 1.0),
                _ => chosen == named,
            };
            assert!(is_as_expected, "{picture}, level {level}, texel {x}: {chosen} for {named}");
        }
    }
}

#[test]
fn colours_are_made_linear_and_multiplied_with_alpha_as_asked() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    png(&at("a.png"), [4, 4], 4, |_, _, channel| [188, 255, 0, 51][channel as usize]);
    let mut request = MakeRequest::new(MakeKind::Plain, vec![at("a.png")], at("a.tex"));
    let red = |request: &MakeRequest| channel(&made(request), 0, [1, 1], 0);
    assert!((red(&request) - 188.0 / 255.0 * 0.2).abs() < 0.003);
    request.from_srgb = true;
    // sRGB 188 is 0.5 in linear light.
    assert!((red(&request) - 0.5029 * 0.2).abs() < 0.001);
    assert_eq!(TextureFile::open(&at("a.tex")).expect("made").header().format, TexelFormat::U16);
    request.alpha = AlphaMode::Keep;
    assert!((red(&request) - 0.5029).abs() < 0.001);
    request.resize = ResizeMode::Up;
    png(&at("a.png"), [5, 3], 1, |_, _, _| 255);
    let header = made(&request).header().clone();
    assert_eq!([header.width, header.height, header.channels], [8, 4, 1]);
}

#[test]
fn six_faces_are_packed_and_stay_apart() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let faces: Vec<_> = (0..6).map(|face| folder.path().join(format!("{face}.png"))).collect();
    for (path, face) in faces.iter().zip(0_u8..) {
        png(path, [12, 12], 3, |_, _, _| 10 * (face + 1));
    }
    let mut request = MakeRequest::new(MakeKind::Cube, faces, folder.path().join("cube.tex"));
    request.fov = Some(90.0);
    for format in [TexelFormat::U8, TexelFormat::F16] {
        request.format = Some(format);
        let file = made(&request);
        let header = file.header();
        assert_eq!([header.width, header.height, header.levels], [48, 32, 5]);
        assert!(header.kind == TextureKind::Cube && (header.fov.expect("given") - 90.0).abs() < 1e-3);
        // px nx py above ny pz nz, of the order px nx py ny pz nz: at each level each face is one colour.
        for level in 0..header.levels {
            for face in 0..6 {
                let side = 16 >> level;
                let texel = [face % 3 * side, (face / 3 + 1) * side - 1];
                let found = channel(&file, level, texel, 1) * 255.0;
                assert!((found - 10.0 * (face + 1) as f32).abs() < 0.1, "{level} {face}: {found}");
            }
        }
    }
    request.inputs.pop();
    let refused = make(&request, &go_on).expect_err("five faces").to_string();
    assert!(refused.contains("six pictures, but there are 5"), "{refused}");
}

#[test]
fn a_latitude_longitude_map_wraps_around() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    png(&at("sky.png"), [100, 1], 1, |x, _, _| x as u8);
    let request = MakeRequest::new(MakeKind::LatLong, vec![at("sky.png")], at("sky.tex"));
    let file = made(&request);
    assert_eq!(file.header().kind, TextureKind::LatLong);
    assert_eq!(file.header().wrap, [WrapMode::Periodic, WrapMode::Clamp]);
}

#[test]
fn a_texture_is_made_again_only_if_need_be() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    png(&at("a.png"), [3, 3], 3, |_, _, _| 9);
    let yesterday = std::time::SystemTime::now() - std::time::Duration::from_secs(86_400);
    let input = fs::File::options().append(true).open(at("a.png")).expect("it exists");
    input.set_modified(yesterday).expect("writable");
    let mut request = MakeRequest::new(MakeKind::Plain, vec![at("a.png")], at("a.tex"));
    request.only_if_newer = true;
    let is_new = |request: &MakeRequest| make(request, &go_on).expect("it can be made").is_new;
    assert!(is_new(&request) && !is_new(&request));
    let first = fs::read(at("a.tex")).expect("made");
    request.wrap = [WrapMode::Clamp; 2];
    assert!(is_new(&request));
    request.only_if_newer = false;
    request.wrap = [WrapMode::Black; 2];
    assert!(is_new(&request));
    assert_eq!(fs::read(at("a.tex")).expect("made"), first, "equal textures are equal files");
    // What an older version made.
    request.only_if_newer = true;
    for format in [TexelFormat::U8, TexelFormat::F16] {
        request.format = Some(format);
        is_new(&request);
        assert!(!is_new(&request), "{format:?}");
        let mut bytes = fs::read(at("a.tex")).expect("made");
        let mark = b"(texture maker ";
        let version = bytes.windows(mark.len()).position(|part| part == mark).expect("it is marked") + mark.len();
        bytes[version] -= 1;
        fs::write(at("a.tex"), bytes).expect("writable");
        assert!(is_new(&request) && !is_new(&request), "{format:?}");
    }
    request.only_if_newer = false;
    request.output = at("sub/../a.png");
    fs::create_dir(at("sub")).expect("writable");
    let refused = make(&request, &go_on).expect_err("it is its own picture").to_string();
    assert!(refused.contains("would be overwritten"), "{refused}");
}

#[test]
fn what_cannot_be_made_is_refused_and_changes_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    fs::write(at("text"), "Sphere 1 -1 1 360").expect("writable");
    png(&at("whole.png"), [50, 50], 3, |x, y, _| (x * y) as u8);
    let whole = fs::read(at("whole.png")).expect("written");
    fs::write(at("half.png"), &whole[..whole.len() / 2]).expect("writable");
    // A Targa of 0 x 0 texels.
    fs::write(at("zero.tga"), [0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 24, 0]).expect("writable");
    fs::write(at("old.tex"), "as it was").expect("writable");
    for name in ["none", "text", "half.png", "zero.tga", "."] {
        let request = MakeRequest::new(MakeKind::Plain, vec![at(name)], at("old.tex"));
        let message = make(&request, &go_on).expect_err(name).to_string();
        assert!(message.contains(name), "{message}");
    }
    let request = MakeRequest::new(MakeKind::Shadow, vec![at("whole.png")], at("old.tex"));
    let message = make(&request, &go_on).expect_err("it has three channels").to_string();
    assert!(message.contains("one channel of depths"), "{message}");
    assert_eq!(fs::read_to_string(at("old.tex")).expect("still there"), "as it was");
}

#[test]
fn extreme_sizes_are_textures() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    for (size, levels) in [([1, 1], 1), ([100_000, 1], 17), ([1, 300], 9)] {
        png(&at("a.png"), size, 1, |x, y, _| (x + y) as u8);
        for format in [TexelFormat::U8, TexelFormat::F16] {
            let mut request = MakeRequest::new(MakeKind::Plain, vec![at("a.png")], at("a.tex"));
            request.format = Some(format);
            let file = made(&request);
            assert_eq!(file.header().levels, levels);
            let last = size.map(|side| side - 1);
            let found = channel(&file, 0, last, 0) * 255.0;
            assert!((found - ((last[0] + last[1]) % 256) as f32).abs() < 0.1, "{size:?}: {found}");
        }
    }
}

#[test]
fn a_file_that_changes_is_not_read_on() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    png(&at("a.png"), [3, 3], 3, |_, _, _| 9);
    let file = made(&MakeRequest::new(MakeKind::Plain, vec![at("a.png")], at("a.tex")));
    fs::write(at("a.tex"), "something else").expect("writable");
    let mut tile = [0; TILE_WORDS];
    let message = file.read_tile(0, 0, 0, 0, &mut tile).expect_err("it has changed").to_string();
    assert!(message.contains("has changed since it was opened"), "{message}");
    assert!(matches!(file.read_tile(9, 0, 0, 0, &mut tile), Err(TextureError::NoSuchTile(_))));
}

#[test]
fn damaged_textures_give_messages_and_never_panic() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    png(&at("a.png"), [70, 20], 3, |x, y, _| (x * 3 + y) as u8);
    let mut seed = 1_u64;
    let mut random = move |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let points = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nproperty \
                  float k\nend_header\n1 2 3 4\n";
    fs::write(at("a.ply"), points).expect("writable");
    let pictures = [TexelFormat::U8, TexelFormat::F16].map(|format| {
        let request = MakeRequest::new(MakeKind::Plain, vec![at("a.png")], at("a.tex"));
        MakeRequest { format: Some(format), ..request }
    });
    let bricks = MakeRequest::new(MakeKind::BrickMap, vec![at("a.ply")], at("a.tex"));
    for request in pictures.into_iter().chain([bricks]) {
        made(&request);
        let whole = fs::read(at("a.tex")).expect("made");
        for round in 0..150 {
            let mut bytes = whole.clone();
            // Half of the changes are where headers are: at the beginning, or at the end in TIFF.
            for _ in 0..1 + round % 4 {
                let near = random(400.min(bytes.len()));
                let place = match round % 3 {
                    0 => near,
                    1 => bytes.len() - 1 - near,
                    _ => random(bytes.len()),
                };
                bytes[place] = random(256) as u8;
            }
            if round % 7 == 0 {
                bytes.truncate(random(bytes.len()));
            }
            fs::write(at("bad.tex"), &bytes).expect("writable");
            read_all(&at("bad.tex"));
        }
    }
}

/// Returns a sample of the pictures of [`write_tiled`].
fn sample(level: u32, [x, y]: [u32; 2], channel: u32) -> u8 {
    (level * 7 + x * 3 + y * 5 + channel * 40) as u8
}

/// Writes a TIFF of 70 x 40 texels in tiles of 32 x 16, with its levels, as colours and further channels, perhaps
/// packed with LZW.
fn write_tiled(path: &Path, channels: u32, separate: bool, packed: bool) -> tiff::TiffResult<()> {
    use tiff::encoder::compression::{CompressionAlgorithm, Lzw};
    use tiff::tags::Tag;
    let mut encoder = tiff::encoder::TiffEncoder::new(fs::File::create(path)?)?;
    for level in 0..7 {
        let [width, height] = [70_u32, 40].map(|side| (side >> level).max(1));
        let (planes, each) = if separate { (channels, 1) } else { (1, channels) };
        let [across, down] = [width.div_ceil(32), height.div_ceil(16)];
        let mut directory = encoder.image_directory()?;
        let (mut offsets, mut counts) = (Vec::new(), Vec::new());
        for tile in 0..planes * down * across {
            let (plane, place) = (tile / (down * across), tile % (down * across));
            let begin = [place % across * 32, place / across * 16];
            let texel = |i: u32| {
                let [x, y] = [begin[0] + i / each % 32, begin[1] + i / each / 32];
                if x < width && y < height { sample(level, [x, y], plane + i % each) } else { 0 }
            };
            let mut bytes: Vec<u8> = (0..32 * 16 * each).map(texel).collect();
            if packed {
                let whole = std::mem::take(&mut bytes);
                Lzw.write_to(&mut bytes, &whole)?;
            }
            counts.push(bytes.len() as u32);
            offsets.push(directory.write_data(bytes.as_slice())? as u32);
        }
        directory.write_tag(Tag::ImageWidth, width)?;
        directory.write_tag(Tag::ImageLength, height)?;
        directory.write_tag(Tag::BitsPerSample, vec![8_u16; channels as usize].as_slice())?;
        directory.write_tag(Tag::Compression, if packed { 5_u16 } else { 1 })?;
        directory.write_tag(Tag::PhotometricInterpretation, 2_u16)?;
        directory.write_tag(Tag::SamplesPerPixel, channels as u16)?;
        directory.write_tag(Tag::PlanarConfiguration, 1 + u16::from(separate))?;
        directory.write_tag(Tag::TileWidth, 32_u32)?;
        directory.write_tag(Tag::TileLength, 16_u32)?;
        directory.write_tag(Tag::TileOffsets, offsets.as_slice())?;
        directory.write_tag(Tag::TileByteCounts, counts.as_slice())?;
        directory.write_tag(Tag::ExtraSamples, vec![0_u16; channels as usize - 3].as_slice())?;
        directory.finish()?;
    }
    Ok(())
}

#[test]
fn any_channels_of_tiled_files_are_read_in_separate_planes_too() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let forms = [("four", 4, false), ("many", 6, false), ("planes", 6, true), ("rgb", 3, true)];
    for ((name, channels, separate), packed) in forms.into_iter().flat_map(|form| [(form, false), (form, true)]) {
        let path = folder.path().join(format!("{name} {packed}"));
        write_tiled(&path, channels, separate, packed).expect("writable");
        let file = TextureFile::open(&path).expect("it is a texture");
        assert_eq!([file.header().levels, file.header().channels], [7, channels], "{name}");
        let texels =
            [(0, [0, 0]), (0, [69, 39]), (0, [64, 15]), (0, [31, 16]), (1, [34, 19]), (3, [7, 4]), (6, [0, 0])];
        for (level, texel) in texels {
            for index in 0..channels {
                let found = channel(&file, level, texel, index) * 255.0;
                assert_eq!(found.round() as u8, sample(level, texel, index), "{name} {level} {texel:?} {index}");
            }
        }
        is_made_whole(&path, channels);
    }
}

/// Makes a texture of one of the pictures whose first level is that of [`write_tiled`], and reads all of it.
fn is_made_whole(path: &Path, channels: u32) {
    let file = made(&MakeRequest::new(MakeKind::Plain, vec![path.to_owned()], path.with_extension("made")));
    assert_eq!(file.header().channels, channels, "{path:?}");
    for (plane, tile_x) in (0..channels.div_ceil(4)).flat_map(|plane| [(plane, 0), (plane, 1)]) {
        let mut tile = [0; TILE_WORDS];
        file.read_tile(0, plane, tile_x, 0, &mut tile).expect("it is readable");
        for (x, y) in (0..40).flat_map(|y| (64 * tile_x..(64 * tile_x + 64).min(70)).map(move |x| (x, y))) {
            let found = tile[(y * 64 + x % 64) as usize].to_le_bytes();
            for (index, found) in (4 * plane..channels).zip(found) {
                assert_eq!(found, sample(0, [x, y], index), "{path:?} {x} {y} {index}");
            }
        }
    }
}

/// Writes a TIFF of 70 x 40 texels in strips of 16 rows, the last of which are shorter, with LZW.
fn write_strips(path: &Path, channels: u32, separate: bool) -> tiff::TiffResult<()> {
    use tiff::encoder::compression::{CompressionAlgorithm, Lzw};
    use tiff::tags::Tag;
    let mut encoder = tiff::encoder::TiffEncoder::new(fs::File::create(path)?)?;
    let mut directory = encoder.image_directory()?;
    let (planes, each) = if separate { (channels, 1) } else { (1, channels) };
    let (mut offsets, mut counts) = (Vec::new(), Vec::new());
    for (plane, strip) in (0..planes).flat_map(|plane| (0..3).map(move |strip| (plane, strip))) {
        let rows = strip * 16..(strip * 16 + 16).min(40);
        let places = rows.flat_map(|y| (0..70 * each).map(move |i| (i / each, y, plane + i % each)));
        let bytes: Vec<u8> = places.map(|(x, y, index)| sample(0, [x, y], index)).collect();
        let mut packed = Vec::new();
        Lzw.write_to(&mut packed, &bytes)?;
        offsets.push(directory.write_data(packed.as_slice())? as u32);
        counts.push(packed.len() as u32);
    }
    directory.write_tag(Tag::ImageWidth, 70_u32)?;
    directory.write_tag(Tag::ImageLength, 40_u32)?;
    directory.write_tag(Tag::BitsPerSample, vec![8_u16; channels as usize].as_slice())?;
    directory.write_tag(Tag::Compression, 5_u16)?;
    directory.write_tag(Tag::PhotometricInterpretation, 2_u16)?;
    directory.write_tag(Tag::StripOffsets, offsets.as_slice())?;
    directory.write_tag(Tag::SamplesPerPixel, channels as u16)?;
    directory.write_tag(Tag::RowsPerStrip, 16_u32)?;
    directory.write_tag(Tag::StripByteCounts, counts.as_slice())?;
    directory.write_tag(Tag::PlanarConfiguration, 1 + u16::from(separate))?;
    directory.write_tag(Tag::ExtraSamples, vec![0_u16; channels as usize - 3].as_slice())?;
    directory.finish()
}

#[test]
fn textures_are_made_of_compressed_strips_of_any_channels_and_separate_planes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, channels, separate) in [("rgb", 3, false), ("many", 6, false), ("planes", 3, true), ("both", 6, true)] {
        let path = folder.path().join(name);
        write_strips(&path, channels, separate).expect("writable");
        is_made_whole(&path, channels);
    }
}

/// Writes a grey TIFF of 200 x 64 texels of 16 bits, all of one value, in tiles of 64 x 64 with LZW: long runs.
fn write_run(path: &Path, value: u16) -> tiff::TiffResult<()> {
    use tiff::encoder::compression::{CompressionAlgorithm, Lzw};
    use tiff::tags::Tag;
    let mut encoder = tiff::encoder::TiffEncoder::new(fs::File::create(path)?)?;
    let mut directory = encoder.image_directory()?;
    // The differences of a row: the first texel, and nothing.
    let mut row = [0; 2 * 64];
    row[..2].copy_from_slice(&value.to_ne_bytes());
    let mut packed = Vec::new();
    Lzw.write_to(&mut packed, &row.repeat(64))?;
    let offset = directory.write_data(packed.as_slice())? as u32;
    directory.write_tag(Tag::ImageWidth, 200_u32)?;
    directory.write_tag(Tag::ImageLength, 64_u32)?;
    directory.write_tag(Tag::BitsPerSample, 16_u16)?;
    directory.write_tag(Tag::Compression, 5_u16)?;
    directory.write_tag(Tag::PhotometricInterpretation, 1_u16)?;
    directory.write_tag(Tag::SamplesPerPixel, 1_u16)?;
    directory.write_tag(Tag::Predictor, 2_u16)?;
    directory.write_tag(Tag::TileWidth, 64_u32)?;
    directory.write_tag(Tag::TileLength, 64_u32)?;
    directory.write_tag(Tag::TileOffsets, [offset; 4].as_slice())?;
    directory.write_tag(Tag::TileByteCounts, [packed.len() as u32; 4].as_slice())?;
    directory.finish()
}

#[test]
fn textures_are_made_of_tiles_that_are_one_run() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for value in [0, 0x1999, 0x4ccc, 0x8000, 0x8080] {
        let path = folder.path().join(value.to_string());
        write_run(&path, value).expect("writable");
        let file = made(&MakeRequest::new(MakeKind::Plain, vec![path.clone()], path.with_extension("made")));
        for place in [[0, 0], [70, 30], [199, 63]] {
            assert!((channel(&file, 0, place, 0) - f32::from(value) / 65_535.0).abs() < 1e-6, "{value} {place:?}");
        }
    }
}

#[test]
fn pictures_without_tiles_are_tiled_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (picture, cache) = (folder.path().join("a.png"), folder.path().join("cache/sub"));
    png(&picture, [70, 3], 3, |x, _, _| x as u8);
    let open = |path: &Path| {
        open_or_tile(&Patience::new(PATIENCE), &ReadLimits::default(), path, &cache, &TilingWatch::none())
    };
    let (tiled, made) = open(&picture).expect("it can be tiled");
    let message = TiledPicture::message(&[&made.expect("it was made now")]);
    assert!(message.contains("a.png") && message.contains("anthill texture make"), "{message}");
    assert!((channel(&tiled, 0, [69, 2], 1) * 255.0 - 69.0).abs() < 0.1);
    let (again, made) = open(&picture).expect("it was tiled");
    assert_eq!((again.identity(), made), (tiled.identity(), None));
    // A texture is opened as it is.
    assert_eq!(open(&tiled.identity().path).expect("a texture").0.identity(), tiled.identity());
    // When the picture changes, it is tiled again.
    png(&picture, [5, 5], 3, |x, _, _| x as u8);
    let (again, made) = open(&picture).expect("it can be tiled");
    assert_eq!((again.header().width, made.is_some()), (5, true));
    assert!(matches!(open(&folder.path().join("none")), Err(TextureError::Missing(_))));
}

#[test]
fn a_level_becomes_a_picture_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    png(&at("a.png"), [130, 70], 4, |x, y, channel| [x as u8, y as u8, 60, 51 * (x % 5 + 1) as u8][channel as usize]);
    let whole = image::open(at("a.png")).expect("a picture").to_rgba8();
    for (format, tolerance) in
        [(TexelFormat::U8, 3), (TexelFormat::U16, 0), (TexelFormat::F16, 1), (TexelFormat::F32, 0)]
    {
        let request =
            MakeRequest { format: Some(format), ..MakeRequest::new(MakeKind::Plain, vec![at("a.png")], at("a.tex")) };
        let file = made(&request);
        convert(&file, 0, &at("b.png")).expect("it can be written");
        // Colours were multiplied with an alpha of at least a fifth, and divided again.
        let again = image::open(at("b.png")).expect("a picture").to_rgba8();
        let differ = whole.as_raw().iter().zip(again.as_raw()).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(differ <= Some(tolerance), "{format:?}: {differ:?}");
        convert(&file, 1, &at("b.exr")).expect("it can be written");
        let remade = made(&MakeRequest::new(MakeKind::Plain, vec![at("b.exr")], at("b.tex")));
        assert_eq!((remade.header().width, remade.header().height, remade.header().channels), (65, 35, 4));
        for place in [[0, 0], [64, 34], [30, 20]] {
            let found = [0, 3].map(|c| (channel(&file, 1, place, c) - channel(&remade, 0, place, c)).abs());
            assert!(found.iter().all(|difference| *difference < 1e-6), "{format:?} {place:?}: {found:?}");
        }
    }
    let file = TextureFile::open(&at("a.tex")).expect("a texture");
    for (level, name, reason) in
        [(8, "c.png", "has no level 8: its last one is 7"), (0, "c.tif", "must end with .exr or .png")]
    {
        let message = convert(&file, level, &at(name)).expect_err(name).to_string();
        assert!(message.contains(reason) && !at(name).exists(), "{message}");
    }
}

#[test]
fn a_texture_that_is_stopped_leaves_the_older_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    png(&at("a.png"), [300, 200], 3, |x, y, _| (x ^ y) as u8);
    fs::write(at("a.tex"), "an older file").expect("writable");
    for format in [TexelFormat::U8, TexelFormat::F16] {
        let mut request = MakeRequest::new(MakeKind::Plain, vec![at("a.png")], at("a.tex"));
        request.format = Some(format);
        let parts = parking_lot::Mutex::new(Vec::new());
        make(&MakeRequest { output: at("whole.tex"), ..request.clone() }, &|part| {
            parts.lock().push(part);
            ControlFlow::Continue(())
        })
        .expect("nobody stops it");
        let parts = parts.into_inner();
        assert!(parts.is_sorted() && parts.len() > 10 && parts[0] == 0.0, "{parts:?}");
        for &last in &parts {
            let stop = |part| if part >= last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            assert!(matches!(make(&request, &stop), Err(TextureError::Stopped)), "{last}");
            assert_eq!(fs::read(at("a.tex")).expect("it is there"), b"an older file");
        }
    }
    assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 3, "nothing is left behind");
}

/// Reads as many tiles as are there; errors are as good as texels.
fn read_all(path: &Path) {
    let Ok(file) = TextureFile::open(path) else { return };
    let header = file.header();
    let mut tile = [0; TILE_WORDS];
    for level in 0..header.levels {
        let [across, down] = header.level_tiles(level).map(|tiles| tiles.min(3));
        for (y, x) in (0..down).flat_map(|y| (0..across).map(move |x| (y, x))) {
            let _ = file.read_tile(level, 0, x, y, &mut tile);
        }
    }
}
