//! The intermediate representation: typed, structured, in static single assignment form.
//!
//! # Meaning
//!
//! A [`Shader`] is a function from its surroundings (globals, parameters, spaces, lights) to its outputs, evaluated at
//! one point of a grid. Its [`Body`] is a tree: a *region* is a list of *instructions* that ends by yielding *values*;
//! an instruction is an operation ([`Op`]) with arguments, results, and sometimes regions of its own. Every value is
//! assigned once. A value is visible from its definition to the end of the region that holds it, in all regions below.
//! So there are no jumps and no phi functions:
//!
//! * [`Op::If`] runs one of two regions; its results are what that region yields.
//! * [`Op::Loop`] carries values: its condition region gets them as parameters and yields a bool; while that is true,
//!   the body region (which sees what the condition region defined) yields the next ones. The results are the last
//!   ones.
//! * [`Op::Illuminance`] runs its region once for each light, carrying values likewise.
//!
//! `break`, `continue` and `return` are turned into carried bools by the front end.
//!
//! A variable of the language is no value but a name for one: the front end keeps the map. Only arrays are memory
//! ([`Slot`]).
//!
//! # Numbers
//!
//! Floats are IEEE binary32. `+ - * /`, roots and roundings are exact to the bit and equal on the interpreter and on a
//! device; library functions are within 2 ulp. All operations are total ([`op`]): division by zero gives 0, the root of
//! a negative number is 0, an index outside an array is clamped. So every operation without effects may be evaluated
//! speculatively.
//!
//! # Rates
//!
//! A value is *uniform* when it is the same at all points of a grid. This is not stored but derived from the leaves
//! (`passes::rates`), so that no pass can make it wrong; declared rates of parameters say how primitive variables are
//! bound to them.
//!
//! # Differences
//!
//! [`Op::Derivative`] looks at neighbouring vertices. Its argument counts as evaluated at every point of the grid:
//! branches around it are taken everywhere, and a point that has left a loop keeps its last values.
//! `passes::derivatives` brings programs into a form in which this holds on a device.
//!
//! # Places
//!
//! Each instruction has the place in the source that it comes from ([`PlaceTable`]): a pass gives a new instruction the
//! place of the one that it replaces, and equal values that become one keep the place of the first. Places decide
//! nothing.
//!
//! # Two levels
//!
//! What a front end builds names globals, parameters and lights. `passes::compose` makes one program of the shaders of
//! a pipeline, and binds it: what it then reads are records of buffers ([`Op::Load`], [`Op::Channel`]).
//!
//! # Text
//!
//! [`print()`] writes a program, [`parse()`] reads it, [`verify()`] checks it:
//!
//! ```text
//! shader surface "matte"
//! param uniform float "Kd" = 1.0
//! code {
//!   %0: vec3 = global Cs
//!   %1: f32 = param 0
//!   %2: vec3 = splat(%1)
//!   %3: vec3 = mul(%0, %2)
//!   %4: vec3 = global Os
//!   yield %3 %4
//! }
//! output "Ci" "Oi"
//! ```

mod arithmetic;
mod body;
mod build;
mod compose;
mod filter;
mod lines;
mod lookup;
mod named;
mod notes;
pub mod op;
mod parse;
mod place;
mod power;
mod print;
mod signature;
mod types;
mod unit;
mod verify;

pub use arithmetic::{Binary, Compare, Unary};
pub use body::{
    Body, Def, Inst, InstData, Note, Output, Param, ParamDefault, Region, RegionData, SENT_TO_LIGHT, Shader,
    ShaderKind, SlotData, Value, ValueData, element_name, sent_name,
};
pub use build::{Builder, LightSample, Receiver};
pub use compose::{Fresnel, TransformKind, is_current};
pub use filter::StepFilter;
pub use lines::{LineTable, SourceLine};
pub use lookup::{Lookup, LookupKind, TextureFact};
pub use op::{
    Axis, Basis, Buffer, Builtin, ColorSpace, Direction, Global, LIGHT_SITES, MessageTarget, NoiseKind, Op, ParamId,
    QuerySource, RANDOM_SITES, Shown, Slot, VOTES_MAX,
};
pub use parse::{ParseError, parse};
pub(crate) use place::{FilePlace, PlaceShift};
pub use place::{FunctionId, PlaceId, PlaceTable, PlacedFunction, PlacedShader, PlacedVariable, Role, VariableId};
pub use power::power_by_products;
pub use print::{print, print_region};
pub use signature::result_types;
pub use types::{Const, MachineType, Rate, RslType};
pub use verify::{VerifyError, verify, verify_body};

#[cfg(test)]
mod tests;
