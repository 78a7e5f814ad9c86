//! What a stage says of itself. Each process has one [`StageDescriptor`], in the file of its stage: what it needs
//! before it, how its work is cut, its kernels, how it is recorded, when it is left out, and what the host reads after
//! it. Whoever plans, prepares or runs stages asks the descriptor; nobody else matches on [`Process`].

mod descriptor;
mod load;
mod process;
mod settings;
mod task;
mod traits;

pub use descriptor::{Bins, Execution, Finding, KernelDemand, Need, Repeats, StageDescriptor, When, no_kernels};
pub use load::{LoadInput, LoadStage, LoadedPiece, LoopKind, ProgramLoops, StagePart, WorldPrograms};
pub use process::{AssignBin, Grids, PipelineStage, Process, Repeat, Schedule};
pub use settings::{Composition, DepthBuckets, FilteredRecord, StageSettings};
pub use task::{CarriedStates, PageOrder, RecordTask, Task, TaskInput, TaskState, Units, Work, WorkSpread};
pub use traits::{DisplayDemands, Feature, PictureFeatures, WorldTraits};
