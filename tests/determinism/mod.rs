//! The picture does not depend on who drew it: files of equal bytes whatever the devices, the memory, the size of
//! pages, the order of regions, the pipeline (DESIGN 3.1).

mod cut;
mod decided;

use crate::as_gpu::optimise_kernels;
use anthill::gpu::Mutant;
use std::path::Path;
use std::process::{Command, Stdio};

const HEADER: &str = "PixelSamples 3 3\nPixelFilter \"gaussian\" 3 3\nClipping 0.1 100\nProjection \"perspective\" \"fov\" [40]\n\
    Display \"a.exr\" \"exr\" \"rgba\" \"exrpixeltype\" \"float\"\nDisplay \"+n.exr\" \"exr\" \"varying normal N\"\n\
    Translate 0 -0.5 9\nRotate -20 1 0 0\nWorldBegin\nLightSource \"ambientlight\" 1 \"intensity\" [0.2]\n\
    LightSource \"distantlight\" 2 \"from\" [-1 2 -2] \"to\" [0 0 0]\nLightSource \"pointlight\" 3 \"intensity\" [9] \"from\" [3 2 -2]\n";

/// Displacement by noise or a texture, and surfaces with noise and derivatives, or with textures.
const SHADERS: [(&str, &str); 4] = [
    (
        "lumps",
        "displacement lumps(float amount = 0.1;) { P += amount * float noise(transform(\"shader\", P) * 5) * normalize(N); N = calculatenormal(P); }",
    ),
    (
        "spots",
        "surface spots(float size = 4;) { float n = float noise(transform(\"shader\", P) * size); float k = filterstep(0.5, n);\n\
         Oi = Os * mix(0.4, 1, k); Ci = Oi * mix(Cs, color noise(P * 2), k) * (ambient() + diffuse(faceforward(normalize(N), I))); }",
    ),
    (
        "dented",
        "displacement dented(string map = \"\";) { P += 0.2 * float texture(map, 3 * s, t) * normalize(N); N = calculatenormal(P); }",
    ),
    (
        "grain",
        "surface grain(string map = \"\";) { normal n = faceforward(normalize(N), I); float q = float texture(map, s, t);\n\
         color any = color texture(map, float cellnoise(s * 70 + q), float cellnoise(t * 90), \"width\", 0);\n\
         Oi = Os; Ci = Oi * (any * (ambient() + diffuse(n)) + 0.3 * color environment(\"sky.env\", reflect(I, n))); }",
    ),
];

/// A bent surface of two segments, with a hole and a rim that a trim curve cuts.
const TRIMMED: &str = "TrimCurve [1 1] [4 2] [0 0 0 0 1 2 2 2 2  0 0 1 2 3 3] [0 0] [2 3] [5 4] \
    [.1 2.1 1.1 -.3 .1  .4 .7 .5 .4] [.1 -.2 1.8 .9 .1  .3 .3 .6 .3] [1 1 1 1 1  1 1 1 1]\n\
    NuPatch 4 3 [0 0 0 .5 1 1 1] 0 1 2 2 [0 0 1 1] 0 1 \"P\" \
    [-2 0 -1  -1 1 -2  1 -1 -2  2 0 -1  -2 1.5 0  -1 2.5 -1  1 .5 -1  2 1.5 0]\n";

