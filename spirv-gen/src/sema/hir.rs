//! The checked shader: names resolved to variables and functions, every expression typed, every conversion written out.

use crate::ir::Global;
use crate::shadeops::Opcode;
use crate::span::{SourceMap, Span};
use crate::syntax::token::Name;
use std::sync::Arc;

pub use crate::syntax::ast::{Class, DeclaredKind, Type};

/// A variable of a shader: predefined, parameter, local or argument. Index into [`CheckedShader::variables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u32);

/// A function that a shader may call. Index into [`CheckedShader::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FuncId(pub u32);

/// A shader without faults.
#[derive(Clone, Debug)]
pub struct CheckedShader {
    /// What it is for.
    pub kind: DeclaredKind,
    /// Its name.
    pub name: Name,
    /// The span of its name.
    pub span: Span,
    /// The texts that spans are of.
    pub texts: Arc<SourceMap>,
    /// Its parameters in order.
    pub parameters: Vec<Parameter>,
    /// All variables of the shader and of its functions.
    pub variables: Vec<Variable>,
    /// The functions of the user that it may call. A function calls only functions before it.
    pub functions: Vec<Function>,
    /// Its code.
    pub body: Vec<Stmt>,
    /// Whether it is a light that may execute several `illuminate` or `solar`, whose light adds up.
    pub adds_lights: bool,
    /// Whether its IR notes which values are assigned to which variables, for debuggers.
    pub notes_assignments: bool,
}

impl CheckedShader {
    /// Returns a variable.
    pub fn variable(&self, id: VarId) -> &Variable {
        &self.variables[id.0 as usize]
    }

    /// Returns a function.
    pub fn function(&self, id: FuncId) -> &Function {
        &self.functions[id.0 as usize]
    }
}

/// A parameter of a shader.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name, type and class.
    pub variable: VarId,
    /// What it is when the scene does not say.
    pub default: Default,
}

/// A parameter's default.
#[derive(Clone, Debug)]
pub enum Default {
    /// Known now: one value, or one for each element.
    Constant(Vec<Constant>),
    /// Computed when the shader runs: one value, or one for each element.
    Computed(Vec<Expr>),
}

/// A value that is known now.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// A float.
    Float(f32),
    /// A color, point, vector or normal.
    Triple([f32; 3]),
    /// Four rows.
    Matrix(Box<[f32; 16]>),
    /// A string.
    String(Name),
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: Name,
    /// Its type, or that of its elements.
    pub ty: Type,
    /// One value or an array.
    pub shape: Shape,
    /// As declared; `None` if the declaration leaves it open. A shader's parameters are uniform then.
    pub class: Option<Class>,
    /// Whether it varies in fact: what is assigned to it, and where. Never less than what the program does; of a
    /// function's variables it holds for all calls together.
    pub inferred: Class,
    /// What kind of variable.
    pub storage: Storage,
    /// Where it is declared; empty for predefined ones.
    pub span: Span,
}

/// One value, or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One value.
    Single,
    /// An array of that many elements.
    Array(u32),
    /// An array whose number of elements changes, with room for that many.
    Resizable(u32),
    /// As many as the caller's array has: an argument of a function.
    Open,
}

/// What kind of variable it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    /// One of the language's own.
    Predefined(Predefined),
    /// A parameter of the shader.
    Parameter {
        /// It may be assigned, and others may ask for it.
        output: bool,
    },
    /// A local variable.
    Local,
    /// An argument of a function.
    Argument {
        /// The caller's variable is assigned.
        output: bool,
    },
}

/// A variable that the language defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Predefined {
    /// One that the surroundings give.
    Global(Global),
    /// Direction of light: in `illuminance` towards the light, in `illuminate` and `solar` from the light.
    L,
    /// Colour of light.
    Cl,
    /// Opacity of light.
    Ol,
}

/// A function of the user.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// Its arguments in order.
    pub arguments: Vec<VarId>,
    /// The type of its result.
    pub result: Type,
    /// Its code.
    pub body: Vec<Stmt>,
    /// The span of its name.
    pub span: Span,
}

/// Loops that one `break` or `continue` may leave: the lowering keeps them in the bits of a word.
pub const LEVELS_MAX: u32 = 60;

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Its span.
    pub span: Span,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// Evaluates for its effects.
    Expr(Expr),
    /// The declaration of a local variable, which is zero (or empty) from here on, or has these values.
    Declare(VarId, Vec<Expr>),
    /// One after the other.
    Block(Vec<Stmt>),
    /// A choice.
    If {
        /// See [`Expr`] on conditions.
        condition: Expr,
        /// Where it holds.
        yes: Vec<Stmt>,
        /// Where it does not.
        no: Vec<Stmt>,
    },
    /// `while` and `for`.
    Loop {
        /// Asked before every trip; none holds always.
        condition: Option<Expr>,
        /// Evaluated after every trip, `continue` included.
        step: Option<Expr>,
        /// The trip.
        body: Vec<Stmt>,
    },
    /// Ends this many loops, the innermost first.
    Break(u32),
    /// Ends this many loops less one, and goes on with the next trip of the last.
    Continue(u32),
    /// Leaves the function or the shader.
    Return(Option<Expr>),
    /// A loop over lights.
    Illuminance {
        /// Which lights; none means all.
        category: Option<Expr>,
        /// The point that is lit.
        position: Expr,
        /// Axis and half the opening of the cone in which lights are seen.
        cone: Option<(Expr, Expr)>,
        /// What parameters of the lights are instead of their own values, by name.
        sent: Vec<(Name, Expr)>,
        /// What is done for each.
        body: Vec<Stmt>,
    },
    /// Light from a place.
    Illuminate {
        /// The place.
        position: Expr,
        /// Axis and half the opening of the cone of light.
        cone: Option<(Expr, Expr)>,
        /// What is done where there is light.
        body: Vec<Stmt>,
    },
    /// Light from infinitely far away.
    Solar {
        /// Direction of the light and half the opening around it; none means from all sides.
        cone: Option<(Expr, Expr)>,
        /// What is done.
        body: Vec<Stmt>,
    },
}

