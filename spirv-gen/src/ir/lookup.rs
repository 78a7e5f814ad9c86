//! Texture lookups.

use super::named::named_enum;
use super::types::{Const, MachineType};
use MachineType::{F32, Str, U32, Vec3};

named_enum! {
    /// Texture functions. All take a name and the first channel, what is said here, then width along s and t (factors
    /// of the area), blur along s and t (parts of the texture), and what only this function takes.
    LookupKind {
        /// s, t, then ds/dx, dt/dx, ds/dy, dt/dy (change over one micropolygon); last the number of the filter in
        /// [`LookupKind::FILTERS`], the value of channels that the texture lacks, and 1 to look between two levels.
        Texture = "texture",
        /// A direction (vec3), its change along x and along y; last the number of the filter, and the value of channels
        /// that the texture lacks.
        Environment = "environment",
        /// A position (vec3, camera space), its change along x and along y; last the samples (0: the default), the
        /// least and the largest bias, the gap's, and a number that tells the lookups of different lights apart (u32).
        Shadow = "shadow",
        /// A position (vec3, world space), its change along x and along y, and the normal; last the samples (0: the
        /// default), the least and the largest bias, and a number that tells the lookups of different lights apart
        /// (u32).
        Occlusion = "occlusion",
    }
}

impl LookupKind {
    /// Names of filters in the order of their numbers. Others count as the first.
    pub const FILTERS: [&'static str; 5] = ["gaussian", "box", "radial-bspline", "disk", "lanczos"];

    /// Is added to a filter's number where results are not the colours of vertices, of which micropolygons show the
    /// mean: they are not made sharper.
    pub const PLAIN: u8 = 8;

    /// Returns the number of a filter.
    pub fn filter_number(name: &str) -> Option<u8> {
        Self::FILTERS.iter().position(|filter| *filter == name).map(|number| number as u8)
    }

    /// Returns the types of the arguments: name, first channel, then what is looked up and how.
    pub fn arguments(self) -> &'static [MachineType] {
        match self {
            LookupKind::Texture => &[Str, F32, F32, F32, F32, F32, F32, F32, F32, F32, F32, F32, F32, F32, F32],
            LookupKind::Environment => &[Str, F32, Vec3, Vec3, Vec3, F32, F32, F32, F32, F32, F32],
            LookupKind::Shadow => &[Str, F32, Vec3, Vec3, Vec3, F32, F32, F32, F32, F32, F32, F32, F32, U32],
            LookupKind::Occlusion => &[Str, F32, Vec3, Vec3, Vec3, Vec3, F32, F32, F32, F32, F32, F32, F32, U32],
        }
    }

    /// Returns whether it takes samples at random, compares depths there, and finds a single number. Its last argument
    /// tells the lookups of different lights apart.
    pub fn is_sampled(self) -> bool {
        matches!(self, LookupKind::Shadow | LookupKind::Occlusion)
    }
}

/// A texture lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lookup {
    /// Which function.
    pub kind: LookupKind,
    /// `f32` or `vec3`; a shadow and an occlusion are `f32`.
    pub ty: MachineType,
}

impl Lookup {
    /// Returns what a lookup finds in a texture that is missing: white where a texture's colour is wanted, so that what
    /// it multiplies stays visible, else 0.
    pub fn missing(&self) -> Const {
        match (self.kind, self.ty) {
            (LookupKind::Texture, Vec3) => Const::Vec3([1.0; 3]),
            (_, ty) => ty.zero(),
        }
    }
}

named_enum! {
    /// What a program may ask of a texture, a number at a time.
    TextureFact {
        /// 1 where it can be read, else 0.
        Exists = "exists",
        /// Its size in texels: across, down. 0 of points, of which nothing else is said, either.
        Resolution = "resolution",
        /// Its channels.
        Channels = "channels",
        /// 0 a texture, 1 an environment, 2 a shadow map.
        Type = "type",
        /// A shadow map's camera, 16 numbers.
        ViewingMatrix = "viewingmatrix",
        /// A shadow map's picture, 16 numbers.
        ProjectionMatrix = "projectionmatrix",
        /// How many bits a channel of a texel is stored in.
        BitsPerChannel = "bitsperchannel",
    }
}