/// A cube with edges and a corner of all degrees of sharpness, and an open sheet of triangles with a hole.
const SUBDIVIDED: &str = "AttributeBegin\nTranslate -2 1 -0.5\nRotate 40 1 1 0.3\nScale 0.6 0.6 0.6\n\
    SubdivisionMesh \"catmull-clark\" [4 4 4 4 4 4] [0 2 3 1 4 5 7 6 0 1 5 4 2 6 7 3 0 4 6 2 1 3 7 5] \
    [\"crease\" \"crease\" \"corner\"] [5 1 2 1 1 1] [0 1 3 2 0 4 5 7] [2.4 10 3] \
    \"P\" [-1 -1 -1 1 -1 -1 -1 1 -1 1 1 -1 -1 -1 1 1 -1 1 -1 1 1 1 1 1] \"facevarying color Cs\" \
    [.9 .3 .3 .3 .9 .3 .3 .3 .9 .9 .9 .3  .3 .9 .3 .3 .3 .9 .9 .9 .3 .9 .3 .3  .3 .3 .9 .9 .9 .3 .9 .3 .3 .3 .9 .3 \
    .9 .9 .3 .9 .3 .3 .3 .9 .3 .3 .3 .9  .9 .3 .3 .3 .9 .3 .3 .3 .9 .9 .9 .3  .3 .9 .3 .3 .3 .9 .9 .9 .3 .9 .3 .3]\n\
    AttributeEnd\nAttributeBegin\nTranslate 2 1.2 -0.5\n\
    SubdivisionMesh \"loop\" [3 3 3 3 3 3 3] [0 1 2 0 2 3 0 3 4 0 4 5 0 5 6 0 6 7 0 7 1] \
    [\"interpolateboundary\" \"hole\"] [1 0 1 0] [1 4] [] \
    \"P\" [0 0 -.8  .9 0 0  .5 .7 .3  -.2 .9 0  -.8 .4 .3  -.8 -.4 0  -.2 -.9 .3  .6 -.7 0]\nAttributeEnd\n";

/// Leaves of both kinds and a constant that blend, one that takes away, and values of each.
const BLOBBED: &str = "AttributeBegin\nTranslate 0.2 2.6 0\nBlobby 5 [1001 0 1002 16 1000 39 1001 40 1001 56 0 4 0 1 2 3 4 5 4] \
    [1.2 0 0 0 0 .8 .2 0 0 0 .9 0 -.7 0 0 1  -.4 0 0 .5 .4 -.2 .5 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1  .02 \
    .7 0 0 0 0 .7 0 0 0 0 .7 0 .8 .3 0 1  .6 0 0 0 0 .6 0 0 0 0 .6 0 -.6 .1 -.5 1] [\"\"] \
    \"vertex color Cs\" [.9 .3 .3 .3 .9 .3 .3 .3 .9 .9 .9 .3 .3 .9 .9]\nAttributeEnd\n";

/// Archives that are read when they are needed, one from within another.
const PROCEDURALS: &str = "AttributeBegin\nArchiveBegin \"bead\"\nSphere 0.25 -0.25 0.25 360\nArchiveEnd\n\
    ArchiveBegin \"beads\"\nColor [.9 .5 .2]\nProcedural \"DelayedReadArchive\" [\"bead\"] [-.25 .25 -.25 .25 -.25 .25]\n\
    Translate 0.3 0.3 0\nCylinder 0.1 -0.3 0.3 360\nArchiveEnd\nTranslate -2.2 2.2 0\n\
    Procedural \"DelayedReadArchive\" [\"beads\"] [-.3 .5 -.3 .5 -.3 .3]\nTranslate 4 0 0.5\n\
    Procedural \"DelayedReadArchive\" [\"beads\"] [-.3 .5 -.3 .5 -.3 .3]\nAttributeEnd\n";

/// A solid, a subdivision mesh, a trimmed surface and procedurals, for tests that want little of each.
pub(crate) fn modelled() -> String {
    let bite = "SolidBegin \"difference\"\nSolidBegin \"primitive\"\nSphere 0.8 -0.8 0.8 360\nSolidEnd\n\
        SolidBegin \"primitive\"\nTranslate 0.5 0.3 -0.5\nSphere 0.6 -0.6 0.6 360\nSolidEnd\nSolidEnd\n";
    format!("AttributeBegin\nTranslate 0 -0.8 0\n{bite}AttributeEnd\n{SUBDIVIDED}{TRIMMED}{PROCEDURALS}")
}

