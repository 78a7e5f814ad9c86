//! The parts of the build script that have rules of their own.

#[path = "../../build/variants.rs"]
mod variants;

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
        ("// variants: dice_a 1=2", "1: `1=2` is no macro"),
        ("// variants: dice_a; dice_a X=1", "1: variant `dice_a` is named twice"),
    ];
    for (source, expected) in cases {
        let error = parse("dice", source).expect_err(source);
        assert!(error.starts_with(expected), "{source}: {error}");
    }
}
