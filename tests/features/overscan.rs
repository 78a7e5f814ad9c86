//! Overscan: crop windows that go beyond the picture. What is inside has the bits that it has without them.

use super::{ExrChannels, RenderedScene, assert_near, draw_as, draw_with};
use std::fmt::Write;

const OVERSCAN: &str = "Option \"image\" \"overscan\" 1\n";

/// Numbers that differ from point to point, on surfaces of which the samples see several.
const GRAIN: (&str, &str) =
    ("grain.sl", "surface grain() { Oi = Os; Ci = Oi * (0.5 * Cs + 0.5 * random() + noise(P * 9)); }");
/// The place in raster space.
const PLACE: (&str, &str) =
    ("place.sl", "surface place() { point p = transform(\"raster\", P); Ci = color(xcomp(p), ycomp(p), 1); Oi = 1; }");

const SHOW: (&str, &str) =
    ("show.sl", "surface show(string map = \"\";) { Ci = texture(map, s, t, \"width\", 0); Oi = 1; }");

const WIDTH: i32 = 40;
const HEIGHT: i32 = 24;

/// The pixels of a picture of 40 x 24, from one on.
struct Part {
    picture: ExrChannels,
    corner: [i32; 2],
    size: [i32; 2],
}

impl Part {
    fn of(scene: &RenderedScene, corner: [i32; 2], size: [i32; 2]) -> Self {
        let picture = scene.clean("a.exr");
        assert_eq!(picture.channel("R").len() as i32, size[0] * size[1]);
        Self { picture, corner, size }
    }

    fn at(&self, name: &str, [x, y]: [i32; 2]) -> f32 {
        self.picture.at(name, (x - self.corner[0]) as usize, (y - self.corner[1]) as usize)
    }

    fn pixels(&self) -> impl Iterator<Item = [i32; 2]> {
        let ([x0, y0], [width, height]) = (self.corner, self.size);
        (y0..y0 + height).flat_map(move |y| (x0..x0 + width).map(move |x| [x, y]))
    }

    /// Fails unless this part of the picture is the same in both.
    fn assert_in(&self, whole: &Self, channels: &[&str]) {
        for (name, pixel) in channels.iter().flat_map(|name| self.pixels().map(move |pixel| (name, pixel))) {
            let (part, whole) = (self.at(name, pixel), whole.at(name, pixel));
            assert_eq!(part.to_bits(), whole.to_bits(), "{name} at {pixel:?}: {part} and {whole}");
        }
    }
}

/// A scene with more outside of the picture than in it: points and a procedural that come first, and translucent
/// surfaces that cross its border.
fn crowd(options: &str) -> String {
    let mut points = String::new();
    for i in 0..64 {
        write!(points, "{} {} 4 ", -4.4 - 0.01 * f64::from(i % 8), 0.1 * f64::from(i / 8)).expect("a string takes all");
    }
    format!(
        "Format {WIDTH} {HEIGHT} 1\nPixelSamples 3 3\nPixelFilter \"gaussian\" 3 3\nProjection \"perspective\" \"fov\" 60\n\
         Display \"$DIR/a.exr\" \"exr\" \"rgba,z,varying normal N\" \"string exrpixeltype\" \"float\"\n\
         {options}ArchiveBegin \"far\"\nTranslate 5.2 0 4\nSphere 0.3 -0.3 0.3 360\nArchiveEnd\nWorldBegin\n\
         Surface \"grain\"\nPoints \"P\" [{points}] \"constantwidth\" 0.1\n\
         Procedural \"DelayedReadArchive\" [\"far\"] [4.9 5.5 -0.3 0.3 3.7 4.3]\nOpacity 0.5 0.5 0.5\n\
         Polygon \"P\" [-9 -9 6 9 -9 6 9 9 6 -9 9 6]\nTranslate 0 0 4\nColor 1 0 0\nSphere 2.4 -2.4 2.4 360\n\
         Translate 3.4 0.5 0\nColor 0 1 0\nOpacity 1 1 1\nSphere 0.7 -0.7 0.7 360\nWorldEnd\n"
    )
}

const CROWD_CHANNELS: [&str; 6] = ["R", "G", "B", "A", "Z", "N.x"];

