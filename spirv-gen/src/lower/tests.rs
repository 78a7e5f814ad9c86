use super::{LightScale, light_parts, lower, lower_scaled};
use crate::ir;
use crate::parse_shader;
use crate::syntax::loader::NoIncludes;
use crate::syntax::preprocess::Source;

/// Returns the IR of a shader without faults.
fn lowered(text: &str) -> ir::Shader {
    let (shader, diagnostics) = parse_shader(&Source { name: "a.sl", text, loader: &NoIncludes, defines: &[] });
    let shader = lower(&shader.unwrap_or_else(|| panic!("{text:.200}: {diagnostics:?}")));
    if let Err(error) = ir::verify(&shader) {
        panic!("{error}\n{}", ir::print(&shader));
    }
    shader
}

#[test]
fn a_light_with_a_loop_as_text() {
    let text = "light l(float n = 2; point from = point \"shader\" (0, 0, 0); output float seen = 0;)
        { float i; illuminate (from) { for (i = 0; i < n; i += 1) Cl += 0.5; } }";
    let expected = r#"shader light "l"
param uniform float "n" = 2.0
param uniform point "from" {
  %0: vec3 = const 0.0 0.0 0.0
  %1: mat4 = space "shader" camera_from_space
  %2: vec3 = xform_point(%1, %0)
  yield %2
}
param output uniform float "seen" = 0.0
code {
  %3: f32 = param 2
  %4: vec3 = const 0.0 0.0 0.0
  %5: vec3 = const 0.0 0.0 0.0
  %6: bool = const false
  %7: f32 = const 0.0
  %8: vec3 = param 1
  %9: vec3 = global Ps
  %10: vec3 = sub(%9, %8)
  %11: bool = const true
  %12: f32 = const 0.0
  %13: bool = const false
  %24: f32, %25: vec3 = loop(%12, %4) |%14: f32, %15: vec3| {
    %16: f32 = param 0
    %17: bool = lt(%14, %16)
    yield %17
  } {
    %18: bool = const false
    %19: f32 = const 0.5
    %20: vec3 = splat(%19)
    %21: vec3 = add(%15, %20)
    %22: f32 = const 1.0
    %23: f32 = add(%14, %22)
    yield %23 %21
  }
  %26: vec3 = const 1.0 1.0 1.0
  yield %10 %25 %26 %11 %3
}
output "L" "Cl" "Ol" "active" "seen"
"#;
    assert_eq!(ir::print(&lowered(text)), expected);
}

/// A vector that was normalised is not normalised again, wherever it is asked for; what need not have unit length is.
#[test]
fn vectors_are_normalised_once() {
    for (vector, count) in [
        ("normalize(N)", 1),
        ("normalize(normalize(N))", 1),
        ("normalize(-normalize(N))", 1),
        ("normalize(faceforward(normalize(N), I))", 1),
        ("normalize(faceforward(N, I))", 1),
        ("normalize(s > 0 ? normalize(N) : -normalize(N))", 2),
        ("normalize(s > 0 ? normalize(N) : N)", 2),
        ("normalize(reflect(normalize(I), normalize(N)))", 2),
        ("normalize(reflect(I, normalize(N)))", 2),
        ("normalize(2 * normalize(N))", 2),
        ("normalize(vector (0, 0, -1))", 0),
        ("normalize(vector (0, 0, -2))", 1),
        ("normalize(vector (0, 1, 1))", 1),
    ] {
        let shader = lowered(&format!("surface s() {{ Ci = color ({vector}); }}"));
        let mut found = 0;
        let is_one = |op: &ir::Op| *op == ir::Op::Unary(ir::Unary::Normalize);
        shader.body.walk(shader.body.root(), &mut |i| found += usize::from(is_one(&shader.body.inst(i).op)));
        assert_eq!(found, count, "{vector}");
    }
}

