//! Depth displays and limits on opacity (RISpec 4.1.3; OPT-32, OPT-52).

use super::{assert_near, draw, draw_with};

/// Disks before each other: opacity 0.2 at depth 2, 0.5 at depth 3, opaque at depth 4.
fn scene(options: &str) -> String {
    format!(
        "Format 20 20 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\nDisplay \"+$DIR/z.exr\" \"zfile\" \"z\"\nScreenWindow -1 1 -1 1\n{options}\n\
         WorldBegin\nSurface \"constant\"\nColor 1 0 0\nOpacity 0.2 0.2 0.2\nDisk 2 0.9 360\nColor 0 1 0\nOpacity 0.5 0.5 0.5\nDisk 3 0.9 360\n\
         Color 0 0 1\nOpacity 1 1 1\nDisk 4 0.9 360\nWorldEnd\n"
    )
}

#[test]
fn a_surface_has_a_depth_if_its_opacity_passes_the_z_threshold() {
    for (threshold, depth) in [("0.996 0.996 0.996", 4.0), ("0.4 0.4 0.4", 3.0), ("0.1 0.1 0.1", 2.0)] {
        let scene = draw(&scene(&format!("Option \"limits\" \"color zthreshold\" [{threshold}]")));
        assert_eq!(scene.clean("z.exr").at("Z", 10, 10), depth, "{threshold}");
        assert_near(scene.clean("a.exr").rgb(10, 10), [0.2, 0.4, 0.4]);
    }
}

#[test]
fn nothing_is_seen_behind_what_passes_the_opacity_threshold() {
    // 1 - 0.8 * 0.5 = 0.6 of opacity at the second disk.
    for (threshold, colour, depth) in [(0.61, [0.2, 0.4, 0.4], 4.0), (0.59, [0.2, 0.4, 0.0], 3.0)] {
        let scene =
            draw(&scene(&format!("Option \"limits\" \"color othreshold\" [{threshold} {threshold} {threshold}]")));
        assert_near(scene.clean("a.exr").rgb(10, 10), colour);
        assert_eq!(scene.clean("z.exr").at("Z", 10, 10), depth, "{threshold}");
    }
}

#[test]
fn the_depth_filter_chooses_among_the_samples_of_a_pixel() {
    // Half of the pixels in the middle column see the near card, all see the far one, which ends at y = 0.
    let cards = |filter: &str| {
        draw(&format!(
            "Format 9 8 1\nDisplay \"$DIR/z.exr\" \"zfile\" \"z\"\nScreenWindow -1 1 -1 1\nPixelSamples 8 8\n\
             Hider \"hidden\" \"depthfilter\" \"{filter}\" \"jitter\" [0]\nWorldBegin\n\
             Polygon \"P\" [-2 -2 2  0 -2 2  0 2 2  -2 2 2]\nPolygon \"P\" [-2 0 4  2 0 4  2 2 4  -2 2 4]\nWorldEnd\n"
        ))
    };
    let none = 1e38;
    for (filter, above, below) in [
        ("min", [2.0, 2.0, 4.0], [2.0, 2.0, none]),
        ("max", [2.0, 4.0, 4.0], [2.0, none, none]),
        ("average", [2.0, 3.0, 4.0], [2.0, 2.0, none]),
        ("midpoint", [3.0, 3.0, none], [none; 3]),
    ] {
        let scene = cards(filter);
        let picture = scene.clean("z.exr");
        for (y, expected) in [(1, above), (6, below)] {
            assert_eq!([1, 4, 7].map(|x| picture.at("Z", x, y)), expected, "{filter}, row {y}");
        }
    }
}