/// Something of every kind, opaque.
fn opaque() -> String {
    let mut text = HEADER.to_owned();
    text += "Surface \"plastic\"\nColor [0.5 0.6 0.4]\nDisplacement \"lumps\"\nAttribute \"displacementbound\" \"sphere\" [0.12] \"coordinatesystem\" [\"camera\"]\n";
    text += "Patch \"bilinear\" \"P\" [-6 -1.2 -3  6 -1.2 -3  -6 -1.2 9  6 -1.2 9]\n";
    text += SUBDIVIDED;
    text += BLOBBED;
    text += "Displacement \"null\"\n";
    text += TRIMMED;
    text += PROCEDURALS;
    text += "ObjectBegin 1\nSphere 0.5 -0.5 0.5 360\nTranslate 0 0 0.5\nCone 0.6 0.3 360\nObjectEnd\n";
    for i in 0..12 {
        let angle = f64::from(i) * 0.55;
        let (x, z) = (2.6 * angle.cos(), 2.0 * angle.sin());
        let red = 0.2 + 0.06 * f64::from(i);
        text += &format!(
            "AttributeBegin\nColor [{red} 0.4 0.7]\nTranslate {x} -0.4 {z}\nRotate {} 1 0.4 0\nObjectInstance 1\nAttributeEnd\n",
            30 * i
        );
    }
    text += "Color [0.8 0.7 0.3]\nTorus 1 0.3 0 360 360\nColor [0.3 0.8 0.3]\nBasis \"bezier\" 3 \"bezier\" 3\n";
    for i in 0..40 {
        let x = -3.0 + 0.15 * f64::from(i);
        text += &format!(
            "Curves \"cubic\" [4] \"nonperiodic\" \"P\" [{x} -1.1 -2  {x} -0.6 -2  {} -0.3 -2  {} 0 -2.2] \"varying float width\" [0.05 0.01]\n",
            x + 0.1,
            x + 0.4
        );
    }
    text + "WorldEnd\n"
}

/// Solids deep in each other, one half opaque, one opaque and displaced.
fn solids() -> String {
    let ball = |x: f64, y: f64, z: f64| {
        format!(
            "SolidBegin \"primitive\"\nTransformBegin\nTranslate {x} {y} {z}\nSphere 0.8 -0.8 0.8 360\nTransformEnd\nSolidEnd\n"
        )
    };
    let body = |y: f64| {
        let balls: String = (0..6).map(|i| ball(0.5 * f64::from(i) - 1.2, y, 0.3 * f64::from(i) - 0.8)).collect();
        let lens = format!("SolidBegin \"intersection\"\n{}{}SolidEnd\n", ball(0.2, y, -0.6), ball(-0.2, y, -0.4));
        format!("SolidBegin \"difference\"\nSolidBegin \"union\"\n{balls}SolidEnd\n{lens}SolidEnd\n")
    };
    let displaced =
        "Displacement \"lumps\"\nAttribute \"displacementbound\" \"sphere\" [0.12] \"coordinatesystem\" [\"camera\"]\n";
    let opaque = format!("Surface \"plastic\"\n{displaced}{}", body(1.4));
    let clear = format!("Opacity [0.4 0.5 0.6]\n{}", body(-0.4));
    format!("AttributeBegin\n{opaque}AttributeEnd\nAttributeBegin\n{clear}AttributeEnd\n")
}

