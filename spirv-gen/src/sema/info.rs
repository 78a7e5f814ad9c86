//! A shader as text for a person: what it is, and its parameters.

use super::constant::evaluate;
use super::hir::{CheckedShader, Constant, Default, Expr, ExprKind, Parameter, Shape, Storage};
use crate::syntax::token::Name;
use std::fmt;

/// The default of a parameter as its declaration says it.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredDefault {
    /// The space (of a color, the color space) in which it is written; `None` is the language's own: `"shader"`, and
    /// `"rgb"`.
    pub space: Option<Name>,
    /// One value, or one for each element.
    pub values: Vec<Constant>,
}

impl Default {
    /// Returns what the declaration says, or `None` for an expression that the shader computes, and for elements in
    /// several spaces.
    pub fn declared(&self) -> Option<DeclaredDefault> {
        let elements = match self {
            Self::Constant(values) => return Some(DeclaredDefault { space: None, values: values.clone() }),
            Self::Computed(elements) => elements,
        };
        let parts: Vec<_> = elements.iter().map(in_space).collect::<Option<_>>()?;
        let space = parts.first()?.0.clone();
        let same = parts.iter().all(|part| part.0 == space);
        same.then(|| DeclaredDefault { space, values: parts.into_iter().map(|part| part.1).collect() })
    }
}

/// Returns a known value and the name of the space that it is written in.
fn in_space(expr: &Expr) -> Option<(Option<Name>, Constant)> {
    let ExprKind::FromSpace { space, value } = &expr.kind else { return Some((None, evaluate(expr)?)) };
    match evaluate(space)? {
        Constant::String(space) => Some((Some(space), evaluate(value)?)),
        _ => None,
    }
}

/// `surface plastic`, then a line for each parameter: `[output] class type name[length] = default`.
impl fmt::Display for CheckedShader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.name)?;
        for parameter in &self.parameters {
            write!(f, "\n    {}", Described(self, parameter))?;
        }
        Ok(())
    }
}

struct Described<'a>(&'a CheckedShader, &'a Parameter);

impl fmt::Display for Described<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(shader, parameter) = self;
        let variable = shader.variable(parameter.variable);
        if variable.storage == (Storage::Parameter { output: true }) {
            write!(f, "output ")?;
        }
        if let Some(class) = variable.class {
            write!(f, "{class} ")?;
        }
        write!(f, "{} {}", variable.ty, variable.name)?;
        if let Shape::Array(length) = variable.shape {
            write!(f, "[{length}]")?;
        }
        let Some(DeclaredDefault { space, values }) = parameter.default.declared() else {
            return write!(f, " = (computed by the shader)");
        };
        let space = space.map(|space| format!("{space:?} ")).unwrap_or_default();
        match values.as_slice() {
            [value] if variable.shape == Shape::Single => write!(f, " = {space}{value}"),
            values => {
                let values: Vec<_> = values.iter().map(|value| format!("{space}{value}")).collect();
                write!(f, " = {{{}}}", values.join(", "))
            }
        }
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, values: &[f32]| {
            let values: Vec<_> = values.iter().map(ToString::to_string).collect();
            write!(f, "({})", values.join(", "))
        };
        match self {
            Self::Float(value) => write!(f, "{value}"),
            Self::Triple(values) => list(f, values),
            Self::Matrix(values) => list(f, &values[..]),
            Self::String(text) => write!(f, "{text:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::parse_shader;
    use crate::syntax::loader::NoIncludes;
    use crate::syntax::preprocess::Source;

    #[test]
    fn a_shader_is_described_as_it_is_declared() {
        let text = "light l(float a = 2; point from = point \"shader\" (0, 1, 2); color c = color \"hsv\" (0, 1, 1);\
                    string names[2] = {\"x\", \"y\"}; point to[2] = {point \"world\" 0, point \"world\" 1};\
                    point two[2] = {point \"world\" 0, 1}; float b = a + 1; output varying float k = 0;)\
                    { solar() { Cl = c * a * b; k = 1; } }";
        let (shader, diagnostics) = parse_shader(&Source { name: "l.sl", text, loader: &NoIncludes, defines: &[] });
        let shader = shader.unwrap_or_else(|| panic!("{diagnostics:?}"));
        let expected = "light l
    uniform float a = 2
    uniform point from = \"shader\" (0, 1, 2)
    uniform color c = \"hsv\" (0, 1, 1)
    uniform string names[2] = {\"x\", \"y\"}
    uniform point to[2] = {\"world\" (0, 0, 0), \"world\" (1, 1, 1)}
    uniform point two[2] = (computed by the shader)
    uniform float b = (computed by the shader)
    output varying float k = 0";
        assert_eq!(shader.to_string(), expected);
    }
}