#[test]
fn depths_alone_are_hidden_and_not_shaded() {
    let displayed = |displays: &str, opacity: f32, shader: &str| {
        let up = "displacement up() { P += 0.2 * sin(9 * u) * normalize(N); N = calculatenormal(P); }";
        let says = "surface says() { printf(\"seen\\n\"); Ci = Oi; }";
        let scene = draw_with(
            &[("up.sl", up), ("says.sl", says)],
            &format!(
                "Format 20 20 1\nDisplay \"$DIR/z.exr\" \"zfile\" \"z\"\n{displays}\nScreenWindow -1 1 -1 1\n\
                 Hider \"hidden\" \"depthfilter\" \"midpoint\"\nWorldBegin\nTranslate 0 0 4\nSurface \"{shader}\"\n\
                 Opacity {opacity} {opacity} {opacity}\nDisplacement \"up\"\n\
                 Attribute \"displacementbound\" \"float sphere\" [0.3]\nSphere 0.7 -0.7 0.7 360\nDisk 2 1 360\nWorldEnd\n"
            ),
        );
        (scene.picture("z.exr").channel("Z").to_vec(), scene.shaded_vertices)
    };
    let also = "Display \"+$DIR/a.exr\" \"exr\" \"rgba\"";
    for shader in ["constant", "matte"] {
        let (alone, shaded) = displayed("", 1.0, shader);
        let (beside, shaded_beside) = displayed(also, 1.0, shader);
        assert!(alone == beside && alone.iter().any(|&z| z < 5.0), "{shader}");
        assert!(shaded == 0 && shaded_beside > 0, "{shader}: {shaded}, {shaded_beside}");
    }
    // What is translucent may have a depth, and what is printed is.
    for (opacity, shader) in [(0.999, "matte"), (1.0, "says")] {
        let (alone, shaded) = displayed("", opacity, shader);
        assert!(alone == displayed(also, opacity, shader).0 && shaded > 0, "{opacity} {shader}");
    }
}

#[test]
fn midpoints_lie_halfway_between_the_first_two_surfaces() {
    let midpoint = "Hider \"hidden\" \"depthfilter\" \"midpoint\"";
    let none = 1e38;
    for (threshold, depth) in [("z", "0.996", none), ("z", "0.4", 3.5), ("z", "0.1", 2.5), ("o", "0.59", 3.5)].map(
        |(limit, threshold, depth)| {
            (format!("Option \"limits\" \"color {limit}threshold\" [{}]", [threshold; 3].join(" ")), depth)
        },
    ) {
        let [scene, plain] = [midpoint, ""].map(|hider| draw(&scene(&format!("{threshold}\n{hider}"))));
        assert_eq!(scene.clean("z.exr").at("Z", 10, 10), depth, "{threshold}");
        // Nothing else changes.
        let [found, expected] = [&scene, &plain].map(|scene| scene.picture("a.exr").rgb(10, 10));
        assert_eq!(found, expected, "{threshold}");
    }
    // Spheres from 3 to 5 and from 6 to 8, opaque and translucent, in any order; the depth is 1/f in a micropolygon.
    for opacity in ["1 1 1", "0.9 0.9 0.9"] {
        let scene = draw(&format!(
            "Format 9 9 1\nDisplay \"$DIR/z.exr\" \"zfile\" \"z\"\nPixelSamples 1 1\nShadingRate 0.25\n{midpoint}\n\
             Option \"limits\" \"color zthreshold\" [0.5 0.5 0.5]\nWorldBegin\nOpacity {opacity}\nTranslate 0 0 7\n\
             Sphere 1 -1 1 360\nTranslate 0 0 -3\nOpacity 1 1 1\nSphere 1 -1 1 360\nWorldEnd\n"
        ));
        assert!((scene.clean("z.exr").at("Z", 4, 4) - 4.0).abs() < 0.02, "{}", scene.picture("z.exr").at("Z", 4, 4));
    }
}

#[test]
fn the_null_hider_reads_and_compiles_but_writes_nothing() {
    let scene = draw(&scene("Hider \"null\"\nDisplay \"+$DIR/nowhere/b.exr\" \"exr\" \"rgba\""));
    assert_eq!((scene.message_count("nowhere/b.exr"), scene.messages.len()), (1, 1), "{:?}", scene.messages);
    assert_eq!(scene.displays, [anthill::film::DisplayState::Missing]);
}
