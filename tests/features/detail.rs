//! Levels of detail, points of all types, and Geometry "teapot".

use super::{ExrChannels, draw};
use std::f64::consts::PI;

const OPTIONS: &str = "Format 64 64 1\nPixelSamples 4 4\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"file\" \"rgba\"\n\
    Display \"+$DIR/z.exr\" \"file\" \"z\"\nQuantize \"rgba\" 0 0 0 0\nHider \"hidden\" \"depthfilter\" \"min\"\n\
    Projection \"orthographic\"\nScreenWindow -1 1 -1 1\nWorldBegin\nSurface \"constant\"\nTranslate 0 0 5\n";

fn sum(picture: &ExrChannels, channel: &str) -> f64 {
    picture.channel(channel).iter().map(|value| f64::from(*value)).sum()
}

#[test]
fn two_levels_of_detail_share_the_samples_of_a_transition() {
    // The box fills a quarter of 64 x 64 pixels: 1024, a quarter of the way from 512 to 2560.
    let rib = format!(
        "{OPTIONS}Detail [-0.5 0.5 -0.5 0.5 -0.5 0.5]\nDetailRange [0 0 512 2560]\nColor [1 0 0]\nDisk 0 0.9 360\n\
         DetailRange [512 2560 1e38 1e38]\nColor [0 1 0]\nDisk 0 0.9 360\nWorldEnd\n"
    );
    for opacity in [1.0, 0.5] {
        let text = rib.replace("Surface", &format!("Opacity [{opacity} {opacity} {opacity}]\nSurface"));
        let picture = draw(&text).clean("a.exr");
        let (red, green, alpha) = (sum(&picture, "R"), sum(&picture, "G"), sum(&picture, "A"));
        // No sample sees both, and none sees neither.
        assert!((alpha - opacity * 1024.0 * PI * 0.81).abs() < 10.0, "{alpha}");
        assert!((red + green - alpha).abs() < 0.5, "{red} + {green} is not {alpha}");
        assert!((green / alpha - 0.25).abs() < 0.01, "{}", green / alpha);
        let inside = picture.at("A", 32, 32);
        assert!((inside - opacity as f32).abs() < 1e-3, "{inside}");
        // The samples of a pixel have numbers that are spread evenly.
        assert!((picture.at("G", 32, 32) / inside - 0.25).abs() < 0.07);
    }
}

#[test]
fn points_are_disks_spheres_or_squares_by_their_type() {
    let points = "Points \"P\" [0 0 0]";
    for (kind, area, z) in [("disk", PI * 0.25, 5.0), ("sphere", PI * 0.25, 4.5), ("patch", 1.0, 5.0)] {
        for width in ["\"constantwidth\" [1]", "\"varying float width\" [1]", "\"constant float width\" [1]"] {
            let request = format!("{points} \"uniform string type\" [\"{kind}\"] {width}");
            let drawn = draw(&format!("{OPTIONS}Rotate 30 0 0 1\n{request}\nWorldEnd\n"));
            let found = sum(&drawn.clean("a.exr"), "A") / 1024.0;
            assert!((found - area).abs() < 0.015, "{request}: {found} is not {area}");
            let depth = f64::from(drawn.picture("z.exr").at("Z", 32, 32));
            assert!((depth - z).abs() < 5e-3, "{request}: {depth} is not {z}");
        }
    }
}

#[test]
fn spheres_of_points_are_those_of_quadrics() {
    let light = "LightSource \"distantlight\" 1 \"from\" [1 1 -2] \"to\" [0 0 0]\nSurface \"matte\"\n";
    for space in ["", "Scale 0.8 0.5 1.2\n", "Scale -1 1 1\n", "Sides 1\n", "Sides 1\nScale -1 1 1\n"] {
        let picture = |request: &str| {
            draw(&format!("{OPTIONS}{light}{space}{request}\nWorldEnd\n")).clean("a.exr").channel("R").to_vec()
        };
        let (a, b) = (
            picture("Points \"P\" [0 0 0] \"uniform string type\" [\"sphere\"] \"constantwidth\" [1.2]"),
            picture("Sphere 0.6 -0.6 0.6 360"),
        );
        let off = a.iter().zip(&b).map(|(a, b)| f64::from((a - b).abs())).sum::<f64>()
            / b.iter().map(|b| f64::from(*b)).sum::<f64>();
        assert!(off < 0.02, "{space:?}: {off}");
    }
}

#[test]
fn the_teapot_is_that_of_its_patches_upright_along_z() {
    let view = "Scale 0.25 0.25 0.25\nRotate -90 1 0 0\n";
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/scenes/archives/teapot.rib");
    let picture =
        |request: &str| draw(&format!("{OPTIONS}{view}{request}\nWorldEnd\n")).clean("a.exr").channel("A").to_vec();
    let wanted = picture(&format!("Rotate 90 1 0 0\nReadArchive \"{file}\""));
    assert!(wanted.iter().sum::<f32>() > 300.0);
    assert_eq!(picture("Geometry \"teapot\""), wanted);
    // An object in a motion block is drawn once, and moves with the transformation.
    let moving = "MotionBegin [0 1]\nObjectInstance 1\nObjectInstance 1\nMotionEnd";
    assert_eq!(picture(&format!("ObjectBegin 1\nGeometry \"teapot\"\nObjectEnd\n{moving}")), wanted);
}
