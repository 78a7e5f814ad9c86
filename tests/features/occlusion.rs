//! `MakeOcclusion` and `occlusion()` (EX-06), as Aqsis has them.

use super::{RenderedScene, draw, draw_with};
use anthill::texture::{TILE_WORDS, TextureFile, TextureKind};

/// The depths of a disk of radius 1 at z = 1, seen along z and along -x, where it has no width; 70 x 40 of them.
const VIEWS: &str = "FrameBegin 1\nFormat 70 40 1\nScreenWindow -3.5 3.5 -2 2\nPixelSamples 1 1\n\
     Display \"$DIR/a.z\" \"zfile\" \"z\"\nWorldBegin\nDisk 1 1 360\nWorldEnd\n\
     Translate 0 0 5\nRotate 90 0 1 0\nDisplay \"$DIR/b.z\" \"zfile\" \"z\"\nWorldBegin\nDisk 1 1 360\nWorldEnd\nFrameEnd\n\
     MakeOcclusion [\"$DIR/a.z\" \"$DIR/b.z\"] \"$DIR/views.occ\"\n";

/// A wall at z = 2, as a camera elsewhere sees it.
fn wall(look: &str) -> String {
    format!(
        "FrameBegin 2\nFormat 32 32 1\nScreenWindow -2 2 -2 2\nTranslate 0 0 3\n\
         Display \"$DIR/a.exr\" \"exr\" \"rgb\" \"string exrpixeltype\" \"float\"\nWorldBegin\n{look}\n\
         Polygon \"P\" [-2 2 2 2 2 2 2 -2 2 -2 -2 2]\nWorldEnd\nFrameEnd\n"
    )
}

/// Pixels behind the disk, on its edge and beside it.
fn across(scene: &RenderedScene) -> [f32; 3] {
    let picture = scene.clean("a.exr");
    [16, 8, 2].map(|x| picture.at("R", x, 16))
}

#[test]
fn maps_count_by_the_cosine_to_where_they_look_from() {
    let lit = "surface lit(string map = \"\"; normal n = 0; float samples = 0;) {
        Ci = color occlusion(map, P, ntransform(\"world\", \"current\", n), samples, \"bias\", 0.05, \"blur\", 0.02);
        Oi = 1; }";
    for (n, samples, expected) in
        [("0 0 -1", 1, 1.0), ("0.4 0 -0.3", 1, 3.0 / 7.0), ("0.4 0 -0.3", 64, 3.0 / 7.0), ("1 0 0", 64, 0.0)]
    {
        let look = format!("Surface \"lit\" \"map\" \"$DIR/views.occ\" \"n\" [{n}] \"samples\" {samples}");
        let scene = draw_with(&[("lit.sl", lit)], &[VIEWS, &wall(&look)].concat());
        let [middle, _, beside] = across(&scene);
        assert!((middle - expected).abs() < 1e-5 && beside == 0.0, "{n} {samples}: {middle} {beside}");
    }
}

#[test]
fn a_light_from_all_around_asks_for_the_surface_that_it_lights() {
    let around = "light around(string map = \"\";) {
        Cl = 1 - occlusion(map, Ps, Ns, 0, \"samples\", 200, \"blur\", 0.1, \"bias\", 0.05); }";
    let look = "LightSource \"around\" 1 \"map\" \"$DIR/views.occ\"\nSurface \"matte\" \"Kd\" 0";
    let scene = draw_with(&[("around.sl", around)], &[VIEWS, &wall(look)].concat());
    let [middle, edge, beside] = across(&scene);
    assert_eq!([middle, beside], [0.0, 1.0]);
    assert!((0.3..0.7).contains(&edge), "{edge}");
}

#[test]
fn what_is_no_occlusion_map_is_named() {
    let lit = "surface lit(string map = \"\", other = \"\";) {
        Ci = 1 - occlusion(map, P, N, 4) - shadow(other, P) - occlusion(P, N, 4); Oi = 1; }";
    let look = "Surface \"lit\" \"map\" \"$DIR/a.z\" \"other\" \"$DIR/wall.tif\"";
    let plain = "FrameBegin 2\nFormat 8 8 1\nDisplay \"$DIR/wall.tif\" \"tiff\" \"rgb\"\nWorldBegin\nWorldEnd\nFrameEnd\n\
                 MakeOcclusion [\"$DIR/a.z\" \"$DIR/gone.z\"] \"$DIR/none.occ\"\n";
    let rib = [VIEWS, plain, &wall(look)].concat();
    let scene = draw_with(&[("lit.sl", lit)], &rib);
    for message in ["is no occlusion map", "is no shadow map", "gone.z", "`occlusion` is not supported"] {
        assert_eq!(scene.message_count(message), 1, "{message}: {:?}", scene.messages);
    }
    assert_eq!(scene.picture("a.exr").at("R", 16, 16), 1.0);
}

/// The words and the maps are where spirv-gen's abi.rs says; depths of two sizes make no map.
#[test]
fn the_maps_are_stored_one_below_the_other() {
    let other = "FrameBegin 2\nFormat 8 8 1\nDisplay \"$DIR/c.z\" \"zfile\" \"z\"\nWorldBegin\nDisk 1 1 360\nWorldEnd\nFrameEnd\n\
                 MakeOcclusion [\"$DIR/a.z\" \"$DIR/c.z\"] \"$DIR/two.occ\"\n";
    let scene = draw(&[VIEWS, other].concat());
    assert_eq!(scene.message_count("those of an occlusion map have one size"), 1, "{:?}", scene.messages);
    assert!(!scene.folder().join("two.occ").exists());
    let file = TextureFile::open(&scene.folder().join("views.occ")).expect("it is made");
    let header = file.header();
    assert_eq!((header.kind, header.width, header.height), (TextureKind::Occlusion, 70, 64 * 3));
    let texel = |x: u32, y: u32| {
        let mut tile = [0; TILE_WORDS];
        file.read_tile(0, 0, x / 64, y / 64, &mut tile).expect("it is readable");
        f32::from_bits(tile[(y % 64 * 64 + x % 64) as usize])
    };
    assert_eq!([0, 1, 2, 3].map(|x| texel(x, 0)), [2.0, 70.0, 40.0, 0.0]);
    // The first camera is the world's space; the second one's z is 5 - x.
    let z_of = |view: u32| [2, 6, 10, 14].map(|i| texel(32 * (view + 1) % 64 + i, 32 * (view + 1) / 64));
    assert_eq!(z_of(0), [0.0, 0.0, 1.0, 0.0]);
    let expected = [-1.0, 0.0, 0.0, 5.0];
    assert!(z_of(1).iter().zip(expected).all(|(z, wanted)| (z - wanted).abs() < 1e-5), "{:?}", z_of(1));
    assert!((texel(35, 64 + 20) - 1.0).abs() < 1e-5 && texel(67, 64 + 20) > 1e30 && texel(35, 128 + 10) > 1e30);
}
