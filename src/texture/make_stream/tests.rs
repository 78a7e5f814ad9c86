//! Textures made of rows, and of the same pictures in memory.

use super::*;
use crate::files::OutputBudget;
use crate::texture::header::{TexelFormat, WrapMode};
use crate::texture::levels::MakeFilter;
use crate::texture::make::{AlphaMode, of_pictures};
use crate::texture::read_limits::ReadLimits;
use crate::texture::{make as make_any, make_bytes};
use parking_lot::Mutex;
use png::{BitDepth, ColorType};
use std::fs;
use std::path::Path;

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
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    // Large enough not to be decoded whole.
    write_noise(&at("a.png"), [64, 16_400], ColorType::Rgba, BitDepth::Eight);
    let request = MakeRequest::new(MakeKind::Plain, vec![at("a.png")], at("a.tex"));
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
        assert!(matches!(make_any(&request, &stop), Err(TextureError::Stopped)), "{last}");
        assert_eq!(fs::read(at("a.tex")).expect("it is there"), b"an older file");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 2, "nothing is left behind");
}
