//! Shaders look textures up, whatever fits into the device's memory (RISpec 15.7; FN-60 to FN-66).

use super::{RenderedScene, assert_near, draw, draw_as, draw_with};
use anthill::options::RenderOptions;

/// A picture of `paint`, made into the float texture `$DIR/paint.tex`.
fn painted([width, height]: [u32; 2], wrap: &str) -> String {
    format!(
        "Format {width} {height} 1\nPixelFilter \"box\" 1 1\nPixelSamples 1 1\nHider \"hidden\" \"jitter\" [0]\nScreenWindow -1 1 -1 1\n\
         Display \"$DIR/paint.exr\" \"exr\" \"rgb\" \"string exrpixeltype\" \"float\"\nWorldBegin\nSurface \"paint\"\n\
         Polygon \"P\" [-2 2 1 2 2 1 2 -2 1 -2 -2 1]\nWorldEnd\n\
         MakeTexture \"$DIR/paint.exr\" \"$DIR/paint.tex\" \"{wrap}\" \"{wrap}\" \"box\" 1 1\n"
    )
}

/// A square of `$DIR/a.exr`'s size with s and t from 0 to 1, t downwards.
fn square(size: u32, surface: &str) -> String {
    format!(
        "Format {size} {size} 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgb\" \"string exrpixeltype\" \"float\"\nWorldBegin\nSurface \"{surface}\"\n\
         Patch \"bilinear\" \"P\" [-1 1 1 1 1 1 -1 -1 1 1 -1 1]\nWorldEnd\n"
    )
}

/// The place of a pixel in the picture, from 0 to 1.
const RAMP: &str = "surface paint() { point p = transform(\"NDC\", P); Ci = color(xcomp(p), ycomp(p), 0.25); Oi = 1; }";

#[test]
fn a_ramp_is_seen_where_it_was_painted() {
    let show = "surface show(uniform string name = \"\";) { Ci = color texture(name, s, t); Oi = 1; }";
    let rib = [painted([64, 64], "clamp"), square(32, "show\" \"string name\" \"$DIR/paint.tex")].concat();
    let scene = draw_with(&[("paint.sl", RAMP), ("show.sl", show)], &rib);
    let picture = scene.clean("a.exr");
    for (x, y) in [(4, 4), (10, 25), (27, 16)] {
        let at = |pixel: usize| (pixel as f32 + 0.5) / 32.0;
        let [r, g, b] = picture.rgb(x, y);
        // A micropolygon shows the colour of its corner.
        assert!((r - at(x)).abs() < 0.04 && (g - at(y)).abs() < 0.04 && (b - 0.25).abs() < 1e-5, "{r} {g} {b}");
    }
}

/// Gratings of so many waves are painted in a texture, which is shown 64 pixels wide. Returns how much of their
/// contrast is left. The pixel filter, a box of one pixel, does not count.
fn contrast_left(waves: u32, shaders: &[(&str, &str)], surface: &str) -> f32 {
    let paint = "surface paint(float waves = 0;) { float x = xcomp(transform(\"NDC\", P));
        Ci = 0.5 + 0.3 * sin(2 * PI * (waves * x + 0.1)); Oi = 1; }";
    let plain = "Surface \"paint\"\n";
    let painted = painted([512, 512], "periodic");
    let painted = painted.replace(plain, &format!("Surface \"paint\" \"float waves\" {waves}\n"));
    let shown = square(64, "constant").replace("Surface \"constant\"\n", surface);
    let rib = [painted, shown].concat().replace("Format 64 64 1", "PixelSamples 4 4\nFormat 64 64 1");
    let scene = draw_with(&[&[("paint.sl", paint)], shaders].concat(), &rib);
    let picture = scene.clean("a.exr");
    let part = |shift: f32| {
        let wave = |x: usize| (std::f32::consts::TAU * (waves as f32 * (x as f32 + 0.5) / 64.0 + shift)).sin();
        (0..64 * 32).map(|i| wave(i % 64) * picture.at("R", i % 64, 16 + i / 64)).sum::<f32>() / (32.0 * 32.0)
    };
    let turns = std::f32::consts::PI * waves as f32 / 64.0;
    part(0.0).hypot(part(0.25)) / 0.3 / if waves < 64 { turns.sin() / turns } else { 1.0 }
}

