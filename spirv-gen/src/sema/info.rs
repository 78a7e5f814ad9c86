//! A shader as text for a person: what it is, and its parameters.

use super::hir::{Constant, Default, Parameter, Shader, Shape, Storage};
use std::fmt;

/// `surface plastic`, then a line for each parameter: `[output] class type name[length] = default`.
impl fmt::Display for Shader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.name)?;
        for parameter in &self.parameters {
            write!(f, "\n    {}", Described(self, parameter))?;
        }
        Ok(())
    }
}

struct Described<'a>(&'a Shader, &'a Parameter);

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
        match &parameter.default {
            Default::Computed(_) => write!(f, " = (computed by the shader)"),
            Default::Constant(values) => match values.as_slice() {
                [value] if variable.shape == Shape::Single => write!(f, " = {value}"),
                values => {
                    let values: Vec<_> = values.iter().map(ToString::to_string).collect();
                    write!(f, " = {{{}}}", values.join(", "))
                }
            },
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
