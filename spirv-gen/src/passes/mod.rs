//! Analyses and transformations of the IR.

mod algebra;
mod dead;
mod demand;
pub(crate) mod derivatives;
mod illuminance;
mod prints;
mod rates;
mod simplify;
mod suspension;
mod texts;
pub(crate) mod translate;
pub(crate) mod trips;

pub use dead::remove_dead;
pub use demand::demand_slice;
pub use derivatives::relocate_derivatives;
pub(crate) use illuminance::keep_shown;
pub use illuminance::{merge_light_loops, to_light_loops};
pub use prints::{number_prints, print_words, prints};
pub use rates::varying;
pub use simplify::simplify;
pub use suspension::{SavedLoop, SavedLoops};
pub use texts::{map_params, text_params};
pub use trips::{trip_count, uncounted_loops};
