//! The parts of the build script that have rules of their own.

#[path = "../../build/constants.rs"]
pub(crate) mod constants;
#[path = "../../build/macros.rs"]
mod macros;
#[path = "../../build/variants.rs"]
mod variants;

use anthill::pipeline::kernels::hide;
use constants::{Constants, Value};
use variants::Declaration;

/// The kinds of the tests.
const KINDS: &str = "#define KIND_PATCH 1\n#define KIND_CURVE 0\n";

/// What a source of the name `dice` declares.
fn declaration(source: &str) -> Result<Declaration, String> {
    Declaration::read("dice", source, &constants(&[KINDS])?)
}

/// Labels of variants with their macros, as `label NAME=VALUE ...`.
fn described(source: &str) -> Vec<String> {
    let declaration = declaration(source).expect(source);
    let described = |variant: &variants::Variant| {
        let macros = declaration.macros(variant).into_iter().map(|(name, value)| format!(" {name}={value}"));
        variant.label.clone() + &macros.collect::<String>()
    };
    declaration.variants.iter().map(described).collect()
}

#[test]
fn every_combination_of_an_axis_is_a_variant() {
    assert_eq!(
        described("// Dices.\n// axes: LATE PASS=first|rest\n#version 460\n"),
        [
            "dice_first LATE=0 PASS=0",
            "dice_rest LATE=0 PASS=1",
            "dice_late_first LATE=1 PASS=0",
            "dice_late_rest LATE=1 PASS=1",
        ]
    );
    assert_eq!(described("// axes: LATE\n"), ["dice LATE=0", "dice_late LATE=1"]);
    assert_eq!(described("// axes: KIND=KIND_*\n"), ["dice_curve KIND=KIND_CURVE", "dice_patch KIND=KIND_PATCH"]);
}

#[test]
fn a_source_without_axes_is_one_kernel() {
    assert_eq!(described("#version 460\n// axes: LATE\n"), ["dice"], "only comments at the beginning count");
}

#[test]
fn labels_leave_out_what_is_in_brackets_or_without_a_choice() {
    let source = "// axes: FAST\n// axes: PASS=first|rest SMOOTH=(flat)|smooth|blurred\n\
                  // rules: FAST requires PASS=rest; PASS=first excludes SMOOTH=smooth|blurred; \
                  FAST excludes SMOOTH=blurred";
    let labels: Vec<String> = declaration(source).expect(source).variants.into_iter().map(|v| v.label).collect();
    let expected =
        ["dice_first", "dice_rest", "dice_rest_smooth", "dice_rest_blurred", "dice_fast", "dice_fast_smooth"];
    assert_eq!(labels, expected);
    let only = described("// axes: SMOOTH=(flat)|smooth|blurred");
    assert_eq!(only, ["dice_flat SMOOTH=0", "dice_smooth SMOOTH=1", "dice_blurred SMOOTH=2"]);
}

#[test]
fn an_axis_that_makes_no_difference_has_its_first_value() {
    let source = "// axes: FAST PASS=first|rest\n// rules: PASS=rest ignores FAST";
    assert_eq!(described(source), ["dice_first FAST=0 PASS=0", "dice_rest FAST=0 PASS=1", "dice_fast FAST=1 PASS=0"]);
    let values: Vec<_> = declaration(source).expect(source).variants.into_iter().map(|v| v.values).collect();
    assert_eq!(values, [[Some(0), Some(0)], [None, Some(1)], [Some(1), Some(0)]]);
}

