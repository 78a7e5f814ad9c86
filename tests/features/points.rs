//! Shaders look point clouds up: `texture3d` (PRMan's extension of RSL; EXT-04).

use super::{RenderedScene, assert_near, draw_as, draw_with};
use anthill::options::RenderOptions;
use std::fmt::Write;

/// A cloud as text: position, normal, radius, then the channels `_k` (float) and `_c` (color).
fn cloud(points: impl Iterator<Item = ([f32; 3], [f32; 3], f32, [f32; 4])>) -> String {
    let (mut rows, mut count) = (String::new(), 0);
    for ([x, y, z], [nx, ny, nz], radius, [k, r, g, b]) in points {
        count += 1;
        writeln!(rows, "{x} {y} {z} {nx} {ny} {nz} {radius} {k} {r} {g} {b}").expect("a text grows");
    }
    let names = ["x", "y", "z", "nx", "ny", "nz", "radius", "_k", "_c.r", "_c.g", "_c.b"];
    let properties = names.map(|name| format!("property float {name}\n")).concat();
    format!(
        "ply\nformat ascii 1.0\ncomment channel float _k\ncomment channel color _c\nelement vertex {count}\n{properties}end_header\n{rows}"
    )
}

/// A wall of `side` x `side` points at z = 1 from -1 to 1, which looks at the camera. Values are x, and (x, y, 1).
fn wall(side: usize) -> String {
    let at = |i: usize| (2.0 * i as f32 + 1.0) / side as f32 - 1.0;
    let places = (0..side * side).map(|i| [at(i % side), at(i / side), 1.0]);
    cloud(places.map(|p| (p, [0.0, 0.0, -1.0], 4.0 / side as f32, [p[0], p[0], p[1], 1.0])))
}

/// A square at z = 1 that fills the picture.
fn square(size: u32, surface: &str) -> String {
    format!(
        "Format {size} {size} 1\nPixelSamples 1 1\nPixelFilter \"box\" 1 1\nHider \"hidden\" \"jitter\" [0]\nScreenWindow -1 1 -1 1\n\
         Display \"$DIR/a.exr\" \"exr\" \"rgb\" \"string exrpixeltype\" \"float\"\nWorldBegin\n{surface}\n\
         Patch \"bilinear\" \"P\" [-1 1 1 1 1 1 -1 -1 1 1 -1 1]\nWorldEnd\n"
    )
}

fn pixels(scene: &RenderedScene) -> Vec<Vec<f32>> {
    ["R", "G", "B"].map(|name| scene.clean("a.exr").channel(name).to_vec()).to_vec()
}

const SHOW: &str = "surface show(string file = \"\", space = \"world\"; float scale = 1, radius = 0;) {\n\
    color c = 0.5; float k = 0.5;\n\
    float found = texture3d(file, P, N, \"_c\", c, \"_k\", k, \"filterscale\", scale, \"filterradius\", radius, \"coordsystem\", space);\n\
    Ci = c + color (0, 0, found + k); Oi = 1; }";

#[test]
fn a_surface_shows_the_values_of_the_points_on_it() {
    let rib = square(16, "Surface \"show\" \"string file\" \"$DIR/wall.ply\"");
    let scene = draw_with(&[("show.sl", SHOW), ("wall.ply", &wall(40))], &rib);
    let picture = scene.clean("a.exr");
    for (x, y) in [(4, 4), (8, 13), (12, 7)] {
        // A micropolygon shows the colour of its corner.
        let [px, py] = [(x as f32 + 0.5) / 8.0 - 1.0, 1.0 - (y as f32 + 0.5) / 8.0];
        let [r, g, b] = picture.rgb(x, y);
        assert!((r - px).abs() < 0.1 && (g - py).abs() < 0.1, "{r} {g} at {px} {py}");
        assert!((b - 2.0 - r).abs() < 1e-5, "one point found, and a float as it is: {b}");
    }
}

#[test]
fn a_cloud_that_fits_is_loaded_at_once() {
    let rib = square(64, "Surface \"show\" \"string file\" \"$DIR/wall.ply\"");
    let shaders = [("show.sl", SHOW), ("wall.ply", &wall(200))];
    let fits = draw_with(&shaders, &rib);
    let tight = draw_as(&shaders, &rib, &|options| options.texture_memory_bytes = Some(4 << 20));
    assert!(pixels(&fits) == pixels(&tight));
    assert!(fits.reruns <= 4 && tight.reruns > 4, "{} {}", fits.reruns, tight.reruns);
}

/// The wall is where it is in the world; in the space of an object that is elsewhere it is not found.
#[test]
fn points_are_in_the_space_that_is_named() {
    let draw = |before: &str, space: &str| {
        let surface =
            format!("{before}\nSurface \"show\" \"string file\" \"$DIR/wall.ply\" \"string space\" \"{space}\"");
        let rib = format!("Translate 0 0 0.25\n{}", square(8, &surface));
        draw_with(&[("show.sl", SHOW), ("wall.ply", &wall(40))], &rib).clean("a.exr").rgb(4, 4)
    };
    let moved = "Translate 0 0 1";
    assert!(draw("", "world")[2] > 1.5);
    assert_eq!(draw(moved, "world"), [0.0; 3]);
    assert!(draw(moved, "object")[2] > 1.5 && draw(moved, "shader")[2] > 1.5);
    assert_eq!(draw("", "camera"), [0.0; 3]);
}

