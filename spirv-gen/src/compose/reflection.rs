//! What a compiled pipeline reads and writes, for the program that fills its buffers.

pub use crate::ir::Role;
use crate::ir::{Body, Direction, LookupKind, MachineType, QuerySource, RslType};
use crate::span::SourcePosition;
use std::sync::Arc;

/// What a program looks up in a texture or a point cloud.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TextureUse {
    /// Facts, by `textureinfo()`.
    Facts,
    /// Texels.
    Texels(LookupKind),
    /// Red, green and blue from the first channel on, where what the texture lacks of them is 0. It is noted beside
    /// [`Self::Texels`].
    Colour,
    /// A channel of points.
    Points {
        /// Its name; an empty one asks for points alone.
        channel: Arc<str>,
        /// Three numbers are wanted, else one.
        is_triple: bool,
    },
}

/// A text that a program names: a category pattern of illuminance, a texture.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pattern {
    /// A literal, `"diffuse,-specular"`.
    Literal(Arc<str>),
    /// The value of a string parameter.
    Param(Role, Arc<str>),
    /// The answer to a query.
    Query(QuerySource, Arc<str>),
    /// The result of this number of a block's program: the instance's, or that of lights of a kind.
    Computed(Option<u32>, u32),
}

/// What a slot of an instance block or light block holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Content {
    /// A parameter. Points, vectors, normals and matrices have been transformed to camera space; those of imagers stay
    /// as they are given.
    Param {
        /// Whose.
        shader: Role,
        /// Its name.
        name: Arc<str>,
        /// Its type in the language.
        ty: RslType,
    },
    /// The attribute `Color`.
    Color,
    /// The attribute `Opacity`.
    Opacity,
    /// The matrix of a space, four records: the rows of RI's form, which are the columns for column vectors.
    Space {
        /// Name: `"shader"` and `"object"` are those of `shader`, others are the same for all.
        space: Arc<str>,
        /// Which way it goes.
        direction: Direction,
        /// Who asks.
        shader: Role,
    },
    /// Record of the light list in `Params`, as uint bits.
    LightList,
    /// 1 when the camera is orthographic, else 0.
    Orthographic,
    /// Shutter time.
    Time,
    /// Length of the shutter interval.
    DTime,
    /// Distance of the near clipping plane.
    Hither,
    /// Distance of the far clipping plane.
    Yon,
    /// The record of a table of the lights that a category pattern takes ([`crate::text::category_matches`]), as uint
    /// bits. The host numbers the different texts of categories in the light list; the third word of a light's entry
    /// has the number of its own, and the table a record for each number, whose first word is not 0 if it is taken.
    LightsTaken(Pattern),
    /// Record of the tables of constants ([`Reflection::tables`]) in `Params`, as uint bits.
    Tables,
    /// 1 if the host can answer a query, else 0.
    QueryFound(QuerySource, Arc<str>, RslType, u32),
    /// The answer to the query: as many elements as its last field says.
    QueryValue(QuerySource, Arc<str>, RslType, u32),
    /// The result of this number of the block's program ([`crate::interp::compute_block`]), which reads the others.
    Computed(u32),
}

/// A value in a block.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BlockSlot {
    /// What it is.
    pub content: Content,
    /// Record relative to the block.
    pub record: u32,
    /// First of its lanes in the record: 0 to 3.
    pub lane: u32,
    /// Its machine type.
    pub ty: MachineType,
    /// Number of elements. Element i of an array begins `i` records further on (a matrix: `4 i`), at lane 0.
    pub len: u32,
}

/// A value that the displacement shader computes, and for which another shader asks by `displacement(name, variable)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DisplacementValue {
    /// Its name ([`crate::ir::element_name`]).
    pub name: Arc<str>,
    /// Its type in the displacement shader.
    pub ty: RslType,
    /// Its first channel: of the position kernel's outputs, and of the colour kernel's inputs.
    pub channel: u32,
}

/// An input channel. A program that needs one variable of a channel has the channel.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Input {
    /// P in x, y, z; u in w.
    PositionU,
    /// N; v in w.
    NormalV,
    /// dPdu; s in w.
    DpduS,
    /// dPdv; t in w.
    DpdvT,
    /// dPdtime in the first channel; the second is for P at the motion's second key.
    Velocity,
    /// A value of the displacement shader, which the position kernel stored.
    Displacement(DisplacementValue),
    /// Colour that a pixel has; alpha in w (imager shaders).
    CiAlpha,
    /// Opacity that a pixel has.
    Oi,
    /// The primitive variable `Cs`.
    Color,
    /// The primitive variable `Os`.
    Opacity,
    /// A primitive variable bound to a parameter; arrays and matrices take several channels.
    Primvar {
        /// Whose parameter.
        shader: Role,
        /// Its name.
        name: Arc<str>,
        /// Its type.
        ty: RslType,
        /// Number of elements.
        len: u32,
    },
}

