//! The syntax tree: what was written, before names and types are looked at.

use crate::span::Span;
use crate::syntax::token::Name;
use std::fmt;

/// Type of a value, without array length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// A 32-bit float; RSL has no integers.
    Float,
    /// Three floats, RGB.
    Color,
    /// A place.
    Point,
    /// A direction.
    Vector,
    /// A surface normal.
    Normal,
    /// Four by four floats.
    Matrix,
    /// A text.
    String,
    /// The result of a function that has none.
    Void,
}

impl Type {
    /// Returns the type that a keyword names.
    pub(crate) fn from_keyword(word: &str) -> Option<Self> {
        Some(match word {
            "float" => Self::Float,
            "color" => Self::Color,
            "point" => Self::Point,
            "vector" => Self::Vector,
            "normal" => Self::Normal,
            "matrix" => Self::Matrix,
            "string" => Self::String,
            "void" => Self::Void,
            _ => return None,
        })
    }

    /// Returns the keyword.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Float => "float",
            Self::Color => "color",
            Self::Point => "point",
            Self::Vector => "vector",
            Self::Normal => "normal",
            Self::Matrix => "matrix",
            Self::String => "string",
            Self::Void => "void",
        }
    }

    /// Returns whether it is a point, a vector or a normal.
    pub fn is_pointlike(self) -> bool {
        matches!(self, Self::Point | Self::Vector | Self::Normal)
    }

    /// Returns whether it is a color, a point, a vector or a normal.
    pub fn is_triple(self) -> bool {
        self == Self::Color || self.is_pointlike()
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.keyword())
    }
}

/// Storage class: one value for all points of a grid, or one for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// One value.
    Uniform,
    /// One value a point.
    Varying,
}

impl Class {
    /// Returns the class that a keyword names.
    pub(crate) fn from_keyword(word: &str) -> Option<Self> {
        match word {
            "uniform" => Some(Self::Uniform),
            "varying" => Some(Self::Varying),
            _ => None,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Uniform { "uniform" } else { "varying" })
    }
}

/// What a shader is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DeclaredKind {
    /// Colour and opacity of a surface.
    Surface,
    /// Moves a surface's points and tilts its normals.
    Displacement,
    /// Light that arrives at a surface.
    Light,
    /// What a ray passes through; also called atmosphere.
    Volume,
    /// Changes finished pixels.
    Imager,
}

impl DeclaredKind {
    /// Returns the kind that a word at the beginning of a shader names.
    pub(crate) fn from_keyword(word: &str) -> Option<Self> {
        Some(match word {
            "surface" => Self::Surface,
            "displacement" => Self::Displacement,
            "light" => Self::Light,
            "volume" | "atmosphere" => Self::Volume,
            "imager" => Self::Imager,
            _ => return None,
        })
    }

    /// Returns the keyword.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Surface => "surface",
            Self::Displacement => "displacement",
            Self::Light => "light",
            Self::Volume => "volume",
            Self::Imager => "imager",
        }
    }
}

impl fmt::Display for DeclaredKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.keyword())
    }
}

/// A name and its span.
#[derive(Clone, Debug)]
pub(crate) struct Ident {
    pub(crate) name: Name,
    pub(crate) span: Span,
}

/// A file with all that it includes.
#[derive(Debug, Default)]
pub(crate) struct Unit {
    pub(crate) items: Vec<Item>,
}

/// An item of a source file.
#[derive(Debug)]
pub(crate) enum Item {
    Shader(ShaderDecl),
    Function(FunctionDecl),
}

#[derive(Debug)]
pub(crate) struct ShaderDecl {
    pub(crate) kind: DeclaredKind,
    pub(crate) name: Ident,
    pub(crate) parameters: Vec<Declaration>,
    pub(crate) body: Vec<AstStmt>,
    /// The names that its code calls.
    pub(crate) calls: Vec<Name>,
}

#[derive(Debug)]
pub(crate) struct FunctionDecl {
    pub(crate) result: Type,
    /// Uniform or varying, if that is said of the result.
    pub(crate) class: Option<Class>,
    pub(crate) name: Ident,
    pub(crate) parameters: Vec<Declaration>,
    pub(crate) body: Vec<AstStmt>,
    /// The names that its code calls, that of functions in it included.
    pub(crate) calls: Vec<Name>,
}

