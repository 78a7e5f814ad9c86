//! Values and lines of RIB.

use crate::scene::{Motion, ParamValue, ShaderInstance, ShaderParam, ValueType};
use glam::DMat4;
use std::fmt::{Display, Write};

/// Appends a line.
pub(super) fn line(out: &mut String, text: impl Display) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}

/// Writes a transformation at its times.
pub(super) fn write_motion(request: &str, motion: &Motion<DMat4>, out: &mut String) {
    let write_one = |matrix: &DMat4, out: &mut String| {
        line(out, format_args!("{request} {}", list(&matrix.to_cols_array())));
    };
    if !motion.moves() {
        return write_one(motion.first(), out);
    }
    let times: Vec<f32> = motion.keyframes().iter().map(|(time, _)| *time).collect();
    line(out, format_args!("MotionBegin {}", list(&times)));
    for (_, matrix) in motion.keyframes() {
        write_one(matrix, out);
    }
    out.push_str("MotionEnd\n");
}

/// Writes an option or attribute that is kept as `category:name`.
pub(super) fn write_named(request: &str, key: &str, value: &ParamValue, out: &mut String) {
    match key.split_once(':') {
        Some(("GeometricApproximation", name)) => {
            line(out, format_args!("GeometricApproximation {} {}", quoted(name), values(value)));
        }
        Some(("Ri", name)) => line(out, format_args!("{name} {}", values(value))),
        Some((category, name)) => {
            let declaration = quoted(&format!("{} {name}", declared(None, value)));
            line(out, format_args!("{request} {} {declaration} {}", quoted(category), values(value)));
        }
        None => {}
    }
}

/// Returns the parameters of a shader, each with its declaration.
pub(super) fn params(params: &[ShaderParam]) -> String {
    let mut text = String::new();
    for ShaderParam { name, ty, value } in params {
        let declaration = match ty {
            // Not declared: it has the type of the shader's parameter.
            None => quoted(name),
            Some(_) => quoted(&format!("uniform {} {name}", declared(*ty, value))),
        };
        // Writing to a string cannot fail.
        let _ = write!(text, " {declaration} {}", values(value));
    }
    text
}

/// Returns the declaration of a value, without a name.
pub(super) fn declared(ty: Option<ValueType>, value: &ParamValue) -> String {
    let (own, count) = match value {
        ParamValue::Floats(values) => (ValueType::Float, values.len()),
        ParamValue::Ints(values) => (ValueType::Int, values.len()),
        ParamValue::Strings(values) => (ValueType::String, values.len()),
    };
    let ty = ty.unwrap_or(own);
    let name = type_name(ty);
    match count / ty.floats() {
        0 | 1 => name.to_owned(),
        length => format!("{name}[{length}]"),
    }
}

/// Returns the name of a type.
pub(super) fn type_name(ty: ValueType) -> &'static str {
    match ty {
        ValueType::Float => "float",
        ValueType::Int => "int",
        ValueType::String => "string",
        ValueType::Color => "color",
        ValueType::Point => "point",
        ValueType::Vector => "vector",
        ValueType::Normal => "normal",
        ValueType::HPoint => "hpoint",
        ValueType::Matrix => "matrix",
        ValueType::MPoint => "mpoint",
    }
}

/// Returns values between brackets.
pub(super) fn values(value: &ParamValue) -> String {
    match value {
        ParamValue::Floats(values) => list(values),
        ParamValue::Ints(values) => list(values),
        ParamValue::Strings(values) => {
            let texts: Vec<String> = values.iter().map(|text| quoted(text)).collect();
            format!("[{}]", texts.join(" "))
        }
    }
}

/// Returns numbers between brackets, with all their digits.
pub(super) fn list<T: Display>(numbers: &[T]) -> String {
    let texts: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    format!("[{}]", texts.join(" "))
}

/// Returns a string as RIB writes it.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Writes a shader that an option names, in the space that it has.
pub(super) fn write_instance(request: &str, shader: &ShaderInstance, out: &mut String) {
    line(out, format_args!("{request} {}{}", quoted(&shader.name), params(&shader.params)));
}
