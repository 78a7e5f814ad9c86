//! What shading costs by line of RSL: kernels count it, and draw the same pictures.

use super::{RenderedScene, draw_as};
use crate::determinism::make_texture;
use anthill::line_profile::{LineProfile, LineRow, LineUnit, parts};
use std::fs;
use std::sync::Arc;

const HEAD: &str = "PixelSamples 1 1\nHider \"hidden\" \"jitter\" [0]\nScreenWindow 0 1 0 1\nFormat 160 160 1\n\
    Display \"$DIR/a.exr\" \"exr\" \"rgb\" \"string exrpixeltype\" \"float\"\n";
const CARD: &str = "Patch \"bilinear\" \"P\" [0 1 1 1 1 1 0 0 1 1 0 1]\nWorldEnd\n";

const WALL: (&str, &str) =
    ("wall.sl", "surface wall(float k = 2;) {\n  Ci = sqrt(k) * Cs * diffuse(N);\n  Oi = 1;\n}\n");

/// A light whose colour is computed in line 4.
fn lamp(name: &str, colour: &str) -> String {
    format!(
        "light {name}(point from = point \"world\" (0.5, 0.5, 0);) {{\n  illuminate (from) {{\n\n    Cl = {colour};\n  }}\n}}\n"
    )
}

/// Sums noise in a loop of its own line.
const SLOW: &str = "light slow(point from = point \"world\" (0.5, 0.5, 0); float n = 100;) {\n  illuminate (from) {\n    \
    float i, sum = 0;\n    for (i = 0; i < n; i += 1)\n      sum += noise(Ps * (i + 4));\n    Cl = sum / n;\n  }\n}\n";

fn drawn(shaders: &[(&str, &str)], world: &str, profile: Option<&Arc<LineProfile>>) -> RenderedScene {
    let rib = format!("{HEAD}WorldBegin\n{world}{CARD}");
    let scene = draw_as(shaders, &rib, &|options| options.line_profile = profile.cloned());
    assert!(scene.messages.is_empty(), "{:?}", scene.messages);
    scene
}

fn profiled(shaders: &[(&str, &str)], world: &str, profile: LineProfile) -> (RenderedScene, Vec<LineRow>) {
    let profile = Arc::new(profile);
    let scene = drawn(shaders, world, Some(&profile));
    (scene, profile.rows())
}

/// Returns the last part of a row's file, and its line.
fn place(row: &LineRow) -> (&str, u32) {
    (row.key.file.rsplit('/').next().unwrap_or(""), row.key.line)
}

#[test]
fn a_slow_line_of_one_of_three_lights_is_named_first() {
    let (plain, striped) = (lamp("plain", "1"), lamp("striped", "mod(xcomp(Ps) * 8, 1)"));
    let shaders = [WALL, ("plain.sl", &plain), ("striped.sl", &striped), ("slow.sl", SLOW)];
    let lights =
        ["plain", "striped", "slow"].map(|name| format!("LightSource \"{name}\" \"the {name} one\"\n")).concat();
    let world = format!("{lights}Surface \"wall\"\n");
    let ordinary = drawn(&shaders, &world, None);
    let picture = |scene: &RenderedScene| fs::read(scene.folder().join("a.exr")).expect("it is written");
    for (profile, unit) in [(LineProfile::default(), LineUnit::Clocks), (LineProfile::of_estimates(), LineUnit::Steps)]
    {
        let (counted, rows) = profiled(&shaders, &world, profile);
        assert!(picture(&counted) == picture(&ordinary), "the bits of the picture");
        let first = &rows[0];
        let all = format!("{rows:#?}");
        assert_eq!((place(first).0, first.key.unit), ("slow.sl", unit), "{all}");
        // Which of the two lines of the loop is first varies from run to run, where clocks are measured.
        let looped = [&[4, 5][..], &[5]][usize::from(unit == LineUnit::Steps)];
        assert!(looped.contains(&place(first).1), "{all}");
        let share: f64 = rows.iter().filter(|row| place(row).0 == "slow.sl").map(|row| row.share).sum();
        assert!(share > 0.5 && first.vertices >= 160 * 160, "{all}");
        assert_eq!((&*first.key.part, &*first.key.pipeline), ("light slow \"the slow one\"", "shade wall"), "{all}");
        assert_eq!(parts(&rows)[0].key.part, first.key.part, "{all}");
        for line in [("plain.sl", 2), ("striped.sl", 4), ("wall.sl", 2)] {
            assert!(rows.iter().any(|row| place(row) == line), "{line:?}: {all}");
        }
        let once = rows.iter().find(|row| row.key.unit == LineUnit::HostNs).expect("the root of k");
        assert_eq!(&*once.key.part, "once an instance");
    }
}

