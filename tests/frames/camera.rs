//! Projections and transformations: where a square in space falls on the pixels.

use super::{TestScene, check};

/// What is drawn: a square around a point, in world space.
fn square(x: f64, y: f64, z: f64, half: f64) -> String {
    let [l, r, b, t] = [x - half, x + half, y - half, y + half];
    format!("Patch \"bilinear\" \"P\" [{l} {b} {z}  {r} {b} {z}  {l} {t} {z}  {r} {t} {z}]")
}

/// Fails unless exactly the half-open rectangle of pixels x0, y0, x1, y1 is covered.
fn covers(options: &str, world: &str, rect: [usize; 4]) {
    let options = format!("PixelFilter \"box\" 1 1\n{options}");
    let picture = TestScene::new(&options, &format!("Surface \"constant\"\n{world}")).picture("rgba");
    let [x0, y0, x1, y1] = rect;
    let wanted = |x: usize, y: usize| if (x0..x1).contains(&x) && (y0..y1).contains(&y) { 1.0 } else { 0.0 };
    let covered: Vec<_> = picture.coordinates().filter(|&(x, y)| picture.at("A", x, y) > 0.5).collect();
    let count = picture.coordinates().filter(|&(x, y)| picture.at("A", x, y) != wanted(x, y)).count();
    assert_eq!(count, 0, "{options}: {} pixels are covered, from {:?} on", covered.len(), covered.first());
}

#[test]
fn orthographic_and_its_screen_window() {
    covers("", &square(0.25, 0.5, 3.0, 0.25), [32, 8, 48, 24]);
    covers("ScreenWindow -2 2 -2 2\n", &square(0.5, -1.0, 3.0, 0.5), [32, 40, 48, 56]);
    // An oblong picture: the screen window follows its aspect.
    covers("Format 64 32 1\n", &square(-1.0, 0.0, 3.0, 0.5), [8, 8, 24, 24]);
    covers("Format 32 64 1\n", &square(0.0, -1.0, 3.0, 0.5), [8, 40, 24, 56]);
    // Pixels twice as wide as high.
    covers("Format 32 64 2\n", &square(0.5, 0.5, 3.0, 0.25), [20, 8, 28, 24]);
}

#[test]
fn perspective_divides_by_depth() {
    let field = "Projection \"perspective\" \"fov\" [90]\n";
    covers(field, &square(1.0, 1.0, 4.0, 0.5), [36, 20, 44, 28]);
    covers(field, &square(1.0, 1.0, 8.0, 1.0), [32, 24, 40, 32]);
    // The field of view spans the shorter side.
    covers(&format!("Format 64 32 1\n{field}"), &square(4.0, 0.0, 4.0, 2.0), [40, 8, 56, 24]);
    covers(&format!("Format 32 64 1\n{field}"), &square(0.0, 4.0, 4.0, 2.0), [8, 8, 24, 24]);
    covers(&format!("ScreenWindow 0 1 0 1\n{field}"), &square(2.0, 2.0, 4.0, 1.0), [16, 16, 48, 48]);
}

#[test]
fn transformations_apply_to_what_comes_behind_them() {
    let unit = square(0.0, 0.0, 0.0, 0.25);
    for (transformations, rect) in [
        ("Translate 0.5 0.25 3", [40, 16, 56, 32]),
        ("Translate 0 0 3\nScale 2 1 1\nTranslate 0.25 0 0", [32, 24, 64, 40]),
        // Left-handed: a turn about z takes x towards y.
        ("Translate 0 0 3\nRotate 90 0 0 1\nTranslate 0.5 0 0", [24, 8, 40, 24]),
        // About y it takes z towards x.
        ("Translate 0 0 3\nRotate 90 0 1 0\nTranslate 0 0 0.5\nRotate -90 0 1 0", [40, 24, 56, 40]),
        // About x it takes y towards z.
        ("Translate 0 0 3\nRotate 90 1 0 0\nTranslate 0 0 0.5\nRotate -90 1 0 0", [24, 40, 40, 56]),
        ("ConcatTransform [1 0 0 0  0 1 0 0  0 0 1 0  0.25 -0.5 3 1]", [32, 40, 48, 56]),
        ("Translate 9 9 9\nIdentity\nTranslate 0 0 3", [24, 24, 40, 40]),
        ("Translate 9 9 9\nTransform [1 0 0 0  0 1 0 0  0 0 1 0  0.5 0 3 1]", [40, 24, 56, 40]),
    ] {
        covers("", &format!("{transformations}\n{unit}"), rect);
    }
    // In front of WorldBegin they make the camera.
    covers("Scale 0.5 0.5 1\nTranslate 0 0 3\n", &square(1.0, 1.0, 0.0, 0.5), [40, 8, 56, 24]);
}

