//! What the pipeline must know of a drawable's shading: programs by number, where their inputs come from, and what they
//! do to opacity.

use super::geometry::PrimitiveKind;
use super::kernels::axes::Smooth;
use super::kernels::constants::{KEYFRAME_POSITION_RECORDS, POSITION_HEAD_RECORDS, POSITION_RECORDS, TRIPS_MAX};
use super::recording::{Kernel, KernelName};
use crate::scene::ValueType;
use std::sync::Arc;

/// What is known of the opacity of a drawable before it is shaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// Opacity 1 everywhere: it hides before it is coloured.
    Opaque,
    /// Anything else: it leaves entries, which are composited.
    Translucent,
    /// Opacity 0 everywhere: it is not drawn.
    Dropped,
}

/// One input of a program that a primitive variable of the drawable gives.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InputBinding {
    /// The primitive variable's name.
    pub primvar: Arc<str>,
    /// Whether it goes to the slot's uniform inputs instead of a channel.
    pub uniform: bool,
    /// Input channel, or number of the uniform input.
    pub channel: u32,
    /// First component in the channel's record.
    pub component: u32,
    /// First float of a value of the primvar that goes there.
    pub first: u32,
    /// How many floats.
    pub floats: u32,
    /// What the floats are for the program, whatever declared them; points, vectors and normals are taken to camera
    /// space.
    pub meaning: ValueType,
}

/// A compiled program as a drawable uses it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    /// Number of the compiled kernel.
    pub kernel: usize,
    /// Record of the drawable's instance block in the parameter buffer.
    pub block: u32,
    /// Inputs from primitive variables.
    pub inputs: Arc<[InputBinding]>,
}

/// How a drawable is displaced and shaded.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// What is known of its opacity.
    pub verdict: Verdict,
    /// Displacement program, if it is displaced.
    pub displace: Option<Program>,
    /// Colour program; `None` for what is never coloured (matte objects).
    pub shade: Option<Program>,
    /// Whether it is a curve that may be drawn wider than it is, and count for less.
    pub thin: bool,
    /// Whether one of the programs bakes points.
    pub bakes: bool,
}

/// Grids that go through dice, displace and hide (or sample) in the same dispatches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HideSublist {
    /// Translucent ones come last, and are sampled instead of hidden.
    pub translucent: bool,
    /// The page that holds the primitives.
    pub page: usize,
    /// Primitive kind.
    pub kind: PrimitiveKind,
    /// Whether samples are tested against trim loops.
    pub trimmed: bool,
    /// Displacement kernel.
    pub displace: Option<usize>,
    /// Whether primvars go to the displacement program.
    pub displace_primvars: bool,
    /// Keyframes of its motion; 1 for what stands still.
    pub keyframes: u32,
}

impl HideSublist {
    /// Channels of positions at the keyframes of its motion, besides those of its displacement program.
    pub fn keyframe_channels(&self) -> u32 {
        if self.displace.is_some() && self.keyframes == 1 { 0 } else { self.keyframes }
    }
}

/// Grids that are shaded in the same dispatches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShadeSublist {
    /// The page that holds the primitives.
    pub page: usize,
    /// Primitive kind.
    pub kind: PrimitiveKind,
    /// Displacement kernel.
    pub displace: Option<usize>,
    /// Whether primvars go to the displacement program.
    pub displace_primvars: bool,
    /// Colour kernel.
    pub shade: Option<usize>,
    /// Whether primvars go to the colour program.
    pub shade_primvars: bool,
    /// Whether vertices may count for less than their opacity.
    pub thin: bool,
    /// Keyframes of its motion at which positions are kept with the colours, see [`Interpolation::Blurred`]; else 0.
    pub keyframes: u32,
}

impl ShadeSublist {
    /// Channels of positions at keyframes: those of what stands still are among the inputs of its program.
    pub fn keyframe_channels(&self) -> u32 {
        if self.keyframes > 1 { self.keyframes } else { 0 }
    }
}

