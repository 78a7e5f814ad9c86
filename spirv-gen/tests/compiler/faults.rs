//! What is said of each kind of fault, word by word: those that the case files of `tests/front` and the tests inside of
//! the crate leave out.

use spirv_gen::syntax::loader::NoIncludes;
use spirv_gen::syntax::preprocess::Source;

/// Returns the messages about a text: place, message and hint.
fn messages(text: &str) -> Vec<String> {
    let parsed = spirv_gen::parse_shaders(&Source { name: "a.sl", text, loader: &NoIncludes, defines: &[] });
    let shown = parsed.diagnostics.iter().map(|d| {
        let hint = if d.hint.is_empty() { String::new() } else { format!(" ({})", d.hint) };
        format!("{}:{} {}{hint}", d.place.line, d.place.column, d.message)
    });
    shown.collect()
}

/// Compares the messages about each text with those that are expected, and reports all differences at once.
fn check(cases: &[(String, &str)]) {
    let differs = |(text, expected): &&(String, &str)| messages(text).join("; ") != *expected;
    let wrong: Vec<_> = cases.iter().filter(differs).collect();
    let told = |(text, _): &&(String, &str)| {
        let shown: String = text.chars().take(200).collect();
        format!("{shown}\n    {}\n", messages(text).join("; "))
    };
    assert!(wrong.is_empty(), "{}", wrong.iter().map(told).collect::<String>());
}

fn in_surface(code: &str) -> String {
    format!("surface s() {{ {code} }}")
}

#[test]
fn calls() {
    check(&[
        (in_surface("Ci = wnoise(P, 1);"), "1:20 `wnoise` is not RSL 3.2"),
        (
            in_surface("float x; incident(\"a\", x);"),
            "1:24 volumes inside and outside of objects are not supported: the result is 0",
        ),
        (
            in_surface("Ci = shadow(\"a\", P, \"source\", 1);"),
            "1:45 the parameter `source` is 1, 2 or 4 points, not `float`",
        ),
        (
            in_surface("Ci = shadow(\"a\", P, \"source\", P);"),
            "1:35 the size of a light is not used: its shadows are those of one point (`blur` makes them soft)",
        ),
        (
            in_surface("float x; texture3d(\"a\", P, N, \"c\", 1);"),
            "1:24 this has no effect; 1:45 `texture3d` has no parameter `c`, and a channel needs a variable (it is ignored)",
        ),
        (
            in_surface("matrix m = 1; texture3d(\"a\", P, N, \"c\", m);"),
            "1:55 a channel is a number or three, not `matrix`",
        ),
        (
            in_surface("Ci = texture(\"a\", \"filter\", \"none\");"),
            "1:43 `texture` has no filter `none` (its filters are gaussian, box, radial-bspline, disk, lanczos; `gaussian` is taken)",
        ),
        (
            in_surface("Ci = filterstep(0.5, s, \"filter\", \"none\");"),
            "1:49 `filterstep` has no filter `none` (its filters are box, triangle, gaussian, catmull-rom; the edge is smoothed by a cubic)",
        ),
        (
            in_surface("Ci = texture(\"a\", \"nothing\", 1);"),
            "1:33 `texture` has no parameter `nothing` (it is ignored)",
        ),
        (
            in_surface("string a = \"blur\"; Ci = texture(\"a\", a, 1);"),
            "1:52 the name of a parameter must be a literal",
        ),
    ]);
}

#[test]
fn statements_about_light() {
    check(&[
        (
            in_surface("gather(\"a\", P, N, 1, 1) Ci = 1; else Ci = 0;"),
            "1:15 `gather` needs ray tracing, which this renderer does not support (only its `else` branch is executed)",
        ),
        (in_surface("illuminance (P, N) Ci = 1;"), "1:15 `illuminance` takes an axis and an angle, or neither"),
        (in_surface("illuminance (P, \"lightcache\") Ci = 1;"), "1:31 this name has no value"),
        (
            "light l() { illuminate () Cl = 1; }".to_owned(),
            "1:13 `illuminate` takes a position, or a position, an axis and an angle",
        ),
        (
            "light l() { illuminate (P, N, 1, 2) Cl = 1; }".to_owned(),
            "1:13 `illuminate` takes a position, or a position, an axis and an angle",
        ),
        ("light l() { solar (N, 1, 2) Cl = 1; }".to_owned(), "1:13 `solar` takes an axis and an angle, or nothing"),
        ("light l() { solar (N) Cl = 1; }".to_owned(), "1:13 `solar` takes an axis and an angle, or neither"),
        (
            "light l() { solar () { illuminate (P) Cl = 1; } }".to_owned(),
            "1:24 `illuminate` cannot be inside `illuminate` or `solar`",
        ),
        (
            in_surface("solar (N, 0) Ci = 1;"),
            "1:15 `solar` is not allowed in surface shaders (it is a statement of light shaders)",
        ),
    ]);
}

#[test]
fn other_statements() {
    check(&[
        (
            in_surface(&format!("{} break 61; {}", "while (s < 1) {".repeat(62), "}".repeat(62))),
            "1:946 `break` leaves more than 60 loops",
        ),
        (
            "float f(extern float x) { return x; } surface s() { Ci = f(1); }".to_owned(),
            "1:22 an argument of a function cannot be `extern`",
        ),
        (
            in_surface("occlusion(P, N, 16);"),
            "1:15 `occlusion` is not supported: nothing is computed, the result is 0 (occlusion(map, P, N, samples) looks up what `MakeOcclusion` made)",
        ),
        (
            in_surface("string t = \"%d\"; printf(\"%y\", s);"),
            "1:39 `%y` is not a format (known formats are %f %p %c %m %s %d and %%)",
        ),
    ]);
}

