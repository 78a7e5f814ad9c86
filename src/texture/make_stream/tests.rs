//! Textures made of rows, and of the same pictures in memory.

use super::*;
use crate::files::OutputBudget;
use crate::texture::header::{TexelFormat, WrapMode};
use crate::texture::levels::MakeFilter;
use crate::texture::make::{AlphaMode, of_pictures};
use crate::texture::read_limits::ReadLimits;
use crate::texture::{make as make_any, make_bytes};
use exr::meta::attribute::{IntegerBounds, LineOrder, SampleType};
use exr::prelude::{
    AnyChannel, AnyChannels, Blocks, Compression, Encoding, FlatSamples, Image, Layer, LayerAttributes, WritableImage,
    read_first_flat_layer_from_file,
};
use parking_lot::Mutex;
use png::{BitDepth, ColorType};
use std::fs;
use std::path::Path;
use tiff::tags::Tag;

/// Writes a PNG of noise.
fn write_noise(path: &Path, [width, height]: [u32; 2], colour: ColorType, depth: BitDepth) {
    let mut encoder = png::Encoder::new(fs::File::create(path).expect("writable"), width, height);
    encoder.set_color(colour);
    encoder.set_depth(depth);
    if colour == ColorType::Indexed {
        encoder.set_palette((0..48).map(|at| at * 5).collect::<Vec<u8>>());
        encoder.set_trns(vec![0, 100, 255]);
    }
    let row_bits = width as usize * colour.samples() * depth as usize;
    let noise = |at: usize| (at as u32).wrapping_mul(2_654_435_761).rotate_left(11) as u8;
    let bytes: Vec<u8> = (0..row_bits.div_ceil(8) * height as usize).map(noise).collect();
    encoder.write_header().and_then(|mut writer| writer.write_image_data(&bytes)).expect("writable");
}

/// Changes a byte or more of a PNG's header, and its checksum.
fn change_header(path: &Path, at: usize, bytes: &[u8]) {
    const BEGIN: usize = 12;
    const END: usize = 29;
    let mut png = fs::read(path).expect("readable");
    png[at..at + bytes.len()].copy_from_slice(bytes);
    let mut sum = flate2::Crc::new();
    sum.update(&png[BEGIN..END]);
    png[END..END + 4].copy_from_slice(&sum.sum().to_be_bytes());
    fs::write(path, png).expect("writable");
}

/// Makes a texture of rows, however small.
fn streamed(request: &MakeRequest, progress: &MakeProgress<'_>) -> Result<MadeTexture, TextureError> {
    let limits = MakeLimits { read: &ReadLimits::none(), output: &OutputBudget::default() };
    let stream = RowStream::open(request, progress)?.expect("its rows come in order");
    stream.make(request, limits, progress)
}

/// Both ways write the same bytes.
fn is_same_both_ways(request: &MakeRequest) {
    let limits = MakeLimits { read: &ReadLimits::none(), output: &OutputBudget::default() };
    let in_memory = of_pictures(request, limits, &go_on).expect("it can be made");
    let expected = fs::read(&request.output).expect("it was made");
    let made = streamed(request, &go_on).expect("it can be made");
    assert_eq!(made.header, in_memory.header, "{request:?}");
    assert!(fs::read(&request.output).expect("it was made") == expected, "{request:?}");
}

const COLOURS: [ColorType; 4] = [ColorType::Grayscale, ColorType::GrayscaleAlpha, ColorType::Rgb, ColorType::Rgba];
const SIZES: [[u32; 2]; 7] = [[1, 1], [130, 70], [65, 129], [3, 400], [200, 3], [64, 64], [97, 263]];

#[test]
fn rows_become_the_same_texture_as_whole_pictures() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.png");
    let filters = [None].into_iter().chain(MakeFilter::names().map(MakeFilter::named));
    let cases = filters.flat_map(|filter| WrapMode::ALL.map(|wrap| (filter, wrap)));
    for (turn, (filter, wrap)) in cases.enumerate() {
        let depth = if turn.is_multiple_of(3) { BitDepth::Sixteen } else { BitDepth::Eight };
        for (round, colour) in COLOURS.into_iter().enumerate() {
            write_noise(&path, SIZES[(turn + 2 * round) % SIZES.len()], colour, depth);
            let formats = [None, Some(TexelFormat::U8), Some(TexelFormat::F16), Some(TexelFormat::F32)];
            let widths = [None, Some([2.6, 5.3]), Some([1.0, 0.2])];
            is_same_both_ways(&MakeRequest {
                filter,
                filter_width: widths[(turn + round) % 3],
                wrap: [WrapMode::ALL[round], wrap],
                format: formats[(turn / 2 + round) % 4],
                from_srgb: (turn + round).is_multiple_of(2),
                alpha: if turn.is_multiple_of(5) { AlphaMode::Keep } else { AlphaMode::Multiply },
                ..MakeRequest::new(MakeKind::Plain, vec![path.clone()], folder.path().join("a.tex"))
            });
        }
    }
}