/// Of 16, 8 and 5.3 pixels; of almost 3 waves a pixel, none is to be seen instead of them.
#[test]
fn gratings_keep_their_contrast() {
    let show = "surface show(uniform string name = \"\";) { Ci = float texture(name, s, t); Oi = 1; }";
    let surface = "Surface \"show\" \"string name\" \"$DIR/paint.tex\"\n";
    for (waves, least, most) in [(4, 0.97, 1.03), (8, 0.94, 1.06), (12, 0.84, 1.06), (190, 0.0, 0.05)] {
        let contrast = contrast_left(waves, &[("show.sl", show)], surface);
        assert!((least..most).contains(&contrast), "{waves} waves: {contrast}");
    }
}

/// They are not averaged as colours are, and would get ridges where textures have edges.
#[test]
fn displacements_are_not_made_sharper() {
    let raise = "displacement raise(uniform string name = \"\"; output varying float found = 0;) {
        found = float texture(name, s, t); }";
    let show = "surface show() { float found = 0; displacement(\"found\", found); Ci = found; Oi = 1; }";
    let surface = "Attribute \"displacementbound\" \"sphere\" [0] \"coordinatesystem\" [\"camera\"]
        Displacement \"raise\" \"string name\" \"$DIR/paint.tex\"\nSurface \"show\"\n";
    let contrast = contrast_left(12, &[("raise.sl", raise), ("show.sl", show)], surface);
    assert!((0.6..0.75).contains(&contrast), "{contrast}");
}

#[test]
fn names_may_be_computed_while_shaders_run() {
    let show = "surface show(uniform string names[2] = {\"\", \"\"};) {\n\
        uniform float i; Ci = 0; for (i = 0; i < 2; i += 1) Ci += (i + 1) * color texture(names[i], 0.5, 0.5); Oi = 1; }";
    let surface = "show\" \"string names[2]\" [\"$DIR/paint.tex\" \"$DIR/gone.tex\"] \"__spare";
    let rib = [painted([16, 16], "clamp"), square(8, &surface.replace(" \"__spare", ""))].concat();
    let rib = rib.replace("gone.tex\"]\"", "gone.tex\"]");
    let scene = draw_with(&[("paint.sl", RAMP), ("show.sl", show)], &rib);
    assert_eq!(scene.message_count("there is no texture"), 1, "{:?}", scene.messages);
    assert_eq!(scene.messages.len(), 1, "{:?}", scene.messages);
    // What is missing is white, twice.
    assert_near(scene.picture("a.exr").rgb(4, 4), [2.5, 2.5, 2.25]);
}

