//! What is looked for in a sample and what decides which kernels look for it.

use super::bound_split::FullKinds;
use super::buffers::{ActiveRegion, FrameSlices};
use super::geometry::PrimitiveKind;
pub use super::kernels::axes::Motion as VertexMotion;
use super::variants::KernelVariants;

/// Which surfaces of a sample are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HiddenSurfaces {
    /// The nearest one, by key.
    Nearest,
    /// Also the depth of the next one behind it.
    NearestTwo,
}

impl HiddenSurfaces {
    /// Those that depths need, which are midpoints or not.
    pub fn for_midpoints(midpoints: bool) -> Self {
        if midpoints { Self::NearestTwo } else { Self::Nearest }
    }

    /// Those of a region.
    pub fn of(region: &ActiveRegion) -> Self {
        Self::for_midpoints(region.capacity.behind)
    }
}

/// What samples are tested for, which chooses the variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SampleTests {
    /// Clipping planes.
    pub clipped: bool,
    /// Trim loops.
    pub trimmed: bool,
    /// Whether each has its own time and point of the lens.
    pub blurred: bool,
    /// How vertices move.
    pub motion: VertexMotion,
}

impl SampleTests {
    /// The tests of a sublist: whether there are clipping planes, trim loops and a lens, and the keyframes of its
    /// motion.
    pub fn new(clipped: bool, trimmed: bool, lens: bool, keyframes: u32) -> Self {
        Self { clipped, trimmed, blurred: lens || keyframes > 1, motion: VertexMotion::of(keyframes, lens) }
    }
}

impl VertexMotion {
    fn of(keyframes: u32, lens: bool) -> Self {
        match keyframes {
            0 | 1 => Self::Still,
            2 if lens => Self::Straight,
            2 => Self::Focused,
            _ => Self::Keyframed,
        }
    }
}

/// Where the positions of a piece's vertices are: at each keyframe of its motion, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyframedPositions {
    /// The first record.
    pub base: u32,
    /// Keyframes; 1 for what stands still.
    pub keyframes: u32,
    /// Whether its primitives have trim loops.
    pub trimmed: bool,
}

impl KeyframedPositions {
    /// What their samples are tested for.
    pub fn tests(&self, frame: &FrameSlices) -> SampleTests {
        SampleTests::new(!frame.clip_planes.is_empty(), self.trimmed, !frame.lens.is_empty(), self.keyframes)
    }
}

/// How the kernels that test samples divide them among invocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// One invocation tests all samples that a micropolygon may cover (RenderAnts, section 4.3).
    Micropolygons,
    /// A workgroup lists the strips of its micropolygons (rows of samples or cells, or strata of what moves or is out
    /// of focus) by a prefix sum in shared memory, and its invocations share them out evenly.
    Expanded,
    /// Micropolygons are listed for bins of pixels first; then a workgroup hides those of a bin, and keeps the depths
    /// of its samples in shared memory. Translucent, clipped, trimmed and blurred surfaces, and all where depths are
    /// midpoints, are tested by one invocation a micropolygon.
    Binned,
    /// As [`Division::Binned`], and the workgroup that hides a bin also finds the farthest depth of the bin's blocks
    /// of 4x4 pixels, from the depths in its shared memory.
    BinnedFused,
    /// A workgroup dices grids and hides them at once; vertices stay in its shared memory. Grids that are displaced or
    /// moving, and all that [`Division::Binned`] leaves out, are diced first and then tested by one invocation a
    /// micropolygon.
    Fused,
}

impl Division {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Micropolygons, Self::Expanded, Self::Binned, Self::BinnedFused, Self::Fused];
}

/// How pieces are hidden; the result is the same.
#[derive(Clone, Copy, Debug)]
pub struct HidingForm {
    /// How samples are divided among invocations.
    pub division: Division,
    /// The variants of kernels that are not for hiding alone.
    pub variants: KernelVariants,
}

/// What of primitives decides how they are diced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DicedKind {
    /// The kind.
    pub kind: PrimitiveKind,
    /// Whether it is left to kernels that do more, see [`FullKinds`].
    pub full: bool,
}

impl DicedKind {
    /// How primitives of a kind are diced where those of the kinds `full` are left to kernels that do more.
    pub fn of(kind: PrimitiveKind, full: FullKinds) -> Self {
        Self { kind, full: full.has(kind) }
    }
}