fn drawn(options: &str, corner: [i32; 2], size: [i32; 2]) -> Part {
    Part::of(&draw_with(&[GRAIN], &crowd(options)), corner, size)
}

#[test]
fn the_inside_and_every_crop_have_the_same_bits() {
    let window = format!("{OVERSCAN}CropWindow -0.5 1.5 -0.25 1.25\n");
    for lens in ["DepthOfField 2 0.5 4\n", ""] {
        let plain = drawn(lens, [0, 0], [WIDTH, HEIGHT]);
        plain.assert_in(&drawn(&format!("{lens}{window}"), [-20, -6], [80, 36]), &CROWD_CHANNELS);
    }
    let wide = drawn(&window, [-20, -6], [80, 36]);
    assert!(wide.at("Z", [47, 12]) < 4.5, "what the procedural reads is seen beside the picture");
    assert!((-5..0).any(|x| wide.at("Z", [x, 10]) < 4.5), "and so are the points");
    for (window, corner, size) in [("-0.5 0.3 0.2 1.25", [-20, 5], [32, 25]), ("1.1 1.4 -0.25 0", [44, -6], [12, 6])] {
        let part = drawn(&format!("{OVERSCAN}CropWindow {window}\n"), corner, size);
        part.assert_in(&wide, &CROWD_CHANNELS);
    }
}

#[test]
fn the_screen_goes_on_outside_of_the_picture() {
    let options = format!("{OVERSCAN}CropWindow -0.25 1.5 -0.5 1\nPixelSamples 1 1\nPixelFilter \"box\" 1 1\n");
    let rib = |head: &str, surface: &str| {
        format!(
            "Format {WIDTH} {HEIGHT} 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\" \"string exrpixeltype\" \"float\"\n{options}{head}\
             ScreenWindow 0 40 0 24\nShadingRate 0.25\nWorldBegin\n{surface}\n\
             Polygon \"P\" [-99 -99 1 99 -99 1 99 99 1 -99 99 1]\nWorldEnd\n"
        )
    };
    let part = |scene: &RenderedScene| Part::of(scene, [-10, -12], [70, 36]);
    let places = part(&draw_with(&[PLACE], &rib("Hider \"hidden\" \"jitter\" 0\n", "Surface \"place\"")));
    for [x, y] in places.pixels() {
        let found = ["R", "G"].map(|name| places.at(name, [x, y]));
        assert!(
            (found[0] - x as f32 - 0.5).abs() < 0.51 && (found[1] - y as f32 - 0.5).abs() < 0.51,
            "{x} {y}: {found:?}"
        );
    }
    // An imager has the same places, and the same numbers inside as without overscan.
    let imager = [("where.sl", "imager where() { Ci = color(xcomp(P), ycomp(P), random()); alpha = 1; }")];
    let imaged = part(&draw_with(&imager, &rib("Imager \"where\"\n", "")));
    for [x, y] in [[-10, -12], [-1, 0], [0, -1], [39, 23], [59, 23]] {
        assert_eq!([imaged.at("R", [x, y]), imaged.at("G", [x, y])], [x as f32 + 0.5, y as f32 + 0.5]);
    }
    let plain = draw_with(&imager, &rib("Imager \"where\"\nCropWindow 0 1 0 1\n", ""));
    Part::of(&plain, [0, 0], [WIDTH, HEIGHT]).assert_in(&imaged, &["R", "G", "B"]);
}

/// What moves outside of the picture is as fine there as what moves inside.
#[test]
fn what_moves_outside_is_as_round_as_inside() {
    let covered = |options: &str, x: f64| {
        let rib = format!(
            "Format {WIDTH} {HEIGHT} 1\nPixelSamples 8 8\nPixelFilter \"box\" 1 1\nShutter 0 1\n{options}\
             Display \"$DIR/a.exr\" \"exr\" \"rgba\" \"string exrpixeltype\" \"float\"\nScreenWindow 0 40 0 24\nWorldBegin\n\
             MotionBegin [0 1]\nTranslate {x} 12 20\nTranslate {} 12 20\nMotionEnd\nSphere 5 -5 5 360\nWorldEnd\n",
            x + 1.0
        );
        draw_with(&[], &rib).clean("a.exr").channel("A").iter().sum::<f32>()
    };
    let (inside, outside) = (covered("", 20.0), covered(&format!("{OVERSCAN}CropWindow -2 0 0 1\n"), -60.0));
    assert!((inside - 25.0 * std::f32::consts::PI).abs() < 1.0, "{inside}");
    assert!((inside - outside).abs() < 0.2, "{inside} inside, {outside} outside");
}

