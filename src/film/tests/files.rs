//! Each file format: what is written can be read back with another program's eyes.

use super::*;

#[test]
fn exr_brings_back_every_float() {
    let directory = directory();
    let path = path_in(&directory, "a.exr");
    for compression in ["zip", "zips", "none", "rle", "piz"] {
        let mut display = display(&path, "exr", DisplayMode::Image { rgb: true, a: true, z: true });
        display.params.insert("exrpixeltype".into(), ParamValue::Strings(vec!["float".into()]));
        display.params.insert("exrcompression".into(), ParamValue::Strings(vec![compression.into()]));
        let (outcomes, said) = make(&world([37, 21], vec![display]));
        assert_eq!((states(&outcomes), said), (WHOLE.into(), vec![]), "{compression}");
        let image = read_exr(&path);
        for (float, name) in ["R", "G", "B", "A", "Z"].into_iter().enumerate() {
            let FlatSamples::F32(samples) = channel(&image, name) else { panic!("{name} is not float") };
            let expected: Vec<f32> = (0..21).flat_map(|y| (0..37).map(move |x| value_at(x, y, float))).collect();
            assert!(*samples == expected, "{compression} {name}");
        }
    }
}

#[test]
fn lossy_compressions_stay_near() {
    let directory = directory();
    let path = path_in(&directory, "a.exr");
    // Greatest error relative to 1: a pxr24 float has 16 bits of mantissa, b44 keeps 6 bits of a block's range.
    for (compression, pixel_type, error_max) in
        [("pxr24", "float", 1e-4), ("b44", "half", 0.05), ("b44a", "half", 0.05)]
    {
        let mut display = display(&path, "exr", RGBA);
        for (name, value) in [("compression", compression), ("exrpixeltype", pixel_type)] {
            display.params.insert(name.into(), ParamValue::Strings(vec![value.into()]));
        }
        let (outcomes, said) = make(&world([16, 8], vec![display]));
        assert_eq!((states(&outcomes), said), (WHOLE.into(), vec![]), "{compression}");
        let image = read_exr(&path);
        let expected = (0..8).flat_map(|y| (0..16).map(move |x| value_at(x, y, 1)));
        let error = channel(&image, "G").values_as_f32().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(error < error_max, "{compression}: {error}");
    }
}

#[test]
fn exr_is_half_for_colour_and_float_for_the_rest() {
    let directory = directory();
    let path = path_in(&directory, "a.exr");
    make(&world([4, 4], vec![display(&path, "openexr", DisplayMode::Image { rgb: true, a: true, z: true })]));
    let image = read_exr(&path);
    assert!(matches!(channel(&image, "R"), FlatSamples::F16(_)));
    assert!(matches!(channel(&image, "A"), FlatSamples::F16(_)));
    assert!(matches!(channel(&image, "Z"), FlatSamples::F32(_)));

    let normal = DisplayMode::Variable { name: "N".into(), ty: ValueType::Normal, composited: true };
    make(&world([4, 4], vec![display(&path, "exr", normal)]));
    let names: Vec<String> = read_exr(&path).layer_data.channel_data.list.iter().map(|c| c.name.to_string()).collect();
    assert_eq!(names, ["N.x", "N.y", "N.z"]);
    assert!(matches!(channel(&read_exr(&path), "N.y"), FlatSamples::F32(_)));
}

#[test]
fn half_has_no_accidental_infinities() {
    let directory = directory();
    let path = path_in(&directory, "a.exr");
    let world = world([3, 1], vec![display(&path, "exr", RGB)]);
    let reporter = Reporter::silent();
    let film = film(&world, &reporter);
    film.deposit(
        region([0, 0, 3, 1]),
        &[1e6, -1e6, 0.5, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 65504.0, 1.0, 0.0],
    );
    film.finish(None, &reporter);
    let image = read_exr(&path);
    let values = |name| channel(&image, name).values_as_f32().collect::<Vec<_>>();
    assert_eq!(values("R"), [65504.0, f32::INFINITY, 65504.0]);
    assert_eq!(values("G"), [-65504.0, f32::NEG_INFINITY, 1.0]);
    assert!(values("B")[1].is_nan());
}

