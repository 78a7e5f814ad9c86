//! Machine types, language types, rates and constants of the IR.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What a value is to the machine. Point, vector, normal and color are all [`MachineType::Vec3`]: the difference
/// between them is the front end's concern and has been turned into operations (transforms, conversions) when the IR is
/// made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MachineType {
    /// The result of a comparison. RSL has no variables of this type, but a front end may carry flags.
    Bool,
    /// Counters, hashes, indices of lights. RSL has no such type.
    U32,
    /// 32-bit float.
    F32,
    /// Three floats.
    Vec3,
    /// Sixteen floats in RI order: four rows, points are rows (`p' = p * M`), the translation is the last row.
    Mat4,
    /// A string, as the host's token for it.
    Str,
}

impl MachineType {
    /// Returns the number of 32-bit words of a value in a buffer.
    pub fn words(self) -> u32 {
        match self {
            MachineType::Bool | MachineType::U32 | MachineType::F32 | MachineType::Str => 1,
            MachineType::Vec3 => 3,
            MachineType::Mat4 => 16,
        }
    }

    /// Returns the zero of this type: false, 0, all components 0, the empty string.
    pub fn zero(self) -> Const {
        match self {
            MachineType::Bool => Const::Bool(false),
            MachineType::U32 => Const::U32(0),
            MachineType::F32 => Const::F32(0.0),
            MachineType::Vec3 => Const::Vec3([0.0; 3]),
            MachineType::Mat4 => Const::Mat4(Box::new([0.0; 16])),
            MachineType::Str => Const::Str("".into()),
        }
    }

    /// Returns the name in the text form.
    pub fn name(self) -> &'static str {
        match self {
            MachineType::Bool => "bool",
            MachineType::U32 => "u32",
            MachineType::F32 => "f32",
            MachineType::Vec3 => "vec3",
            MachineType::Mat4 => "mat4",
            MachineType::Str => "str",
        }
    }

    /// Returns the type of this name.
    pub fn from_name(name: &str) -> Option<MachineType> {
        [MachineType::Bool, MachineType::U32, MachineType::F32, MachineType::Vec3, MachineType::Mat4, MachineType::Str]
            .into_iter()
            .find(|t| t.name() == name)
    }
}

impl fmt::Display for MachineType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A type of the shading language: what a shader's parameters and outputs are declared as, kept so that whoever fills
/// instance blocks knows how to bring a value to the shader (points, vectors, normals and matrices are transformed to
/// camera space, colours are not).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RslType {
    /// `float`
    Float,
    /// `color`
    Color,
    /// `point`
    Point,
    /// `vector`
    Vector,
    /// `normal`
    Normal,
    /// `matrix`
    Matrix,
    /// `string`
    String,
}

impl RslType {
    /// Returns the machine type that holds it.
    pub fn machine(self) -> MachineType {
        match self {
            RslType::Float => MachineType::F32,
            RslType::Color | RslType::Point | RslType::Vector | RslType::Normal => MachineType::Vec3,
            RslType::Matrix => MachineType::Mat4,
            RslType::String => MachineType::Str,
        }
    }

    /// Returns the keyword of the language, which is also the name in the text form.
    pub fn name(self) -> &'static str {
        match self {
            RslType::Float => "float",
            RslType::Color => "color",
            RslType::Point => "point",
            RslType::Vector => "vector",
            RslType::Normal => "normal",
            RslType::Matrix => "matrix",
            RslType::String => "string",
        }
    }

    /// Returns the type of this keyword.
    pub fn from_name(name: &str) -> Option<RslType> {
        use RslType::*;
        [Float, Color, Point, Vector, Normal, Matrix, String].into_iter().find(|t| t.name() == name)
    }
}

impl fmt::Display for RslType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How often a value changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rate {
    /// Known when the program is compiled.
    Constant,
    /// The same at all points of a grid. Grids that share a workgroup may differ, so a uniform condition does not make
    /// a barrier legal.
    Uniform,
    /// May differ from point to point.
    Varying,
}