#[test]
fn declarations_that_break_the_rules_are_errors_with_a_line() {
    let cases = [
        ("// axes: late", "1: `late` is not an axis"),
        ("//\n// axes: PASS=First|rest", "2: `First` is not the name of a value"),
        ("// axes: PASS=first", "1: `PASS=first` is not an axis: it has fewer than two values"),
        ("// axes: SIDE=SIDE_*", "1: `SIDE=SIDE_*` is not an axis: it has fewer than two values"),
        ("// axes: A B\n// axes: A", "2: axis `A` is declared twice"),
        ("// axes: A B\n// rules: A", "2: `A` is not a rule"),
        ("// axes: A B\n// rules: A requires", "2: `A requires` is not a rule"),
        ("// axes: A B\n// rules: A forbids B", "2: `forbids` is not a verb of rules"),
        ("// axes: A B\n// rules: A requires C", "2: `C` is not an axis"),
        ("// axes: A B=b|c|d\n// rules: A requires B", "2: `B` is no switch"),
        ("// axes: A B=b|c|d\n// rules: A requires B=e", "2: `e` is not a value of the axis `B`"),
        ("// axes: A B C\n// rules: A ignores B; B ignores C", "1: `B` is ignored, so no axis can be ignored for it"),
        ("// axes: A=(a)|b B=(a)|b|c\n", "1: two variants would have the label `dice_b`"),
    ];
    for (source, expected) in cases {
        let error = declaration(source).expect_err(source);
        assert!(error.starts_with(expected), "{source}: {error}");
    }
}

#[test]
#[should_panic(expected = "`hide` has no Variant { expanded: false, behind: false, rest: false")]
fn to_ask_for_an_excluded_variant_is_a_broken_invariant() {
    let variant = hide::Variant::ALL.iter().find(|variant| variant.fused).expect("one is");
    hide::kernel(hide::Variant { rest: false, ..*variant });
}

#[test]
fn macros_that_nobody_knows_are_errors_with_a_line() {
    let check = |kernel: &str, include: &str| {
        let sources = [("glsl/dice.comp", kernel), ("glsl/lib/a.glsl", include)];
        let sources = sources.map(|(path, text)| (path.to_string(), text.to_string())).into();
        let declaration = declaration(kernel).expect("well formed");
        macros::check(&sources, &[("glsl/dice.comp".to_string(), declaration)].into())
    };
    let kernel = "// axes: LATE FAST\n#include \"lib/a.glsl\"\n#if LATE // NONE\n#endif\n#define OWN\n";
    assert_eq!(check(kernel, "#if !defined(OWN) || 1 < 2\n#elif FAST == 1\n#endif"), Ok(()));
    assert_eq!(check(kernel, "uint f() { return FAST; }"), Ok(()));
    let unknown = "glsl/lib/a.glsl:2: `FASTER` is neither a macro of the sources nor an axis of a kernel";
    assert_eq!(check(kernel, "#if FAST\n#elif FASTER\n#endif"), Err(unknown.to_string()));
    let unused = "glsl/dice.comp:1: the axis `FAST` makes no difference to the source";
    assert_eq!(check(kernel, "// FAST"), Err(unused.to_string()));
}

/// The constants of the sources `a.glsl` and `b.glsl`.
fn constants(texts: &[&str]) -> Result<Constants, String> {
    let sources = ["a.glsl", "b.glsl"].iter().zip(texts).map(|(path, text)| (path.to_string(), text.to_string()));
    Constants::read(&sources.collect())
}

#[test]
fn constants_are_computed_from_each_other() {
    let cases = [
        ("const uint X = 15u;", Value::U32(15)),
        ("const uint X = 0xffffffffu; // all ones", Value::U32(u32::MAX)),
        ("const int X = -3;", Value::I32(-3)),
        ("const float X = 1e-30;", Value::F32(1e-30)),
        ("const float X = 1.0 / 32.0;", Value::F32(0.03125)),
        ("const float X = 6.28318531;", Value::F32(6.283_185_5)),
        ("const uint X = 2u * (8u - 4u + 1u);", Value::U32(10)),
        ("const uint X = 7u - 2u - 1u;", Value::U32(4)),
        ("const uint X = 1u << 3 | 1u;", Value::U32(9)),
        ("const uint X = 0xf0u >> 4 & 3u ^ 1u;", Value::U32(2)),
        ("const uint X = uint(7.5) % 4u;", Value::U32(3)),
        ("#define X 3", Value::U32(3)),
        ("const uint Y = 1u << Z;\nconst int Z = 5;\nconst uint X = Y - 1u;", Value::U32(31)),
    ];
    for (text, expected) in cases {
        let found = constants(&[text]).expect(text);
        let (_, x) = found.iter().find(|(name, _)| *name == "X").expect(text);
        assert_eq!(x.value, expected, "{text}");
    }
}