#[test]
fn a_crop_is_the_data_window() {
    let directory = directory();
    let path = path_in(&directory, "a.exr");
    let mut world = world([100, 50], vec![display(&path, "exr", RGBA)]);
    world.camera.crop_window = [0.25, 0.5, 0.5, 1.0];
    world.camera.pixel_aspect = 2.0;
    world.options.displays[0].params.insert("origin".into(), ParamValue::Ints(vec![10, -5]));
    make(&world);
    let image = read_exr(&path);
    assert_eq!(image.layer_data.size, ::exr::math::Vec2(25, 25));
    assert_eq!(image.layer_data.attributes.layer_position, ::exr::math::Vec2(35, 20));
    assert_eq!(image.attributes.display_window.size, ::exr::math::Vec2(100, 50));
    assert_eq!(image.attributes.display_window.position, ::exr::math::Vec2(10, -5));
    assert_eq!(image.attributes.pixel_aspect, 2.0);
    let first = channel(&image, "R").values_as_f32().next();
    assert_eq!(first, Some(::half::f16::from_f32(value_at(25, 25, 0)).to_f32()));
}

/// Other formats have what is inside of the picture, in the bits that they have without overscan.
#[test]
fn overscan_is_in_the_data_window_alone() {
    let directory = directory();
    let paths = |name: &str| ["exr", "png", "tif"].map(|format| path_in(&directory, &format!("{name}.{format}")));
    let drawn = |name: &str, window: [f64; 4]| {
        let displays = paths(name).iter().map(|path| display(path, "file", RGBA)).collect();
        let mut world = world([16, 8], displays);
        (world.camera.crop_window, world.camera.whole_window) = (window, window);
        let reporter = Reporter::silent();
        let mut film = film(&world, &reporter);
        let left = film.check_outputs(&reporter);
        deposit(&film, film.crop());
        film.finish(None, &reporter);
        let said: Vec<_> = reporter.all().iter().map(|(diagnostic, _)| diagnostic.message.clone()).collect();
        (left, said)
    };
    assert_eq!(drawn("plain", FORMAT_WINDOW), (3, vec![]));
    let (left, said) = drawn("wide", [-0.25, 1.25, -0.5, 1.0]);
    assert!(left == 3 && said.len() == 2 && said.iter().all(|text| text.contains("have no place for overscan")));
    let [exr, ..] = paths("wide");
    let image = read_exr(&exr);
    assert_eq!(image.layer_data.size, ::exr::math::Vec2(24, 12));
    assert_eq!(image.layer_data.attributes.layer_position, ::exr::math::Vec2(-4, -4));
    assert_eq!(image.attributes.display_window.size, ::exr::math::Vec2(16, 8));
    assert_eq!(image.attributes.display_window.position, ::exr::math::Vec2(0, 0));
    let values: Vec<f32> = channel(&image, "R").values_as_f32().collect();
    let half = |x, y| ::half::f16::from_f32(value_at(x, y, 0)).to_f32();
    assert_eq!([values[0], values[4 * 24 + 4], values[11 * 24 + 23]], [half(-4, -4), half(0, 0), half(19, 7)]);
    for (plain, wide) in paths("plain").iter().zip(&paths("wide")).skip(1) {
        assert_eq!(fs::read(plain).expect("written"), fs::read(wide).expect("written"), "{wide}");
    }
    let (left, said) = drawn("beside", [1.0, 1.5, 0.0, 1.0]);
    assert!(left == 1 && said.iter().filter(|text| text.contains("no pixel of it is inside")).count() == 2, "{said:?}");
}

#[test]
fn headers_name_the_camera_and_the_program_only() {
    let directory = directory();
    let path = path_in(&directory, "a.exr");
    make(&world([8, 8], vec![display(&path, "exr", RGBA)]));
    let image = read_exr(&path);
    let attributes = &image.layer_data.attributes;
    assert_eq!(attributes.software_name.as_ref().map(ToString::to_string), Some(metadata::SOFTWARE.into()));
    assert_eq!(attributes.world_to_camera, Some(DMat4::IDENTITY.to_cols_array().map(|v| v as f32)));
    assert!(attributes.world_to_normalized_device.is_some());
    assert_eq!((attributes.capture_date.clone(), attributes.owner.clone()), (None, None));
    let others: Vec<String> = attributes.other.keys().map(ToString::to_string).collect();
    assert_eq!((image.attributes.other.len(), others), (0, vec!["worldToScreen".to_string()]));
}

