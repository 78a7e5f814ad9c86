//! Textures that a scene requests are made of what its earlier worlds drew (RISpec 7.1; EX-01 to EX-05, EX-07).

use super::draw;
use anthill::film::DisplayState::{Missing, Whole};
use anthill::options::HANG_TIMEOUT;
use anthill::texture::{
    Patience, ReadLimits, TILE_WORDS, TextureFile, TextureHeader, TextureKind, TiledPicture, TilingWatch, WrapMode,
    open_or_tile,
};
use std::path::Path;

fn open(folder: &Path, name: &str) -> TextureFile {
    TextureFile::open(&folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The float at a texel of the first tile.
fn float(file: &TextureFile, [x, y]: [u32; 2]) -> f32 {
    let mut tile = [0; TILE_WORDS];
    file.read_tile(0, 0, 0, 0, &mut tile).expect("it is readable");
    f32::from_bits(tile[(y * 64 + x) as usize])
}

/// The place of a point of the world in the map, and its depth.
fn seen(header: &TextureHeader, point: [f32; 3]) -> [f32; 3] {
    let matrices = header.matrices.expect("a shadow map has matrices");
    let v = [point[0], point[1], point[2], 1.0];
    let column = |m: &[f32; 16], c: usize| (0..4).map(|r| v[r] * m[r * 4 + c]).sum::<f32>();
    let [x, y, w] = [0, 1, 3].map(|c| column(&matrices.ndc_from_world, c));
    [x / w, y / w, column(&matrices.camera_from_world, 2)]
}

/// Two frames draw the depth of a disk from a light at (0, 0, -5) in the world, with the same names of files; each
/// makes a shadow map of it.
#[test]
fn a_shadow_map_is_made_of_the_depths_that_the_frame_before_it_drew() {
    let frame = |number: u32, z: f32| {
        format!(
            "FrameBegin {number}\nFormat 48 32 1\nProjection \"perspective\" \"fov\" [40]\nTranslate 0 0 5\n\
             Display \"$DIR/s.z\" \"zfile\" \"z\"\nPixelSamples 1 1\nHider \"hidden\" \"jitter\" [0]\n\
             WorldBegin\nTranslate 0.5 0.25 0\nDisk {z} 0.5 360\nWorldEnd\n\
             MakeShadow \"$DIR/s.z\" \"$DIR/s.shad\"\nMakeShadow \"$DIR/s.z\" \"$DIR/s{number}.shad\"\nFrameEnd\n"
        )
    };
    let scene = draw(&[frame(1, 1.0), frame(2, 3.0)].concat());
    assert_eq!(scene.messages, [] as [&str; 0]);
    assert_eq!(scene.displays, [Whole; 6]);
    for (name, z) in [("s1.shad", 1.0), ("s2.shad", 3.0), ("s.shad", 3.0)] {
        let file = open(scene.folder(), name);
        let header = file.header();
        assert_eq!((header.kind, header.width, header.height), (TextureKind::Shadow, 48, 32), "{name}");
        // The middle of the disk, and a point beside it, where nothing is.
        let [x, y, depth] = seen(header, [0.5, 0.25, z]);
        assert!((depth - (z + 5.0)).abs() < 1e-4, "{name}: {depth}");
        let texel = |x: f32, y: f32| float(&file, [(x * 48.0) as u32, (y * 32.0) as u32]);
        assert!((texel(x, y) - depth).abs() < 1e-4, "{name}: {} is not {depth}", texel(x, y));
        let [x, y, depth] = seen(header, [-0.5, -0.25, z]);
        assert!(texel(x, y) > depth + 100.0, "{name}: {}", texel(x, y));
    }
}

/// Other renderers read what `Display "k.shad" "shadow" "z"` draws as a shadow map as it is.
#[test]
fn a_depth_file_is_opened_as_a_shadow_map() {
    let scene = draw("Format 8 8 1\nDisplay \"$DIR/k.shad\" \"shadow\" \"z\"\nWorldBegin\nDisk 2 3 360\nWorldEnd\n");
    let (path, cache) = (scene.folder().join("k.shad"), scene.folder().join("cache"));
    let opened =
        open_or_tile(&Patience::new(HANG_TIMEOUT), &ReadLimits::default(), &path, &cache, &TilingWatch::none());
    let (file, made) = opened.expect("it can be made");
    assert_eq!((file.header().kind, file.header().levels), (TextureKind::Shadow, 1));
    assert!((float(&file, [4, 4]) - 2.0).abs() < 1e-4 && file.header().matrices.is_some());
    let message = TiledPicture::message(&[&made.expect("it was made now")]);
    assert!(message.contains("is a depth file: it was made into the shadow map"), "{message}");
}

#[test]
fn textures_and_environments_are_made_of_pictures_of_earlier_worlds() {
    let picture = |name: &str, [red, green]: [f32; 2]| {
        format!(
            "Display \"$DIR/{name}\" \"exr\" \"rgb\" \"string exrpixeltype\" \"float\"\nWorldBegin\nColor {red} {green} 0\n\
             Surface \"constant\"\nPolygon \"P\" [-2 -2 1 -2 2 1 2 2 1 2 -2 1]\nWorldEnd\n"
        )
    };
    let scene = draw(&format!(
        "Format 16 16 1\nPixelFilter \"box\" 1 1\n{}{}\
         MakeTexture \"$DIR/a.exr\" \"$DIR/a.tex\" \"periodic\" \"clamp\" \"gaussian\" 2 2\n\
         MakeBump \"$DIR/a.exr\" \"$DIR/b.tex\" \"black\" \"black\" \"box\" 1 1\n\
         MakeLatLongEnvironment \"$DIR/b.exr\" \"$DIR/l.env\" \"box\" 1 1\n\
         MakeCubeFaceEnvironment \"$DIR/a.exr\" \"$DIR/b.exr\" \"$DIR/a.exr\" \"$DIR/a.exr\" \"$DIR/a.exr\" \"$DIR/a.exr\" \
         \"$DIR/c.env\" 95 \"box\" 1 1\n",
        picture("a.exr", [0.25, 1.0]),
        picture("b.exr", [0.75, 1.0])
    ));
    assert_eq!(scene.messages, [] as [&str; 0]);
    assert_eq!(scene.displays, [Whole; 6]);
    for (name, kind, wrap, size, [left, middle]) in [
        ("a.tex", TextureKind::Plain, [WrapMode::Periodic, WrapMode::Clamp], [16, 16], [0.25, 0.25]),
        ("b.tex", TextureKind::Plain, [WrapMode::Black; 2], [16, 16], [0.25, 0.25]),
        ("l.env", TextureKind::LatLong, [WrapMode::Periodic, WrapMode::Clamp], [16, 16], [0.75, 0.75]),
        ("c.env", TextureKind::Cube, [WrapMode::Clamp; 2], [48, 32], [0.25, 0.75]),
    ] {
        let file = open(scene.folder(), name);
        let header = file.header();
        assert_eq!((header.kind, header.wrap, [header.width, header.height]), (kind, wrap, size), "{name}");
        assert_eq!(header.fov.map(f32::round), (kind == TextureKind::Cube).then_some(95.0), "{name}");
        let found = [float(&file, [2, 2]), float(&file, [header.width / 2, 2])];
        assert!(found.iter().zip([left, middle]).all(|(found, wanted)| (found - wanted).abs() < 1e-3), "{found:?}");
    }
}

#[test]
fn a_texture_that_cannot_be_made_is_reported_and_the_rest_is_drawn() {
    let scene = draw(
        "MakeShadow \"$DIR/none.z\" \"$DIR/none.shad\"\nFormat 8 8 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgb\"\n\
         WorldBegin\nSphere 0.5 -0.5 0.5 360\nWorldEnd\nMakeShadow \"$DIR/a.exr\" \"$DIR/a.shad\"\n",
    );
    assert_eq!(scene.displays, [Missing, Whole, Missing], "{:?}", scene.messages);
    for words in [
        "scene.rib:2:1: error: MakeShadow: there is no file",
        "scene.rib:8:1: error: MakeShadow: ",
        "a shadow map is made of one channel of depths, but it has 3",
    ] {
        assert_eq!(scene.message_count(words), 1, "{words}: {:?}", scene.messages);
    }
    assert_eq!(scene.messages.len(), 2, "{:?}", scene.messages);
}
