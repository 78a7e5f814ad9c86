//! Circles of files, which use each other and can only be understood together: none may grow.
//!
//! `cargo test --test main tidy::circles -- --nocapture` prints them. `TIDY_ROOT` names another checkout to read.

use super::expect_none;
use super::module_graph::{SourceTree, circles};

/// Folders of sources, each with the number of files in its largest circle. Lower a number when a circle is cut; 1 is
/// none.
const LARGEST: &[(&str, usize)] = &[
    ("src/cli/", 1),
    ("src/pipeline/", 5), // the folder of geometry
    ("src/render/", 3),   // texture tiles; automatic shadows
    ("src/rib/", 1),
    ("spirv-gen/src/", 1),
];

#[test]
fn circles_of_files_do_not_grow() {
    let mut grown = Vec::new();
    for (folder, allowed) in LARGEST {
        let graph = SourceTree::of(folder).module_graph();
        let circles = circles(&graph);
        println!("{folder}: {} files, {} circles", graph.len(), circles.len());
        for circle in &circles {
            println!("  {} files: {}", circle.len(), circle.join(", "));
        }
        let larger = circles.iter().filter(|circle| circle.len() > *allowed);
        grown.extend(larger.map(|circle| format!("{folder}: {} files: {}", circle.len(), circle.join(", "))));
    }
    expect_none(grown, "Move what several of them need down into a file that uses none of them.");
}