#[test]
fn tiff_holds_floats_bytes_and_words() {
    use ::tiff::ColorType;
    use ::tiff::decoder::DecodingResult;
    let directory = directory();
    let path = path_in(&directory, "a.tif");
    for compression in ["lzw", "none", "packbits", "deflate"] {
        for (quantize, bits) in [(FLOATS, 32), (BYTES, 8), (WORDS, 16)] {
            let mut display = quantized(quantize, display(&path, "tiff", RGBA));
            display.params.insert("compression".into(), ParamValue::Strings(vec![compression.into()]));
            let (outcomes, said) = make(&world([19, 11], vec![display]));
            assert_eq!((states(&outcomes), said), (WHOLE.into(), vec![]));
            let mut decoder = tiff_decoder(&path);
            assert_eq!(decoder.dimensions().expect("has a size"), (19, 11));
            assert_eq!(decoder.colortype().expect("has a type"), ColorType::RGBA(bits));
            let expected =
                (0..11).flat_map(|y| (0..19).flat_map(move |x| (0..4).map(move |float| value_at(x, y, float))));
            let integer = |value: f32, limit: f64| (f64::from(value) * limit).round().min(limit);
            match decoder.read_image().expect("decodes") {
                DecodingResult::F32(values) => assert!(values.into_iter().eq(expected), "{compression}"),
                DecodingResult::U8(values) => {
                    assert_eq!(values, expected.map(|v| integer(v, 255.0) as u8).collect::<Vec<_>>(), "{compression}");
                }
                DecodingResult::U16(values) => {
                    assert!(values.into_iter().eq(expected.map(|v| integer(v, 65535.0) as u16)), "{compression}");
                }
                _ => panic!("other samples"),
            }
        }
    }
}

#[test]
fn large_pictures_are_bigtiff() {
    use ::tiff::encoder::{Compression, TiffKindBig};
    let directory = directory();
    let path = path_in(&directory, "a.tif");
    let film = film(&world([6, 5], vec![display(&path, "tiff", RGB)]), &Reporter::silent());
    deposit(&film, region([0, 0, 6, 5]));
    let pixels = film.pixels.into_inner();
    let output = to_write(&film.outputs[0]).expect("it can be written");
    let picture = PictureInfo::new(output, &film.header, pixels.crop, None).expect("it holds the film");
    crate::files::write_whole(Path::new(&path), |sink| {
        let rows = DevelopedRows::new(&pixels, &film.layout, output, picture.crop, None);
        tiff::write_as::<TiffKindBig>(sink, &picture, output, Compression::Lzw, plan::TiffSamples::Float, rows)
    })
    .expect("writable");
    assert_eq!(fs::read(&path).expect("written")[2], 43, "the version of BigTIFF");
    let ::tiff::decoder::DecodingResult::F32(values) = tiff_decoder(&path).read_image().expect("decodes") else {
        panic!("not floats")
    };
    let expected = (0..5).flat_map(|y| (0..6).flat_map(move |x| (0..3).map(move |float| value_at(x, y, float))));
    assert!(values.into_iter().eq(expected));
}

