//! `printf`: lines come in the order of objects, primitives and points, once each, and not without end.

use super::{RenderedScene, draw_with};

fn draw_shaders(shaders: &[(&str, &str)], objects: &str) -> RenderedScene {
    draw_with(
        shaders,
        &format!(
            "Format 32 32 1\nPixelSamples 1 1\nPixelFilter \"box\" 1 1\nDisplay \"$DIR/a.exr\" \"exr\" \"rgb\"\n\
             ScreenWindow -1 1 -1 1\nWorldBegin\n{objects}\nWorldEnd\n"
        ),
    )
}

/// A square of half the picture's width, from `x` on.
fn half(x: i32, z: i32) -> String {
    let right = x + 1;
    format!("Patch \"bilinear\" \"P\" [{x} 1 {z} {right} 1 {z} {x} -1 {z} {right} -1 {z}]\n")
}

/// What was printed, without the place and the code.
fn lines(scene: &RenderedScene) -> Vec<&str> {
    let notes = scene.messages.iter().filter_map(|message| message.split_once("note: "));
    notes.filter_map(|(_, line)| line.strip_suffix(" [printf]")).collect()
}

#[test]
fn values_of_all_types_are_printed() {
    let shader = "surface all(string label = \"none\"; float whole = 7;) {
        string part = concat(label, \"!\");
        if (u == 0 && v == 0) {
            printf(\"%s %s %f %d %g %% \", label, part, u + 0.5, whole + v, 1e10 + u);
            printf(\"%p %c %.1m\\n\", vector(1, u, 3), color(0.5), matrix 2 + u);
        }
        Ci = 1;
    }";
    let scene = draw_shaders(&[("all.sl", shader)], &format!("Surface \"all\" \"label\" [\"a b\"]\n{}", half(-1, 1)));
    let matrix = "2.0 0.0 0.0 0.0 0.0 2.0 0.0 0.0 0.0 0.0 2.0 0.0 0.0 0.0 0.0 2.0";
    let triples = "1.000000 0.000000 3.000000 0.500000 0.500000 0.500000";
    assert_eq!(lines(&scene), [format!("a b a b! 0.500000 7 1e+10 % {triples} {matrix}")]);
}

#[test]
fn objects_come_in_the_order_of_the_scene_and_displacement_before_surface() {
    let shaders = [
        ("say.sl", "surface say(string name = \"\";) { if (u == 0 && v == 0) printf(\"%s\\n\", name); Ci = 1; }"),
        ("up.sl", "displacement up() { if (u == 0 && v == 0) printf(\"up \"); P += vector(0, 0, 0.1); }"),
        (
            "lamp.sl",
            "light lamp() { solar(vector(0, 0, 1), 0) { Cl = 1; if (xcomp(Ps) == -1 && ycomp(Ps) == 1) printf(\"lit\\n\"); } }",
        ),
        ("lit.sl", "surface lit() { Ci = diffuse(N); }"),
    ];
    let far = format!("Surface \"say\" \"name\" \"far\"\n{}", half(-1, 9));
    let near =
        format!("AttributeBegin\nDisplacement \"up\"\nSurface \"say\" \"name\" \"near\"\n{}AttributeEnd\n", half(0, 2));
    let hidden = format!("Surface \"say\" \"name\" \"hidden\"\n{}", half(-1, 20));
    let lit = format!("LightSource \"lamp\" 1\nSurface \"lit\"\nTranslate 0 0 -1\n{}", half(-1, 4));
    let scene = draw_shaders(&shaders, &[far.as_str(), &near, &hidden].concat());
    assert_eq!(lines(&scene), ["far", "up near"], "{:?}", scene.messages);
    assert_eq!(lines(&draw_shaders(&shaders, &[near, lit, far].concat())), ["up near", "lit"]);
}

#[test]
fn loops_that_go_on_in_other_submissions_print_each_line_once() {
    let shader = "surface far() {
        float i, k = 0;
        if (u == 0 && v == 0) printf(\"begin\\n\");
        for (i = 0; i < 90000 + u; i += 1) {
            k = 1 - k;
            if (u == 0 && v == 0 && mod(i, 30000) == 9) printf(\"%d\\n\", i);
        }
        if (u == 0 && v == 0) printf(\"end %d\\n\", i + k);
        Ci = k;
    }";
    let scene = draw_shaders(&[("far.sl", shader)], &format!("Surface \"far\"\n{}", half(-1, 1)));
    assert_eq!(lines(&scene), ["begin", "9", "30009", "60009", "end 90000"], "{:?}", scene.messages);
}

#[test]
fn the_first_thousand_calls_are_shown() {
    let shader = "surface say(float first = 0;) { printf(\"%.4f %.4f\\n\", first + u, v); Ci = 1; }";
    let objects: Vec<String> = (0..40)
        .map(|i| format!("Surface \"say\" \"first\" {i}\nTranslate 0 0 1\nRotate 9 0 0 1\n{}", half(-1, 1)))
        .collect();
    let scene = draw_shaders(&[("say.sl", shader)], &objects.concat());
    let lines = lines(&scene);
    // Vertices that two grids share print equal lines, which are reported once.
    assert!((800..1000).contains(&lines.len()), "{} lines", lines.len());
    assert_eq!(scene.message_count("the first 1000 calls of printf are shown"), 1);
    assert_eq!(lines[0], "0.0000 0.0000");
    assert_eq!(scene.messages.len(), lines.len() + 1, "{:?}", scene.messages.last());
}
