//! Loops of far more trips than an invocation makes in a dispatch, in programs of every kind.

use super::{assert_near, draw_with};

/// The place of 0, 3, 6, ... modulo 7 after so many steps, an eighth each.
fn wanted(trips: u32) -> f32 {
    (trips % 7 * 3 % 7) as f32 / 8.0
}

const COUNT: &str = "float count(uniform float first; float trips;)
{
    float i, n = first;
    for (i = 0; i < trips; i += 1) n = mod(n + 3, 7);
    return n / 8;
}
";

fn square(objects: &str, options: &str) -> String {
    format!(
        "Format 16 16 1\nPixelSamples 1 1\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgba\"\n{options}\n\
         ScreenWindow -1 1 -1 1\nWorldBegin\n{objects}\nTranslate 0 0 4\n\
         Polygon \"P\" [-1 1 0 1 1 0 1 -1 0 -1 -1 0]\nWorldEnd\n"
    )
}

#[test]
fn surfaces_count_to_the_end() {
    // The columns differ, so that some points end long before others of their grid.
    let shader = format!(
        "{COUNT}surface far() {{
            uniform float ends[4] = {{ 5, 40000, 99999, 123456 }};
            float seen[2] = {{ 0, 0 }};
            float column = clamp(floor(2 * xcomp(P) + 2), 0, 3), i, k = 0, steps = ends[column];
            for (i = 0; i < steps; i += 1) {{ seen[mod(i, 2)] += 1; k = 1 - k; }}
            Ci = color(count(0, steps), k, seen[0] - seen[1]);
        }}"
    );
    let scene = draw_with(&[("far.sl", &shader)], &square("Surface \"far\"", ""));
    let picture = scene.clean("a.exr");
    for (x, trips) in [(1, 5), (5, 40_000), (9, 99_999), (14, 123_456)] {
        let odd = (trips % 2) as f32;
        assert_near(picture.rgb(x, 8), [wanted(trips), odd, odd]);
    }
}

#[test]
fn loops_of_branches_that_are_not_taken_do_not_run() {
    // They would never end. The derivative makes the whole workgroup come by.
    let shader = "surface some(float step = 0;) {
        float x, sum = 0, own = max(sign(xcomp(P)), 0);
        if (own > 0) for (x = 0; x < 4; x += own) sum += 1 + min(abs(Du(x * u)), 0);
        if (step > 0) for (x = 0; x < 4; x += step) sum += 1 + min(abs(Du(x * u)), 0);
        Ci = sum / 8;
    }";
    let scene = draw_with(&[("some.sl", shader)], &square("Surface \"some\"", ""));
    let picture = scene.clean("a.exr");
    assert_near(picture.rgb(4, 8), [0.0; 3]);
    assert_near(picture.rgb(12, 8), [0.5; 3]);
}

#[test]
fn displacements_opacities_and_lights_count_to_the_end() {
    // 100,000 trips are 5/7 of a round: 15 modulo 7 is 1.
    assert_eq!(wanted(100_000), 0.125);
    let shaders = [
        (
            "up.sl",
            format!("{COUNT}displacement up() {{ P += vector(0, 16 * count(0, 100000 - abs(u) / 2) - 2, -1); }}"),
        ),
        ("veil.sl", format!("{COUNT}surface veil() {{ Oi = 2 * count(0, 100000 - abs(u) / 2); Ci = Oi * Cs; }}")),
        (
            "lamp.sl",
            format!("{COUNT}light lamp() {{ solar(vector(0, 0, 1), 0) Cl = 8 * count(0, 50 + abs(xcomp(Ps))); }}"),
        ),
        (
            "lit.sl",
            "surface lit() {
                float t; color sum = 0;
                for (t = 0; t < 1024.5 + u / 4; t += 1) illuminance(P, vector(0, 0, -1), PI) sum += Cl / 1025;
                Ci = sum;
            }"
            .to_string(),
        ),
    ];
    let shaders: Vec<(&str, &str)> = shaders.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let bound = "Attribute \"displacementbound\" \"sphere\" [3]\n";
    let moved = draw_with(
        &shaders,
        &square(&format!("{bound}Displacement \"up\"\nSurface \"constant\""), "Display \"+$DIR/z.exr\" \"exr\" \"z\""),
    );
    let depth = moved.clean("z.exr");
    assert_near([depth.at("Z", 4, 4), depth.at("Z", 8, 12), depth.at("Z", 15, 0)], [3.0; 3]);
    let veil = draw_with(&shaders, &square("Color 1 0.5 0.25\nSurface \"veil\"", ""));
    assert_near(veil.clean("a.exr").rgb(7, 7), [0.25, 0.125, 0.0625]);
    let both = draw_with(&shaders, &square(&format!("{bound}Displacement \"up\"\nSurface \"veil\""), ""));
    assert_near(both.clean("a.exr").rgb(3, 11), [0.25; 3]);
    let lit = draw_with(&shaders, &square("LightSource \"lamp\" 1\nSurface \"lit\"", ""));
    let picture = lit.clean("a.exr");
    // 1025 times 51 trips.
    assert_near(picture.rgb(2, 2), [8.0 * wanted(51); 3]);
}

#[test]
fn imagers_count_to_the_end() {
    let shader = format!(
        "{COUNT}imager far() {{ Ci = color(count(0, 1000 * floor(xcomp(P))), count(0, 100000), 1); Oi = 1; alpha = 1; }}"
    );
    let scene = draw_with(&[("far.sl", &shader)], &square("Surface \"constant\"", "Imager \"far\""));
    let picture = scene.clean("a.exr");
    for x in [0, 3, 15] {
        assert_near(picture.rgb(x, 5), [wanted(1000 * x as u32), wanted(100_000), 1.0]);
    }
}