/// Estimates are the same in every render, so they can be compared to the last.
#[test]
fn the_cost_of_a_line_is_what_is_saved_without_it() {
    let shader =
        |lines: [&str; 2]| format!("surface sums() {{\n  Ci = 0;\n  {}\n  {}\n  Oi = 1;\n}}\n", lines[0], lines[1]);
    let one = "Ci += noise(P * 7);";
    let three = "Ci += noise(P * 3) + noise(P * 5) + noise(P * 11);";
    let each = |rows: &[LineRow], wanted: Option<u32>| -> f64 {
        let of_line = rows.iter().filter(|row| wanted.is_none_or(|line| row.key.line == line));
        of_line.map(|row| row.amount as f64 / row.vertices as f64).sum()
    };
    let cost = |lines| profiled(&[("sums.sl", &shader(lines))], "Surface \"sums\"\n", LineProfile::of_estimates()).1;
    let (both, without) = (cost([one, three]), cost([one, ""]));
    let ratio = each(&both, Some(4)) / each(&both, Some(3));
    assert!((2.9..3.1).contains(&ratio), "{both:#?}");
    let saved = each(&both, None) - each(&without, None);
    assert!((saved - each(&both, Some(4))).abs() < 4.0, "{both:#?}{without:#?}");
    let amounts = |rows: &[LineRow]| -> Vec<u64> { rows.iter().map(|row| row.amount).collect() };
    assert_eq!(amounts(&both), amounts(&cost([one, three])), "a second time");
}

const PAINTED: (&str, &str) = (
    "painted.sl",
    "surface painted(string map = \"\";) {\n  Ci = color texture(map, s, t) + float texture(map, t, s);\n  Oi = 1;\n}\n",
);
const TINT: (&str, &str) = (
    "tint.sl",
    "imager tint(string map = \"\";) {\n  Ci *= 0.5 + noise(P / 9);\n  Ci += color texture(map, xcomp(P) / 160, 0.5);\n}\n",
);

#[test]
fn imagers_count_their_lines_and_all_count_their_lookups() {
    let folder = tempfile::tempdir().expect("a directory for a texture");
    make_texture(folder.path(), "map.tx", [64, 64]);
    let map = format!("\"map\" [\"{}\"]\n", folder.path().join("map.tx").display());
    let world = format!("Surface \"painted\" {map}{CARD}");
    let rib = format!("{HEAD}Imager \"tint\" {map}WorldBegin\n{world}");
    let draw = |profile: Option<Arc<LineProfile>>| {
        let scene = draw_as(&[PAINTED, TINT], &rib, &|options| options.line_profile = profile.clone());
        assert!(scene.messages.is_empty(), "{:?}", scene.messages);
        (fs::read(scene.folder().join("a.exr")).expect("it is written"), scene.lookups)
    };
    let (ordinary, lookups) = draw(None);
    assert_eq!(lookups, None, "they are not counted");
    for profile in [LineProfile::default(), LineProfile::of_estimates()].map(Arc::new) {
        let (counted, lookups) = draw(Some(Arc::clone(&profile)));
        assert!(counted == ordinary, "the bits of the picture");
        let rows = profile.rows();
        let vertices = |pipeline: &str| rows.iter().find(|row| &*row.key.pipeline == pipeline).map(|row| row.vertices);
        let (shaded, pixels) = (vertices("shade painted"), vertices("imager tint"));
        assert_eq!(lookups, shaded.zip(pixels).map(|(shaded, pixels)| 2 * shaded + pixels), "{rows:#?}");
        assert!(pixels.is_some_and(|pixels| pixels >= 160 * 160), "{rows:#?}");
        for line in [2, 3] {
            assert!(rows.iter().any(|row| place(row) == ("tint.sl", line) && row.amount > 0), "{rows:#?}");
        }
    }
}
