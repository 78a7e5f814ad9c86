//! The parts of the build script that have rules of their own.

#[path = "../../build/constants.rs"]
pub(crate) mod constants;
#[path = "../../build/variants.rs"]
mod variants;

use constants::{Constants, Value};
use variants::parse;

#[test]
fn a_file_names_its_variants() {
    let source =
        "// Dices.\n// variants: dice_quadric KIND=0 FAST; dice_facet KIND=1\n//variants: dice ;\n#version 460\n";
    let found = parse("dice", source).expect("well formed");
    let macros = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect::<Vec<_>>();
    assert_eq!(
        found.iter().map(|v| (v.name.as_str(), v.macros.clone())).collect::<Vec<_>>(),
        [
            ("dice_quadric", macros(&[("KIND", "0"), ("FAST", "")])),
            ("dice_facet", macros(&[("KIND", "1")])),
            ("dice", Vec::new()),
        ]
    );
}

#[test]
fn a_file_without_variants_is_one_kernel() {
    let found = parse("hide", "#version 460\n// variants: hide_late LATE=1\n").expect("well formed");
    assert_eq!(found.len(), 1, "only comments at the beginning count");
    assert_eq!((found[0].name.as_str(), found[0].macros.len()), ("hide", 0));
}

#[test]
fn variants_that_break_the_rules_are_errors_with_a_line() {
    let cases = [
        ("// variants: other", "1: variant `other` must be named `dice` or `dice_...`"),
        ("//\n// variants: dice_", "2: variant `dice_` must be named"),
        ("// variants: dicey", "1: variant `dicey` must be named"),
        ("// variants: dice_a 1=2", "1: `1=2` is not a macro"),
        ("// variants: dice_a; dice_a X=1", "1: variant `dice_a` is named twice"),
    ];
    for (source, expected) in cases {
        let error = parse("dice", source).expect_err(source);
        assert!(error.starts_with(expected), "{source}: {error}");
    }
}

/// The constants of the sources `a.glsl` and `b.glsl`.
fn constants(texts: &[&str]) -> Result<Constants, String> {
    let sources = ["a.glsl", "b.glsl"].iter().zip(texts).map(|(path, text)| (path.to_string(), text.to_string()));
    Constants::read(&sources.collect::<Vec<_>>())
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
    constants(&[text]).expect("well formed").generate(&mut code);
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

#[test]
fn a_case_without_a_variant_is_an_error() {
    let kinds = constants(&["const uint KIND_A = 0u;\nconst uint KIND_B = 1u;\n"]).expect("well formed");
    let check =
        |list: &str| kinds.check_variants(&parse("dice", &format!("// variants: {list}")).expect("well formed"));
    assert_eq!(check("dice_a KIND=KIND_A; dice_b KIND=KIND_B"), Ok(()));
    assert_eq!(check("dice_a KIND=0; dice_b FAST"), Ok(()), "numbers are no names");
    assert!(check("dice_a KIND=KIND_A").is_err_and(|e| e.starts_with("no variant has KIND=KIND_B")));
    assert!(check("dice_c KIND=KIND_C").is_err_and(|e| e == "`KIND_C` is not a constant of the sources"));
}