/// Steps of pixels name what is far outside of the picture.
#[test]
fn overscan_may_be_larger_than_the_picture() {
    let rib = format!(
        "Format 4 4 1\nPixelSamples 1 1\nPixelFilter \"box\" 1 1\n{OVERSCAN}CropWindow -500 -490 -20 -10\n\
         Display \"$DIR/a.exr\" \"exr\" \"rgb\"\nScreenWindow 0 4 0 4\nWorldBegin\nSurface \"constant\"\n\
         Polygon \"P\" [-1980 50 1 -1970 50 1 -1970 60 1 -1980 60 1]\nWorldEnd\n"
    );
    // Columns from -2000 on, rows from -80 to -40; y goes up from the lower border.
    let picture = draw_with(&[], &rib).clean("a.exr");
    let lit = |x: i32, y: i32| (-1980..-1970).contains(&x) && (-56..-46).contains(&y);
    for (x, y) in (-80..-40).flat_map(|y| (-2000..-1960).map(move |x| (x, y))) {
        let red = picture.at("R", (x + 2000) as usize, (y + 80) as usize);
        assert_eq!(red, f32::from(u8::from(lit(x, y))), "{x} {y}");
    }
}

/// A texture is the display window of a picture.
#[test]
fn textures_are_made_of_the_inside() {
    let shown = |options: &str| {
        let rib = format!(
            "Format 16 16 1\n{options}Display \"$DIR/map.exr\" \"exr\" \"rgb\"\nScreenWindow 0 1 0 1\nFrameBegin 1\nWorldBegin\n\
             Surface \"place\"\nPolygon \"P\" [-9 -9 1 9 -9 1 9 9 1 -9 9 1]\nWorldEnd\nFrameEnd\n\
             MakeTexture \"$DIR/map.exr\" \"$DIR/map.tex\" \"black\" \"black\" \"box\" 1 1\nCropWindow 0 1 0 1\n\
             Display \"$DIR/a.exr\" \"exr\" \"rgb\"\nWorldBegin\nSurface \"show\" \"string map\" [\"$DIR/map.tex\"]\n\
             Patch \"bilinear\" \"P\" [0 1 1 1 1 1 0 0 1 1 0 1]\nWorldEnd\n"
        );
        draw_with(&[PLACE, SHOW], &rib).clean("a.exr")
    };
    let (plain, wide) = (shown(""), shown(&format!("{OVERSCAN}CropWindow -0.5 1.25 -0.25 2\n")));
    assert!(plain.at("R", 8, 8) > 1.0, "the texture is seen");
    for name in ["R", "G", "B"] {
        assert_eq!(plain.channel(name), wide.channel(name), "{name}");
    }
}

/// The flags do what the scene may do; depth passes have their own windows.
#[test]
fn flags_of_overscan_are_for_what_is_looked_at() {
    let rib = "FrameBegin 1\nDisplay \"$DIR/s.exr\" \"zfile\" \"z\"\nFormat 8 8 1\nWorldBegin\nSphere 1 -1 1 360\nWorldEnd\nFrameEnd\n\
               FrameBegin 2\nDisplay \"$DIR/a.exr\" \"exr\" \"rgb\"\nFormat 8 8 1\nScreenWindow 0 8 0 8\nWorldBegin\n\
               Surface \"constant\"\nColor 0.5 0.25 1\nPolygon \"P\" [-9 -9 1 20 -9 1 20 20 1 -9 20 1]\nWorldEnd\nFrameEnd\n";
    let scene = draw_as(&[], rib, &|options| {
        options.overrides.overscan = true;
        options.overrides.crop = Some([-0.25, 1.0, 0.0, 1.5]);
    });
    let (depth, picture) = (scene.picture("s.exr"), scene.clean("a.exr"));
    assert_eq!([depth.channel("Z").len(), picture.channel("R").len()], [8 * 8, 10 * 12]);
    assert_near(picture.rgb(0, 11), [0.5, 0.25, 1.0]);
}
