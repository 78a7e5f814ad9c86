//! The kernels that drawing a world needs: what each stage of a pipeline runs, by the variants that the world calls
//! for.

use super::bound_split::KindMotion;
use super::displace::ProgramKind;
use super::fuse::DicedKind;
use super::geometry::PrimitiveKind;
use super::hide::{HiddenSurfaces, HidingForm, SampleTests, VertexMotion};
use super::look::{HideBin, Interpolation, ShadingKernel};
use super::plan::{AssignBin, Pipeline, PipelineStage, Process};
use super::recording::Kernel;
use super::world::DrawnWorld;
use super::{bound_split, composite, dice, displace, filter, hide, layers, sample, select, shade, solids};
use crate::scene::{DepthFilter, FilterKind};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Kernels of a stage.
pub(super) type KernelList = Vec<&'static Arc<Kernel>>;

/// Which variants of kernels suit a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelVariants {
    /// The variants without barriers, for CPU drivers.
    pub serial: bool,
}

/// What a picture's displays want.
#[derive(Clone, Debug, PartialEq)]
pub struct DisplayDemands {
    /// The filters that channels go through.
    pub filters: Vec<FilterKind>,
    /// How depths are filtered, if one wants them.
    pub depth: Option<DepthFilter>,
    /// Whether one wants the light at each depth.
    pub deep: bool,
    /// Whether any wants values of variables.
    pub variables: bool,
}

impl DisplayDemands {
    fn midpoints(&self) -> bool {
        self.depth == Some(DepthFilter::Midpoint)
    }
}

/// What of a world decides which variants of kernels run.
struct WorldTraits {
    kinds: BTreeSet<KindMotion>,
    tests: Vec<SampleTests>,
    /// What opaque surfaces that are not displaced are, and what their samples are tested for.
    diced: Vec<(DicedKind, SampleTests)>,
    form: HidingForm,
    interpolation: Interpolation,
    translucent: bool,
    /// Whether pixels have one sample.
    single: bool,
    solids: bool,
    clipped: bool,
    displaced: bool,
    displacement_primvars: BTreeSet<PrimitiveKind>,
    coloured: bool,
    colour_primvars: BTreeSet<PrimitiveKind>,
}

impl WorldTraits {
    fn of(world: &DrawnWorld, form: HidingForm, deep: bool) -> Self {
        Self {
            kinds: world.kinds(),
            tests: sample_tests(world),
            diced: diced_kinds(world),
            form,
            interpolation: world.interpolation,
            translucent: deep || world.hide_bins.iter().any(|bin| bin.translucent),
            single: world.frame.samples == [1, 1],
            solids: !world.solids.is_empty(),
            clipped: !world.clip_planes.is_empty(),
            displaced: world.hide_bins.iter().any(|bin| bin.displace.is_some()),
            displacement_primvars: world
                .hide_bins
                .iter()
                .filter(|bin| bin.displace_primvars)
                .map(|bin| bin.kind)
                .collect(),
            coloured: world.shade_bins.iter().any(|bin| bin.shade.is_some()),
            colour_primvars: world.shade_bins.iter().filter(|bin| bin.shade_primvars).map(|bin| bin.kind).collect(),
        }
    }

    fn hide_kernels(&self, surfaces: HiddenSurfaces) -> KernelList {
        let of_diced =
            |&(kind, tests): &(DicedKind, SampleTests)| hide::fused_kernels(surfaces, tests, self.form.division, kind);
        let fused = self.diced.iter().flat_map(of_diced);
        self.tests.iter().flat_map(|&tests| hide::kernels(surfaces, tests, self.form)).chain(fused).collect()
    }
}

/// The variants of hiding and sampling that a world's bins call for.
fn sample_tests(world: &DrawnWorld) -> Vec<SampleTests> {
    let bins: BTreeSet<SampleTests> = world.hide_bins.iter().map(|bin| tests_of(world, bin)).collect();
    bins.into_iter().collect()
}

fn tests_of(world: &DrawnWorld, bin: &HideBin) -> SampleTests {
    SampleTests {
        clipped: !world.clip_planes.is_empty(),
        trimmed: bin.trimmed,
        blurred: !world.lens.is_empty() || bin.keys > 1,
        motion: VertexMotion::of_keys(bin.keys),
    }
}

/// The opaque bins of a world that are not displaced.
fn diced_kinds(world: &DrawnWorld) -> Vec<(DicedKind, SampleTests)> {
    let plain = world.hide_bins.iter().filter(|bin| !bin.translucent && bin.displace.is_none());
    let of_bin = |bin: &HideBin| (DicedKind { kind: bin.kind, full: world.full.has(bin.kind) }, tests_of(world, bin));
    plain.map(of_bin).collect()
}