#[test]
fn tiff_says_what_its_samples_mean() {
    use ::tiff::tags::Tag;
    let directory = directory();
    let path = path_in(&directory, "a.tif");
    let mut world = world([20, 10], vec![quantized(BYTES, display(&path, "tiff", RGBA))]);
    world.camera.crop_window = [0.5, 1.0, 0.5, 1.0];
    world.camera.pixel_aspect = 0.5;
    make(&world);
    let mut decoder = tiff_decoder(&path);
    let mut numbers = |tag| decoder.get_tag_u32_vec(tag).unwrap_or_default();
    assert_eq!(numbers(Tag::ExtraSamples), [1]);
    assert_eq!(numbers(Tag::SampleFormat), [1, 1, 1, 1]);
    assert_eq!(numbers(Tag::Unknown(33300)), [20]);
    assert_eq!(numbers(Tag::Unknown(33301)), [10]);
    assert_eq!(decoder.get_tag_ascii_string(Tag::Software).expect("is there"), metadata::SOFTWARE);
    let mut ratio = |tag| match decoder.get_tag(tag) {
        Ok(::tiff::decoder::ifd::Value::Rational(n, d)) => f64::from(n) / f64::from(d),
        other => panic!("{other:?}"),
    };
    assert_eq!((ratio(Tag::Unknown(286)), ratio(Tag::Unknown(287))), (10.0, 5.0));
    assert_eq!(ratio(Tag::XResolution) / ratio(Tag::YResolution), 2.0);
}

#[test]
fn any_variable_fits_into_a_float_tiff() {
    use ::tiff::tags::Tag;
    let directory = directory();
    let path = path_in(&directory, "a.tif");
    let types = [ValueType::Float, ValueType::Int, ValueType::Normal, ValueType::HPoint, ValueType::Matrix];
    for ty in types {
        let mode = DisplayMode::Variable { name: "x".into(), ty, composited: true };
        let mut display = display(&path, "tiff", mode);
        display.params.insert("compression".into(), ParamValue::Strings(vec!["none".into()]));
        let (outcomes, said) = make(&world([5, 3], vec![display]));
        assert_eq!((states(&outcomes), said), (WHOLE.into(), vec![]));
        // The decoder drops samples beyond RGB: read the only strip as it is in the file.
        let mut decoder = tiff_decoder(&path);
        let mut number = |tag| decoder.get_tag_u32_vec(tag).expect("is there")[0] as usize;
        assert_eq!(number(Tag::SamplesPerPixel), ty.floats());
        let (start, length) = (number(Tag::StripOffsets), number(Tag::StripByteCounts));
        let bytes = fs::read(&path).expect("written");
        let floats = bytes[start..start + length].chunks_exact(4).map(|b| f32::from_ne_bytes([b[0], b[1], b[2], b[3]]));
        let all =
            (0..3).flat_map(|y| (0..5).flat_map(move |x| (0..ty.floats()).map(move |float| value_at(x, y, float))));
        assert!(floats.eq(all), "{ty:?}");
    }
}

#[test]
fn png_divides_colour_by_alpha() {
    let directory = directory();
    let path = path_in(&directory, "a.png");
    let world = world([3, 1], vec![quantized(BYTES, display(&path, "png", RGBA))]);
    let reporter = Reporter::silent();
    let film = film(&world, &reporter);
    film.deposit(region([0, 0, 3, 1]), &[0.25, 0.5, 0.0, 0.5, 0.3, 0.3, 0.3, 0.0, 1.0, 0.2, 0.0, 1.0]);
    film.finish(None, &reporter);
    let (info, bytes) = read_png(&path);
    assert_eq!((info.color_type, info.bit_depth), (::png::ColorType::Rgba, ::png::BitDepth::Eight));
    assert_eq!(bytes, [128, 255, 0, 128, 0, 0, 0, 0, 255, 51, 0, 255]);
}

#[test]
fn png_holds_words_and_quantizes_what_is_not() {
    let directory = directory();
    let path = path_in(&directory, "a.png");
    let normal = DisplayMode::Variable { name: "N".into(), ty: ValueType::Normal, composited: true };
    make(&world([2, 1], vec![quantized(WORDS, display(&path, "png", normal))]));
    let (info, bytes) = read_png(&path);
    assert_eq!(info.bit_depth, ::png::BitDepth::Sixteen);
    let expected = [0.0, 1.0 / 8192.0, 2.0 / 8192.0, 8.0 / 8192.0, 9.0 / 8192.0, 10.0 / 8192.0];
    let words: Vec<u16> = bytes.chunks_exact(2).map(|word| u16::from_be_bytes([word[0], word[1]])).collect();
    assert_eq!(words, expected.map(|value: f64| (value * 65535.0).round() as u16));

    let grey = DisplayMode::Image { rgb: false, a: true, z: false };
    make(&world([2, 1], vec![display(&path, "png", grey)]));
    assert_eq!(read_png(&path).0.bit_depth, ::png::BitDepth::Eight);
}