#[test]
fn palettes_few_bits_and_environments_become_the_same_texture_too() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.png");
    let request = MakeRequest::new(MakeKind::LatLong, vec![path.clone()], folder.path().join("a.tex"));
    for (colour, depth) in [
        (ColorType::Indexed, BitDepth::Four),
        (ColorType::Grayscale, BitDepth::One),
        (ColorType::Grayscale, BitDepth::Two),
    ] {
        write_noise(&path, [333, 150], colour, depth);
        is_same_both_ways(&request);
    }
}

/// A large picture takes a small part of the memory that its texels would.
#[test]
fn memory_is_for_rows_of_tiles_and_what_is_damaged_changes_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    write_noise(&at("a.png"), [16, 16], ColorType::Grayscale, BitDepth::Eight);
    let request = MakeRequest::new(MakeKind::Plain, vec![at("a.png")], at("a.tex"));
    assert_eq!(make_bytes(&request).expect("readable"), 256 * LEVELS_BYTES);
    change_header(&at("a.png"), 16, &[22_000_u32.to_be_bytes(), 22_000_u32.to_be_bytes()].concat());
    let bytes = |request: &MakeRequest| make_bytes(request).expect("readable") >> 20;
    assert!((20..40).contains(&bytes(&request)), "{}", bytes(&request));
    let wide = MakeRequest { filter: Some(MakeFilter::Triangle), ..request.clone() };
    assert!((20..40).contains(&bytes(&wide)), "{}", bytes(&wide));
    // What is seen beyond the upper edge comes last.
    let wraps = MakeRequest { wrap: [WrapMode::Periodic; 2], ..wide };
    assert!((500..2000).contains(&bytes(&wraps)), "{}", bytes(&wraps));

    fs::write(at("a.tex"), "an older file").expect("writable");
    let error = make_any(&request, &go_on).expect_err("it ends in its first row").to_string();
    assert!(error.contains("a.png\" is damaged or incomplete"), "{error}");
    assert_eq!(fs::read(at("a.tex")).expect("it is there"), b"an older file");
    // The rows of an interlaced picture do not come in order.
    change_header(&at("a.png"), 28, &[1]);
    assert!(RowStream::open(&request, &go_on).expect("readable").is_none());
}

#[test]
fn a_texture_of_rows_that_is_stopped_leaves_the_older_file() {
    // Large enough not to be decoded whole.
    const SIZE: [u32; 2] = [64, 16_400];
    let strips = TiffLayout {
        samples: [8, 1],
        channels: 4,
        photometric: 2,
        is_separate: false,
        tile: None,
        strip: 64,
        is_packed: true,
    };
    for container in 0..3 {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name);
        match container {
            0 => write_noise(&at("a"), SIZE, ColorType::Rgba, BitDepth::Eight),
            1 => write_tiff(&at("a"), SIZE, &strips).expect("writable"),
            _ => {
                let channels = ["R", "G", "B", "A"].map(|name| (name, SampleType::F16));
                write_exr(
                    &at("a"),
                    SIZE.map(|side| side as usize),
                    (&channels, 1.0),
                    Encoding::SMALL_FAST_LOSSLESS,
                    None,
                );
            }
        }
        let request = MakeRequest::new(MakeKind::Plain, vec![at("a")], at("a.tex"));
        assert!(bytes(&request).expect("readable").is_some());
        let parts = Mutex::new(Vec::new());
        let show = |part| {
            parts.lock().push(part);
            ControlFlow::Continue(())
        };
        make_any(&request, &show).expect("nobody stops it");
        let parts = parts.into_inner();
        assert!(parts.is_sorted() && parts.len() > 256 && parts[0] == 0.0, "{parts:?}");
        fs::write(at("a.tex"), "an older file").expect("writable");
        for last in [0.0, parts[parts.len() / 3], parts[parts.len() - 3]] {
            let stop = |part| if part >= last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            assert!(matches!(make_any(&request, &stop), Err(TextureError::Stopped)), "{container} {last}");
            assert_eq!(fs::read(at("a.tex")).expect("it is there"), b"an older file");
        }
        assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 2, "nothing is left behind");
    }
}

