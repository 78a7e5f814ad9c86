//! Solids: what is left of primitives after union, intersection and difference, known from the areas of silhouettes.

use super::{RenderedScene, assert_near, draw};
use std::f64::consts::PI;

/// A view along z of a square from -1 to 1, without light: 64 x 64 pixels of 16 samples, unfiltered.
const OPTIONS: &str = "Format 64 64 1\nPixelSamples 4 4\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"file\" \"rgba\"\n\
    Display \"+$DIR/z.exr\" \"file\" \"z\"\nQuantize \"rgba\" 0 0 0 0\nHider \"hidden\" \"depthfilter\" \"min\"\n\
    Projection \"orthographic\"\nScreenWindow -1 1 -1 1\nWorldBegin\nSurface \"constant\"\nShadingRate 0.5\nTranslate 0 0 5\n";

/// A box as one primitive solid.
fn cuboid([x0, x1, y0, y1, z0, z1]: [f64; 6]) -> String {
    format!(
        "SolidBegin \"primitive\"\nPointsPolygons [4 4 4 4 4 4] [0 1 3 2 4 6 7 5 0 4 5 1 2 3 7 6 0 2 6 4 1 5 7 3] \
         \"P\" [{x0} {y0} {z0} {x1} {y0} {z0} {x0} {y1} {z0} {x1} {y1} {z0} {x0} {y0} {z1} {x1} {y0} {z1} {x0} {y1} {z1} {x1} {y1} {z1}]\n\
         SolidEnd\n"
    )
}

fn ball(x: f64, y: f64, z: f64, radius: f64) -> String {
    format!(
        "SolidBegin \"primitive\"\nTransformBegin\nTranslate {x} {y} {z}\nSphere {radius} -{radius} {radius} 360\n\
         TransformEnd\nSolidEnd\n"
    )
}

fn solid(operation: &str, parts: &[&str]) -> String {
    format!("SolidBegin \"{operation}\"\n{}SolidEnd\n", parts.concat())
}

fn scene(body: &str) -> RenderedScene {
    draw(&format!("{OPTIONS}{body}WorldEnd\n"))
}

/// The part of the square that a scene without messages covers, times its area.
fn area(body: &str) -> f64 {
    let drawn = scene(body);
    let picture = drawn.clean("a.exr");
    picture.channel("A").iter().map(|a| f64::from(*a)).sum::<f64>() * 4.0 / f64::from(64 * 64)
}

/// More surfaces in a pixel than one list of entries holds, in front and behind: of each of 70 spheres a sphere is
/// taken that lies a little to its right.
#[test]
fn many_solids_may_overlap() {
    let pair = |x: f64| solid("difference", &[&ball(x, 0.0, 0.0, 0.8), &ball(x + 0.03, 0.0, 0.0, 0.8)]);
    let pairs: String = (0..70).map(|place| pair(f64::from(place) * 0.001)).collect();
    let drawn = draw(&format!("{}{pairs}WorldEnd\n", OPTIONS.replace("Format 64 64", "Format 12 12")));
    let area = drawn.clean("a.exr").channel("A").iter().map(|a| f64::from(*a)).sum::<f64>() * 4.0 / 144.0;
    // What is left of a sphere is seen left of the middle between both centres.
    let wanted = PI * 0.64 / 2.0 + 2.0 * 0.8 * (0.069 + 0.015);
    assert!((area - wanted).abs() < 0.02, "{area} is not {wanted}");
}

#[track_caller]
fn check_area(body: &str, wanted: f64) {
    let found = area(body);
    assert!((found - wanted).abs() < 0.01, "{found} is not {wanted}");
}