/// Layers behind layers.
fn translucent() -> String {
    // Narrow curves are as wide as a pixel, and so translucent.
    let mut text = HEADER.replace("WorldBegin", "Option \"hair\" \"minwidth\" 1\nWorldBegin");
    text += "Surface \"matte\"\nCurves \"cubic\" [4] \"nonperiodic\" \"Pw\" [-2 -1 -2 1  -1 1 -2 1  2 2 -4 2  2 -1 -2 1] \"constantwidth\" 0.01\n";
    text += "Color [0.7 0.7 0.7]\nPatch \"bilinear\" \"P\" [-6 -2 4  6 -2 4  -6 4 4  6 4 4]\nSurface \"spots\"\n";
    for i in 0..14 {
        let angle = f64::from(i) * 0.9;
        let (x, y, z) = (1.4 * angle.cos(), 1.1 * angle.sin(), 0.25 * f64::from(i) - 2.0);
        text += &format!(
            "AttributeBegin\nColor [{} 0.5 {}]\nOpacity [0.5 0.6 0.7]\nTranslate {x} {y} {z}\nSphere 0.9 -0.9 0.9 360\nAttributeEnd\n",
            0.07 * f64::from(i),
            1.0 - 0.07 * f64::from(i),
        );
    }
    text += TRIMMED;
    text += SUBDIVIDED;
    text += &solids();
    text += "Surface \"constant\"\nOpacity [0.3 0.3 0.3]\nPoints \"P\" [";
    for i in 0..60 {
        let part = |k: f64| (f64::from(i) * k).fract() * 4.0 - 2.0;
        text += &format!("{} {} {} ", part(0.618), part(0.755), part(0.419));
    }
    text + "] \"constantwidth\" [0.5]\nWorldEnd\n"
}

/// Things of every kind that move, out of focus; some translucent, some displaced.
fn blurred() -> String {
    let mut text =
        HEADER.replace("WorldBegin", "MotionBegin [0 1]\nTranslate 0 0 0\nTranslate 0.1 0 -0.2\nMotionEnd\nWorldBegin");
    text = format!(
        "Shutter 0 1\nDepthOfField 4 1.5 8\nOption \"shutter\" \"shutteropening\" [0.3 0.8]\n\
         Hider \"hidden\" \"aperture\" [5 10 0.3 0.2]\n{text}"
    );
    text += "Surface \"plastic\"\nColor [0.5 0.6 0.4]\nPatch \"bilinear\" \"P\" [-6 -1.2 -3  6 -1.2 -3  -6 -1.2 9  6 -1.2 9]\n";
    text += "ObjectBegin 1\nSphere 0.5 -0.5 0.5 360\nObjectEnd\n";
    text += "GeometricApproximation \"motionfactor\" 3\nGeometricApproximation \"focusfactor\" 2\n";
    for i in 0..8 {
        let angle = f64::from(i) * 0.8;
        let (x, z, next) = (2.4 * angle.cos(), 2.0 * angle.sin(), 2.4 * angle.cos() + 0.5);
        text += &format!(
            "AttributeBegin\nColor [0.{i} 0.4 0.7]\nMotionBegin [0 0.4 1]\nTranslate {x} -0.4 {z}\nTranslate {next} -0.2 {z}\nTranslate {next} 0.2 {z}\nMotionEnd\n"
        );
        text += if i % 3 == 0 { "Surface \"spots\"\nOpacity [0.5 0.6 0.7]\n" } else { "" };
        text += "MotionBegin [0 1]\nRotate 0 1 0.4 0\nRotate 200 1 0.4 0\nMotionEnd\nObjectInstance 1\nAttributeEnd\n";
    }
    text += "Displacement \"lumps\"\nAttribute \"displacementbound\" \"sphere\" [0.12] \"coordinatesystem\" [\"camera\"]\nColor [0.8 0.7 0.3]\n\
        MotionBegin [0 1]\nTorus 1 0.3 0 360 360\nTorus 1.2 0.2 0 360 360\nMotionEnd\nDisplacement \"null\"\nBasis \"bezier\" 3 \"bezier\" 3\n";
    for i in 0..12 {
        let x = -3.0 + 0.5 * f64::from(i);
        let curve = |x: f64| {
            format!(
                "Curves \"cubic\" [4] \"nonperiodic\" \"P\" [{x} -1.1 -2  {x} -0.6 -2  {x} -0.3 -2  {x} 0 -2.2] \"constantwidth\" [0.05]\n"
            )
        };
        text += &format!("MotionBegin [0 1]\n{}{}MotionEnd\n", curve(x), curve(x + 0.2));
    }
    let blob = |y: f64| {
        let unit = "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1";
        format!(
            "Blobby 2 [1001 0 1002 16 0 2 0 1] [1.2 0 0 0 0 .8 0 0 0 0 .9 0 -1.5 {y} 0 1  -1 2 0 .5 2 {y} .5 {unit}] [\"\"]\n"
        )
    };
    text += &format!("MotionBegin [0 1]\n{}{}MotionEnd\n", blob(1.9), blob(1.95));
    text + "WorldEnd\n"
}

