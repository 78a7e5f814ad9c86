//! The kernels that drawing a world needs: what each stage of a pipeline runs, by the variants that the world calls
//! for.

use super::hidden::HidingForm;
use super::look::ShadingKernel;
use super::plan::Pipeline;
use super::recording::Kernel;
use super::stage::{DisplayDemands, KernelDemand, PictureFeatures, WorldTraits};
use super::variants::KernelVariants;
use super::world::DrawnWorld;
use super::{bound_split, program};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The kernels of `glsl/` that drawing a world needs, in the order in which they are needed first: those of counting,
/// then those of the pipeline's stages; to be compiled ahead, as the compiled `programs` are.
pub fn kernels_of(
    world: &DrawnWorld,
    programs: &[ShadingKernel],
    pipeline: &Pipeline,
    variants: KernelVariants,
    displays: &DisplayDemands,
) -> Vec<Arc<Kernel>> {
    let features = PictureFeatures::of(world, displays);
    let traits = WorldTraits::of(world, HidingForm { division: pipeline.division(), variants }, &features);
    let mut kernels = bound_split::kernels(traits.kinds.iter().copied(), variants);
    if programs.iter().any(|program| program.velocity_channel.is_some()) {
        kernels.extend(program::velocity_kernels());
    }
    for stage in pipeline.stages().iter().filter(|stage| !stage.is_left_out(&features)) {
        let demand = KernelDemand { stage, traits: &traits, variants, displays };
        kernels.extend((stage.process.descriptor().kernels)(&demand));
    }
    let mut known = FxHashSet::default();
    kernels.into_iter().filter(|kernel| known.insert(kernel.label())).cloned().collect()
}