#[test]
fn areas_of_silhouettes_are_those_of_what_is_left() {
    let sphere = ball(0.0, 0.0, 0.0, 0.8);
    check_area(&sphere, PI * 0.64);
    // A box through all depths leaves a hole of its own area.
    let shaft = cuboid([-0.4, 0.4, -0.3, 0.3, -2.0, 2.0]);
    check_area(&solid("difference", &[&sphere, &shaft]), PI * 0.64 - 0.8 * 0.6);
    check_area(&solid("intersection", &[&sphere, &shaft]), 0.8 * 0.6);
    check_area(&solid("union", &[&sphere, &shaft]), PI * 0.64);
    // Two spheres of radius r at distance d along x: their lens has the outline of both.
    let (r, d) = (0.8_f64, 0.6_f64);
    let lens = 2.0 * r * r * (d / (2.0 * r)).acos() - d / 2.0 * (4.0 * r * r - d * d).sqrt();
    let (left, right) = (ball(-0.3, 0.0, 0.0, r), ball(0.3, 0.0, 0.0, r));
    let wanted = 2.0 * PI * r * r - lens;
    check_area(&solid("union", &[&left, &right]), wanted - 2.0 * cap(r, 0.7));
    check_area(&solid("intersection", &[&left, &right]), lens);
}

/// The part of a circle of radius r that lies beyond a chord at distance h.
fn cap(r: f64, h: f64) -> f64 {
    r * r * (h / r).acos() - h * (r * r - h * h).sqrt()
}

#[test]
fn the_inside_of_what_is_subtracted_is_seen_with_its_colour_and_faces_the_eye() {
    // The near half of a red sphere is cut off by a green box, so its middle is green and lies at the box's far side.
    let red = format!("AttributeBegin\nColor [1 0 0]\n{}AttributeEnd\n", ball(0.0, 0.0, 0.0, 0.8));
    let green = format!("AttributeBegin\nColor [0 1 0]\n{}AttributeEnd\n", cuboid([-2.0, 2.0, -2.0, 2.0, -2.0, 0.25]));
    let drawn = scene(&solid("difference", &[&red, &green]));
    assert_near(drawn.clean("a.exr").rgb(32, 32), [0.0, 1.0, 0.0]);
    assert!((drawn.picture("z.exr").at("Z", 32, 32) - 5.25).abs() < 1e-3);
    check_area(&solid("difference", &[&red, &green]), PI * (0.64 - 0.0625));
}

#[test]
fn depths_are_those_of_the_nearest_surface_that_is_left() {
    let slab = |z: f64| cuboid([-2.0, 2.0, -2.0, 2.0, z, z + 1.0]);
    for (body, z) in [
        (solid("union", &[&slab(0.0), &slab(0.5)]), 5.0),
        (solid("intersection", &[&slab(0.0), &slab(0.5)]), 5.5),
        (solid("difference", &[&slab(0.0), &slab(-0.5)]), 5.5),
        (solid("difference", &[&slab(0.0), &slab(0.5)]), 5.0),
        (solid("difference", &[&slab(0.0), &slab(-0.5), &slab(0.25), &slab(-3.0)]), 1e38),
        // a - (b - c), where c gives back the near part of a.
        (solid("difference", &[&slab(0.0), &solid("difference", &[&slab(-0.5), &slab(-0.75)])]), 5.0),
    ] {
        let found = f64::from(scene(&body).picture("z.exr").at("Z", 30, 34));
        assert!((found - z).abs() < 1e-3 * z, "{found} is not {z}: {body}");
    }
}

#[test]
fn all_surfaces_that_are_left_of_a_translucent_solid_are_composited() {
    // Through its walls a ray crosses two surfaces of half opacity; a hollow one has four in its middle.
    let shell = solid("difference", &[&ball(0.0, 0.0, 0.0, 0.9), &ball(0.0, 0.0, 0.0, 0.5)]);
    let drawn = scene(&format!("Opacity [0.5 0.5 0.5]\n{shell}"));
    let picture = drawn.clean("a.exr");
    for (x, surfaces) in [(32, 4), (55, 2), (62, 0)] {
        let wanted = 1.0 - 0.5_f32.powi(surfaces);
        assert!((picture.at("A", x, 32) - wanted).abs() < 1e-3, "{} at {x}", picture.at("A", x, 32));
    }
}

