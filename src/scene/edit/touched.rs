//! What an edit touches: the rows of the table of edits (docs/edits.md).

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

/// A set of kinds of things that an edit touched. It predicts what is to be made again; what is in fact different is
/// found by comparing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Touched(u32);

macro_rules! kinds {
    ($($bit:literal $name:ident $doc:literal;)*) => {
        impl Touched {
            $(#[doc = $doc] pub const $name: Self = Self(1 << $bit);)*

            /// All kinds with their names.
            pub const KINDS: &[(Self, &'static str)] = &[$((Self::$name, stringify!($name)),)*];
        }
    };
}

kinds! {
    0 EXPOSURE "Exposure, quantization and the imager: what becomes of finished pixels.";
    1 FILTER "The pixel filter.";
    2 DISPLAYS "Names, drivers and channels of displays.";
    3 INTERPOLATION "ShadingInterpolation.";
    4 LIGHT_PARAMETER "A parameter of a light.";
    5 LIGHT_MOVED "The place of a light.";
    6 LIGHT_SET "Which lights there are, their shaders, and which objects they shine on.";
    7 SHADER_PARAMETER "A parameter of a surface or atmosphere shader, and attributes that shaders may ask for.";
    8 SHADER_SWAPPED "Another surface or atmosphere shader.";
    9 COLOUR "Color.";
    10 OPACITY "Opacity and Matte.";
    11 DISPLACEMENT "A displacement shader, its parameters and its bound.";
    12 RATE "The shading rate.";
    13 SIDES "Sides and the orientation.";
    14 TRANSFORM "The place of an object.";
    15 VISIBILITY "Whether an object is drawn.";
    16 GEOMETRY "Geometry that is replaced.";
    17 CAMERA "The camera: its place, projection, clipping and lens.";
    18 SHUTTER "When the shutter opens and closes.";
    19 FORMAT "The size of the picture.";
    20 CROP "The crop window.";
    21 SAMPLES "Samples of pixels.";
    22 OPTIONS "Other options.";
    23 FILES "Files that were saved.";
    24 READ_AGAIN "The scene must be read again, because reading it depended on what is edited.";
}

impl Touched {
    /// Nothing.
    pub const NOTHING: Self = Self(0);

    /// Whether nothing is touched.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all kinds of `other` are touched.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any kind of `other` is touched.
    pub fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the set if `is_touched`, or else the empty one.
    #[must_use]
    pub(crate) fn when(self, is_touched: bool) -> Self {
        if is_touched { self } else { Self::NOTHING }
    }
}

impl BitOr for Touched {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Touched {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl fmt::Display for Touched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> =
            Self::KINDS.iter().filter(|(kind, _)| self.contains(*kind)).map(|(_, name)| *name).collect();
        f.write_str(&names.join(" "))
    }
}
