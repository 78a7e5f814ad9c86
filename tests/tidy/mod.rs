//! The fences of the code base, proved by reading its sources: which part may use which, and the rules that no compiler
//! checks. Each failure says where and what to do.

mod circles;
mod code;
mod constants;
mod directions;
mod documents;
mod kernels;
mod language;
mod module_graph;
mod paths;
mod rules;
mod suite;
mod tree;

/// Fails when something was found.
fn expect_none(found: impl IntoIterator<Item = String>, advice: &str) {
    let found: Vec<String> = found.into_iter().collect();
    assert!(found.is_empty(), "\n  {}\n{advice}\n", found.join("\n  "));
}