/// What a light prints outside of its parts is printed by the first.
#[test]
fn lights_of_several_parts_print_once() {
    let text = "light l() { printf(\"all\"); solar(vector(0,0,1), 0) { printf(\"a\"); Cl = 1; }
        solar(vector(0,1,0), 0) { printf(\"b\"); Cl = 1; } }";
    let source = Source { name: "test.sl", text, loader: &NoIncludes, defines: &[] };
    let (checked, diagnostics) = parse_shader(&source);
    let checked = checked.unwrap_or_else(|| panic!("{diagnostics:?}"));
    let printed = |part: u32| {
        let body = lower_scaled(&checked, LightScale { part: Some(part), ..LightScale::default() }).body;
        let mut found = Vec::new();
        body.walk(body.root(), &mut |i| {
            if let ir::Op::Printf(format) = &body.inst(i).op {
                found.push(format.to_string());
            }
        });
        found
    };
    assert_eq!((light_parts(&checked), printed(0), printed(1)), (2, vec!["all".into(), "a".into()], vec!["b".into()]));
}

#[test]
fn kinds_and_outputs() {
    for (text, kind, outputs) in [
        ("surface s(output varying float a = 0; output color b[2] = {1, 2};) { }", "surface", "Ci Oi a b[0] b[1]"),
        ("displacement d() { P += N; }", "displacement", "P N"),
        ("light l() { Cl = 1; }", "ambient_light", "Cl Ol"),
        ("light l() { solar(vector 1, 0) Cl = 1; }", "light", "L Cl Ol active"),
        ("light l() { void f() { extern color Cl; illuminate (point 0) Cl = 1; } f(); }", "light", "L Cl Ol active"),
        ("void f() { extern color Cl; solar(vector 1, 0) Cl = 1; } light l() { Cl = 1; }", "ambient_light", "Cl Ol"),
        ("float f() { extern float b; return b; } surface s(float a = f(), b = 1;) { }", "surface", "Ci Oi"),
        ("atmosphere a() { }", "volume", "Ci Oi"),
        ("imager i() { }", "imager", "Ci Oi alpha"),
    ] {
        let shader = lowered(text);
        let names: Vec<_> = shader.outputs.iter().map(|o| &*o.name).collect();
        assert_eq!((shader.kind.name(), names.join(" ").as_str()), (kind, outputs), "{text}");
    }
}

/// What the checker lets through is lowered without running out of stack, on a thread with the usual 2 MiB.
#[test]
fn the_deepest_shaders_are_lowered() {
    let nest = |open: &str, close: &str, count: usize, inner: &str| {
        format!("surface s() {{ float x = 1; {}{inner}{} }}", open.repeat(count), close.repeat(count))
    };
    lowered(&nest("if (s > 0) {", "}", 98, "x = 2;"));
    lowered(&nest("while (x > 2 && t > 0) {", "}", 98, "x += 2;"));
    lowered(&nest("x = (", ");", 1, &format!("{}x{}", "(".repeat(180), ")".repeat(180))));
    lowered(&nest("x = ", ";", 1, &format!("{}x", "-".repeat(180))));
    lowered(&nest("x = ", ";", 1, &format!("x{}", " + x * s".repeat(20_000))));
    lowered(&nest("x = ", ";", 1, &format!("{}x{}", "sin(".repeat(90), ")".repeat(90))));
    lowered(&nest("x = ", ";", 1, &format!("{}x", "s > 0 ? t : ".repeat(60))));
    let functions: String =
        (1..100).map(|i| format!("float f{i}(float x) {{ if (x > 0) return f{}(x - 1); return 0; }}", i - 1)).collect();
    lowered(&format!("float f0(float x) {{ return x; }} {functions} surface s() {{ Ci = f99(s); }}"));
    // Many jumps in a row do not nest.
    lowered(&nest("while (x > 0) {", "}", 1, &"if (s > x) continue; x += 1; if (t > x) break;".repeat(2000)));
}
