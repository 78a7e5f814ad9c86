//! Partitioners: a shader that is too large for one pass becomes several passes, each within the limits of an
//! architecture, which save values and restore them (docs/partition.md).
//!
//! [`Dag`] is what is cut, [`Architecture`] what it is cut for, [`Partition`] what comes out. [`exhaustive()`] finds
//! the cheapest partition of small graphs, [`rds()`] one that is close to it, [`rds_h()`] a good one without search,
//! [`mrds()`] one whose passes save several values, [`mio()`] one in nearly linear time, [`dpmpp()`] the cheapest of a
//! tree. [`ShaderDag`] is the graph of a composed pipeline, [`cut()`] cuts it, and [`describe()`] prints a partition
//! of it. A [`CutRule`] says when the renderer cuts a pipeline.

mod architecture;
mod calls;
mod cut;
mod dag;
mod describe;
mod dominators;
mod dpmpp;
mod exhaustive;
mod gauge;
mod merging;
mod mio;
mod mrds;
mod outcome;
mod pass;
mod rds;
mod rule;
mod shader;
mod weights;

pub use architecture::{Architecture, CostModel, Limits, UNLIMITED};
pub use cut::cut;
pub use dag::{Dag, DagNode, NodeId, NodeKind};
pub use describe::describe;
pub use dpmpp::dpmpp;
pub use exhaustive::{Found, exhaustive};
pub use mio::{Schedule, mio};
pub use mrds::mrds;
pub use outcome::{Partition, PartitionFault};
pub use pass::{Pass, Resources};
pub use rds::{rds, rds_h};
pub use rule::{CutPlan, CutRule, ForcedCut, SAVED_WORDS_MAX};
pub use shader::ShaderDag;
pub(crate) use weights::steps_of;