/// A parameter or a variable.
#[derive(Debug)]
pub(crate) struct Declaration {
    pub(crate) name: Ident,
    pub(crate) ty: Type,
    pub(crate) class: Option<Class>,
    pub(crate) output: bool,
    /// A variable of the shader around: no new one.
    pub(crate) is_extern: bool,
    pub(crate) array: Option<ArrayLength>,
    pub(crate) init: Option<Init>,
}

/// What is in the brackets after a name.
#[derive(Debug)]
pub(crate) enum ArrayLength {
    /// `[]`
    Open(Span),
    /// `[expression]`
    Fixed(Box<AstExpr>),
}

/// The value after `=`.
#[derive(Debug)]
pub(crate) enum Init {
    Value(AstExpr),
    /// `{a, b, ...}`
    List(Vec<AstExpr>, Span),
}

#[derive(Debug)]
pub(crate) struct AstStmt {
    pub(crate) kind: AstStmtKind,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum AstStmtKind {
    Empty,
    Declare(Vec<Declaration>),
    Function(Box<FunctionDecl>),
    Expr(AstExpr),
    Block(Vec<AstStmt>),
    If {
        condition: AstExpr,
        yes: Box<AstStmt>,
        no: Option<Box<AstStmt>>,
    },
    While {
        condition: AstExpr,
        body: Box<AstStmt>,
    },
    For {
        init: Option<Box<AstStmt>>,
        condition: Option<AstExpr>,
        step: Option<AstExpr>,
        body: Box<AstStmt>,
    },
    /// Ends this many loops.
    Break(u32),
    /// Goes on with the next trip of the loop this many levels out.
    Continue(u32),
    Return(Option<AstExpr>),
    /// `illuminance`, `illuminate`, `solar` or `gather`.
    Lights {
        kind: LightStatement,
        arguments: Vec<AstExpr>,
        body: Box<AstStmt>,
        otherwise: Option<Box<AstStmt>>,
    },
}

/// Statements that loop over, or describe, light.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LightStatement {
    Illuminance,
    Illuminate,
    Solar,
    Gather,
}

impl LightStatement {
    pub(crate) fn from_keyword(word: &str) -> Option<Self> {
        Some(match word {
            "illuminance" => Self::Illuminance,
            "illuminate" => Self::Illuminate,
            "solar" => Self::Solar,
            "gather" => Self::Gather,
            _ => return None,
        })
    }
}

#[derive(Debug)]
pub(crate) struct AstExpr {
    pub(crate) kind: AstExprKind,
    pub(crate) span: Span,
    /// Levels of the tree below and with this one.
    pub(crate) height: u16,
}

#[derive(Debug)]
pub(crate) enum AstExprKind {
    /// A fault that was reported.
    Error,
    Number(f32),
    String(Name),
    Name(Name),
    Index {
        base: Box<AstExpr>,
        index: Box<AstExpr>,
    },
    Call {
        name: Ident,
        arguments: Vec<AstExpr>,
    },
    /// `(a, b, c)` or sixteen values.
    Tuple(Vec<AstExpr>),
    /// `type value` or `type "space" value`.
    Cast {
        ty: Type,
        space: Option<Box<AstExpr>>,
        value: Box<AstExpr>,
    },
    Unary {
        operator: UnaryOp,
        value: Box<AstExpr>,
    },
    /// `first operator value operator value ...`: each operator takes all that is before it. However long, a chain is
    /// one level of the tree.
    Chain {
        first: Box<AstExpr>,
        links: Vec<AstLink>,
    },
    /// `condition ? yes : no`
    Conditional {
        condition: Box<AstExpr>,
        yes: Box<AstExpr>,
        no: Box<AstExpr>,
    },
    /// `target = value`, or `target op= value`.
    Assign {
        operator: Option<BinaryOp>,
        target: Box<AstExpr>,
        value: Box<AstExpr>,
    },
}

/// An operator of a chain and what follows it.
#[derive(Debug)]
pub(crate) struct AstLink {
    pub(crate) operator: BinaryOp,
    pub(crate) value: AstExpr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnaryOp {
    Negate,
    Not,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Cross,
    Dot,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
}

impl BinaryOp {
    /// Returns it as it is written.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Cross => "^",
            Self::Dot => ".",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::And => "&&",
            Self::Or => "||",
        }
    }
}
