//! `bake3d` and `bake`: files of the points that are shaded.

use super::{RenderedScene, draw_as};
use anthill::pipeline::plan::{CATALOGUE, NamedPipeline};
use anthill::points::{ChannelKind, PointCloud};
use anthill::texture;
use std::f32::consts::PI;
use std::fs;

const SHADER: &str = "surface baker(string file = \"\"; string list = \"\"; float k = 1;) {
    point w = transform(\"world\", P);
    bake3d(file, list, P, N, \"sum\", xcomp(w) + 2 * ycomp(w), \"c\", color(xcomp(w), ycomp(w), k));
    Ci = 1; Oi = Os;
}";

const SQUARE: &str = "Patch \"bilinear\" \"P\" [-1 1 0  1 1 0  -1 -1 0  1 -1 0]\n";

fn draw(world: &str, flags: (&str, Option<u64>, Option<usize>)) -> RenderedScene {
    draw_by(world, flags, None)
}

fn draw_by(
    world: &str,
    flags: (&str, Option<u64>, Option<usize>),
    pipeline: Option<&'static NamedPipeline>,
) -> RenderedScene {
    let other = "surface other(string file = \"\";) { bake3d(file, \"\", P, N, \"one\", 1); Ci = 1; }";
    let flat = "surface flat(string file = \"\";) { Ci = bake(file, s, t, color(s, t, 0.5)); }";
    let middle = "surface middle(string file = \"\";) {
        point w = transform(\"world\", P);
        bake3d(file, \"\", P, N, \"interpolate\", 1, \"w\", w);
        Ci = 1;
    }";
    let twelve = "surface twelve(string file = \"\";) {
        float i;
        for (i = 0; i < 12; i += 1) { bake3d(file, \"\", P, N, \"i\", i); }
        Ci = 1;
    }";
    let many = "surface many(string file = \"\"; float trips = 1;) {
        float i;
        for (i = 0; i < trips; i += 1) { bake3d(file, \"\", P, N, \"i\", i); }
        Ci = 1;
    }";
    let rib = format!(
        "Format 64 64 1\nPixelSamples 2 2\nDisplay \"$DIR/a.exr\" \"exr\" \"rgb\"\nScreenWindow -1.5 1.5 -1.5 1.5\n\
         Translate 0.2 0.1 5\nRotate 20 0 1 0\nWorldBegin\n{world}WorldEnd\n"
    );
    let (devices, memory, regions) = flags;
    let shaders = [("baker.sl", SHADER), ("other.sl", other), ("flat.sl", flat), ("middle.sl", middle)];
    draw_as(&[&shaders[..], &[("twelve.sl", twelve), ("many.sl", many)]].concat(), &rib, &|options| {
        options.devices = devices.into();
        options.memory_bytes = memory.or(options.memory_bytes);
        options.regions = regions.and_then(std::num::NonZeroUsize::new);
        options.pipelines.named = pipeline;
    })
}

const USUAL: (&str, Option<u64>, Option<usize>) = ("0", None, None);

fn cloud(scene: &RenderedScene, name: &str) -> PointCloud {
    PointCloud::read(&scene.folder().join(name)).unwrap_or_else(|error| panic!("{error}: {:?}", scene.messages))
}

#[test]
fn points_of_a_square_lie_on_it_in_world_space() {
    let scene = draw(&format!("Surface \"baker\" \"file\" \"$DIR/a.ply\" \"list\" \"c,sum\"\n{SQUARE}"), USUAL);
    assert!(scene.messages.is_empty(), "{:?}", scene.messages);
    let cloud = cloud(&scene, "a.ply");
    let names: Vec<_> = cloud.channels.iter().map(|channel| (channel.name.as_str(), channel.kind)).collect();
    assert_eq!(names, [("c", ChannelKind::Color), ("sum", ChannelKind::Float)]);
    let count = cloud.positions.len() as u64;
    assert!((scene.micropolygons..2 * scene.micropolygons).contains(&count), "{count} of {}", scene.micropolygons);
    let mut area = 0.0;
    for (point, &[x, y, z]) in cloud.positions.iter().enumerate() {
        assert!(x.abs() < 1.0001 && y.abs() < 1.0001 && z.abs() < 1e-4, "{x} {y} {z}");
        let value = &cloud.values[4 * point..4 * point + 4];
        for (found, wanted) in value.iter().zip([x, y, 1.0, x + 2.0 * y]) {
            assert!((found - wanted).abs() < 1e-4, "{value:?} at {x} {y}");
        }
        let [nx, ny, nz] = cloud.normals[point];
        assert!(nx.abs() < 1e-4 * nz.abs() && ny.abs() < 1e-4 * nz.abs(), "{nx} {ny} {nz}");
        area += PI * cloud.radii[point] * cloud.radii[point];
    }
    // The vertices on the edges of grids count for two.
    assert!((3.99..6.0).contains(&area), "{area}");
}

#[test]
fn what_one_frame_bakes_the_next_looks_up() {
    let reader = "surface reader(string file = \"\";) {
        point w = transform(\"world\", P);
        color c = -1;
        float sum = -1, found = texture3d(file, P, N, \"c\", c, \"sum\", sum);
        Ci = color(found, abs(comp(c, 0) - xcomp(w)) + abs(comp(c, 1) - ycomp(w)), abs(sum - xcomp(w) - 2 * ycomp(w)));
    }";
    let frame = |number: u32, shader: &str| {
        format!(
            "FrameBegin {number}\nDisplay \"$DIR/{shader}.exr\" \"exr\" \"rgb\"\nTranslate 0.2 0.1 5\nRotate 20 0 1 0\n\
             WorldBegin\nSurface \"{shader}\" \"file\" \"$DIR/a.ply\"\n{SQUARE}WorldEnd\nFrameEnd\n"
        )
    };
    let both = [frame(1, "baker"), frame(2, "reader")].concat();
    let rib =
        format!("Format 64 64 1\nPixelSamples 1 1\nPixelFilter \"box\" 1 1\nScreenWindow -1.5 1.5 -1.5 1.5\n{both}");
    let scene = draw_as(&[("baker.sl", SHADER), ("reader.sl", reader)], &rib, &|_| ());
    let picture = scene.clean("reader.exr");
    let inside = (16..48).flat_map(|y| (24..48).map(move |x| (x, y)));
    for (x, y) in inside {
        let [found, place, sum] = picture.rgb(x, y);
        assert!(found == 1.0 && place < 0.05 && sum < 0.1, "{found} {place} {sum} at {x} {y}");
    }
}

/// Their disks cover the square once, unlike those of vertices, some of which two grids share.
#[test]
fn middles_of_micropolygons_are_baked_once_each() {
    let world = format!("Surface \"middle\" \"file\" \"$DIR/a.ply\"\n{SQUARE}");
    let scene = draw(&world, USUAL);
    assert!(scene.messages.is_empty(), "{:?}", scene.messages);
    let cloud = cloud(&scene, "a.ply");
    assert_eq!(cloud.positions.len() as u64, scene.micropolygons);
    assert_eq!(cloud.channels.len(), 1);
    for (place, value) in cloud.positions.iter().zip(cloud.values.as_chunks::<3>().0) {
        assert!((0..3).all(|i| (place[i] - value[i]).abs() < 1e-5), "{value:?} at {place:?}");
    }
    let area: f32 = cloud.radii.iter().map(|radius| PI * radius * radius).sum();
    assert!((area - 4.0).abs() < 0.02, "{area}");
    let [first, again] = ["0", "0,0"].map(|devices| {
        let scene = draw(&world, (devices, None, Some(5)));
        fs::read(scene.folder().join("a.ply")).expect("it is baked")
    });
    assert!(first == again && first == fs::read(scene.folder().join("a.ply")).expect("it is baked"));
}

#[test]
fn loops_bake_in_each_of_their_trips() {
    let world = |surface: &str| format!("ShadingRate 0.25\nSurface \"{surface} \"file\" \"$DIR/a.ply\"\n{SQUARE}");
    let [one, twelve] = ["many\"", "twelve\""].map(|surface| {
        let scene = draw(&world(surface), USUAL);
        assert!(scene.messages.is_empty(), "{:?}", scene.messages);
        cloud(&scene, "a.ply")
    });
    assert_eq!(twelve.positions.len(), 12 * one.positions.len());
    for trips in twelve.values.chunks(12) {
        assert_eq!(trips, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]);
    }
    // More than there is room for, of a single grid.
    let scene = draw(&world("many\" \"trips\" 500"), USUAL);
    assert_eq!(scene.message_count("loops bake more points than there is room for"), 1, "{:?}", scene.messages);
    assert!(!scene.folder().join("a.ply").exists());
}

/// Points are forgotten where there is no memory for them, and what shaders print is not.
#[test]
fn what_is_printed_does_not_depend_on_memory_for_points() {
    let shader =
        "surface both(string name = \"\"; string file = \"\";) { if (u == 0 && v == 0) printf(\"%s\\n\", name);
        bake3d(file, \"\", P, N, \"one\", 1); Ci = 1; }";
    let square = |number: u32| {
        let x = -1.0 + f64::from(number) / 4.0;
        let right = x + 0.25;
        format!(
            "Surface \"both\" \"name\" \"{number}\" \"file\" \"$DIR/a.ply\"\nPatch \"bilinear\" \"P\" [{x} 1 0 {right} 1 0 {x} -1 0 {right} -1 0]\n"
        )
    };
    let world: String = (0..8).map(square).collect();
    let rib = format!(
        "Format 64 64 1\nPixelSamples 1 1\nShadingRate 0.1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgb\"\n\
         ScreenWindow -1 1 -1 1\nTranslate 0 0 1\nWorldBegin\n{world}WorldEnd\n"
    );
    let printed = |bytes: u64, regions: usize| {
        let scene = draw_as(&[("both.sl", shader)], &rib, &|options| {
            options.host_memory_bytes = Some(bytes);
            options.regions = std::num::NonZeroUsize::new(regions);
        });
        let is_short = scene.message_count("no host memory for the points") > 0;
        let notes = scene.messages.iter().filter_map(|message| message.split_once("note: "));
        let printed = notes.filter_map(|(_, line)| line.strip_suffix(" [printf]"));
        (is_short, printed.map(str::to_owned).collect::<Vec<_>>())
    };
    let whole = printed(256 << 20, 1);
    assert_eq!((whole.0, whole.1.len()), (false, 8), "{:?}", whole.1);
    for regions in [1, 9, 40] {
        assert_eq!(printed(1 << 20, regions), (true, whole.1.clone()), "{regions}");
    }
}

const UNCULLED: &str = "Attribute \"cull\" \"int hidden\" 0 \"int backfacing\" 0\n";

/// The area of the disks of the points that a square of 2 x 2 bakes under `state` behind a card that covers `part` of
/// it, and the bytes of points and picture.
fn behind(state: &str, part: f32, flags: (&str, Option<u64>, Option<usize>)) -> (f32, Vec<u8>, Vec<u8>) {
    let world = format!(
        "AttributeBegin\n{state}Surface \"middle\" \"file\" \"$DIR/a.ply\"\n{SQUARE}AttributeEnd\n\
         Translate 0 0 -1\nColor [0 1 0]\nScale {part} 1 1\nPatch \"bilinear\" \"P\" [-2 2 0  2 2 0  -2 -2 0  2 -2 0]\n"
    );
    let scene = draw(&world, flags);
    assert!(scene.messages.is_empty(), "{:?}", scene.messages);
    let [points, picture] = ["a.ply", "a.exr"].map(|name| fs::read(scene.folder().join(name)).unwrap_or_default());
    let found = if points.is_empty() { PointCloud::default() } else { cloud(&scene, "a.ply") };
    (found.radii.iter().map(|radius| PI * radius * radius).sum(), points, picture)
}

#[test]
fn what_hides_or_faces_away_is_baked_where_it_is_not_culled() {
    let seen = "Attribute \"cull\" \"int hidden\" 1\n";
    let away = "Sides 1 ReverseOrientation\n";
    let clear = "Opacity [0.5 0.5 0.5]\n";
    let hidden = "Attribute \"cull\" \"int hidden\" 0\n";
    let facing = "Attribute \"cull\" \"int backfacing\" 0\n";
    let whole = |area: f32| (area - 4.0).abs() < 0.02;
    for state in ["", "Sides 1\n", away, clear] {
        let (area, _, picture) = behind(&format!("{seen}{state}"), 1.0, USUAL);
        assert_eq!(area, 0.0, "{state}");
        let (area, _, same) = behind(&format!("{UNCULLED}{state}"), 1.0, USUAL);
        assert!(whole(area) && picture == same, "{area}, {state}");
    }
    // A part that is seen, in front of nothing.
    for state in ["", clear] {
        let (area, _, picture) = behind(&format!("{seen}{state}"), 0.35, USUAL);
        assert!(area > 0.5 && area < 3.9, "{area}, {state}");
        let (area, _, same) = behind(&format!("{hidden}{state}"), 0.35, USUAL);
        assert!(whole(area) && picture == same, "{area}, {state}");
    }
    // Nothing of what has two sides faces away.
    assert_eq!(behind(facing, 1.0, USUAL).0, 0.0);
    assert!(whole(behind(&format!("{facing}{away}"), 0.01, USUAL).0));
    assert_eq!(behind(away, 0.01, USUAL).0, 0.0);
}

#[test]
fn what_is_baked_unseen_does_not_depend_on_who_draws() {
    let usual = behind(UNCULLED, 0.35, USUAL);
    for flags in [("0,0", None, None), ("0", Some(192 << 20), Some(9)), ("0,0", None, Some(5))] {
        assert!(behind(UNCULLED, 0.35, flags) == usual, "{flags:?}");
    }
}

/// Also where everything is shaded.
#[test]
fn what_is_baked_does_not_depend_on_the_pipeline() {
    let world =
        format!("Surface \"middle\" \"file\" \"$DIR/a.ply\"\n{SQUARE}Translate 0 0 -1\nScale 0.7 3 3\n{SQUARE}");
    let usual = draw(&world, USUAL);
    let points = |scene: &RenderedScene| fs::read(scene.folder().join("a.ply")).expect("it is baked");
    for pipeline in &CATALOGUE {
        let other = draw_by(&world, USUAL, Some(pipeline));
        assert!(points(&other) == points(&usual), "{}", pipeline.name);
    }
}

/// Of a shader that bakes nothing no more is shaded.
#[test]
fn what_bakes_nothing_is_culled_all_the_same() {
    let shaded = |state: &str| {
        let world = format!("{state}Surface \"matte\"\n{SQUARE}Translate 0 0 -1\nScale 3 3 3\n{SQUARE}");
        draw(&world, USUAL).shaded_vertices
    };
    assert_eq!(shaded(UNCULLED), shaded(""));
}

#[test]
fn a_file_has_the_same_bytes_whoever_draws() {
    let clear = "AttributeBegin\nOpacity [0.5 0.5 0.5]\nSurface \"baker\" \"file\" \"$DIR/a.ply\" \"k\" 2\n\
        Translate 0 0 -1\nSphere 0.7 -0.7 0.7 360\nAttributeEnd\n";
    let world = format!("{clear}Surface \"baker\" \"file\" \"$DIR/a.ply\"\n{SQUARE}");
    let bytes = |flags| {
        let scene = draw(&world, flags);
        assert!(scene.messages.is_empty(), "{:?}", scene.messages);
        fs::read(scene.folder().join("a.ply")).expect("it is baked")
    };
    let usual = bytes(USUAL);
    for flags in [("0,0", None, None), ("0", Some(192 << 20), Some(9)), ("0,0", None, Some(5))] {
        assert!(bytes(flags) == usual, "{flags:?}");
    }
}

#[test]
fn places_of_textures_are_baked_at_their_coordinates() {
    let scene = draw(&format!("Surface \"flat\" \"file\" \"$DIR/flat.ply\"\n{SQUARE}"), USUAL);
    let cloud = cloud(&scene, "flat.ply");
    assert!(!cloud.positions.is_empty() && cloud.channels[0].name == "value");
    for (place, value) in cloud.positions.iter().zip(cloud.values.as_chunks::<3>().0) {
        assert_eq!((place[0], place[1], place[2]), (value[0], value[1], 0.0));
    }
}

#[test]
fn a_texture_is_made_of_what_was_baked() {
    let flat = format!("Surface \"flat\" \"file\" \"$DIR/flat.ply\"\n{SQUARE}");
    let make = "MakeTexture \"$DIR/flat.ply\" \"$DIR/flat.tex\" \"clamp\" \"clamp\" \"box\" 1 1\n";
    let show = "surface show(string name = \"\";) { color c = color texture(name, s, t) - color(s, t, 0.5); Ci = max(c, -c); }";
    let rib = format!(
        "Format 64 64 1\nScreenWindow -1 1 -1 1\nFrameBegin 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgb\"\nTranslate 0 0 5\n\
         WorldBegin\n{flat}WorldEnd\n{make}FrameEnd\nFrameBegin 2\nDisplay \"$DIR/b.exr\" \"exr\" \"rgb\"\nTranslate 0 0 5\n\
         WorldBegin\nSurface \"show\" \"name\" \"$DIR/flat.tex\"\n{SQUARE}WorldEnd\nFrameEnd\n"
    );
    let bake = "surface flat(string file = \"\";) { Ci = bake(file, s, t, color(s, t, 0.5)); }";
    let scene = draw_as(&[("flat.sl", bake), ("show.sl", show)], &rib, &|_| ());
    let picture = scene.clean("b.exr");
    for (x, y) in (2..62).flat_map(|y| (2..62).map(move |x| (x, y))) {
        let [red, green, blue] = picture.rgb(x, y);
        assert!(red < 0.02 && green < 0.02 && blue < 1e-5, "{red} {green} {blue} at {x} {y}");
    }
    // Points in space are no picture.
    let scene = draw(&format!("Surface \"baker\" \"file\" \"$DIR/flat.ply\"\n{SQUARE}"), USUAL);
    let request = texture::MakeRequest::new(
        texture::MakeKind::Plain,
        vec![scene.folder().join("flat.ply")],
        scene.folder().join("a.tex"),
    );
    let refused = texture::make(&request, &texture::go_on).expect_err("it has no s and t").to_string();
    assert!(refused.contains("point cloud"), "{refused}");
}

/// It has the channels of the points, and the same bits are looked up in it.
#[test]
fn a_brick_map_is_made_of_what_was_baked() {
    let show = "surface show(string name = \"\";) {
        color c = 0;
        float sum = 0, found = texture3d(name, P, N, \"c\", c, \"sum\", sum, \"filterscale\", 3);
        Ci = c + color(sum, 2 * found, 0);
    }";
    let frame = |number: u32, world: &str| {
        format!(
            "FrameBegin {number}\nDisplay \"$DIR/{number}.exr\" \"exr\" \"rgb\" \"string exrpixeltype\" \"float\"\n\
             Translate 0.2 0.1 5\nRotate 20 0 1 0\nWorldBegin\n{world}{SQUARE}WorldEnd\nFrameEnd\n"
        )
    };
    let rib = [
        "Format 24 24 1\nPixelSamples 1 1\nPixelFilter \"box\" 1 1\nScreenWindow -1.5 1.5 -1.5 1.5\n".to_owned(),
        frame(1, "Surface \"baker\" \"file\" \"$DIR/a.ply\"\n"),
        "MakeBrickMap [\"$DIR/a.ply\"] \"$DIR/a.bkm\" \"float maxerror\" 0.1\n".to_owned(),
        "MakeBrickMap \"$DIR/a.ply\" \"$DIR/wide.bkm\" \"float radiusscale\" 3 \"int ignorenormals\" 1\n".to_owned(),
        frame(2, "Surface \"show\" \"name\" \"$DIR/a.ply\"\n"),
        frame(3, "Surface \"show\" \"name\" \"$DIR/a.bkm\"\n"),
        frame(4, "Surface \"show\" \"name\" \"$DIR/wide.bkm\"\n"),
    ];
    let scene = draw_as(&[("baker.sl", SHADER), ("show.sl", show)], &rib.concat(), &|_| ());
    let [points, bricks, wide] = ["2.exr", "3.exr", "4.exr"].map(|name| {
        let picture = scene.clean(name);
        ["R", "G", "B"].map(|channel| picture.channel(channel).iter().map(|value| value.to_bits()).collect::<Vec<_>>())
    });
    assert!(points == bricks && points != wide);
    let [_, green, blue] = scene.clean("3.exr").rgb(12, 12);
    assert!(green > 1.5 && blue > 0.5, "{green} {blue}");
}

#[test]
fn what_cannot_be_baked_is_reported() {
    let file = |shader: &str, name: &str| format!("Surface \"{shader}\" \"file\" \"$DIR/{name}\"\n{SQUARE}");
    let scene = draw(&file("baker", "baker.sl"), USUAL);
    assert_eq!(scene.message_count("the same file as"), 1, "{:?}", scene.messages);
    assert_eq!(fs::read_to_string(scene.folder().join("baker.sl")).expect("still there"), SHADER);
    let scene = draw(&file("baker", "none/a.ply"), USUAL);
    assert_eq!(scene.message_count("there is no such directory"), 1, "{:?}", scene.messages);
    let both = format!("{}Translate 0.5 0 -1\n{}", file("baker", "a.ply"), file("other", "a.ply"));
    let scene = draw(&both, USUAL);
    assert_eq!(scene.message_count("shaders bake different channels to it"), 1, "{:?}", scene.messages);
    assert!(!scene.folder().join("a.ply").exists());
    let listed = format!("Surface \"baker\" \"file\" \"$DIR/a.ply\" \"list\" \"sum\"\n{SQUARE}");
    let scene = draw(&listed, USUAL);
    assert_eq!(scene.message_count("the channel \"c\" has no value, or is not"), 1, "{:?}", scene.messages);
}