/// What the colour store holds of a micropolygon (ShadingInterpolation, RISpec 4.2.1; glsl/lib/colour/colour.glsl).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// One colour.
    #[default]
    Constant,
    /// Colours of the vertices, and where they are in the picture.
    Smooth,
    /// Colours of the vertices, and where they are in camera space at each keyframe of their motion, of which there are
    /// as many at most: some move, or are seen through a lens.
    Blurred(u32),
}

impl Interpolation {
    /// The form of kernels that write or read the colour store.
    pub(super) fn smooth(self) -> Smooth {
        match self {
            Self::Constant => Smooth::Constant,
            Self::Smooth => Smooth::Smooth,
            Self::Blurred(_) => Smooth::Blurred,
        }
    }

    /// Records of the vertices' positions at a place of the colour store.
    pub fn position_records(self) -> u32 {
        match self {
            Self::Constant => 0,
            Self::Smooth => POSITION_RECORDS,
            Self::Blurred(keyframes) => POSITION_HEAD_RECORDS + keyframes * KEYFRAME_POSITION_RECORDS,
        }
    }
}

/// What the pipeline must know of a compiled kernel to write its inputs (spirv-gen's reflection, as numbers).
#[derive(Clone, Debug)]
pub struct ShadingKernel {
    /// What a device runs, one after the other: several where the program is cut into passes.
    pub passes: Vec<ShadingPass>,
    /// Channels in which passes save values for each other.
    pub pass_channels: u32,
    /// Mask of the geometry channels 0 to 3 that it reads.
    pub geometry_channels: u32,
    /// The input channel of dPdtime; the one behind it is for P at the motion's second keyframe.
    pub velocity_channel: Option<u32>,
    /// Input channels in all, the four geometry channels included.
    pub input_channels: u32,
    /// Records of uniform inputs of a slot.
    pub uniform_records: u32,
    /// Output channels in all.
    pub output_channels: u32,
    /// Words that `printf` and `bake3d` leave for a vertex as far as that is known; 0 where nothing is printed or
    /// baked.
    pub print_words: u32,
    /// Whether it bakes points.
    pub bakes: bool,
    /// Whether it looks textures up: then its dispatches may have to be made again.
    pub uses_textures: bool,
    /// Output channel of Oi; `None` when the opacity is 1.
    pub opacity_channel: Option<u32>,
    /// Output channel of each wanted variable, in the order of the film's variables; each variable takes one channel.
    pub variable_channels: Vec<u32>,
    /// What names the tiles of its textures, so that they are loaded before it runs; `None` where that takes the
    /// textures themselves.
    pub demand: Option<Arc<Kernel>>,
    /// What runs instead where loops are long; `None` for programs whose loops never are.
    pub resumable: Option<ResumableKernel>,
}

impl ShadingKernel {
    /// The same under another name: the labels of its kernels begin with it.
    pub fn renamed(&self, from: &str, to: &str) -> Self {
        let program: Arc<str> = to.into();
        let renamed = |kernel: &Arc<Kernel>| {
            let label = format!("{to}{}", kernel.label().strip_prefix(from).unwrap_or_default());
            kernel.renamed(KernelName::of_program(&program, label))
        };
        let passes = |passes: &[ShadingPass]| {
            passes.iter().map(|pass| ShadingPass { kernel: renamed(&pass.kernel), ..pass.clone() }).collect()
        };
        Self {
            passes: passes(&self.passes),
            demand: self.demand.as_ref().map(renamed),
            resumable: self.resumable.as_ref().map(|resumable| ResumableKernel {
                passes: passes(&resumable.passes),
                state_channels: resumable.state_channels,
            }),
            ..self.clone()
        }
    }

    /// All kernels that it may run.
    pub fn kernels(&self) -> impl Iterator<Item = &Arc<Kernel>> {
        let resumable = self.resumable.iter().flat_map(|resumable| &resumable.passes);
        self.passes.iter().chain(resumable).map(|pass| &pass.kernel).chain(&self.demand)
    }

    /// The words of its kernels.
    pub fn word_count(&self) -> usize {
        self.kernels().map(|kernel| kernel.words().len()).sum()
    }

