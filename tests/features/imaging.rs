//! Channels of displays: several in one file, each with its own exposure, quantization and filter (OPT-29 to OPT-31).

use super::{RenderedScene, assert_near, draw};

/// Draws a red card over the left half of 8 x 8 pixels, behind what `objects` says.
fn card(options: &str, objects: &str) -> RenderedScene {
    draw(&format!(
        "Format 8 8 1\nPixelSamples 4 4\nPixelFilter \"box\" 1 1\nScreenWindow -1 1 -1 1\n{options}\nWorldBegin\nSurface \"constant\"\n\
         {objects}\nColor 1 0.5 0.25\nPolygon \"P\" [-1 -1 4 0 -1 4 0 1 4 -1 1 4]\nWorldEnd\n"
    ))
}

#[test]
fn a_mode_lists_channels_and_variables_of_one_file() {
    let scene = card(
        "DisplayChannel \"varying color Cs\"\nDisplayChannel \"varying point P\"\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba,Cs,P, z\"\n\
         Display \"+$DIR/b.exr\" \"exr\" \"rgba\"",
        "",
    );
    let (all, plain) = (scene.clean("a.exr"), scene.clean("b.exr"));
    for channel in ["R", "G", "B", "A"] {
        assert_eq!(all.channel(channel), plain.channel(channel), "{channel}");
    }
    assert_near([all.at("Cs.R", 1, 4), all.at("Cs.G", 1, 4), all.at("Cs.G", 6, 4)], [1.0, 0.5, 0.0]);
    assert_near([all.at("P.z", 1, 4), all.at("Z", 1, 4), all.at("P.x", 0, 4)], [4.0, 4.0, -0.875]);
}

#[test]
fn channels_have_their_own_exposure() {
    let scene = card(
        "Exposure 1 1\nDisplayChannel \"varying color Cs\" \"float[2] exposure\" [2 1]\nDisplay \"$DIR/a.exr\" \"exr\" \"rgb,Cs\"",
        "",
    );
    let picture = scene.clean("a.exr");
    assert_near(picture.rgb(1, 4), [1.0, 0.5, 0.25]);
    assert_near(["Cs.R", "Cs.G", "Cs.B"].map(|name| picture.at(name, 1, 4)), [2.0, 1.0, 0.5]);
}

#[test]
fn a_display_with_a_filter_equals_a_picture_of_that_filter() {
    let card = |options: &str| card(options, "Opacity 0.5 0.5 0.5\nDisk 3 0.6 360\nOpacity 1 1 1");
    let own = card(
        "Display \"$DIR/a.exr\" \"exr\" \"rgba\"\n\
         Display \"+$DIR/b.exr\" \"exr\" \"rgba\" \"filter\" \"gaussian\" \"filterwidth\" [3 3]\n\
         Display \"+$DIR/c.exr\" \"exr\" \"N\" \"filterwidth\" [4 4]\nDisplay \"+$DIR/d.exr\" \"exr\" \"rgb\" \"filter\" \"sinc\"",
    );
    let of = |filter: &str, mode: &str| {
        card(&format!("Display \"$DIR/a.exr\" \"exr\" \"{mode}\"\nPixelFilter {filter}")).clean("a.exr")
    };
    let pairs = [
        ("a.exr", of("\"box\" 1 1", "rgba"), "G"),
        ("b.exr", of("\"gaussian\" 3 3", "rgba"), "G"),
        ("b.exr", of("\"gaussian\" 3 3", "rgba"), "A"),
        ("c.exr", of("\"box\" 4 4", "N"), "N.z"),
        ("d.exr", of("\"sinc\" 1 1", "rgb"), "R"),
    ];
    for (name, whole, channel) in pairs {
        assert_eq!(own.clean(name).channel(channel), whole.channel(channel), "{name} {channel}");
    }
    assert_ne!(own.clean("a.exr").channel("G"), own.clean("b.exr").channel("G"));
}