#[test]
fn baking() {
    check(&[
        (
            in_surface("string n = \"a\"; bake3d(\"f\", \"a\", P, N, n, 1);"),
            "1:54 the name of a parameter or a channel must be a literal",
        ),
        (
            in_surface("bake3d(\"f\", \"a\", P, N, \"b\", 1);"),
            "1:27 the channel `a` gets no value (add `\"a\", value` to the call); 1:38 `b` is not in the list of channels (`bake3d` has no parameter of this name either)",
        ),
        (
            in_surface("bake3d(\"f\", \"\", P, N, \"1a\", 1);"),
            "1:37 `1a` cannot be the name of a channel (names have letters, digits and underscores, and no digit first)",
        ),
        (
            in_surface("bake3d(\"f\", \"a\", P, N, \"a\", \"text\");"),
            "1:43 a channel is a float, a color, a point, a vector or a normal, not `string`",
        ),
        (
            in_surface("bake3d(\"f\", \"\", P, N, \"radius\", \"text\");"),
            "1:47 the parameter `radius` is a `float`, not `string`",
        ),
        (
            in_surface(&format!(
                "bake3d(\"f\", \"\", P, N{});",
                (0..65).map(|i| format!(", \"c{i}\", 1")).collect::<String>()
            )),
            "1:167 `bake3d` bakes at most 14 channels (bake the others to another file)",
        ),
    ]);
}

#[test]
fn size() {
    let calls = |n: usize| format!("float f{n}(float x) {{ return f{0}(x) + f{0}(x) + f{0}(x) + f{0}(x); }}\n", n - 1);
    let nested = |n: usize| format!("float f{n}(float x) {{ if (x > 0) {{ return f{}(x); }} return 0; }}\n", n - 1);
    let file = |functions: String, last: usize| {
        format!("float f0(float x) {{ return x; }}\n{functions}surface s() {{ Ci = f{last}(s); }}")
    };
    check(&[
        (
            file((1..12).map(calls).collect(), 11),
            "13:9 the shader is too large after inlining all function calls: 25165825 statements and expressions (functions that call others several times grow exponentially; use loops)",
        ),
        (
            file((1..200).map(nested).collect(), 199),
            "201:9 statements and function calls are nested 602 levels deep (at most 500 levels are supported)",
        ),
    ]);
}

#[test]
fn directives() {
    let chain: String = (0..210).map(|i| format!("#define m{i} m{}\n", i + 1)).collect();
    let long = "a".repeat(40_000);
    let shader = "surface s() { Ci = 1; }";
    check(&[
        (format!("#ifdef 1\n#endif\n{shader}"), "1:1 `#ifdef` and `#ifndef` need the name of a macro"),
        (format!("#error\n{shader}"), "1:1 `#error` without a message"),
        (format!("#warning\n{shader}"), "1:1 `#warning` without a message"),
        (
            format!("#if {}1{}\n#endif\n{shader}", "(".repeat(200), ")".repeat(200)),
            "1:105 the condition is nested more than 100 levels deep",
        ),
        (
            format!("#define f(x) (x + f1(x))\n{chain}surface s() {{ Ci = m0; }}"),
            "212:20 macros are nested more than 200 levels deep; 212:20 unknown variable `m200`",
        ),
        (
            format!("#define s(x) #x\n#define t(x) s(x x)\nsurface a() {{ printf(s({long} {long})); }}"),
            "3:22 `#` makes a string of more than 65536 bytes",
        ),
        (
            format!("#define j(x) x ## x\nsurface a() {{ float j({long}) = 1; }}"),
            "2:21 `##` makes a token of more than 65536 bytes; 2:40023 expected `;` here",
        ),
        (format!("#include \"x.h\"\n{shader}"), "1:10 cannot include `x.h` (files cannot be included here)"),
        (
            "#define f(x) x\nsurface a() { Ci = f(1; }".to_owned(),
            "2:13 this `{` is not closed; 2:19 expected a value, found the end of the file; 2:20 the arguments of the macro `f` are not closed (close them with `)`)",
        ),
        (
            format!("#define f(x) x\n#define f(y) y y\n{shader}"),
            "2:9 the macro `f` is redefined differently (write `#undef f` first if this is intended)",
        ),
        (format!("/* open\n{shader}"), "1:1 this comment is not closed (close it with `*/`)"),
        (
            "surface a() { printf(\"open); }".to_owned(),
            "1:13 this `{` is not closed; 1:22 this string is not closed on its line (close it with `\"`; write a line break as `\\n`); 1:31 expected `,` or `)`, found the end of the file",
        ),
        (
            "surface a() { float x = 1e99; Ci = x; }".to_owned(),
            "1:25 the number `1e99` is out of range for a float (the largest float, 3.4028235e38, is used instead)",
        ),
        ("surface a() { printf(\"a\\0b\"); }".to_owned(), "1:22 a string cannot contain the character `\\0`"),
    ]);
}