#[test]
fn what_is_no_constant_is_passed_over() {
    let text = "#ifndef A_GLSL\n#define A_GLSL\n#define VALUE(x) (x)\n#define TEXT \\\n    uint x;\n\
                void main() {\n    const uint each = 4u / X;\n}\nlayout(constant_id = 0) const uint STEPS = 1;\n#endif\n";
    assert_eq!(constants(&[text]), Ok(Constants::default()));
}

#[test]
fn constants_keep_their_comments() {
    let mut code = String::new();
    let text = "// Not this.\n\n// Sides [of] a\n// cube.\n// cases: SIDE_*\nconst uint SIDE_UP = 1u; // up\nuint f() { return SIDE_UP; }";
    let found = constants(&[text]).expect("well formed");
    assert_eq!(found.doc("SIDE_UP"), "Sides [of] a\ncube.\nup");
    found.generate(&mut code);
    let expected = "    /// Sides \\[of] a\n    /// cube.\n    /// up\n    /// \n    /// (a.glsl)\n    pub const SIDE_UP: u32 = 1;\n";
    assert!(code.contains(expected), "{code}");
}

#[test]
fn constants_that_break_the_rules_are_errors_with_a_line() {
    let cases: [(&[&str], &str); 11] = [
        (&["const uint X = 1u;", "\nconst uint X = 2u;"], "b.glsl:2: `X` is defined at a.glsl:1 too"),
        (&["#define X 1", "const uint X = 1u;"], "b.glsl:1: `X` is defined at a.glsl:1 too"),
        (&["const uvec2 X = uvec2(1u);"], "a.glsl:1: a constant is written"),
        (&["const uint X =\n    1u;"], "a.glsl:1: a constant is written"),
        (&["const uint X = Y;"], "a.glsl:1: `X`: `Y` is not a constant"),
        (&["const uint X = Y;\nconst uint Y = X;"], "a.glsl:1: `X`: `X` is defined by itself"),
        (&["const uint X = (1u;"], "a.glsl:1: `X`: a bracket is not closed"),
        (&["const uint X = 1u 2u;"], "a.glsl:1: `X`: `2u` cannot be computed"),
        (&["const uint X = 1u - 2u;"], "a.glsl:1: `X`: -1 is not a uint"),
        (&["const int X = 1 / 0;"], "a.glsl:1: `X`: 1 / 0 cannot be computed"),
        (&["const uint X = 1.5;"], "a.glsl:1: `X`: 1.5 is not a whole number"),
    ];
    for (texts, expected) in cases {
        let error = constants(texts).expect_err(expected);
        assert!(error.starts_with(expected), "{texts:?}: {error}");
    }
}

#[test]
fn a_case_that_a_file_forgets_is_an_error() {
    let kinds = "const uint KIND_A = 0u;\nconst uint KIND_B = 1u;\n";
    let handles = |names: &str| constants(&[kinds, &format!("// cases: KIND_*\nuint f() {{ return {names}; }}")]);
    assert!(handles("KIND_A + KIND_B").is_ok());
    let forgotten = "b.glsl:1: `KIND_B` is not named in this file";
    assert!(handles("KIND_A").is_err_and(|e| e.starts_with(forgotten)));
    assert!(
        constants(&["// cases: SIDE_*"]).is_err_and(|e| e.starts_with("a.glsl:1: no constant begins with `SIDE_`"))
    );
    let own = constants(&[&format!("// cases: KIND_*\n{kinds}uint f() {{ return KIND_B; }}")]);
    assert!(own.is_err_and(|e| e.contains("`KIND_A` is not named")), "a definition is no use");
}
