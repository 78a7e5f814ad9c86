//! Shading programs cut into passes leave the same bytes: the picture, what is baked, and what is printed.

use super::{HEADER, Way, draw, make_texture, render, way};
use std::path::Path;

/// Textures that depend on each other, derivatives, lights, loops (one of them longer than a dispatch where the picture
/// is dark), arrays, points that are baked and lines that are printed.
const LAYERED: &str = "surface layered(string map = \"\"; float dark = 0;) {
    normal n = faceforward(normalize(N), I);
    float i, sum = 0, parts[3];
    float a = float texture(map, s, t), b = float texture(map, s + 0.3 * a, t - 0.2 * a);
    point w = transform(\"world\", P);
    bake3d(\"points.ply\", \"\", P, N, \"a\", a, \"c\", color(a, b, noise(4 * w)));
    for (i = 0; i < 6; i += 1) { sum += abs(2 * float noise(w * (1 + i) + b) - 1) / (1 + i); parts[mod(i, 3)] += sum; }
    if (parts[1] > 2.3) sum += Du(sum) * 0.01 + abs(Dv(b));
    float trips = 3 + 7 * b, left = 0;
    if (dark > 0) trips = 30000 + floor(9000 * s);
    for (i = 0; i < trips; i += 1) left = mod(left + 3, 7);
    if (u == 0 && v == 0) printf(\"%f %f\\n\", sum, left);
    if (b > 0.4) left += float texture(map, b, 3 * t + 0.1 * float noise(9 * w)); else left -= float texture(map, t, a);
    if (dark > 0) { float near = s * (1 + b); left *= float texture(map, near, t); }
    color lit = ambient() + diffuse(n) + 0.4 * specular(n, normalize(-I), 0.1 + 0.05 * b);
    float c = float texture(map, left / 7 + s, 2 * t + 0.1 * sum);
    if (u == 0 && v == 0) for (i = 0; i < 2; i += 1) printf(\"%f %f\\n\", c, i);
    Oi = Os * mix(0.5, 1, smoothstep(0.2, 0.8, c));
    Ci = Oi * (Cs * lit * (0.4 + c) + 0.1 * color(parts[0], parts[1], parts[2]) + color noise(w * (3 + c)) * 0.2);
    if (u == 1 && v == 1) printf(\"last %c\\n\", Ci);
}";

const BENT: &str = "displacement bent(string map = \"\";) {
    float a = float texture(map, s, t);
    float b = float noise(5 * transform(\"shader\", P) + a);
    P += 0.1 * (a + b) * normalize(N);
    N = calculatenormal(P);
}";

fn scene() -> String {
    format!(
        "{HEADER}Surface \"layered\" \"string map\" \"map.tx\"\n\
         AttributeBegin\nDisplacement \"bent\" \"string map\" \"map.tx\"\n\
         Attribute \"displacementbound\" \"sphere\" [0.3] \"coordinatesystem\" [\"camera\"]\n\
         Sphere 1.2 -1.2 1.2 360\nAttributeEnd\n\
         AttributeBegin\nOpacity [0.6 0.7 0.8]\nTranslate -2.2 0.4 0.5\nTorus 0.9 0.35 0 360 360\nAttributeEnd\n\
         Surface \"layered\" \"string map\" \"map.tx\" \"dark\" 1\n\
         Patch \"bilinear\" \"P\" [1.7 -0.9 -2  2.9 -0.9 -2  1.7 0.9 -2  2.9 0.9 -2]\nWorldEnd\n"
    )
}

const WAYS: [Way; 10] = [
    way("whole", &["--devices", "0", "--validate"], &[("ANTHILL_PASSES", "1")]),
    way("as is usual", &["--devices", "0"], &[]),
    way("2 passes", &["--devices", "0", "--validate"], &[("ANTHILL_PASSES", "2")]),
    way("5 passes", &["--devices", "0", "--validate"], &[("ANTHILL_PASSES", "5")]),
    way("5 passes, two devices", &["--devices", "0,0"], &[("ANTHILL_PASSES", "5"), ("ANTHILL_PERTURB", "1")]),
    way(
        "5 passes, little memory",
        &["--devices", "0", "--memory", "192M", "--texture-memory", "4M"],
        &[("ANTHILL_PASSES", "5")],
    ),
    way("2 passes, lost", &["--devices", "0"], &[("ANTHILL_PASSES", "2"), ("ANTHILL_FAULT", "lost:0:20")]),
    way("calls", &["--devices", "0", "--validate"], &[("ANTHILL_PASSES", "calls")]),
    way(
        "calls, little memory",
        &["--devices", "0,0", "--memory", "192M", "--texture-memory", "4M"],
        &[("ANTHILL_PASSES", "calls")],
    ),
    way("many passes", &["--devices", "0", "--pipeline", "shade-first"], &[("ANTHILL_PASSES", "40")]),
];

/// The picture, the points, and the lines.
fn outputs(folder: &Path, way: &Way) -> (Vec<Vec<u8>>, Vec<String>) {
    let said = render(folder, way);
    let printed = said.lines().filter(|line| line.contains("[printf]")).map(str::to_owned).collect();
    let files = ["a.exr", "points.ply"].map(|name| std::fs::read(folder.join(name)).expect("it was written"));
    (files.into(), printed)
}

#[test]
fn programs_cut_into_passes_leave_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let folder = folder.path();
    make_texture(folder, "map.tx", [256, 256]);
    std::fs::write(folder.join("a.rib"), scene()).expect("writable");
    for (name, text) in [("layered.sl", LAYERED), ("bent.sl", BENT)] {
        std::fs::write(folder.join(name), text).expect("writable");
    }
    let (files, printed) = outputs(folder, &WAYS[0]);
    assert!(printed.len() > 12, "{printed:?}");
    for way in &WAYS[1..] {
        let (others, lines) = outputs(folder, way);
        assert_eq!(lines, printed, "{}", way.name);
        for (name, (file, other)) in ["the picture", "the points"].into_iter().zip(files.iter().zip(&others)) {
            assert!(file == other, "{}: {name} differ", way.name);
        }
    }
}

/// Lookups of which each needs the one before it, in a texture of its own.
fn chained(levels: usize) -> String {
    let lookups: String =
        (0..levels).map(|n| format!("a = float texture(\"m{n}.tx\", s + a, t - {n} * a);\n")).collect();
    format!("surface chained() {{ float a = 0; {lookups} Ci = color(a, s, t); }}")
}

/// What runs again after a miss begins with the lookup that missed: all passes before it stand.
#[test]
fn a_miss_repeats_the_lookup_that_missed() {
    const LEVELS: usize = 9;
    let folder = tempfile::tempdir().expect("a temporary directory");
    let folder = folder.path();
    make_texture(folder, "m0.tx", [512, 512]);
    for level in 1..LEVELS {
        std::fs::copy(folder.join("m0.tx"), folder.join(format!("m{level}.tx"))).expect("writable");
    }
    std::fs::write(folder.join("chained.sl"), chained(LEVELS)).expect("writable");
    let scene =
        format!("{HEADER}Surface \"chained\"\nPatch \"bilinear\" \"P\" [-2 -2 1  2 -2 1  -2 2 1  2 2 1]\nWorldEnd\n");
    std::fs::write(folder.join("a.rib"), scene).expect("writable");
    let aids: [&[(&str, &str)]; 3] = [
        &[("ANTHILL_PASSES", "1"), ("ANTHILL_UNROLLED", "1")],
        &[("ANTHILL_PASSES", "calls"), ("ANTHILL_UNROLLED", "1")],
        &[("ANTHILL_PASSES", "5"), ("ANTHILL_UNROLLED", "1")],
    ];
    let flags = &["--devices", "0", "--validate", "--texture-memory", "4M"];
    let drawn = aids.map(|aids| draw(folder, &way("chained", flags, aids), &["a.exr"]));
    for ((files, stats), (aids, passes)) in drawn.iter().zip(aids.iter().zip([1, 2 * LEVELS + 1, 5])) {
        let loss = &stats["texture_loss"];
        assert!(*files == drawn[0].0, "{aids:?}: {loss}");
        let [submissions, repeated] = ["submissions", "repeated_passes"].map(|name| loss[name].as_u64());
        // The first run of a load is repeated as a whole, if its tiles were all named before.
        let most = submissions.map(|submissions| 3 * passes as u64 + submissions);
        assert!(submissions > Some(3) && repeated <= most, "{aids:?}: {loss}");
    }
    let calls = &drawn[1].1["texture_loss"];
    let [submissions, repeated] = ["submissions", "repeated_passes"].map(|name| calls[name].as_u64().unwrap_or(0));
    assert!(3 * repeated < submissions * (2 * LEVELS as u64 + 1), "{calls}");
}
