//! Maps of what moves: the shadow maps that lights make by themselves, z files, deep shadow maps.

use super::{ExrChannels, RenderedScene, draw};
use anthill::deep::DeepReader;
use std::fs::File;

/// A floor at y = 0, seen from above, below a card at y = 1 that is nearer than hither, x = -1 to 1
/// at time 0.
fn draw_floor(shutter: &str, light: &str, card: &str) -> RenderedScene {
    draw(&format!(
        "Format 32 32 1\nShutter {shutter}\nDisplay \"$DIR/a.exr\" \"exr\" \"rgb\" \"string exrpixeltype\" \"float\"\nPixelSamples 2 2\n\
         PixelFilter \"box\" 1 1\nClipping 9.5 99\nTranslate 0 0 10\nRotate -90 1 0 0\nScreenWindow -4 4 -4 4\nOrientation \"rh\"\nWorldBegin\n\
         AttributeBegin\nAttribute \"light\" \"string shadows\" \"on\"\nAttribute \"autoshadows\" \"int[2] res\" [512 512]\n{light}\n\
         LightSource \"pointlight\" 1 \"from\" [-3 4 0] \"intensity\" [20]\nAttributeEnd\nIlluminate 1 1\nSurface \"matte\" \"Ka\" [0] \"Kd\" [1]\n\
         Polygon \"P\" [-9 0 -9  9 0 -9  9 0 9  -9 0 9]\n{card}\n\
         Polygon \"P\" [-1 1 -1  1 1 -1  1 1 1  -1 1 1]\nWorldEnd\n"
    ))
}

fn floor(shutter: &str, light: &str, card: &str) -> ExrChannels {
    draw_floor(shutter, light, card).clean("a.exr")
}

/// Which places of the floor, along x, have light.
fn lit(picture: &ExrChannels, places: [f32; 4]) -> [bool; 4] {
    places.map(|x| {
        let red = picture.rgb(((x + 4.0) * 4.0) as usize, 16)[0];
        assert!(!(0.03..0.06).contains(&red), "half a shadow at {x}: {red}");
        red > 0.03
    })
}

const MOTION: &str = "MotionBegin [0 1]\nTranslate 0 0 0\nTranslate 3 0 0\nMotionEnd";

/// The map is of the time at which surfaces are shaded, shutter open: so a shadow does not blur, but is where its
/// object is then.
#[test]
fn automatic_maps_show_the_time_when_the_shutter_opens() {
    // From (-3, 4) the shadow of the card goes from -1/3 to 7/3; when it is 3 to the right from 11/3 to 19/3.
    let places = [-0.9, 0.5, 1.8, 3.9];
    for (shutter, lights) in [("0 0", [true, false, false, true]), ("0 1", [true, false, false, true])] {
        assert_eq!(lit(&floor(shutter, "", MOTION), places), lights, "{shutter}");
    }
    assert_eq!(lit(&floor("1 2", "", MOTION), places), [true, true, true, false]);
}

#[test]
fn lights_that_move_cast_the_shadow_of_the_time_when_the_shutter_opens() {
    // From (0, 4) the shadow goes from -4/3 to 4/3.
    let places = [-0.9, 0.5, 1.8, 3.0];
    for (shutter, lights) in [("0 1", [true, false, false, true]), ("1 1", [false, false, true, true])] {
        let scene = draw_floor(shutter, MOTION, "");
        assert_eq!(lit(&scene.picture("a.exr"), places), lights, "{shutter}");
        let says = |message: &String| message.contains("a light in a moving coordinate system stands still");
        assert!(
            scene.messages.iter().all(says) && scene.messages.is_empty() == (shutter == "1 1"),
            "{:?}",
            scene.messages
        );
    }
    let after = draw_floor("1 2", MOTION, "").picture("a.exr");
    assert_eq!(lit(&after, places), [false, false, true, true]);
}

#[test]
fn depths_of_what_comes_nearer_are_those_of_the_times_of_samples() {
    let depth = |filter: &str, opacity: f32| {
        let scene = draw(&format!(
            "Format 4 4 1\nDisplay \"$DIR/z.exr\" \"zfile\" \"z\"\nScreenWindow -1 1 -1 1\nPixelSamples 4 4\nShutter 0 1\n\
             Option \"limits\" \"zthreshold\" [0.4 0.4 0.4]\nHider \"hidden\" \"depthfilter\" \"{filter}\"\nWorldBegin\nSurface \"constant\"\n\
             Opacity {opacity} {opacity} {opacity}\nMotionBegin [0 1]\nTranslate 0 0 6\nTranslate 0 0 4\nMotionEnd\nDisk 0 9 360\nWorldEnd\n"
        ));
        scene.clean("z.exr").channel("Z").to_vec()
    };
    // The last of 16 parts of the time has depths of 4 to 4.125.
    for (filter, low, high) in [("min", 4.0, 4.125), ("max", 5.875, 6.0), ("average", 4.9, 5.1)] {
        for opacity in [1.0, 0.5] {
            let found = depth(filter, opacity);
            assert!(found.iter().all(|z| (low..=high).contains(z)), "{filter}, {opacity}: {found:?}");
        }
    }
}

#[test]
fn what_passes_by_leaves_a_part_of_the_light_in_a_deep_map() {
    // The edge of a card at z = 3 moves over the eight pixels of a row.
    for opacity in [1.0, 0.5] {
        let scene = draw(&format!(
            "Format 8 8 1\nScreenWindow -1 1 -1 1\nPixelSamples 8 8\nShutter 0 1\nDisplay \"$DIR/d.dshad\" \"deepshad\" \"deepopacity\"\n\
             WorldBegin\nSurface \"constant\"\nOpacity {opacity} {opacity} {opacity}\nMotionBegin [0 1]\nTranslate -1 0 3\nTranslate 1 0 3\nMotionEnd\n\
             Polygon \"P\" [-9 -9 0 0 -9 0 0 9 0 -9 9 0]\nWorldEnd\n"
        ));
        assert_eq!(scene.messages, [] as [&str; 0]);
        let mut file = File::open(scene.folder().join("d.dshad")).expect("it was written");
        let reader = DeepReader::open(&mut file).expect("it is a deep file");
        let (tile, _) = reader.read_tile(&mut file, [0, 0]).expect("it is whole");
        for x in 0..8 {
            let light = &tile[3 * 8 + x];
            let covered = 1.0 - (x as f32 + 0.5) / 8.0;
            let expected = 1.0 - opacity * covered;
            assert_eq!(light.at(2.0), 1.0);
            assert!((light.at(4.0) - expected).abs() < 0.04, "column {x}: {} for {expected}", light.at(4.0));
        }
    }
}