/// Writes a texture of 8-bit noise with the program.
pub(crate) fn make_texture(folder: &Path, name: &str, [width, height]: [u32; 2]) {
    let noise = |i: u32| (i.wrapping_mul(2_654_435_761) ^ (i >> 7).wrapping_mul(40_503)).to_be_bytes()[0];
    // Targa: its header, then rows of 24 bits a pixel.
    let [[w0, w1, ..], [h0, h1, ..]] = [width, height].map(u32::to_le_bytes);
    let mut bytes = vec![0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, w0, w1, h0, h1, 24, 0x20];
    bytes.extend((0..3 * width * height).map(noise));
    let picture = folder.join("noise.tga");
    std::fs::write(&picture, bytes).expect("writable");
    let mut command = Command::new(env!("CARGO_BIN_EXE_anthill"));
    let made = command.current_dir(folder).args(["texture", "make", "noise.tga", "-o", name]).output();
    assert!(made.expect("the binary runs").status.success(), "{name} cannot be made");
    std::fs::remove_file(picture).expect("it was written");
}

/// Textures that shaders look up anywhere, an environment, and a light that draws its own shadow map.
fn textured() -> String {
    let lights = HEADER.replace(
        "LightSource \"distantlight\" 2",
        "Attribute \"light\" \"string shadows\" \"on\"\nAttribute \"autoshadows\" \"int[2] res\" [96 96]\n\
         LightSource \"distantlight\" 2",
    );
    let lights = lights.replace(
        "LightSource \"pointlight\" 3",
        "Attribute \"light\" \"string shadows\" \"off\"\nLightSource \"pointlight\" 3",
    );
    format!(
        "MakeLatLongEnvironment \"large.tx\" \"sky.env\" \"box\" 1 1\n{lights}Surface \"grain\" \"string map\" \"large.tx\"\n\
         Patch \"bilinear\" \"P\" [-6 -1.2 -3  6 -1.2 -3  -6 -1.2 9  6 -1.2 9]\n\
         Displacement \"dented\" \"string map\" \"large.tx\"\n\
         Attribute \"displacementbound\" \"sphere\" [0.2] \"coordinatesystem\" [\"camera\"]\n\
         Sphere 1 -1 1 360\nDisplacement \"null\"\nOpacity [0.5 0.6 0.7]\nTranslate -2 0 1\nTorus 1 0.4 0 360 360\nWorldEnd\n"
    )
}

/// How a scene is drawn.
struct Way {
    name: &'static str,
    flags: &'static [&'static str],
    aids: &'static [(&'static str, &'static str)],
}