#[test]
fn values_that_are_not_composited_are_those_of_the_nearest_surface() {
    let scene = card(
        "DisplayChannel \"varying point P\" \"int composite\" [0]\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba,P\"\n\
         Display \"+$DIR/b.exr\" \"exr\" \"varying point P\"\nDisplay \"+$DIR/c.exr\" \"exr\" \"varying point P\" \"int composite\" [0]",
        "Opacity 0.25 0.25 0.25\nPolygon \"P\" [-1 -1 2 1 -1 2 1 0 2 -1 0 2]\nOpacity 1 1 1",
    );
    let (all, weighted) = (scene.clean("a.exr"), scene.clean("b.exr"));
    // Translucent alone, translucent before opaque, opaque alone, nothing.
    for (pixel, nearest, sum) in [([6, 6], 2.0, 0.5), ([1, 6], 2.0, 0.5 + 3.0), ([1, 1], 4.0, 4.0), ([6, 1], 0.0, 0.0)]
    {
        assert_eq!(scene.clean("c.exr").at("P.z", pixel[0], pixel[1]), nearest, "{pixel:?}");
        assert_near([all.at("P.z", pixel[0], pixel[1]), 0.0, 0.0], [nearest, 0.0, 0.0]);
        assert_near([weighted.at("P.z", pixel[0], pixel[1]), 0.0, 0.0], [sum, 0.0, 0.0]);
    }
}

#[test]
fn unknown_channels_are_left_out_and_named() {
    let scene = card(
        "Display \"$DIR/a.exr\" \"exr\" \"rgba,nothing,N\"\nDisplayChannel \"varying color x\" \"int hue\" [1]",
        "",
    );
    assert_eq!(
        (scene.message_count("nothing"), scene.message_count("DisplayChannel \"hue\"")),
        (1, 1),
        "{:?}",
        scene.messages
    );
    assert_near(scene.picture("a.exr").rgb(1, 4), [1.0, 0.5, 0.25]);
    assert_eq!(scene.picture("a.exr").at("N.z", 1, 4).abs(), 1.0);
}

#[test]
fn crops_equal_the_whole_in_floats() {
    let shown = "Display \"$DIR/a.exr\" \"exr\" \"rgba,N,z\" \"exrpixeltype\" \"float\" \"filter\" \"gaussian\" \"filterwidth\" [3 3]\n";
    let objects = "Opacity 0.5 0.3 0.1\nSphere 0.7 -0.7 0.7 360\nOpacity 1 1 1";
    let whole = card(shown, objects).clean("a.exr");
    for (window, [x0, y0]) in [("0 0.5 0 0.5", [0, 0]), ("0.5 1 0.25 0.75", [4, 2]), ("0.25 0.75 0.5 1", [2, 4])] {
        let part = card(&format!("{shown}CropWindow {window}"), objects).clean("a.exr");
        for channel in ["R", "G", "B", "A", "N.x", "N.z", "Z"] {
            for (x, y) in (0..4).flat_map(|y| (0..4).map(move |x| (x, y))) {
                let (part, whole) = (part.at(channel, x, y), whole.at(channel, x0 + x, y0 + y));
                assert_eq!(part.to_bits(), whole.to_bits(), "{window} {channel} {x} {y}: {part} {whole}");
            }
        }
    }
}

#[test]
fn mean_depths_are_exact_where_all_are_equal() {
    for depth in ["0.1", "3.3", "1000.7"] {
        let scene = draw(&format!(
            "Format 4 4 1\nPixelSamples 5 3\nDisplay \"$DIR/z.exr\" \"zfile\" \"z\"\nHider \"hidden\" \"depthfilter\" \"average\"\n\
             WorldBegin\nSurface \"constant\"\nDisk {depth} 9 360\nWorldEnd\n"
        ));
        assert_eq!(scene.clean("z.exr").at("Z", 1, 1), depth.parse::<f32>().expect("a number"));
    }
}
