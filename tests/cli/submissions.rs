//! Submissions in `--stats` and `--trace`: those of small regions follow the formula of docs/cost.md, and translucent
//! surfaces whose depths are not known take no more than they must.

use super::{anthill, directory};
use serde_json::Value;
use std::fs;
use std::path::Path;

const HEAD: &str = "Display \"a.exr\" \"exr\" \"rgba\"\nFormat 32 32 1\nPixelFilter \"box\" 1 1\nPixelSamples 4 4\nTranslate 0 0 5\n\
                    WorldBegin\nSurface \"constant\"\n";
const BALL: &str = "Sphere 0.5 -0.5 0.5 360\n";

/// The regions of a scene in the statistics and in the trace.
fn regions(directory: &Path, body: &str) -> (Vec<Value>, Vec<Value>) {
    fs::write(directory.join("a.rib"), format!("{HEAD}{body}WorldEnd\n")).expect("writable");
    let flags = ["--devices", "0", "--stats", "stats.json", "--trace", "trace.json"];
    let ran = anthill(directory, &[&["render", "a.rib"], flags.as_slice()].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let json = |name: &str| -> Value {
        serde_json::from_slice(&fs::read(directory.join(name)).expect("a file")).expect("JSON")
    };
    let list = |value: &Value| value.as_array().expect("a list").clone();
    let stats = list(&json("stats.json")["worlds"][0]["regions"]);
    let trace = json("trace.json");
    let events = list(trace.get("traceEvents").unwrap_or(&trace));
    (stats, events.into_iter().filter(|event| event["args"]["submissions"].is_number()).collect())
}

#[test]
fn a_small_region_takes_the_submissions_of_the_formula() {
    let directory = directory();
    let glass = format!("{BALL}Opacity [0.5 0.5 0.5]\nTranslate 0.1 0 -1\n{BALL}");
    for (body, translucent) in [(BALL, false), (&glass, true)] {
        let (stats, trace) = regions(directory.path(), body);
        assert!(!stats.is_empty() && stats.len() == trace.len(), "{stats:?} {trace:?}");
        for (stats, trace) in stats.iter().zip(&trace) {
            let number = |name: &str| trace["args"][name].as_f64().expect("a number") as u64;
            let (rounds, slabs, thick) = (number("rounds"), number("slabs"), number("slabs too thick"));
            assert_eq!((rounds, slabs, thick), (1, u64::from(translucent), 0), "{trace}");
            // One page of grids; h, t, s and g are 1, and no part is cut.
            let [h, t, s, g] = [1; 4];
            let formula = 2 + 1 + h + rounds * s + (rounds - 1) + (slabs + thick) * (1 + t) + slabs * (1 + s + g);
            assert_eq!(number("submissions"), formula, "{trace}");
            assert_eq!(stats["submissions"].as_u64(), Some(formula), "{stats}");
        }
    }
}

/// A translucent sphere whose displacement bound is far larger than its displacement, in its own coordinates.
const VEILED: &str = "Display \"a.exr\" \"exr\" \"rgb\"\nFormat 192 144 1\nProjection \"perspective\" \"fov\" [30]\n\
                      Translate 0 0 37\nRotate -22 1 0 0\nWorldBegin\nSurface \"constant\"\nDisplacement \"ripples\"\n\
                      Attribute \"displacementbound\" \"sphere\" [30] \"coordinatesystem\" \"current\"\n\
                      Opacity [0.5 0.5 0.5]\nSphere 5 -5 5 360\nWorldEnd\n";
const RIPPLES: &str = "displacement ripples() { P += 0.004 * N * (sin(250 * u) + sin(250 * v)); }\n";

#[test]
fn regions_are_halved_where_bounds_say_nothing_of_depths() {
    let directory = directory();
    fs::write(directory.path().join("a.rib"), VEILED).expect("writable");
    fs::write(directory.path().join("ripples.sl"), RIPPLES).expect("writable");
    let [little, enough] = ["24M", "64M"].map(|memory| {
        let flags = ["--devices", "0", "--memory", memory, "--stats", "stats.json"];
        let ran = anthill(directory.path(), &[&["render", "a.rib"], flags.as_slice()].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let read = |name: &str| fs::read(directory.path().join(name)).expect("a file");
        let stats: Value = serde_json::from_slice(&read("stats.json")).expect("JSON");
        let regions = stats["worlds"][0]["regions"].as_array().expect("a list").clone();
        let sum = |name: &str| regions.iter().map(|region| region[name].as_u64().expect("a number")).sum::<u64>();
        (read("a.exr"), sum("entries"), sum("submissions"))
    });
    assert!(little.0 == enough.0, "the picture does not depend on the memory");
    assert!(enough.1 > 100_000, "{} entries fill the memory of a region", enough.1);
    assert!(little.2 < 8 * enough.2, "{} submissions instead of {}", little.2, enough.2);
}
