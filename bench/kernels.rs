//! Measures each stage's kernels by the device's own clock. Scenes that stress one stage are rendered, and the time of
//! that stage is taken from the statistics of the render.
//!
//! `cargo bench --bench kernels -- [STAGE]` uses the device that `ANTHILL_DEVICE` names (default: device 0). Absolute
//! times depend on the machine; compare runs on one machine, and stages of one run.

use anthill::diagnostic::Reporter;
use anthill::options::RenderOptions;
use anthill::render;
use anthill::stats::{Stage, Stats};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::env;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// The beginning of all scenes: 320 x 240 pixels of 4 x 4 samples, a camera at (0, 0, -5).
const CAMERA: &str = "Format 320 240 1\nPixelSamples 4 4\nPixelFilter \"gaussian\" 2 2\nProjection \"perspective\" \"fov\" [40]\n\
                      Translate 0 0 5\nWorldBegin\nLightSource \"distantlight\" 1 \"intensity\" [1]\n";

/// Rows of spheres: curved, opaque, many small grids.
fn spheres() -> String {
    let mut text = String::from("Surface \"plastic\"\n");
    for i in 0..100 {
        let (x, y) = (i % 10, i / 10);
        writeln!(
            text,
            "TransformBegin Translate {:.2} {:.2} {:.2} Sphere 0.3 -0.3 0.3 360 TransformEnd",
            f64::from(x) * 0.4 - 1.8,
            f64::from(y) * 0.3 - 1.35,
            f64::from(i % 7) * 0.2
        )
        .expect("writing to memory");
    }
    text
}

/// A displaced bilinear patch mesh across the picture.
fn displaced() -> String {
    "Surface \"matte\"\nAttribute \"displacementbound\" \"sphere\" [0.2]\nDisplacement \"bumpy\" \"Km\" [0.1]\n\
     PatchMesh \"bilinear\" 3 \"nonperiodic\" 3 \"nonperiodic\" \"P\" [-2 -2 0  0 -2 1  2 -2 0  -2 0 1  0 0 0  2 0 1  -2 2 0  0 2 1  2 2 0]\n"
        .to_owned()
}

/// Translucent curves in front of each other.
fn strands() -> String {
    let mut text = String::from("Surface \"matte\"\nOpacity [0.3 0.3 0.3]\n");
    for i in 0..2000_u32 {
        let x = f64::from(i.wrapping_mul(2_654_435_761) >> 16) / 65_536.0 * 4.0 - 2.0;
        writeln!(text, "Curves \"cubic\" [4] \"nonperiodic\" \"P\" [{x:.3} -1.5 {z:.3} {x:.3} -0.5 {z:.3} {:.3} 0.5 {z:.3} {:.3} 1.5 0] \
             \"constantwidth\" [0.02]",
            x + 0.1, x - 0.1, z = f64::from(i % 97) * 0.01)
        .expect("writing to memory");
    }
    text
}

/// The measured stages, each with a scene that stresses it.
const CASES: [(Stage, &str); 12] = [
    (Stage::BoundSplit, "spheres"),
    (Stage::BoundSplit, "strands"),
    (Stage::Select, "spheres"),
    (Stage::Dice, "spheres"),
    (Stage::Dice, "strands"),
    (Stage::Displace, "displaced"),
    (Stage::Hide, "spheres"),
    (Stage::Hide, "displaced"),
    (Stage::Shade, "spheres"),
    (Stage::Sample, "strands"),
    (Stage::Composite, "strands"),
    (Stage::Filter, "spheres"),
];

fn write_scenes(folder: &Path) -> impl Fn(&str) -> PathBuf {
    let folder = folder.to_owned();
    for (name, text) in [("spheres", spheres()), ("displaced", displaced()), ("strands", strands())] {
        let text = format!("Display \"{name}.exr\" \"null\" \"rgba\"\n{CAMERA}{text}WorldEnd\n");
        std::fs::write(folder.join(name).with_extension("rib"), text).expect("a temporary folder can be written");
    }
    move |name| folder.join(name).with_extension("rib")
}

fn drawn(scene: PathBuf) -> Stats {
    let devices = env::var("ANTHILL_DEVICE").unwrap_or_else(|_| "0".to_owned());
    let options = RenderOptions { scenes: vec![scene], devices, ..RenderOptions::default() };
    let reporter = Arc::new(Reporter::silent());
    let outcome = render(&options, &reporter, &());
    assert_eq!(reporter.all().len(), 0, "{:?}", reporter.all());
    outcome.stats
}

fn kernels(c: &mut Criterion) {
    let folder = TempDir::new().expect("a temporary folder");
    let path = write_scenes(folder.path());
    let mut group = c.benchmark_group("kernels");
    group.sample_size(10).warm_up_time(Duration::from_millis(1));
    for (stage, scene) in CASES {
        let counts = drawn(path(scene)).counts;
        let per_sample = matches!(stage, Stage::Composite | Stage::Filter);
        group.throughput(Throughput::Elements(if per_sample { counts.sample_points } else { counts.micropolygons }));
        group.bench_function(format!("{}/{scene}", stage.name()), |b| {
            b.iter_custom(|times| (0..times).map(|_| drawn(path(scene)).stages.get(stage)).sum());
        });
    }
    group.finish();
}

criterion_group!(benches, kernels);
criterion_main!(benches);
