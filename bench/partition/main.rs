//! Measures partitioners: on the shaders of Chan et al. (2002) beside what that prints, on random graphs, and on real
//! shaders.
//!
//! `cargo bench -p spirv-gen --bench partition > FILE.md` prints tables; `-- FOLDER` also stores each as a file of
//! comma-separated values, and figure 6 as a picture. It uses no device.

mod configurations;
mod others;
mod paper;
mod plot;
mod programs;
mod random;
mod real;
mod report;
mod shaders;
mod study;
mod tables;

use report::Report;
use shaders::{PinVariant, bowling_pin};

/// Graphs of each study.
const CASES: u64 = 280;

fn main() {
    // Cargo adds flags of its own.
    let folder = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let report = Report { folder: folder.map(Into::into) };
    let (pin, reversed) =
        (bowling_pin(PinVariant::default()), bowling_pin(PinVariant { reversed: true, fewer_interpolants: true }));
    let (bumpy, wood) = (others::bumpy_pin(), others::wood());
    let shaders = [
        ("RBP", &pin, &paper::RBP),
        ("RBP reversed", &reversed, &paper::RBP),
        ("BMBP", &bumpy, &paper::BMBP),
        ("Wood", &wood, &paper::WOOD),
    ];
    tables::counts(&report, &shaders);
    for (name, dag, printed) in shaders {
        tables::costs(&report, name, dag, printed);
    }
    for (name, dag) in [("RBP", &pin), ("RBP reversed", &reversed)] {
        tables::passes(&report, name, dag);
    }
    tables::figure_6(&report, "RBP", &pin);
    plot::figure_6(&report, &pin);
    tables::cost_models(&report, &[&pin, &reversed, &bumpy]);
    tables::radeon(&report, &[("RBP", &pin), ("RBP reversed", &reversed)]);
    study::gaps(&report, CASES);
    study::trees(&report, CASES / 2);
    study::outputs(&report, CASES / 2);
    study::growth(&report);
    real::cuts(&report);
}