    /// The pass from which on it is run again where `missed` is the first that missed tiles: what the passes before
    /// have saved is still there. It runs again from the start if it is one pass, and if others may have printed, or
    /// stopped loops.
    pub fn first_pass_again(&self, missed: u32) -> u32 {
        if self.keeps_passes() { missed } else { 0 }
    }

    /// Whether passes that missed nothing need not be run again.
    pub fn keeps_passes(&self) -> bool {
        self.passes.len() > 1 && self.uses_textures && self.print_words == 0 && self.resumable.is_none()
    }

    /// Channels for what its passes and its loops save, twice where it may have to be run again.
    pub fn saved_channels(&self) -> u32 {
        match &self.resumable {
            Some(resumable) if self.uses_textures => 2 * resumable.state_channels,
            Some(resumable) => resumable.state_channels,
            None => self.pass_channels,
        }
    }
}

/// Buffers of tiles that a compiled kernel that looks textures up is bound to (spirv-gen's abi.rs).
pub const TILE_BUFFERS: usize = 8;

/// The first word of the numbers of passes in the list of missed tiles: for each piece of a load, behind the first,
/// that of the first pass of its program that missed any.
pub const MISSES_PASSES: u64 = 8;
/// Numbers of passes.
pub const MISSES_PASSES_MAX: u64 = 64;
/// The first word of the hashes of keys.
pub const MISSES_CLAIMS: u64 = MISSES_PASSES + MISSES_PASSES_MAX;
/// Words before the keys in the list of tiles that such a kernel missed.
pub const MISSES_ENTRIES: u64 = MISSES_CLAIMS + (1 << 14);
/// Keys of tiles that the list of those that were missed has room for.
pub const MISSES_ROOM: u64 = 1 << 13;
/// The first word of the marks of slots.
pub const MISSES_MARKS: u64 = MISSES_ENTRIES + 2 * MISSES_ROOM;

/// Loop trips that an invocation of a compiled kernel makes at most in a dispatch.
pub const LOOP_TRIPS_MAX: u32 = TRIPS_MAX;

/// A run of a kernel.
#[derive(Clone, Debug)]
pub struct ShadingPass {
    /// The kernel, which several passes may share.
    pub kernel: Arc<Kernel>,
    /// The channel from which on it counts those in which passes save values.
    pub first_channel: u32,
    /// The first of its counters, if it counts what its lines cost.
    pub counters: Option<u32>,
}

impl From<Arc<Kernel>> for ShadingPass {
    fn from(kernel: Arc<Kernel>) -> Self {
        Self { kernel, first_channel: 0, counters: None }
    }
}

/// A program whose loops stop when a dispatch's trips are used up and go on in the next one (spirv-gen's abi.rs).
#[derive(Clone, Debug)]
pub struct ResumableKernel {
    /// What a device runs, one after the other.
    pub passes: Vec<ShadingPass>,
    /// Channels in which passes save values for each other, and then their loops.
    pub state_channels: u32,
}

/// A compiled imager shader and what it reads.
#[derive(Clone, Debug)]
pub struct ImagerProgram {
    /// What a device runs; resumable if it has state channels.
    pub kernel: Arc<Kernel>,
    /// The number of its counters.
    pub counters: u64,
    /// The first counter of its lines and the first of lookups, if it counts.
    pub first_counters: Option<[u32; 2]>,
    /// Channels in which it saves its loops.
    pub state_channels: u32,
    /// The parameter buffer.
    pub params: Arc<[[f32; 4]]>,
    /// Record of the shader's block in it.
    pub block: u32,
    /// Record of the space table in it.
    pub space_table: u32,
    /// Input channels in all; the raster position is the first, if it is read.
    pub input_channels: u32,
    /// Whether the raster position is read.
    pub reads_position: bool,
    /// Input channel of `Ci` and, in w, `alpha`; `None` when neither is read.
    pub colour_channel: Option<u32>,
    /// Input channel of `Oi`, if it is read.
    pub opacity_channel: Option<u32>,
    /// Whether it looks textures up.
    pub uses_textures: bool,
}