#[test]
fn previews_are_srgb() {
    let directory = directory();
    let [exr, png, z] = ["a.exr", "a.png", "z.exr"].map(|name| path_in(&directory, name));
    let world = world([3, 1], vec![display(&exr, "exr", RGB), display(&z, "zfile", Z)]);
    let reporter = Reporter::silent();
    let film = film(&world, &reporter);
    film.deposit(region([0, 0, 3, 1]), &[0.0, 0.5, 1.0, 2.0, -1.0, 0.5, 2.0, 6.0, 0.0, 1.0, 0.0, 1e38]);
    film.finish(None, &reporter);
    preview(Path::new(&exr), Path::new(&png), 1.0).expect("both are there");
    assert_eq!(read_png(&png).1, [0, 188, 255, 0, 188, 255, 0, 255, 0]);
    preview(Path::new(&exr), Path::new(&png), 0.5).expect("both are there");
    assert_eq!(read_png(&png).1[1], 137);
    preview(Path::new(&z), Path::new(&png), 1.0).expect("both are there");
    assert_eq!(read_png(&png).1, [255, 0, 0]);
    // A header that claims 2^30 by 2^29 pixels: the data window follows its name, type and size.
    let mut bytes = fs::read(&exr).expect("written");
    let name = b"dataWindow\0box2i\0";
    let at = bytes.windows(name.len()).position(|window| window == name).expect("is there") + name.len() + 4;
    bytes[at + 8..at + 16].copy_from_slice(&[0xff, 0xff, 0xff, 0x3e, 0xff, 0xff, 0xff, 0x1f]);
    fs::write(&exr, bytes).expect("writable");
    let error = preview(Path::new(&exr), Path::new(&png), 1.0).map_err(|error| error.to_string());
    assert!(error.is_err(), "{error:?}");
    fs::write(&exr, b"not a picture").expect("writable");
    let error = preview(Path::new(&exr), Path::new(&png), 1.0).map_err(|error| error.to_string());
    assert!(error.is_err_and(|error| error.starts_with(&format!("cannot read \"{exr}\": "))));
}

#[test]
fn equal_files_are_encoded_once() {
    let directory = directory();
    let paths = ["a.exr", "b.exr", "c.exr", "d.png"].map(|name| path_in(&directory, name));
    let [mut bright, mut quantized] = [2, 1].map(|path| display(&paths[path], "exr", RGBA));
    bright.parts[0].exposure = [2.0, 1.0];
    quantized.parts[0].quantize = Quantize { one: 255.0, min: 0.0, max: 255.0, dither: 0.5 };
    let displays =
        vec![display(&paths[0], "exr", RGBA), display(&paths[1], "exr", RGBA), bright, display(&paths[3], "png", RGBA)];
    let world = world([37, 21], displays);
    let film = film(&world, &Reporter::silent());
    let drafts: Vec<Draft<'_>> = film
        .outputs
        .iter()
        .filter_map(to_write)
        .map(|output| Draft { path: output.path.clone(), output: Some(output) })
        .collect();
    assert_eq!(copies::first_of_equal(&drafts), [0, 0, 2, 3]);
    let (outcomes, said) = make(&world);
    assert_eq!((states(&outcomes), said), (vec![DisplayState::Whole; 4], vec![]));
    let [a, b, c, _] = paths.map(|path| fs::read(path).expect("it is written"));
    assert!(a == b && a != c);
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_read_again_is_not_copied() {
    let directory = directory();
    let path = path_in(&directory, "a.exr");
    for (device, state) in [("/dev/full", DisplayState::Missing), ("/dev/null", DisplayState::Whole)] {
        let displays = [device, path.as_str()].map(|path| display(path, "exr", RGBA)).to_vec();
        let (outcomes, _) = make(&world([37, 21], displays));
        assert_eq!(states(&outcomes), [state, DisplayState::Whole]);
        read_exr(&path);
        fs::remove_file(&path).expect("it was written");
    }
}
