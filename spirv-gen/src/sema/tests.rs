use super::hir::{CheckedShader, Class};
use crate::syntax::loader::NoIncludes;
use crate::syntax::preprocess::Source;
use crate::{ParsedFile, parse_shaders};

fn parse(text: &str) -> ParsedFile {
    parse_shaders(&Source { name: "a.sl", text, loader: &NoIncludes, defines: &[] })
}

/// Returns the only shader of a text without faults.
fn shader(text: &str) -> CheckedShader {
    let parsed = parse(text);
    assert!(parsed.diagnostics.is_empty(), "{text}: {:?}", parsed.diagnostics);
    assert_eq!(parsed.shaders.len(), 1, "{text}");
    parsed.shaders.into_iter().next().expect("just counted")
}

/// Returns the first message for a text.
fn message(text: &str) -> String {
    parse(text).diagnostics.first().map(|d| d.message.clone()).unwrap_or_default()
}

/// Returns the variables of a shader that vary, in order of declaration.
fn varying(text: &str) -> String {
    let shader = shader(text);
    let varying =
        shader.variables.iter().filter(|v| v.inferred == Class::Varying && v.span != crate::span::Span::default());
    varying.map(|v| &*v.name).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_varies() {
    for (body, expected) in [
        ("float a = 1, d = Kd, c = s;", "c"),
        ("float a; a = b; b = s;", "a b"),
        ("float a; if (s > 0) a = 1;", "a"),
        ("float a; if (Kd > 0) a = 1;", ""),
        ("if (s > 0) { float a = 1; b = a; }", "b"),
        ("float i; for (i = 0; i < 3; i += 1) b += i;", ""),
        ("float i; for (i = 0; i < 3 * s; i += 1) b += 1;", "b i"),
        ("float i = 0; while (i < 3) { i += 1; if (t > 0) b = 1; }", "b"),
        ("color a = 0; illuminance (P) { a += 1; float c = 2; }", "a"),
        ("float f(float x) { return x; } float a = f(1), c = f(s);", "x c"),
        ("float f(float x) { if (x > 0) return 1; return 2; } float a = f(1), c = f(s);", "x c"),
        ("void f(float x; output float y) { y = x; } float a, c; f(1, a); f(s, c);", "x y c"),
        ("void f() { extern float b; b = 1; } if (s > 0) f();", "b"),
        ("void f() { extern float b; b = 1; } if (Kd > 0) f();", ""),
        ("float f(float x) { float l = 2 * x; return l; } float a; if (s > 0) { float c = f(1); }", ""),
        ("float a = random(), c = noise(1), d = noise(P), e = Du(s);", "a d e"),
        ("float a[2]; a[0] = s; float c = a[1];", "a c"),
        ("float a[2] = {1, 2}; float c = a[s];", "c"),
        ("float a = 1; float c = (a = s);", "a c"),
        ("string a = \"x\"; if (s > 0) a = \"y\";", "a"),
        ("float a = length(transform(\"world\", point (0, 0, 0)));", ""),
        ("float a = 0; surface(\"x\", a); float c = 0; attribute(\"y\", c);", "a"),
    ] {
        let text = format!("surface s(float Kd = 1;) {{ float b = 0; {body} Ci = b; }}");
        let names = varying(&text);
        let mut names: Vec<_> = names.split(' ').collect();
        let mut expected: Vec<_> = expected.split(' ').collect();
        names.sort_unstable();
        expected.sort_unstable();
        assert_eq!(names, expected, "{body}");
    }
}

#[test]
fn parameters_as_text() {
    let text = "surface s(float a = 1 + 2 * 3; output varying color c = color (1, 0, 0); point p = point \"world\" (0, 0, 1);
        string t = concat(\"x\", \"y\"); float list[2] = {1, -2}; matrix m = 2; normal n; float r = radians(180), q = sin(1);)
        { }";
    let expected = "surface s
    uniform float a = 7
    output varying color c = (1, 0, 0)
    uniform point p = \"world\" (0, 0, 1)
    uniform string t = \"xy\"
    uniform float list[2] = {1, -2}
    uniform matrix m = (2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2)
    uniform normal n = (0, 0, 0)
    uniform float r = 3.1415927
    uniform float q = (computed by the shader)";
    assert_eq!(shader(text).to_string(), expected);
}

#[test]
fn files_of_several_shaders() {
    let parsed = parse("float f() { return 1; } surface a() { Ci = f(); } light b() { Cl = f(); }");
    let names: Vec<_> = parsed.shaders.iter().map(|s| s.name.to_string()).collect();
    assert_eq!((names, parsed.diagnostics.len()), (vec!["a".to_owned(), "b".to_owned()], 0));
    assert_eq!(message("float f() { return 1; }"), "the file contains no shader");
    assert_eq!(message("float f() { return Cd; }"), "unknown variable `Cd`");
    assert_eq!(message(&"surface s() { }\n".repeat(70)), "more than 64 shaders in one file");
}

#[test]
fn a_later_shader_is_checked_with_the_functions_that_it_may_call() {
    let parsed = parse(
        "float deep(float x) { return x; } float unused(float x) { return x + 1; }
        float f(float x) { float inner(float y) { return deep(y); } return inner(x); } color f(color x) { return x; }
        surface a() { Ci = 1; } surface b(float k = f(1);) { Ci = k; }
        float after(float x) { return unused(x); } surface c() { Ci = after(s); }",
    );
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let functions: Vec<Vec<&str>> =
        parsed.shaders.iter().map(|s| s.functions.iter().map(|f| &*f.name).collect()).collect();
    let all = vec!["deep", "unused", "inner", "f", "f"];
    assert_eq!(functions, [all, vec!["deep", "inner", "f", "f"], vec!["unused", "after"]]);
    // What is wrong with a function that no shader calls is said once.
    let parsed = parse("float f() { return q; } surface a() { Ci = 1; } surface b() { Ci = 1; }");
    assert_eq!((parsed.shaders.len(), parsed.diagnostics.len()), (1, 1));
}

#[test]
fn what_lies_in_a_fault_s_shadow_is_not_told() {
    let parsed = parse("surface a() { Ci = Cd; } surface b() { Ci = Cs; }");
    assert_eq!((parsed.shaders.len(), parsed.diagnostics.len()), (1, 1));
    let parsed = parse("surface a() { Ci = ; }");
    assert_eq!((parsed.shaders.len(), parsed.diagnostics.len()), (0, 1), "a shader of which a part is missing");
    let parsed = parse("#include \"none.h\"\nsurface a() { Ci = from_none(1); }");
    assert_eq!((parsed.shaders.len(), parsed.diagnostics.len()), (0, 1));
}

#[test]
fn depth_and_size_after_inlining_are_limited() {
    let chain = |count: usize, body: &dyn Fn(usize) -> String| -> String {
        let functions: String = (1..=count).map(|i| format!("float f{i}(float x) {{ {} }}\n", body(i))).collect();
        format!("float f0(float x) {{ return x; }}\n{functions}surface s() {{ Ci = f{count}(1); }}")
    };
    let deep = chain(300, &|i| format!("return f{}(x);", i - 1));
    assert!(message(&deep).starts_with("statements and function calls are nested"), "{}", message(&deep));
    let wide = chain(40, &|i| format!("return f{0}(x) + f{0}(x);", i - 1));
    assert!(message(&wide).starts_with("the shader is too large"), "{}", message(&wide));
    let fine = chain(60, &|i| format!("return f{}(x);", i - 1));
    assert_eq!(message(&fine), "");
}

#[test]
fn odd_places() {
    for (text, expected) in [
        ("surface s(float a = (b = 1);) { }", "unknown variable `b`"),
        (
            "surface s(output float b = 0; float a = (b = 1);) { }",
            "the default of a parameter cannot have side effects",
        ),
        ("surface s(float a = b, b = 1;) { }", "`b` has no value yet"),
        ("surface s(float a = a + 1;) { }", "`a` has no value yet"),
        ("surface s(varying string a = \"\";) { }", "strings are always uniform"),
        (
            "float f() { extern float b; b = 1; return b; } surface s(output float b = 0; float a = f();) { }",
            "the default of a parameter cannot have side effects",
        ),
        (
            "float f() { printf(\"x\"); return 1; } surface s(float a = f();) { }",
            "the default of a parameter cannot have side effects",
        ),
        (
            "surface s() { float a[2], b[2]; Ci = spline(s, a = b); }",
            "`spline` cannot be called with (float, an array of 2 float)",
        ),
        (
            "float f(float a[2]) { return a[0]; } surface s() { float a[2], b[2]; Ci = f(a = b); }",
            "`f` cannot be called with (an array of 2 float)",
        ),
        ("surface s(color a = diffuse(N);) { }", "the default of a parameter cannot use lights"),
        (
            "color f() { extern normal N; return diffuse(N); } surface s(color a = f();) { }",
            "the default of a parameter cannot use lights",
        ),
        ("light l() { solar() Cl = 1; }", ""),
        (
            "surface s() { float x = 1 - pow(trace(P, N), 2); Ci = x; }",
            "ray tracing is not supported: `trace` returns 0",
        ),
        ("surface s(float a[] = {};) { }", "an array has 1 to 4096 elements, not 0"),
        ("surface s() { float a[] = 1; }", "an array must be initialized with a list of values"),
        ("surface s() { float a[] = {1, 2}; a[2] = 1; }", "index 2 is out of range for an array of 2"),
        ("surface s() { Ci = arraylength(s); }", "`arraylength` cannot be called with (float)"),
        ("surface s() { Ci = trace(P, N); }", "ray tracing is not supported: `trace` returns 0"),
        ("surface s() { Ci = spline(\"cubic\", s, 0, 1, 2, 3); }", "unknown spline basis `cubic`"),
        ("surface s() { float a[3]; Ci = spline(s, a); }", "a spline needs at least four values"),
        ("surface s() { extern float q; }", "the shader has no variable `q` for this function"),
        ("surface s(extern float q;) { }", "a parameter of a shader cannot be `extern`"),
        ("surface s() { output float q = 1; }", "a local variable cannot be `output`"),
        ("surface s() { extern point P = 1; }", "an `extern` variable cannot be initialized"),
    ] {
        assert_eq!(message(text), expected, "{text}");
    }
}