fn options(mib: u64, devices: &'static str) -> impl Fn(&mut RenderOptions) {
    move |options| {
        options.texture_memory_bytes = Some(mib << 20);
        options.devices = devices.into();
    }
}

/// Each vertex looks anywhere along a line in a cloud of 333 tiles, of which 256 fit at 4 MiB.
#[test]
fn a_picture_of_points_is_the_same_with_any_memory_and_devices() {
    let anywhere = "surface anywhere(string file = \"\";) { color c = 0;\n\
        point p = point (2 * float cellnoise(s * 60, t * 60) - 1, ycomp(P), 1);\n\
        Ci = texture3d(file, p, 0, \"_c\", c, \"coordsystem\", \"camera\"); Ci += c; Oi = 1; }";
    let rib = square(32, "Surface \"anywhere\" \"string file\" \"$DIR/wall.ply\"");
    let shaders = [("anywhere.sl", anywhere), ("wall.ply", &wall(200))];
    let [small, large] =
        [(4, "0,0"), (64, "0")].map(|(mib, devices)| pixels(&draw_as(&shaders, &rib, &options(mib, devices))));
    assert!(small == large);
    assert!(large[0].iter().all(|red| (0.0..2.0).contains(red)) && large[2].iter().all(|blue| *blue == 2.0));
}

#[test]
fn names_of_files_and_channels_may_be_computed() {
    let show = "surface show(uniform string names[2] = {\"\", \"\"}, channel = \"k\";) { uniform float i; float k; Ci = 0;\n\
        for (i = 0; i < 2; i += 1) { Ci += 10 * (i + 1) * texture3d(names[i], P, N, concat(\"_\", channel), k); Ci += k; } Oi = 1; }";
    let rib = square(8, "Surface \"show\" \"string names[2]\" [\"$DIR/wall.ply\" \"$DIR/gone.ply\"]");
    let scene = draw_with(&[("show.sl", show), ("wall.ply", &wall(40))], &rib);
    assert_eq!(scene.message_count("gone.ply\": "), 1, "{:?}", scene.messages);
    let red = scene.picture("a.exr").at("R", 7, 4);
    assert!((10.7..10.95).contains(&red), "{red}");
}

#[test]
fn what_is_wrong_with_a_cloud_is_reported_once() {
    let mut cut = wall(40);
    cut.truncate(cut.len() / 2);
    let shader = "surface odd(string gone = \"\", cut = \"\", text = \"\";) { color c = 1;\n\
        Ci = texture3d(gone, P, N, \"_c\", c) + texture3d(cut, P, N, \"_c\", c) + texture3d(text, P, N, \"_c\", c) + c; Oi = 1; }";
    let displacement = "displacement bump(string wall = \"\";) { float f = 1, c = 1;\n\
        texture3d(wall, P, N, \"_none\", c); texture3d(wall, P + 9, N, \"_c\", f);\n\
        P += (f + c + float texture(wall) + float environment(wall, N) + shadow(wall, P)) * N; }";
    let files = ["gone", "cut", "text"].map(|name| format!("\"string {name}\" \"$DIR/{name}.ply\"")).join(" ");
    let displaced =
        "Attribute \"displacementbound\" \"float sphere\" [4]\nDisplacement \"bump\" \"string wall\" \"$DIR/wall.ply\"";
    let rib = square(8, &format!("Surface \"odd\" {files}\n{displaced}"));
    let shaders = [
        ("odd.sl", shader),
        ("bump.sl", displacement),
        ("cut.ply", &*cut),
        ("wall.ply", &wall(40)),
        ("text.ply", "no points\n"),
    ];
    let scene = draw_with(&shaders, &rib);
    for words in [
        "error: there is no point cloud \"",
        "cut.ply\" is not a whole PLY file of points",
        "text.ply\" is not a picture of a known format",
        "has no channel \"_none\", which is 0; its channels are: _k, _c",
        "has a color in the channel \"_c\", of which a float gets only the first part",
        "wall.ply\" is no texture: texture() and environment() of it are 0",
        "wall.ply\" is no shadow map",
    ] {
        assert_eq!(scene.message_count(words), 1, "{words}: {:#?}", scene.messages);
    }
    assert_eq!(scene.messages.len(), 7, "{:#?}", scene.messages);
    assert_near(scene.picture("a.exr").rgb(4, 4), [0.0; 3]);
}

/// The lookups of a vertex are some 300,000 loop trips: more than CPU drivers make in a dispatch.
#[test]
fn loops_of_lookups_of_many_points_come_to_their_end() {
    let many = "surface many(string file = \"\";) { float i, k, sum = 0;\n\
        for (i = 0; i < 150; i += 1) { texture3d(file, P + i * 1e-4, N, \"_c\", Ci, \"filterradius\", 0.3); sum += comp(Ci, 2); }\n\
        Ci = sum / 150; Oi = 1; }";
    let rib = square(4, "Surface \"many\" \"string file\" \"$DIR/wall.ply\"");
    let scene = draw_with(&[("many.sl", many), ("wall.ply", &wall(100))], &rib);
    assert_near(scene.clean("a.exr").rgb(2, 2), [1.0; 3]);
}
