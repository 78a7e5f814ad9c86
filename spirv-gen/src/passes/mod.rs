//! Analyses and transformations of the IR.

mod algebra;
mod cut_passes;
mod dead;
mod demand;
mod derivatives;
pub(crate) mod exchanges;
mod free_values;
mod guards;
mod illuminance;
mod lookup_steps;
mod merge_lights;
mod prints;
mod rates;
mod simplify;
mod suspension;
mod texts;
pub(crate) mod translate;
pub(crate) mod trips;
pub(crate) mod uniform;
mod unroll;
pub(crate) mod writer;

pub use cut_passes::{CutProgram, PassProgram, Stored, cut_passes};
pub use dead::remove_dead;
pub use demand::demand_slice;
pub use derivatives::relocate_derivatives;
pub(crate) use free_values::free_values;
pub(crate) use illuminance::keep_shown;
pub use illuminance::to_light_loops;
pub(crate) use lookup_steps::{Step, lookup_steps};
pub use merge_lights::merge_light_loops;
pub use prints::{number_prints, print_words, prints};
pub use rates::varying;
pub use simplify::simplify;
pub use suspension::{SavedLoop, SavedLoops};
pub use texts::{map_params, text_params};
pub use trips::{trip_count, uncounted_loops};
pub use uniform::{OperationCounts, count_operations};
pub(crate) use unroll::unroll_texts;

use crate::ir::{Body, verify_body};

/// Returns the body that a pass has made, verified where debug assertions are on.
pub(crate) fn checked(body: Body) -> Body {
    if cfg!(debug_assertions)
        && let Err(e) = verify_body(&body, &[])
    {
        panic!("a pass made an invalid program: {e}");
    }
    body
}