#[test]
fn translucent_matte_displaced_and_instanced_parts_take_part() {
    let sphere = ball(0.0, 0.0, 0.0, 0.8);
    let shaft = cuboid([-0.4, 0.4, -0.3, 0.3, -2.0, 2.0]);
    // A part of opacity 0 cuts as well; so does one that only hides.
    let cut = |with: &str| solid("difference", &[&sphere, &format!("AttributeBegin\n{with}\n{shaft}AttributeEnd\n")]);
    check_area(&cut("Opacity [0 0 0]"), PI * 0.64 - 0.48);
    check_area(&cut("Matte 1"), PI * 0.64 - 0.48);
    let object = format!("ObjectBegin 1\n{}ObjectEnd\n", cuboid([-0.4, 0.4, -0.3, 0.3, -2.0, 2.0]));
    check_area(&format!("{object}{}", solid("difference", &[&sphere, "ObjectInstance 1\n"])), PI * 0.64 - 0.48);
    // Instances of a solid are solids of their own.
    let body = solid("difference", &[&ball(0.0, 0.0, 0.0, 0.4), &cuboid([-0.2, 0.2, -0.2, 0.2, -2.0, 2.0])]);
    let twice = "Translate -0.5 0 0\nObjectInstance 2\nTranslate 1 0 0\nObjectInstance 2\n";
    check_area(&format!("ObjectBegin 2\n{body}ObjectEnd\n{twice}"), 2.0 * (PI * 0.16 - 0.16));
}

#[test]
fn clipping_cuts_solids_open_and_does_not_turn_them_inside_out() {
    // The hither plane lies in the sphere, so its inside is seen, up to where it was subtracted from.
    let body = solid("difference", &[&ball(0.0, 0.0, 0.0, 0.8), &ball(0.0, 0.0, 0.3, 0.4)]);
    let drawn = draw(&format!("Clipping 4.5 100\n{OPTIONS}{body}WorldEnd\n"));
    let picture = drawn.clean("z.exr");
    assert!((picture.at("Z", 32, 32) - 4.9).abs() < 0.01, "{}", picture.at("Z", 32, 32));
}

#[test]
fn what_lies_outside_of_solids_hides_and_is_hidden() {
    let body = solid("difference", &[&ball(0.0, 0.0, 0.0, 0.8), &cuboid([-0.4, 0.4, -0.3, 0.3, -2.0, 2.0])]);
    let behind = "AttributeBegin\nColor [0 0 1]\nTranslate 0 0 3\nDisk 0 2 360\nAttributeEnd\n";
    let before = "AttributeBegin\nColor [1 0 0]\nTranslate 0 0 -3\nDisk 0 0.2 360\nAttributeEnd\n";
    let drawn = scene(&format!("{behind}{body}{before}"));
    let picture = drawn.clean("a.exr");
    assert_near(picture.rgb(32, 32), [1.0, 0.0, 0.0]);
    assert_near(picture.rgb(42, 32), [0.0, 0.0, 1.0]);
    assert_near(picture.rgb(52, 32), [1.0, 1.0, 1.0]);
}

#[test]
fn an_open_primitive_is_named_once() {
    let open = "SolidBegin \"primitive\"\nRotate 50 1 0 0\nCylinder 0.5 -0.6 0.6 360\nSolidEnd\n";
    let drawn = scene(open);
    assert_eq!((drawn.messages.len(), drawn.message_count("is open")), (1, 1), "{:?}", drawn.messages);
    assert_eq!(drawn.message_count("scene.rib:15:1"), 1, "{:?}", drawn.messages);
    let closed = "SolidBegin \"primitive\"\nRotate 50 1 0 0\nCylinder 0.5 -0.6 0.6 360\nDisk 0.6 0.5 360\nDisk -0.6 0.5 360\nSolidEnd\n";
    scene(closed).clean("a.exr");
}
