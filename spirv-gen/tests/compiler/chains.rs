//! Chains of operators as long as programs write them: a chain is one level, however many terms it has.

use crate::messages::{shaded, shader};
use crate::test_pipeline::TestPipeline;
use spirv_gen::interp::shade;
use spirv_gen::ir::{Const, RslType};

/// Chains of so many terms and what they come to; `one` is 1 and `e` the first axis.
fn chains(terms: usize) -> Vec<(&'static str, String, f32)> {
    let chain =
        |first: &str, operator: &str, term: &str| format!("{first}{}", format!(" {operator} {term}").repeat(terms));
    let count = terms as f32;
    vec![
        ("sum", chain("0", "+", "one"), count),
        ("difference", chain("0", "-", "one"), -count),
        ("product", chain("2", "*", "one"), 2.0),
        ("quotient", chain("2", "/", "one"), 2.0),
        ("conjunction", chain("2", "&&", "one"), 1.0),
        ("disjunction", chain("0", "||", "one"), 1.0),
        ("equality", chain("1", "==", "one"), 1.0),
        // 1 < 1 is 0, 0 < 1 is 1, and so on.
        ("order", chain("1", "<", "one"), terms.is_multiple_of(2).into()),
        ("turns", format!("xcomp({})", chain("e", "^", "vector (0, 0, one)")), 1.0),
        ("colours", format!("comp({} + color (0, one, 0), 1)", chain("0", "+", "one")), count + 1.0),
        ("slope", format!("Du({}) - Du(u)", chain("u", "*", "one")), 0.0),
    ]
}

/// A shader that computes them all.
fn text(chains: &[(&str, String, f32)]) -> String {
    let parameters: String = chains.iter().map(|(name, ..)| format!("output varying float {name} = 7;")).collect();
    let code: String = chains.iter().map(|(name, chain, _)| format!("{name} = {chain};\n")).collect();
    format!("surface chains({parameters} float one = 1;) {{ vector e = vector (one, 0, 0);\n{code} }}")
}

#[test]
fn ten_thousand_terms_on_the_interpreter() {
    let chains = chains(10_000);
    let shader = shader(&text(&chains));
    let shaded = shaded(3, &[]);
    let (outputs, _) = shade(&shader, &shaded.scene, &shaded.grid);
    for (name, _, expected) in &chains {
        let (_, column) = outputs.iter().find(|(found, _)| **found == **name).expect("an output");
        let near = |c: &Const| c.as_f32().is_some_and(|x| (x - expected).abs() < 1e-2);
        assert!(column.iter().all(near), "{name} is {:?}, not {expected}", column[0]);
    }
}

#[test]
fn a_thousand_terms_on_the_device() {
    let chains = chains(1000);
    let shader = shader(&text(&chains));
    let names: Vec<_> = chains.iter().map(|(name, ..)| (*name, RslType::Float)).collect();
    let ran = TestPipeline::surface(&shader, &[], &names).run(&[shaded(3, &[])]);
    for ((name, _, expected), column) in chains.iter().zip(&ran.on_device[0]) {
        let near = |c: &Const| c.as_f32().is_some_and(|x| (x - expected).abs() < 1e-2);
        assert!(column.iter().all(near), "{name} is {:?}, not {expected}", column[0]);
    }
}