/// The kernels of `glsl/` that drawing a world needs, in the order in which they are needed first: those of counting,
/// then those of the pipeline's stages; to be compiled ahead, as the compiled `programs` are.
pub fn kernels_of(
    world: &DrawnWorld,
    programs: &[ShadingKernel],
    pipeline: &Pipeline,
    variants: KernelVariants,
    displays: &DisplayDemands,
) -> Vec<Arc<Kernel>> {
    let traits = WorldTraits::of(world, HidingForm { division: pipeline.division(), variants }, displays.deep);
    let mut kernels = bound_split::kernels(traits.kinds.iter().copied(), variants);
    if programs.iter().any(|program| program.velocity_channel.is_some()) {
        kernels.extend(displace::velocity_kernels());
    }
    for stage in pipeline.stages() {
        let is_left_out = stage.is_for_translucency() && !traits.translucent;
        let is_left_out = is_left_out
            || stage.is_for_solids() && !traits.solids
            || stage.is_for_blur() && !world.is_blurred()
            || stage.process == Process::MarkUnseen && !world.bakes_unseen
            || stage.process == Process::FilterDepth && displays.depth.is_none()
            || stage.process == Process::ListLayers && !displays.deep;
        if !is_left_out {
            kernels.extend(of_stage(stage, &traits, variants, displays));
        }
    }
    let mut known = FxHashSet::default();
    kernels.into_iter().filter(|kernel| known.insert(kernel.label())).cloned().collect()
}

fn of_stage(
    stage: &PipelineStage,
    traits: &WorldTraits,
    variants: KernelVariants,
    displays: &DisplayDemands,
) -> KernelList {
    let surfaces = HiddenSurfaces::for_midpoints(displays.midpoints());
    match stage.process {
        Process::ClearSelection | Process::ClearEntries | Process::MarkAll => Vec::new(),
        Process::Choose => select::choice_kernels(variants),
        Process::Rank => select::rank_kernels(variants),
        Process::BlurSamples => hide::blur_kernels(),
        Process::Gather => select::gather_kernels(variants),
        Process::SortForHiding => select::batch_kernels(variants),
        Process::Dice => [hide::slot_kernels(), dice::kernels(traits.kinds.iter().copied())].concat(),
        Process::Displace if !traits.displaced => Vec::new(),
        Process::Displace => {
            let program = displace::program_kernels(ProgramKind::Displacement, &traits.displacement_primvars);
            let measures = matches!(stage.assign_bin, AssignBin::Depth(_));
            let keeps_keys = matches!(traits.interpolation, Interpolation::Blurred(_));
            let carries = (measures || keeps_keys) && traits.kinds.iter().any(|kind| kind.moves);
            let measure = if measures { displace::measure_kernels() } else { Vec::new() };
            [program, measure, if carries { displace::carry_kernels() } else { Vec::new() }].concat()
        }
        Process::Hide => traits.hide_kernels(surfaces),
        Process::RenewBlocks => hide::block_kernels(surfaces),
        Process::ClearResolved => composite::clear_kernels(),
        Process::Sample => {
            traits.tests.iter().flat_map(|&tests| sample::kernels(tests, traits.form.division)).collect()
        }
        Process::ListEntries => sample::list_kernels(variants),
        Process::ScatterEntries => sample::scatter_kernels(),
        Process::SortEntries => sample::sort_kernels(),
        Process::CarrySolids => solids::carry_kernels(),
        Process::CutSolids => solids::cut_kernels(traits.clipped),
        Process::KeepSolids => solids::keep_kernels(),
        Process::Mark => shade::mark_kernels(),
        Process::MarkUnseen => shade::mark_unseen_kernels(),
        Process::NumberVisible => shade::place_kernels(variants),
        Process::PlaceEntries => composite::place_kernels(),
        Process::SortForShading => shade::order_kernels(variants),
        Process::Shade if !traits.coloured => shade::pack_kernels(traits.interpolation),
        Process::Shade => {
            let program = displace::program_kernels(ProgramKind::Colour, &traits.colour_primvars);
            [program, shade::pack_kernels(traits.interpolation)].concat()
        }
        Process::ListLayers => layers::kernels(traits.interpolation),
        Process::CompositeSlab => {
            composite::slab_kernels(traits.interpolation, displays.midpoints(), displays.variables)
        }
        Process::CompositeOpaque => composite::kernels(traits.translucent, traits.interpolation),
        Process::Filter => filter::kernels(&displays.filters, traits.single),
        Process::FilterDepth => filter::depth_kernels(),
    }
}
