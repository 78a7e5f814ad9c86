//! Kernels that have only the sides of branches which their objects take leave the same bytes as one with all sides.

use super::{HEADER, Way, make_texture, render, way};
use std::path::Path;

/// Modes with derivatives, textures that depend on each other, lights, long loops, arrays, points that are baked and
/// lines that are printed, in branches of numbers and of texts.
const MODAL: &str = "surface modal(string map = \"\", kind = \"\"; float mode = 0, deep = 0;) {
    normal n = faceforward(normalize(N), I);
    point w = transform(\"shader\", P);
    float i, sum = 0, parts[3], left = 0, exponent = 1.5;
    color tint = Cs;
    if (mode == 0) {
        sum = noise(4 * w); tint *= 1 + 0.1 * color(Du(sum), Dv(sum), sum);
    } else if (mode == 1) {
        float a = float texture(map, s, t), b = float texture(map, s + 0.3 * a, t - 0.2 * a);
        sum = a + b; bake3d(\"points.ply\", \"\", P, N, \"a\", a, \"c\", color(a, b, noise(4 * w)));
    } else if (mode == 2) {
        for (i = 0; i < 6; i += 1) {
            sum += abs(2 * float noise(w * (1 + i)) - 1) / (1 + i); parts[mod(i, 3)] += sum;
            if (deep > 0 && sum > 1) sum += Du(noise(w * i)) * 0.01;
        }
        tint = mix(tint, color(parts[0], parts[1], parts[2]), 0.4);
    } else if (mode == 3) {
        float trips = 30000 + floor(9000 * s);
        for (i = 0; i < trips; i += 1) left = mod(left + 3, 7);
        sum = left / 7; exponent = 2;
    } else {
        sum = 0.5; exponent = s;
    }
    if (deep > 0) n = normalize(n + 0.2 * normalize(calculatenormal(P + 0.1 * noise(7 * w) * n)));
    if (match(\"bright\", kind)) tint *= sqrt(comp(tint, 0)) + 0.1 * pow(noise(9 * w + sum), exponent);
    else if (kind == \"glass\") Oi = Os * (0.3 + 0.4 * noise(5 * w));
    if (kind != \"glass\") Oi = Os;
    if (u == 0 && v == 0) printf(\"%f %f %f\\n\", mode, sum, pow(0.3, exponent) + sin(exponent));
    if (mode > 2 && u == 1 && v == 1) printf(\"last %c\\n\", tint);
    Ci = Oi * tint * (ambient() + diffuse(n) + 0.4 * specular(n, normalize(-I), 0.1)) + 0.1 * Oi * pow(sum, exponent);
}";

const BENT: &str = "displacement bent(string map = \"\"; float way = 0;) {
    float a = 0;
    if (way == 1) a = float texture(map, s, t);
    else if (way == 2) { a = noise(5 * transform(\"shader\", P)); a += 0.1 * Du(a); }
    if (way > 0) { P += 0.1 * a * normalize(N); N = calculatenormal(P); }
}";

const GRADE: &str = "imager grade(float mode = 1;) {
    if (mode == 1) { float n = noise(P / 8); Ci = Ci * (0.8 + 0.2 * n) + 0.02 * Du(n); }
    else if (mode == 2) Ci = 1 - Ci;
}";

/// Objects of all modes; one of patches that differ in their modes, one on which the mode varies.
fn scene() -> String {
    let header = HEADER.replace("WorldBegin\n", "Imager \"grade\"\nWorldBegin\n");
    let mut text =
        format!("{header}Attribute \"displacementbound\" \"sphere\" [0.2] \"coordinatesystem\" [\"camera\"]\n");
    for number in 0..18 {
        let (mode, way, kind) = (number % 6, number % 4, ["", "bright", "glass", "x"][number % 4]);
        let (x, y) = ((number % 6) as f32 - 2.5, 1.2 * (number / 6) as f32 - 0.8);
        text += &format!(
            "AttributeBegin\nSurface \"modal\" \"string map\" \"map.tx\" \"float mode\" [{mode}] \"float deep\" [{}] \"string kind\" [\"{kind}\"]\n\
             Displacement \"bent\" \"string map\" \"map.tx\" \"float way\" [{way}]\nTranslate {x} {y} 0\nSphere 0.45 -0.45 0.45 360\nAttributeEnd\n",
            number / 9
        );
    }
    text += "Surface \"modal\" \"string map\" \"map.tx\"\n\
        PatchMesh \"bilinear\" 3 \"nonperiodic\" 2 \"nonperiodic\" \"P\" [-3 -1.5 1  0 -1.5 1  3 -1.5 1  -3 -2 -1  0 -2 -1  3 -2 -1] \
        \"uniform float mode\" [0 2]\n\
        Patch \"bilinear\" \"P\" [-3 2.5 1  3 2.5 1  -3 2 1  3 2 1] \"varying float mode\" [0 1 2 4]\nWorldEnd\n";
    text
}

const WAYS: [Way; 6] = [
    way("one kernel for all", &["--devices", "0", "--validate"], &[("ANTHILL_UNDECIDED", "1")]),
    way("as is usual", &["--devices", "0", "--validate"], &[]),
    way("two devices", &["--devices", "0,0"], &[("ANTHILL_PERTURB", "1")]),
    way("in passes", &["--devices", "0"], &[("ANTHILL_PASSES", "3")]),
    way("little memory, lost", &["--devices", "0", "--memory", "192M"], &[("ANTHILL_FAULT", "lost:0:20")]),
    way("one kernel in passes", &["--devices", "0"], &[("ANTHILL_UNDECIDED", "1"), ("ANTHILL_PASSES", "2")]),
];

/// The picture, the points, and the lines.
fn outputs(folder: &Path, way: &Way) -> (Vec<Vec<u8>>, Vec<String>) {
    let said = render(folder, way);
    let printed = said.lines().filter(|line| line.contains("[printf]")).map(str::to_owned).collect();
    let files = ["a.exr", "points.ply"].map(|name| std::fs::read(folder.join(name)).expect("it was written"));
    (files.into(), printed)
}

#[test]
fn kernels_for_what_objects_decide_leave_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let folder = folder.path();
    make_texture(folder, "map.tx", [256, 256]);
    std::fs::write(folder.join("a.rib"), scene()).expect("writable");
    for (name, text) in [("modal.sl", MODAL), ("bent.sl", BENT), ("grade.sl", GRADE)] {
        std::fs::write(folder.join(name), text).expect("writable");
    }
    let (files, printed) = outputs(folder, &WAYS[0]);
    assert!(!printed.is_empty(), "nothing is printed");
    for way in &WAYS[1..] {
        let (others, lines) = outputs(folder, way);
        assert_eq!(lines, printed, "{}", way.name);
        for (name, (file, other)) in ["the picture", "the points"].into_iter().zip(files.iter().zip(&others)) {
            assert!(file == other, "{}: {name} differ", way.name);
        }
    }
}