/// A constant. Floats compare and hash by their bits, so that two zeros of different sign are two constants.
#[derive(Clone, Debug)]
pub enum Const {
    /// A truth value.
    Bool(bool),
    /// An unsigned integer.
    U32(u32),
    /// A float.
    F32(f32),
    /// Three floats.
    Vec3([f32; 3]),
    /// Four rows, see [`MachineType::Mat4`].
    Mat4(Box<[f32; 16]>),
    /// A string literal; it becomes a token when the program is compiled.
    Str(Arc<str>),
}

impl Const {
    /// Returns its type.
    pub fn ty(&self) -> MachineType {
        match self {
            Const::Bool(_) => MachineType::Bool,
            Const::U32(_) => MachineType::U32,
            Const::F32(_) => MachineType::F32,
            Const::Vec3(_) => MachineType::Vec3,
            Const::Mat4(_) => MachineType::Mat4,
            Const::Str(_) => MachineType::Str,
        }
    }

    /// Returns whether it is the matrix 1.
    pub fn is_matrix_one(&self) -> bool {
        matches!(self, Const::Mat4(m) if m.iter().enumerate().all(|(i, &x)| x == f32::from(u8::from(i % 5 == 0))))
    }

    /// Returns the float, if it is one.
    pub fn as_f32(&self) -> Option<f32> {
        if let Const::F32(x) = self { Some(*x) } else { None }
    }

    /// Returns the triple, if it is one.
    pub fn as_vec3(&self) -> Option<[f32; 3]> {
        if let Const::Vec3(x) = self { Some(*x) } else { None }
    }

    /// Returns the truth value, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        if let Const::Bool(x) = self { Some(*x) } else { None }
    }

    /// Returns the integer, if it is one.
    pub fn as_u32(&self) -> Option<u32> {
        if let Const::U32(x) = self { Some(*x) } else { None }
    }

    /// Returns the matrix that has `x` on its diagonal and zeros elsewhere: what RSL's `matrix x` means.
    pub fn diagonal(x: f32) -> Const {
        let mut m = [0.0; 16];
        for i in 0..4 {
            m[5 * i] = x;
        }
        Const::Mat4(Box::new(m))
    }

    /// Returns what is stored of it: the bits of its floats, or a word. A text has none: tokens are the host's.
    pub fn words(&self) -> Vec<u32> {
        match self {
            Const::Bool(_) | Const::U32(_) => vec![self.word()],
            _ => self.floats().iter().map(|x| x.to_bits()).collect(),
        }
    }

    fn floats(&self) -> &[f32] {
        match self {
            Const::F32(x) => std::slice::from_ref(x),
            Const::Vec3(x) => x,
            Const::Mat4(x) => &x[..],
            Const::Bool(_) | Const::U32(_) | Const::Str(_) => &[],
        }
    }

    fn word(&self) -> u32 {
        match self {
            Const::Bool(x) => u32::from(*x),
            Const::U32(x) => *x,
            _ => 0,
        }
    }

    fn text(&self) -> &str {
        if let Const::Str(s) = self { s } else { "" }
    }
}

impl PartialEq for Const {
    fn eq(&self, other: &Self) -> bool {
        self.ty() == other.ty()
            && self.word() == other.word()
            && self.text() == other.text()
            && self.floats().iter().map(|x| x.to_bits()).eq(other.floats().iter().map(|x| x.to_bits()))
    }
}

impl Eq for Const {}

impl Hash for Const {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.ty().hash(state);
        self.word().hash(state);
        self.text().hash(state);
        for x in self.floats() {
            x.to_bits().hash(state);
        }
    }
}

impl From<f32> for Const {
    fn from(x: f32) -> Self {
        Const::F32(x)
    }
}

impl From<[f32; 3]> for Const {
    fn from(x: [f32; 3]) -> Self {
        Const::Vec3(x)
    }
}

impl From<&str> for Const {
    fn from(x: &str) -> Self {
        Const::Str(x.into())
    }
}