/// A typed expression. Comparisons and logic give floats 0 and 1; a condition holds where it is not 0.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Type of the value, or of the elements of an array variable.
    pub ty: Type,
    /// One value, or an array: only variables are that.
    pub shape: Shape,
    /// Its span.
    pub span: Span,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A number.
    Float(f32),
    /// A string literal.
    String(Name),
    /// The value of a variable.
    Variable(VarId),
    /// An element of an array.
    Element(VarId, Box<Expr>),
    /// Three floats.
    Triple(Box<[Expr; 3]>),
    /// Sixteen floats, row by row.
    Matrix(Vec<Expr>),
    /// The value as another type.
    Convert(Conversion, Box<Expr>),
    /// The value, whose components are in a named space, brought to the space in which shaders compute: by its type.
    FromSpace {
        /// The space's name.
        space: Box<Expr>,
        /// The value.
        value: Box<Expr>,
    },
    /// The opposite number.
    Negate(Box<Expr>),
    /// 1 for 0, else 0.
    Not(Box<Expr>),
    /// Operators one after the other: each takes what all before it have come to.
    Chain(Box<Expr>, Vec<Link>),
    /// `condition ? yes : no`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// An assignment; its value is what was assigned.
    Assign(LValue, Box<Expr>),
    /// `place = place operator value`; its value is what was assigned.
    Update(LValue, Arithmetic, Box<Expr>),
    /// A whole array, of one type and length.
    AssignArray(VarId, VarId),
    /// A call of a function.
    Call(FuncId, Vec<Argument>),
    /// A call of a shadeop.
    Shadeop(Box<ShadeopCall>),
}

/// A step of a chain and the type of what it gives.
#[derive(Clone, Debug)]
pub struct Link {
    /// What is done.
    pub step: ChainStep,
    /// The result's type.
    pub ty: Type,
}

/// A step of a chain: what is done with the value before it.
#[derive(Clone, Debug)]
pub enum ChainStep {
    /// With a value of the same type, or a product of matrices; the result has their type, or is a float for `Dot`.
    Arithmetic(Arithmetic, Expr),
    /// With a value of the same type.
    Compare(Comparison, Expr),
    /// `&&`
    And(Expr),
    /// `||`
    Or(Expr),
    /// A change of type.
    Convert(Conversion),
}

impl ChainStep {
    /// Returns the operand on the right.
    pub fn operand(&self) -> Option<&Expr> {
        match self {
            Self::Arithmetic(_, value) | Self::Compare(_, value) | Self::And(value) | Self::Or(value) => Some(value),
            Self::Convert(_) => None,
        }
    }
}

impl Expr {
    /// Returns the conversion with which an expression ends.
    pub(crate) fn last_conversion(&self) -> Option<Conversion> {
        match &self.kind {
            ExprKind::Convert(conversion, _) => Some(*conversion),
            ExprKind::Chain(_, links) => links.last()?.conversion(),
            _ => None,
        }
    }
}

impl Link {
    /// Returns the conversion that it is, if it is one.
    pub(crate) fn conversion(&self) -> Option<Conversion> {
        if let ChainStep::Convert(conversion) = self.step { Some(conversion) } else { None }
    }
}

/// What can be assigned.
#[derive(Clone, Debug)]
pub struct LValue {
    /// The variable.
    pub variable: VarId,
    /// The element if it is an array.
    pub index: Option<Box<Expr>>,
}

/// What a function is given.
#[derive(Clone, Debug)]
pub enum Argument {
    /// A value.
    Value(Expr),
    /// A variable that the function may assign.
    Output(LValue),
    /// A whole array.
    Array(VarId),
}

/// A call of a shadeop.
#[derive(Clone, Debug)]
pub struct ShadeopCall {
    /// Which.
    pub opcode: Opcode,
    /// Its name.
    pub name: Name,
    /// Its span.
    pub span: Span,
    /// What it is given, outputs left out.
    pub arguments: Vec<Expr>,
    /// What it writes.
    pub outputs: Vec<LValue>,
    /// The channel after a texture's name.
    pub channel: Option<Expr>,
    /// Pairs of names and values.
    pub named: Vec<(Expr, Expr)>,
}

/// A change of type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// A float to three equal components.
    Spread,
    /// A float to a multiple of the identity.
    Diagonal,
    /// Three components stay what they are.
    Rename,
}

/// Operators that give a value of their operands' type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`, componentwise for triples; of matrices the transform that does the first, then the second.
    Multiply,
    /// `/`, componentwise for triples; of matrices the first times the inverse of the second.
    Divide,
    /// `^`
    Cross,
    /// `.`
    Dot,
}

/// Operators that give 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// All components are equal.
    Equal,
    /// Some component differs.
    NotEqual,
    /// Of floats.
    Less,
    /// Of floats.
    LessEqual,
    /// Of floats.
    Greater,
    /// Of floats.
    GreaterEqual,
}