#[test]
fn clipping_planes_cut_within_a_primitive() {
    let floor = "Surface \"constant\"\nPatch \"bilinear\" \"P\" [-9 -1 0.5  9 -1 0.5  -9 -1 40  9 -1 40]";
    let options = "PixelFilter \"box\" 1 1\nPixelSamples 4 4\nProjection \"perspective\" \"fov\" [90]\n";
    // The plane y = -1 at depth z falls on the row 32 + 32 / z: between the planes are the rows 36 to 47, without
    // samples on the upper border of row 36, and with those on that of row 48.
    let picture = TestScene::new(&format!("Clipping 2 8\n{options}"), floor).picture("rgba");
    for (x, y) in picture.coordinates() {
        let (found, wanted) = (picture.at("A", x, y), if (36..48).contains(&y) { 1.0 } else { 0.0 });
        let on_border = if [36, 48].contains(&y) { 0.0625 } else { 0.0 };
        assert!((found - wanted).abs() <= on_border, "pixel {x}, {y}: {found}");
    }
}

/// The raster depth of z = 5 between the clipping planes 1 and 8 in perspective: far / (far - near) * (1 - near / z).
const RASTER_DEPTH: f64 = 8.0 / 7.0 * (1.0 - 1.0 / 5.0);

#[test]
fn named_spaces_reach_shaders() {
    let shader = "surface where(string space = \"camera\";) { point p = transform(space, P); Oi = 1; Ci = color (xcomp(p), ycomp(p), zcomp(p)); }";
    let shaders = [("where", shader)];
    let at = |i: usize| (i as f64 + 0.5 - 32.0) / 32.0 * 5.0;
    type ExpectedColour<'a> = &'a dyn Fn(usize, usize) -> [f64; 3];
    let table: [(&str, ExpectedColour<'_>); 7] = [
        ("camera", &|x, y| [at(x), -at(y), 5.0]),
        ("world", &|x, y| [at(x), -at(y), 2.0]),
        ("object", &|x, y| [at(x), -at(y), 0.0]),
        ("mine", &|x, y| [at(x) - 1.0, -at(y), 2.0]),
        ("raster", &|x, y| [x as f64 + 0.5, y as f64 + 0.5, RASTER_DEPTH]),
        ("NDC", &|x, y| [(x as f64 + 0.5) / 64.0, (y as f64 + 0.5) / 64.0, RASTER_DEPTH]),
        ("screen", &|x, y| [at(x) / 5.0, -at(y) / 5.0, RASTER_DEPTH]),
    ];
    for (space, wanted) in table {
        let world = format!(
            "TransformBegin\nTranslate 1 0 0\nCoordinateSystem \"mine\"\nTransformEnd\nSurface \"where\" \"uniform string space\" [\"{space}\"]\n\
             Translate 0 0 2\nPatch \"bilinear\" \"P\" [-9 -9 0  9 -9 0  -9 9 0  9 9 0]"
        );

        let options = "Clipping 1 8\nProjection \"perspective\" \"fov\" [90]\nTranslate 0 0 3\nShadingRate 0.25\nPixelSamples 4 4\n";
        let picture = TestScene { shaders: &shaders, ..TestScene::new(options, &world) }.picture("rgb");
        for (k, channel) in ["R", "G", "B"].into_iter().enumerate() {
            check(&picture, channel, if space == "raster" { 0.3 } else { 0.04 }, |x, y| wanted(x, y)[k]);
        }
    }
}