/// Returns a number from 0 to 1.
fn noise(at: usize) -> f32 {
    ((at as u32).wrapping_mul(2_654_435_761).rotate_left(11) >> 8) as f32 / 16_777_215.0
}

/// The channels of an OpenEXR file, and the largest value in them.
type ExrChannels<'a> = (&'a [(&'a str, SampleType)], f32);

/// Writes an OpenEXR file of noise, as a part of a picture if `window` says where that is.
fn write_exr(
    path: &Path,
    size: [usize; 2],
    (names, top): ExrChannels<'_>,
    encoding: Encoding,
    window: Option<[i32; 4]>,
) {
    let channel = |(number, &(name, kind)): (usize, &(&str, SampleType))| {
        let values = (0..size[0] * size[1]).map(|at| top * noise(at + 7919 * number));
        let samples = match kind {
            SampleType::F16 => FlatSamples::F16(values.map(half::f16::from_f32).collect()),
            SampleType::F32 => FlatSamples::F32(values.collect()),
            SampleType::U32 => FlatSamples::U32(values.map(|value| (value * 9.0) as u32).collect()),
        };
        AnyChannel::new(name, samples)
    };
    let channels = AnyChannels::sort(names.iter().enumerate().map(channel).collect());
    let mut attributes = LayerAttributes::default();
    let mut shown = IntegerBounds::from_dimensions((size[0], size[1]));
    if let Some([x, y, width, height]) = window {
        attributes.layer_position = (x, y).into();
        shown = IntegerBounds::from_dimensions((width as usize, height as usize));
    }
    let layer = Layer::new((size[0], size[1]), attributes, encoding, channels);
    let mut image = Image::from_layer(layer);
    image.attributes.display_window = shown;
    image.write().non_parallel().to_file(path).expect("writable");
}

#[test]
fn openexr_becomes_the_same_texture_by_blocks_and_tiles() {
    use SampleType::{F16, F32, U32};
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.exr");
    let channels: [&[(&str, SampleType)]; 4] = [
        &[("Y", F16)],
        &[("R", F16), ("G", F16), ("B", F16), ("A", F16)],
        &[("R", F32), ("G", F16), ("B", U32)],
        &[("Cs.R", F32), ("Cs.G", F32), ("Cs.B", F32), ("Z", F32), ("a", F16)],
    ];
    let packings = [
        Compression::Uncompressed,
        Compression::RLE,
        Compression::ZIP1,
        Compression::ZIP16,
        Compression::PIZ,
        Compression::PXR24,
        Compression::B44,
    ];
    let blocks = [
        Blocks::ScanLines,
        Blocks::Tiles((64, 64).into()),
        Blocks::Tiles((17, 100).into()),
        Blocks::Tiles((400, 400).into()),
    ];
    let windows =
        [None, Some([0, 0, 150, 150]), Some([40, 30, 200, 300]), Some([-20, -70, 90, 100]), Some([500, 9, 70, 70])];
    let sizes = [[130, 170], [64, 64], [3, 300], [201, 35]];
    for turn in 0..56 {
        let is_scanned = blocks[turn % 4] == Blocks::ScanLines;
        let line_order = match turn % 3 {
            0 => LineOrder::Increasing,
            1 => LineOrder::Decreasing,
            _ if is_scanned => LineOrder::Increasing,
            _ => LineOrder::Unspecified,
        };
        let encoding = Encoding { compression: packings[turn % 7], blocks: blocks[turn % 4], line_order };
        let top = if turn.is_multiple_of(2) { 1.0 } else { 3.0 };
        write_exr(&path, sizes[turn / 2 % 4], (channels[turn / 3 % 4], top), encoding, windows[turn % 5]);
        is_same_both_ways(&MakeRequest {
            filter: [None, Some(MakeFilter::Mitchell)][turn / 4 % 2],
            wrap: [WrapMode::ALL[turn % 4], WrapMode::ALL[turn / 4 % 4]],
            format: [None, None, Some(TexelFormat::U8)][turn % 3],
            ..MakeRequest::new(MakeKind::Plain, vec![path.clone()], folder.path().join("a.tex"))
        });
        // What the crate reads as a whole.
        let image = read_first_flat_layer_from_file(&path).expect("readable").layer_data;
        let mut rows = PictureRows::open(&path, &go_on).expect("readable").expect("it has rows");
        rows.head.window = None;
        let names = rows.head.names.clone().expect("it has names");
        for strip in std::iter::from_fn(|| rows.next_rows(50).expect("readable")).enumerate() {
            let (begin, width) = (50 * strip.0, image.size.x());
            for (to, name) in names.iter().enumerate() {
                let samples = image.channel_data.list.iter().find(|channel| channel.name.eq(name.as_str()));
                let expected = samples.expect("it has this channel").sample_data.values_as_f32();
                let expected = expected.skip(begin * width).take(strip.1.size[1] as usize * width);
                let found = strip.1.values.iter().skip(to).step_by(names.len());
                assert!(found.copied().eq(expected), "{turn} {name}");
            }
        }
    }
}

/// How a TIFF file has its texels.
#[derive(Clone, Copy, Debug)]
struct TiffLayout {
    /// Bits of a sample, and their format, as tags have it.
    samples: [u16; 2],
    channels: u16,
    photometric: u16,
    is_separate: bool,
    /// Width and height of tiles, if not strips of the whole width and of the height.
    tile: Option<u32>,
    strip: u32,
    is_packed: bool,
}

/// Returns the bytes of a row of noise.
fn tiff_row(layout: &TiffLayout, y: usize, samples: usize) -> Vec<u8> {
    let value = |at: usize| noise(at + 4001 * y);
    let [bits, format] = layout.samples;
    match (bits, format) {
        (16, 3) => (0..samples).flat_map(|at| half::f16::from_f32(2.0 * value(at)).to_ne_bytes()).collect(),
        (32, 3) => (0..samples).flat_map(|at| (2.0 * value(at)).to_ne_bytes()).collect(),
        (64, 3) => (0..samples).flat_map(|at| f64::from(value(at)).to_ne_bytes()).collect(),
        _ => (0..(samples * usize::from(bits)).div_ceil(8)).map(|at| (value(at) * 255.0) as u8).collect(),
    }
}

fn write_tiff(path: &Path, [width, height]: [u32; 2], layout: &TiffLayout) -> tiff::TiffResult<()> {
    let [block_width, block_height] = layout.tile.map_or([width, layout.strip], |side| [side; 2]);
    let planes = if layout.is_separate { layout.channels } else { 1 };
    let mut encoder = tiff::encoder::TiffEncoder::new(fs::File::create(path)?)?;
    let mut directory = encoder.image_directory()?;
    let (mut offsets, mut counts) = (Vec::new(), Vec::new());
    let blocks = u32::from(planes) * width.div_ceil(block_width) * height.div_ceil(block_height);
    for block in 0..blocks {
        // The last strip has fewer rows.
        let top = block % height.div_ceil(block_height) * block_height;
        let rows = if layout.tile.is_some() { block_height } else { block_height.min(height - top) };
        let samples = block_width as usize * usize::from(layout.channels / planes);
        let bytes: Vec<u8> =
            (0..rows as usize).flat_map(|y| tiff_row(layout, y + 97 * block as usize, samples)).collect();
        let bytes = if layout.is_packed { crate::exr_blocks::deflated(&bytes, 1) } else { bytes };
        offsets.push(directory.write_data(bytes.as_slice())? as u32);
        counts.push(bytes.len() as u32);
    }
    directory.write_tag(Tag::ImageWidth, width)?;
    directory.write_tag(Tag::ImageLength, height)?;
    directory.write_tag(Tag::BitsPerSample, vec![layout.samples[0]; layout.channels.into()].as_slice())?;
    directory.write_tag(Tag::Compression, if layout.is_packed { 8_u16 } else { 1 })?;
    directory.write_tag(Tag::PhotometricInterpretation, layout.photometric)?;
    directory.write_tag(Tag::SamplesPerPixel, layout.channels)?;
    directory.write_tag(Tag::PlanarConfiguration, if layout.is_separate { 2_u16 } else { 1 })?;
    directory.write_tag(Tag::SampleFormat, vec![layout.samples[1]; layout.channels.into()].as_slice())?;
    if layout.photometric == 3 {
        let colours: Vec<u16> = (0..3 << layout.samples[0]).map(|at| (noise(at) * 65535.0) as u16).collect();
        directory.write_tag(Tag::ColorMap, colours.as_slice())?;
    }
    if layout.channels == 4 {
        // Colours are not multiplied with it.
        directory.write_tag(Tag::ExtraSamples, 2_u16)?;
    }
    let is_tiled = layout.tile.is_some();
    if is_tiled {
        directory.write_tag(Tag::TileWidth, block_width)?;
        directory.write_tag(Tag::TileLength, block_height)?;
    } else {
        directory.write_tag(Tag::RowsPerStrip, block_height)?;
    }
    directory.write_tag(if is_tiled { Tag::TileOffsets } else { Tag::StripOffsets }, offsets.as_slice())?;
    directory.write_tag(if is_tiled { Tag::TileByteCounts } else { Tag::StripByteCounts }, counts.as_slice())?;
    directory.finish()
}

#[test]
fn tiff_becomes_the_same_texture_by_strips_and_tiles() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.tif");
    // Bits, format, channels, and what the first sample means.
    let samples: [[u16; 4]; 14] = [
        [1, 1, 1, 0],
        [1, 1, 1, 1],
        [2, 1, 1, 1],
        [4, 1, 1, 3],
        [8, 1, 1, 3],
        [8, 1, 3, 2],
        [8, 1, 4, 2],
        [16, 1, 4, 2],
        [8, 1, 5, 1],
        [16, 2, 1, 1],
        [32, 1, 1, 1],
        [16, 3, 3, 2],
        [32, 3, 3, 2],
        [64, 3, 2, 1],
    ];
    let sizes = [[130, 170], [65, 64], [33, 300]];
    for turn in 0..84 {
        let [bits, format, channels, photometric] = samples[turn % 14];
        let layout = TiffLayout {
            samples: [bits, format],
            channels,
            photometric,
            is_separate: channels > 1 && turn / 14 % 2 == 1,
            tile: [None, None, Some(48)][turn / 14 % 3],
            strip: [7, 64, 1000][turn % 3],
            is_packed: turn.is_multiple_of(2),
        };
        write_tiff(&path, sizes[turn % 3], &layout).expect("writable");
        is_same_both_ways(&MakeRequest {
            from_srgb: turn.is_multiple_of(4),
            wrap: [WrapMode::ALL[turn % 4], WrapMode::ALL[turn / 4 % 4]],
            ..MakeRequest::new(MakeKind::Plain, vec![path.clone()], folder.path().join("a.tex"))
        });
    }
}

/// Blocks that are small make rows that are; one that is the whole picture needs the memory of all of it.
#[test]
fn memory_is_for_rows_of_blocks() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    let mebibytes = |path: &Path| {
        let request = MakeRequest::new(MakeKind::Plain, vec![path.to_owned()], at("a.tex"));
        make_bytes(&request).expect("readable") >> 20
    };
    let layout = TiffLayout {
        samples: [8, 1],
        channels: 1,
        photometric: 1,
        is_separate: false,
        tile: None,
        strip: 16,
        is_packed: true,
    };
    let size = [2048, 4096];
    for (strip, tile, expected) in
        [(16, None, 9..16), (1, Some(64), 9..16), (1000, None, 20..40), (4096, None, 64..100)]
    {
        write_tiff(&at("a.tif"), size, &TiffLayout { strip, tile, ..layout }).expect("writable");
        assert!(expected.contains(&mebibytes(&at("a.tif"))), "{strip} {tile:?}: {}", mebibytes(&at("a.tif")));
    }
    let grey: ExrChannels<'_> = (&[("Y", SampleType::F16)], 1.0);
    for (blocks, expected) in [(Blocks::ScanLines, 9..20), (Blocks::Tiles((2048, 4096).into()), 64..100)] {
        let encoding = Encoding { compression: Compression::RLE, blocks, line_order: LineOrder::Increasing };
        write_exr(&at("a.exr"), [2048, 4096], grey, encoding, None);
        assert!(expected.contains(&mebibytes(&at("a.exr"))), "{blocks:?}: {}", mebibytes(&at("a.exr")));
    }
}

/// A shadow map is made of rows of depths.
#[test]
fn a_shadow_map_of_rows_is_that_of_the_whole_picture() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.exr");
    let encoding =
        Encoding { compression: Compression::ZIP16, blocks: Blocks::ScanLines, line_order: LineOrder::Increasing };
    write_exr(&path, [130, 70], (&[("Z", SampleType::F32)], 9.0), encoding, Some([5, 5, 200, 100]));
    let request = MakeRequest::new(MakeKind::Shadow, vec![path.clone()], folder.path().join("a.tex"));
    assert!(RowStream::open(&request, &go_on).is_err(), "it has no camera");
    let mut image = read_first_flat_layer_from_file(&path).expect("readable");
    let one = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    image.layer_data.attributes.world_to_camera = Some(one);
    image.layer_data.attributes.world_to_normalized_device = Some(one);
    image.write().to_file(&path).expect("writable");
    is_same_both_ways(&request);
}
