//! Depth displays and limits on opacity (RISpec 4.1.3; OPT-32, OPT-52).

use super::{assert_near, draw};

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
fn midpoint_depths_cause_a_warning() {
    let scene = draw(&scene("Hider \"hidden\" \"depthfilter\" \"midpoint\""));
    assert_eq!((scene.message_count("midpoint"), scene.messages.len()), (1, 1), "{:?}", scene.messages);
}

#[test]
fn the_null_hider_reads_and_compiles_but_writes_nothing() {
    let scene = draw(&scene("Hider \"null\"\nDisplay \"+$DIR/nowhere/b.exr\" \"exr\" \"rgba\""));
    assert_eq!((scene.message_count("nowhere/b.exr"), scene.messages.len()), (1, 1), "{:?}", scene.messages);
    assert_eq!(scene.displays, [anthill::film::DisplayState::Missing]);
}