const fn way(name: &'static str, flags: &'static [&'static str], aids: &'static [(&'static str, &'static str)]) -> Way {
    Way { name, flags, aids }
}

/// Some are drawn under validation, others as users draw: devices then open side by side, and passes whose order does
/// not matter run at once.
const WAYS: [Way; 10] = [
    way("one device", &["--devices", "0", "--validate"], &[]),
    way(
        "all at once",
        &["--devices", "0,0", "--memory", "192M"],
        &[("ANTHILL_PERTURB", "3"), ("ANTHILL_PAGE_KIB", "1024")],
    ),
    way(
        "tiny pages, binned and fused",
        &["--devices", "0", "--pipeline", "batches-binned-fused", "--validate"],
        &[("ANTHILL_PAGE_KIB", "16"), ("ANTHILL_RECALL", "100000")],
    ),
    way(
        "the same device twice, binned",
        &["--devices", "0,0", "--pipeline", "one-batch-binned", "--validate"],
        &[("ANTHILL_RECALL", "500")],
    ),
    way("little memory, expanded", &["--devices", "0", "--memory", "256M", "--pipeline", "batches-expanded"], &[]),
    way("small pages, fused", &["--devices", "0", "--pipeline", "batches-fused"], &[("ANTHILL_PAGE_KIB", "1024")]),
    way("perturbed, shaded first", &["--devices", "0,0", "--pipeline", "shade-first"], &[("ANTHILL_PERTURB", "1")]),
    way(
        "perturbed otherwise, on three",
        &["--devices", "0,0,0"],
        &[("ANTHILL_PERTURB", "2"), ("ANTHILL_RECALL", "300")],
    ),
    way(
        "buckets, expanded",
        &["--devices", "0", "--pipeline", "buckets-expanded", "--validate"],
        &[("ANTHILL_RECALL", "100000")],
    ),
    way("lost and opened again", &["--devices", "0", "--validate"], &[("ANTHILL_FAULT", "lost:0:8")]),
];

/// The first of them, which are enough where kernels are mutants (docs/test-aids.md): they differ in roundings only.
const WAYS_OF_MUTANTS: usize = 3;

/// 256 slots at 4 MiB are fewer than the tiles that are looked up.
const TEXTURED_WAYS: [Way; 7] = [
    way("64 MiB", &["--devices", "0", "--texture-memory", "64M", "--validate"], &[]),
    way("4 MiB", &["--devices", "0", "--texture-memory", "4M"], &[]),
    way("8 MiB, twice", &["--devices", "0,0", "--texture-memory", "8M"], &[("ANTHILL_RECALL", "100000")]),
    way("1 GiB, three times", &["--devices", "0,0,0", "--texture-memory", "1G"], &[]),
    way("4 MiB, perturbed", &["--devices", "0,0", "--texture-memory", "4M"], &[("ANTHILL_PERTURB", "1")]),
    way("64 MiB, perturbed", &["--devices", "0,0,0", "--texture-memory", "64M"], &[("ANTHILL_PERTURB", "2")]),
    way("4 MiB, lost", &["--devices", "0", "--texture-memory", "4M", "--validate"], &[("ANTHILL_FAULT", "lost:0:30")]),
];

/// The files that a scene may have as outputs.
const OUTPUTS: [&str; 3] = ["a.exr", "n.exr", "d.dshad"];

/// Draws the scene of a folder; what was said.
fn render(folder: &Path, way: &Way) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_anthill"));
    command.current_dir(folder).args([
        "render",
        "a.rib",
        "--format",
        "160",
        "120",
        "--stats",
        "stats.json",
        "--progress",
        "off",
    ]);
    let output =
        optimise_kernels(&mut command).args(way.flags).envs(way.aids.iter().copied()).stdin(Stdio::null()).output();
    let output = output.expect("the binary runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("[validation]"), "{}: {said}", way.name);
    said.into_owned()
}

/// The files, and the statistics.
fn draw(folder: &Path, way: &Way, outputs: &[&str]) -> (Vec<Vec<u8>>, serde_json::Value) {
    render(folder, way);
    let file = |name: &str| std::fs::read(folder.join(name)).unwrap_or_else(|e| panic!("{}: {name}: {e}", way.name));
    let stats = serde_json::from_slice(&file("stats.json")).expect("JSON");
    (outputs.iter().map(|name| file(name)).collect(), stats)
}

fn the_same_bytes_every_way(scene: &str) {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let aids = std::env::var("ANTHILL_AS_GPU").unwrap_or_default();
    let mutates = aids.split(',').any(|aid| aid.parse::<Mutant>().is_ok());
    the_same_bytes(folder.path(), scene, if mutates { &WAYS[..WAYS_OF_MUTANTS] } else { &WAYS });
}

/// Draws a scene in a folder in all ways; the statistics of each.
fn the_same_bytes(folder: &Path, scene: &str, ways: &[Way]) -> Vec<serde_json::Value> {
    std::fs::write(folder.join("a.rib"), scene).expect("writable");
    for (name, text) in SHADERS {
        std::fs::write(folder.join(format!("{name}.sl")), text).expect("writable");
    }
    let outputs: Vec<_> = OUTPUTS.into_iter().filter(|name| scene.contains(name)).collect();
    let (reference, stats) = draw(folder, &ways[0], &outputs);
    assert_eq!(stats["warnings"].as_array().map(Vec::len), Some(0), "{}", stats["warnings"]);
    let mut all = vec![stats];
    for way in &ways[1..] {
        let (files, stats) = draw(folder, way, &outputs);
        for (k, name) in outputs.iter().enumerate() {
            assert!(files[k] == reference[k], "{}: {name} differs", way.name);
        }
        let devices = stats["devices"].as_array().expect("a list");
        let sum = |key: &str| devices.iter().filter_map(|device| device[key].as_u64()).sum::<u64>();
        let has = |aid: &str| way.aids.iter().any(|(name, _)| *name == aid);
        assert_eq!(sum("reopened"), u64::from(has("ANTHILL_FAULT")), "{}", way.name);
        let recalled = stats["recalled_regions"].as_u64().expect("a count");
        let recalls = has("ANTHILL_RECALL") && !outputs.contains(&"d.dshad");
        assert_eq!(recalled > 0, recalls, "{}: {recalled} regions were recalled", way.name);
        if has("ANTHILL_PERTURB") {
            assert!(sum("regions") >= 16, "{}: {} regions", way.name, sum("regions"));
            assert!(sum("stolen") >= 1, "{}: nothing was stolen", way.name);
        }
        all.push(stats);
    }
    all
}

#[test]
fn an_opaque_scene_is_the_same_bytes_every_way() {
    the_same_bytes_every_way(&opaque());
}

/// Midpoints of layers beside their colours: opaque ones drawn in half of the ways, translucent ones in the others.
#[test]
fn depths_between_surfaces_are_the_same_bytes_every_way() {
    let midpoints =
        "Hider \"hidden\" \"depthfilter\" \"midpoint\"\nOption \"limits\" \"color zthreshold\" [0.55 0.55 0.55]\n";
    let (some, others) = WAYS.split_at(WAYS.len() / 2);
    for (scene, ways) in [(opaque(), some), (translucent(), others)] {
        let with_depth = scene.replace("+n.exr\" \"exr\" \"varying normal N\"", "+n.exr\" \"zfile\" \"z\"");
        let folder = tempfile::tempdir().expect("a temporary directory");
        the_same_bytes(folder.path(), &format!("{midpoints}{with_depth}"), ways);
    }
}

/// With its layers as a deep shadow map has them.
#[test]
fn a_translucent_scene_is_the_same_bytes_every_way() {
    let deep = "Display \"+d.dshad\" \"deepshad\" \"deepopacity\"\nDisplay \"+n.exr\"";
    the_same_bytes_every_way(&translucent().replace("Display \"+n.exr\"", deep));
}

#[test]
fn a_moving_scene_out_of_focus_is_the_same_bytes_every_way() {
    the_same_bytes_every_way(&blurred());
}

#[test]
fn a_scene_with_textures_is_the_same_bytes_every_way() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    make_texture(folder.path(), "large.tx", [1024, 1024]);
    let stats = the_same_bytes(folder.path(), &textured(), &TEXTURED_WAYS);
    let misses = |way: usize| stats[way]["texture"]["misses"].as_u64().expect("a count");
    assert!(misses(1) > misses(0) && misses(0) > 256, "{} misses at 4 MiB, {} at 64", misses(1), misses(0));
}