/// An input and its location.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InputChannel {
    /// What it is.
    pub input: Input,
    /// Its first channel.
    pub channel: u32,
    /// How many channels it takes.
    pub count: u32,
}

/// A uniform input: a primitive variable with one value for the grid, in `Arena` from the record on that `Work` names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UniformInput {
    /// What it is: [`Input::Color`], [`Input::Opacity`] or [`Input::Primvar`].
    pub input: Input,
    /// Its first record.
    pub record: u32,
    /// How many records it takes.
    pub count: u32,
}

/// An output and its channel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OutputChannel {
    /// Its name.
    pub name: Arc<str>,
    /// Its type, as it was requested.
    pub ty: RslType,
    /// Its first channel; a matrix takes four, everything else one (a float in lane 0, other lanes 0).
    pub channel: u32,
}

/// What is known of the opacity that a colour slice computes, when `Oi` is requested.
#[derive(Clone, Debug, PartialEq)]
pub enum Opacity {
    /// Always a copy of `Os`.
    FromOs,
    /// Always this.
    Constant([f32; 3]),
    /// 1, but for rounding, wherever `Os` is: that of an opaque surface seen through a volume.
    KeepsOne,
    /// To be found by running it.
    Computed,
}

/// Something that the pipeline does differently from what its shaders ask for, which is reported once.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shortfall {
    /// Textures, environments and shadow maps are not looked up: black, black, unshadowed. The shadeop, and the name if
    /// it is not computed in the shader.
    Lookup(&'static str, Option<Pattern>),
    /// `printf` prints nothing.
    Printf,
    /// A text that is computed in the shader, from what differs from point to point, is empty. What computes it.
    ComputedText(Arc<str>),
    /// A category that is computed in the shader takes all lights.
    ComputedCategory,
}

/// A shortfall, and the place in a shader that has it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlacedShortfall {
    /// Where it is, if that is known.
    pub position: Option<SourcePosition>,
    /// What is done differently.
    pub shortfall: Shortfall,
}

/// A block of values: an instance's, or that of a light of some kind.
#[derive(Clone, Debug, Default)]
pub struct BlockLayout {
    /// What is in it.
    pub slots: Vec<BlockSlot>,
    /// Its length in records.
    pub records: u32,
    /// The program of which it has the results.
    pub program: Option<Arc<Body>>,
}

/// A condition of branches that is the same wherever an instance is shaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The number of the result of the instance block's program that it is; it holds where that is not 0.
    pub result: u32,
    /// Its record in the block.
    pub record: u32,
    /// Its lane in the record.
    pub lane: u32,
}

/// What a compiled pipeline reads and writes.
#[derive(Clone, Debug)]
pub struct Reflection {
    /// The block of the instance.
    pub block: BlockLayout,
    /// For each kind of light of the request, its block. A kernel may read as many records of any light's block as the
    /// longest of these has (it does not use what it reads there): `Params` must go on so far after the last block.
    pub lights: Vec<BlockLayout>,
    /// Input channels in order.
    pub inputs: Vec<InputChannel>,
    /// Number of input channels.
    pub input_channels: u32,
    /// Uniform inputs in order.
    pub uniform_inputs: Vec<UniformInput>,
    /// Records of uniform inputs of a grid.
    pub uniform_records: u32,
    /// Outputs in the order of the request.
    pub outputs: Vec<OutputChannel>,
    /// Number of output channels.
    pub output_channels: u32,
    /// The conditions about which the program can be made ([`super::BoundPipeline::program`]).
    pub decisions: Vec<Decision>,
    /// String literals of the program, with their tokens.
    pub strings: Vec<(Arc<str>, u32)>,
    /// Tables of constants, which the host puts into `Params`.
    pub tables: Vec<[u32; 4]>,
    /// What is known of `Oi`.
    pub opacity: Opacity,
    /// Differences between vertices are taken: the kernel needs whole grids.
    pub takes_derivatives: bool,
    /// The program has loops that count their trips, so it may raise `Status`.
    pub counts_trips: bool,
    /// Words that `printf` and `bake3d` leave for a vertex, with loops of unknown trips and what they print counted
    /// once; 0 where nothing is printed or baked.
    pub print_words: u32,
    /// Whether it bakes points.
    pub bakes: bool,
    /// The program looks up spaces by names it computes: it reads the space table.
    pub reads_space_table: bool,
    /// The program looks textures up ([`crate::abi::textures`]): its dispatches may have to be made again.
    pub uses_textures: bool,
    /// The names of textures and point clouds, `None` for those that are computed, and what looks them up.
    pub texture_names: Vec<(Option<Pattern>, TextureUse)>,
    /// The names that lookups' filters may have where its shaders do not spell them out.
    pub filter_names: Vec<Pattern>,
    /// What it does differently from what its shaders ask for.
    pub shortfalls: Vec<PlacedShortfall>,
}