/// Also beyond the poles, where the other side of a sphere lies, and of names that shaders compute.
#[test]
fn textures_are_environments_on_all_sides() {
    let look = "surface look(string maps[2] = {\"\", \"\"}; uniform float which = 0;) {
        vector d = vector (s - 0.5, t - 0.5, 0.01);
        vector e = vector (s - 0.5, 0.01, t - 0.5);
        Ci = (color environment(maps[which], d, \"blur\", 0.3) + color environment(maps[which], e, \"blur\", 0.3)
            + color environment(maps[which], -d, \"blur\", 0.3) + color environment(maps[which], -e, \"blur\", 0.3)) / 4;
        Oi = 1; }";
    let surface = "look\" \"string maps[2]\" [\"$DIR/paint.tex\" \"\"] \"float which\" 0 \"__spare";
    let rib = [painted([16, 16], "clamp"), square(8, surface)].concat().replace(" \"__spare\"", "");
    let white = "surface paint() { Ci = 1; Oi = 1; }";
    let scene = draw_with(&[("paint.sl", white), ("look.sl", look)], &rib);
    assert!(scene.messages.is_empty(), "{:?}", scene.messages);
    for at in 0..64 {
        assert_near(scene.picture("a.exr").rgb(at % 8, at / 8), [1.0; 3]);
    }
}

/// Of every kind of texture, and of points, of which only that they are there is known.
#[test]
fn shaders_are_told_what_a_texture_is_and_how_it_is_stored() {
    let tell = "surface tell(uniform string names[8] = {\"\", \"\", \"\", \"\", \"\", \"\", \"\", \"\"};) {
        uniform float i;
        for (i = 0; i < 8; i += 1) {
            uniform string type = \"-\"; uniform float size[2] = {0, 0}, exists = 0, channels = 0, bits = 0;
            uniform float found = textureinfo(names[i], \"exists\", exists) + textureinfo(names[i], \"type\", type)
                + textureinfo(names[i], \"resolution\", size) + textureinfo(names[i], \"channels\", channels)
                + textureinfo(names[i], \"bitsperchannel\", bits);
            if (u == 0 && v == 0)
                printf(\"%g %g: %s %gx%g %g %g %g\\n\", i, found, type, size[0], size[1], channels, bits, exists);
        }
        Ci = 1;
    }";
    let world = "WorldBegin\nSurface \"put\" \"string file\" \"$DIR/put.ply\"\nSphere 1 -1 1 360\nWorldEnd\n";
    let rib = format!(
        "Format 24 16 1\nDisplay \"$DIR/8.tif\" \"tiff\" \"rgba\"\nDisplay \"+$DIR/h.exr\" \"exr\" \"rgb\"\n\
         Display \"+$DIR/s.z\" \"zfile\" \"z\"\nDisplay \"+$DIR/d.dshad\" \"deepshad\" \"deepopacity\"\n\
         Translate 0 0 5\n{world}Quantize \"rgba\" 65535 0 65535 0\nDisplay \"$DIR/16.tif\" \"tiff\" \"rgba\"\n{world}\
         MakeTexture \"$DIR/8.tif\" \"$DIR/8.tex\" \"black\" \"black\" \"box\" 1 1\n\
         MakeTexture \"$DIR/16.tif\" \"$DIR/16.tex\" \"black\" \"black\" \"box\" 1 1\n\
         MakeLatLongEnvironment \"$DIR/h.exr\" \"$DIR/h.env\" \"box\" 1 1\nMakeShadow \"$DIR/s.z\" \"$DIR/s.shad\"\n\
         Display \"$DIR/a.exr\" \"exr\" \"rgb\"\nWorldBegin\nSurface \"tell\" \"string names[8]\" \
         [\"$DIR/8.tex\" \"$DIR/16.tex\" \"$DIR/h.env\" \"$DIR/s.shad\" \"$DIR/d.dshad\" \"$DIR/put.ply\" \"$DIR/h.exr\" \
         \"$DIR/gone\"]\nPatch \"bilinear\" \"P\" [-1 1 1 1 1 1 -1 -1 1 1 -1 1]\nWorldEnd\n"
    );
    let put = "surface put(string file = \"\";) { bake3d(file, \"\", P, N, \"one\", 1); Ci = 1; Oi = Os; }";
    let scene = draw_with(&[("put.sl", put), ("tell.sl", tell)], &rib);
    for (i, line) in [
        "5: texture 24x16 4 8 1",
        "5: texture 24x16 4 16 1",
        "5: environment 24x16 3 16 1",
        "5: shadow 24x16 1 32 1",
        "5: shadow 24x16 1 32 1",
        "1: - 0x0 0 0 1",
        "5: texture 24x16 3 16 1",
        "0: - 0x0 0 0 0",
    ]
    .iter()
    .enumerate()
    {
        assert_eq!(scene.message_count(&format!("note: {i} {line} [printf]")), 1, "{line}: {:?}", scene.messages);
    }
}

/// A disk at z = 1 throws its shadow on a wall at z = 2, seen from the light and from the camera alike.
#[test]
fn a_disk_throws_a_shadow_where_its_map_says() {
    let lit =
        "surface lit(uniform string map = \"\";) { Ci = 1 - shadow(map, P, \"samples\", 16, \"bias\", 0.05); Oi = 1; }";
    let scene = draw_with(
        &[("lit.sl", lit)],
        "FrameBegin 1\nFormat 64 64 1\nProjection \"perspective\" \"fov\" [90]\nTranslate 0 0 1\nPixelSamples 1 1\n\
         Display \"$DIR/s.z\" \"zfile\" \"z\"\nWorldBegin\nDisk 1 0.5 360\nWorldEnd\nMakeShadow \"$DIR/s.z\" \"$DIR/s.shad\"\nFrameEnd\n\
         FrameBegin 2\nFormat 32 32 1\nScreenWindow -2 2 -2 2\nDisplay \"$DIR/a.exr\" \"exr\" \"rgb\"\nWorldBegin\n\
         Surface \"lit\" \"string map\" \"$DIR/s.shad\"\nPolygon \"P\" [-2 2 2 2 2 2 2 -2 2 -2 -2 2]\nWorldEnd\nFrameEnd\n",
    );
    let picture = scene.clean("a.exr");
    // The disk's radius is 0.75 on the wall: 6 pixels.
    let red = |x: usize| picture.at("R", x, 16);
    assert_eq!([3, 16, 28].map(red), [1.0, 0.0, 1.0]);
    assert!((7..13).map(red).sum::<f32>() - 3.0 < 0.5, "{:?}", [7, 8, 9, 10].map(red));
}

/// Two disks in maps of their own throw shadows that overlap on a wall: the light is the product of what both maps let
/// through, whether a shader or a light names them.
#[test]
fn shadows_of_several_maps_are_combined() {
    let lit = "surface lit(string map = \"\", other = \"\";) {
        float a = shadow(map, P, \"bias\", 0.05, \"blur\", 0.1), b = shadow(other, P, \"bias\", 0.05, \"blur\", 0.1);
        Ci = a + b - a * b; Oi = 1; }";
    let glow = "surface glow() { Ci = 0; illuminance (P) { Ci += Cl; } }";
    let pick = "surface pick(string maps[3] = {\"\", \"\", \"\"}; float which = 0;) {
        uniform string map = maps[0];
        if (which > 0) { map = maps[which]; }
        Ci = shadow(map, P, \"bias\", 0.05, \"blur\", 0.1); Oi = 1; }";
    let map = |name: &str, x: f32| {
        format!(
            "Display \"$DIR/{name}.z\" \"zfile\" \"z\"\nWorldBegin\nTranslate {x} 0 0\nDisk 1 0.5 360\nWorldEnd\n\
             MakeShadow \"$DIR/{name}.z\" \"$DIR/{name}.shad\"\n"
        )
    };
    let picture = |name: &str, look: &str| {
        format!(
            "Display \"$DIR/{name}.exr\" \"exr\" \"rgb\" \"string exrpixeltype\" \"float\"\nWorldBegin\n{look}\n\
             Polygon \"P\" [-2 2 2 2 2 2 2 -2 2 -2 -2 2]\nWorldEnd\n"
        )
    };
    let picked = |which: u32| {
        format!("Surface \"pick\" \"maps\" [\"\" \"$DIR/a.shad\" \"$DIR/a.shad , $DIR/b.shad,\"] \"which\" {which}")
    };
    let rib = [
        "FrameBegin 1\nFormat 64 64 1\nProjection \"perspective\" \"fov\" [90]\nTranslate 0 0 1\nPixelSamples 1 1\n",
        &map("a", -0.3),
        &map("b", 0.3),
        "FrameEnd\nFrameBegin 2\nFormat 32 32 1\nScreenWindow -2 2 -2 2\n",
        &picture("both", "Surface \"lit\" \"map\" \"$DIR/a.shad\" \"other\" \"$DIR/b.shad\""),
        &picture("list", "Surface \"lit\" \"map\" \"$DIR/a.shad , $DIR/b.shad,\""),
        &picture("one", "Surface \"lit\" \"map\" \"$DIR/a.shad\""),
        &picture("picked list", &picked(2)),
        &picture("picked one", &picked(1)),
        &picture("picked none", &picked(0)),
        &picture("gone", "Surface \"lit\" \"map\" \",$DIR/a.shad,$DIR/gone.shad\""),
        &picture(
            "light",
            "LightSource \"shadowdistant\" 1 \"shadowname\" \"$DIR/a.shad,$DIR/b.shad\" \"blur\" 0.1 \"bias\" 0.05\n\
             Surface \"glow\"",
        ),
        "FrameEnd\n",
    ];
    let scene = draw_with(&[("lit.sl", lit), ("glow.sl", glow), ("pick.sl", pick)], &rib.concat());
    let red = |name: &str| scene.picture(&format!("{name}.exr")).channel("R").to_vec();
    let both = red("both");
    let has_edge = both.iter().any(|dark| *dark > 0.3 && *dark < 0.7);
    assert!(has_edge && both[16 * 32 + 16] > 0.9 && both[0] == 0.0, "{:?}", &both[16 * 32..17 * 32]);
    assert!(red("list") == both && red("one") == red("gone") && red("one") != both);
    assert!(red("picked list") == both && red("picked one") == red("one"));
    assert!(red("picked none").iter().all(|dark| *dark == 0.0));
    // The light's samples are other ones.
    let far = red("light").iter().zip(&both).map(|(light, dark)| (1.0 - light - dark).abs()).fold(0.0, f32::max);
    assert!(far < 0.3, "{far}");
    let missing = format!("there is no texture \"{}/gone.shad\"", scene.folder().display());
    assert_eq!((scene.message_count(&missing), scene.messages.len()), (1, 1), "{:?}", scene.messages);
}

/// A list that an attribute holds is looked for as one file, and the message says why.
#[test]
fn lists_of_shadow_maps_in_attributes_are_reported() {
    let lit = "surface lit(string map = \"c.shad\";) {
        uniform string maps = \"\"; attribute(\"user:maps\", maps); Ci = shadow(maps, P) + shadow(map, P); Oi = 1; }";
    let scene = draw_with(
        &[("lit.sl", lit)],
        "Format 8 8 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgb\"\nWorldBegin\n\
         Attribute \"user\" \"string maps\" \"a.shad,b.shad\"\nSurface \"lit\"\nTranslate 0 0 2\nDisk 0 1 360\nWorldEnd\n",
    );
    for (name, hinted) in [("a.shad,b.shad", 1), ("c.shad", 0)] {
        assert_eq!(scene.message_count(&format!("there is no texture \"{name}\"")), 1, "{:?}", scene.messages);
        let found = scene.messages.iter().filter(|message| message.contains(name) && message.contains("takes a list"));
        assert_eq!(found.count(), hinted, "{name}: {:?}", scene.messages);
    }
}

/// Six channels of noise by texel: 640 x 512 floats are 327 tiles.
const NOISE: &str =
    "surface paint() { point p = transform(\"raster\", P); Ci = color cellnoise(xcomp(p), ycomp(p)); Oi = 1; }";

fn with_texture_memory(mib: u64, devices: &'static str) -> impl Fn(&mut RenderOptions) {
    move |options| {
        options.texture_memory_bytes = Some(mib << 20);
        options.devices = devices.into();
    }
}

fn pixels(scene: &RenderedScene) -> Vec<Vec<f32>> {
    ["R", "G", "B"].map(|name| scene.clean("a.exr").channel(name).to_vec()).to_vec()
}

/// Every vertex looks up anywhere, so that grids need most of 327 tiles, of which 256 fit at 4 MiB.
#[test]
fn a_picture_of_a_texture_is_the_same_with_any_memory_for_tiles() {
    let show = "surface show(uniform string name = \"\";) {\n\
        Ci = color texture(name, float cellnoise(s * 100), float cellnoise(t * 100), \"width\", 0); Oi = 1; }";
    let rib = [painted([640, 512], "periodic"), square(48, "show\" \"string name\" \"$DIR/paint.tex")].concat();
    let shaders = [("paint.sl", NOISE), ("show.sl", show)];
    let [small, large] = [(4, "0,0"), (64, "0")]
        .map(|(mib, devices)| pixels(&draw_as(&shaders, &rib, &with_texture_memory(mib, devices))));
    assert!(small == large);
    // Each vertex has its own texel.
    let mut distinct = large[0].clone();
    distinct.sort_by(f32::total_cmp);
    distinct.dedup();
    assert!(distinct.len() > 500, "{}", distinct.len());
}

/// Each lookup of a chain is where the one before says, so each is missed by itself, unless what is around the first
/// came with it: each of three planes has 347 tiles.
#[test]
fn lookups_near_others_miss_nothing_where_there_is_room() {
    let show = "surface show(uniform string name = \"\";) {\n\
        float i, x = s, y = t; for (i = 0; i < 9; i += 1) {\n\
        color next = texture(name, x, y, \"width\", 0); x = comp(next, 0); y = comp(next, 1); }\n\
        Ci = color(x, y, 0); Oi = 1; }";
    let rib = [painted([1024, 1024], "periodic"), square(3, "show\" \"string name\" \"$DIR/paint.tex")].concat();
    let shaders = [("paint.sl", NOISE), ("show.sl", show)];
    let [tight, roomy] = [4, 64].map(|mib| draw_as(&shaders, &rib, &with_texture_memory(mib, "0")));
    assert!(pixels(&tight) == pixels(&roomy));
    assert!(roomy.reruns <= 5 && roomy.reruns < tight.reruns, "{} {}", roomy.reruns, tight.reruns);
}

/// A grid looks up three planes of some 160 tiles each, twice, of which 256 fit at 4 MiB: it gets more memory.
#[test]
fn a_grid_of_more_tiles_than_fit_is_the_same_with_a_warning() {
    let show = "surface show(uniform string name = \"\";) { float i; Ci = 1; for (i = 0; i < 2; i += 1)\n\
        Ci += 0.5 * color texture(name, float cellnoise(s * 100, t * 100 + 200 * i), float cellnoise(s * 100, t * 100 + 200 * i + 100), \"width\", 0); Oi = 1; }";
    let rib = [painted([1024, 1024], "periodic"), square(15, "show\" \"string name\" \"$DIR/paint.tex")].concat();
    let shaders = [("paint.sl", NOISE), ("show.sl", show)];
    let scene = draw_as(&shaders, &rib, &with_texture_memory(4, "0"));
    assert_eq!(
        scene.message_count("more memory is used for them than --texture-memory allows"),
        1,
        "{:?}",
        scene.messages
    );
    assert_eq!(scene.messages.len(), 1, "{:?}", scene.messages);
    let red = |scene: &RenderedScene| scene.picture("a.exr").channel("R").to_vec();
    let large = red(&draw_as(&shaders, &rib, &with_texture_memory(64, "0")));
    assert!(red(&scene) == large);
    assert!(large.iter().all(|value| (1.0..=2.0).contains(value)) && large[0] != large[1], "{large:?}");
}

/// A displacement that reads a texture moves the surface by the same in the passes that measure, hide and shade it.
#[test]
fn displacement_reads_textures_in_every_pass() {
    let step = "surface paint() { point p = transform(\"NDC\", P); Ci = step(0.5, xcomp(p)); Oi = 1; }";
    let lift = "displacement lift(uniform string name = \"\";) { P -= float texture(name, s, t) * vector \"camera\" (0, 0, 0.5); }";
    let rib = [
        painted([64, 64], "clamp"),
        "Hider \"hidden\"\nFormat 32 32 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgb\"\nDisplay \"+$DIR/z.z\" \"zfile\" \"z\"\nWorldBegin\n"
            .to_owned(),
        "Surface \"constant\"\nDisplacement \"lift\" \"string name\" \"$DIR/paint.tex\"\n\
         Patch \"bilinear\" \"P\" [-1 1 2 1 1 2 -1 -1 2 1 -1 2]\nColor 1 0 0\nDisplacement \"null\"\n\
         Patch \"bilinear\" \"P\" [-1 1 1.75 1 1 1.75 -1 -1 1.75 1 -1 1.75]\nWorldEnd\n"
            .to_owned(),
    ]
    .concat();
    let scene = draw_with(&[("paint.sl", step), ("lift.sl", lift)], &rib);
    let picture = scene.picture("a.exr");
    // The right half is in front of the red patch.
    assert_near(picture.rgb(8, 16), [1.0, 0.0, 0.0]);
    assert_near(picture.rgb(24, 16), [1.0, 1.0, 1.0]);
    let z = scene.picture("z.z");
    assert!((z.at("Z", 8, 16) - 1.75).abs() < 1e-4 && (z.at("Z", 24, 16) - 1.5).abs() < 1e-4);
    assert_eq!(scene.message_count("error"), 0, "{:?}", scene.messages);
}

/// A loop that is stopped and goes on in later submissions looks tiles up that are not there yet.
#[test]
fn loops_that_are_stopped_may_miss_tiles() {
    let show = "surface show(uniform string name = \"\";) {\n\
        float i, sum = 0; float end = 9000 + 1000 * s;\n\
        for (i = 0; i < end; i += 1) { if (mod(i, 1000) == 500) sum += float texture(name, i / 16000, t, \"width\", 0); }\n\
        Ci = sum; Oi = 1; }";
    let rib = [painted([640, 512], "periodic"), square(6, "show\" \"string name\" \"$DIR/paint.tex")].concat();
    let shaders = [("paint.sl", RAMP), ("show.sl", show)];
    let [small, large] = [4, 64].map(|mib| pixels(&draw_as(&shaders, &rib, &with_texture_memory(mib, "0"))));
    assert!(small == large);
    // 500, 1500, ... 8500 or 9500 sixteen-thousandths.
    for (pixel, count) in [(0, 9), (5, 10)] {
        let wanted: f32 = (0..count).map(|i| (500.0 + 1000.0 * i as f32) / 16000.0).sum();
        assert!((large[0][pixel] - wanted).abs() < 0.02, "{} is not {wanted}", large[0][pixel]);
    }
}

/// An imager looks a texture up by the pixel's place.
#[test]
fn imagers_look_textures_up() {
    let over = "imager over(uniform string name = \"\";) { Ci = color texture(name, xcomp(P) / 16, ycomp(P) / 16); Oi = 1; alpha = 1; }";
    let rib = [
        painted([64, 64], "clamp"),
        "Format 16 16 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\nImager \"over\" \"string name\" \"$DIR/paint.tex\"\n\
         WorldBegin\nSphere 0.1 -0.1 0.1 360\nWorldEnd\n"
            .to_owned(),
    ]
    .concat();
    let scene = draw_with(&[("paint.sl", RAMP), ("over.sl", over)], &rib);
    assert_near(scene.clean("a.exr").rgb(3, 12), [3.5 / 16.0, 12.5 / 16.0, 0.25]);
}

#[test]
fn what_is_missing_is_white_and_reported_once() {
    let scene = draw(
        "Format 16 16 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgb\"\nWorldBegin\nLightSource \"ambientlight\" 1\n\
         Surface \"paintedplastic\" \"string texturename\" \"$DIR/none.tex\"\nPolygon \"P\" [-2 2 1 2 2 1 2 -2 1 -2 -2 1]\nWorldEnd\n",
    );
    assert_eq!(scene.message_count("there is no texture"), 1, "{:?}", scene.messages);
    assert_near(scene.picture("a.exr").rgb(8, 8), [1.0; 3]);
}

/// The samples of all lookups of a point are some 150,000 loop trips: more than CPU drivers make in a dispatch.
#[test]
fn loops_of_lookups_with_many_samples_come_to_their_end() {
    let dark = "surface dark(string map = \"\";) { float i, sum = 0;\n\
        for (i = 0; i < 600; i += 1) sum += shadow(map, P + i * 1e-5, \"samples\", 256, \"width\", 0); Oi = 1; Ci = sum / 600; }";
    let scene = draw_with(
        &[("dark.sl", dark)],
        "FrameBegin 1\nFormat 64 64 1\nProjection \"perspective\" \"fov\" [90]\nTranslate 0 0 1\nPixelSamples 1 1\n\
         Display \"$DIR/s.z\" \"zfile\" \"z\"\nWorldBegin\nDisk 1 0.5 360\nWorldEnd\nMakeShadow \"$DIR/s.z\" \"$DIR/s.shad\"\nFrameEnd\n\
         FrameBegin 2\nFormat 8 8 1\nScreenWindow -1 1 -1 1\nPixelFilter \"box\" 1 1\n\
         Display \"$DIR/a.exr\" \"exr\" \"rgb\" \"string exrpixeltype\" \"float\"\nWorldBegin\n\
         Surface \"dark\" \"string map\" \"$DIR/s.shad\"\nPolygon \"P\" [-2 2 2 2 2 2 2 -2 2 -2 -2 2]\nWorldEnd\nFrameEnd\n",
    );
    let picture = scene.clean("a.exr");
    assert_near(picture.rgb(4, 4), [1.0; 3]);
    assert_near(picture.rgb(0, 0), [0.0; 3]);
}
