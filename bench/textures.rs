//! Measures texture lookups by the device's own clock, and how fast textures are made.
//!
//! `cargo bench --bench textures` uses the device that `ANTHILL_DEVICE` names (default: device 0). Each point of a
//! square looks up 64 times in tiles that the device holds, as the first of four frames is subtracted; `nothing` is the
//! same loop without a lookup. `square N` has footprints of 1.5 x 1.5 N texels, so `square 1` is isotropic, in three
//! levels. Textures are made on all cores.

use anthill::diagnostic::{Reporter, Severity};
use anthill::options::RenderOptions;
use anthill::render;
use anthill::stats::{Stage, Stats};
use anthill::texture::{MakeKind, MakeRequest, TexelFormat, WrapMode, go_on, make};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::env;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// Lookups of a point.
const LOOKUPS: u64 = 64;

/// Texels of a picture along each side.
const SIDE: u32 = 1024;

/// The shaders: name, and what is added to a colour for the place (u, v).
fn cases() -> Vec<(String, String)> {
    let area = |name: String, [across, down]: [f64; 2]| {
        let [right, below] = [across, down].map(|texels| texels / f64::from(SIDE));
        let corners = format!("u, v, u + {right:.9}, v, u, v + {below:.9}, u + {right:.9}, v + {below:.9}");
        (name, format!("color texture(\"map.tex\", {corners})"))
    };
    let shadow = |samples: u32| {
        let at = "P + vector (u, v, 0) * 0.1";
        let how = format!("\"samples\", {samples}, \"blur\", 0.01, \"bias\", 0.01");
        (format!("shadow {samples}"), format!("color shadow(\"map.shad\", {at}, {how})"))
    };
    let mut cases = vec![("nothing".into(), "color (u, v, 0)".into()), area("point".into(), [0.0; 2])];
    cases.extend([1.0, 2.0, 4.0, 8.0].map(|ratio| area(format!("square {ratio}"), [1.5, 1.5 * ratio])));
    cases.extend([1, 16].map(shadow));
    cases
}

/// Draws scenes of a folder.
fn drawn(folder: &Path, scene: &str) -> Stats {
    let devices = env::var("ANTHILL_DEVICE").unwrap_or_else(|_| "0".to_owned());
    let scenes = vec![folder.join(scene)];
    let options = RenderOptions { scenes, devices, ..RenderOptions::default() };
    let reporter = Arc::new(Reporter::silent());
    let outcome = render(&options, &reporter, &());
    let wrong: Vec<_> = reporter.all().into_iter().filter(|(found, _)| found.severity >= Severity::Warning).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    outcome.stats
}

/// A picture of noise as Targa.
fn write_picture(path: &Path) {
    let [low, high, ..] = SIDE.to_le_bytes();
    let mut bytes = vec![0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, low, high, low, high, 24, 0x20];
    let noise = |i: u32| (i / 3 % SIDE / 8) as u8 ^ (i.wrapping_mul(2_654_435_761) >> 29) as u8;
    bytes.extend((0..3 * SIDE * SIDE).map(noise));
    fs::write(path, bytes).expect("a temporary folder can be written");
}

fn request(folder: &Path, format: TexelFormat) -> MakeRequest {
    let request = MakeRequest::new(MakeKind::Plain, vec![folder.join("map.tga")], folder.join("map.tex"));
    MakeRequest { format: Some(format), wrap: [WrapMode::Periodic; 2], ..request }
}

fn lookups(c: &mut Criterion) {
    let folder = TempDir::new().expect("a temporary folder");
    let path = folder.path();
    write_picture(&path.join("map.tga"));
    make(&request(path, TexelFormat::U8), &go_on).expect("it can be made");
    let write = |name: &str, text: String| fs::write(path.join(name), text).expect("a temporary folder can be written");
    let at = path.display();
    let paths = format!("Option \"searchpath\" \"shader\" [\"{at}\"] \"texture\" [\"{at}\"]\n");
    write(
        "shadow.rib",
        format!(
            "Format 512 512 1\nProjection \"perspective\" \"fov\" [90]\nPixelSamples 1 1\n\
             Display \"{at}/map.z\" \"zfile\" \"z\"\nWorldBegin\nDisk 1 0.5 360\nWorldEnd\n\
             MakeShadow \"{at}/map.z\" \"{at}/map.shad\"\n"
        ),
    );
    drawn(path, "shadow.rib");
    let mut group = c.benchmark_group("lookups");
    group.sample_size(10).warm_up_time(Duration::from_millis(1));
    for (name, value) in cases() {
        write(
            "look.sl",
            format!(
                "surface look() {{ float i; color sum = 0; for (i = 0; i < {LOOKUPS}; i += 1) {{\n\
                 float u = s + i * 0.013; float v = t + i * 0.007; sum += {value}; }} Ci = sum / {LOOKUPS}; Oi = 1; }}"
            ),
        );
        let frame = "FrameBegin 1\nFormat 128 128 1\nPixelSamples 1 1\nScreenWindow -1 1 -1 1\nDisplay \"look.exr\" \"null\" \"rgb\"\n\
             WorldBegin\nSurface \"look\"\nPatch \"bilinear\" \"P\" [-1 1 3 1 1 3 -1 -1 3 1 -1 3]\nWorldEnd\nFrameEnd\n";
        write("one.rib", format!("{paths}{frame}"));
        write("four.rib", format!("{paths}{}", frame.repeat(4)));
        group.throughput(Throughput::Elements(drawn(path, "one.rib").counts.shaded_vertices * LOOKUPS));
        group.bench_function(name, |b| {
            let shading = |scene| drawn(path, scene).stages.get(Stage::Shade);
            let one = || shading("four.rib").saturating_sub(shading("one.rib")) / 3;
            b.iter_custom(|times| (0..times).map(|_| one()).sum());
        });
    }
    group.finish();
}

fn making(c: &mut Criterion) {
    let folder = TempDir::new().expect("a temporary folder");
    write_picture(&folder.path().join("map.tga"));
    let mut group = c.benchmark_group("making");
    group.sample_size(10).throughput(Throughput::Bytes(u64::from(3 * SIDE * SIDE)));
    for format in [TexelFormat::U8, TexelFormat::U16, TexelFormat::F16, TexelFormat::F32] {
        let request = request(folder.path(), format);
        group.bench_function(format!("{format:?}"), |b| b.iter(|| make(&request, &go_on).expect("it can be made")));
    }
    group.finish();
}

criterion_group!(benches, lookups, making);
criterion_main!(benches);
