//! Sizes and Rust forms of the types of buffers (std430).

use crate::generate::field_name;
use crate::reflect::{Member, Reflection, Scalar, Type};

impl Scalar {
    /// Bytes.
    pub(crate) fn size(self) -> u32 {
        match self {
            Scalar::U32 | Scalar::I32 | Scalar::F32 => 4,
            Scalar::U64 | Scalar::I64 => 8,
        }
    }

    /// The Rust type.
    pub(crate) fn rust(self) -> &'static str {
        match self {
            Scalar::U32 => "u32",
            Scalar::I32 => "i32",
            Scalar::F32 => "f32",
            Scalar::U64 => "u64",
            Scalar::I64 => "i64",
        }
    }
}

impl Type {
    /// Alignment in std430.
    pub(crate) fn alignment(&self) -> u32 {
        match self {
            Type::Scalar(scalar) => scalar.size(),
            Type::Vector(scalar, count) => scalar.size() * count.next_power_of_two(),
            Type::Matrix { rows, .. } => 4 * rows,
            Type::Array { element, .. } => element.alignment(),
            Type::Struct { members, .. } => members.iter().map(|m| m.kind.alignment()).max().unwrap_or(4),
        }
    }

    /// Bytes in std430, padding at the end of structs included.
    pub(crate) fn size(&self) -> u32 {
        match self {
            Type::Scalar(scalar) => scalar.size(),
            Type::Vector(scalar, count) => scalar.size() * count,
            Type::Matrix { columns, rows } => 4 * columns * rows,
            Type::Array { count, stride, .. } => count * stride,
            Type::Struct { members, .. } => {
                let end = members.last().map_or(0, |m| m.offset + m.kind.size());
                end.next_multiple_of(self.alignment())
            }
        }
    }

    /// The Rust type, with `scope` before the names of structs.
    pub(crate) fn rust(&self, scope: &str) -> String {
        match self {
            Type::Scalar(scalar) => scalar.rust().to_string(),
            Type::Vector(scalar, count) => format!("[{}; {count}]", scalar.rust()),
            Type::Matrix { columns, rows } => format!("[[f32; {rows}]; {columns}]"),
            Type::Array { element, count, .. } => format!("[{}; {count}]", element.rust(scope)),
            Type::Struct { name, .. } => format!("{scope}{name}"),
        }
    }

    /// The structs that this type is made of, itself included, inner ones first.
    pub(crate) fn structs(&self) -> Vec<(&str, &[Member])> {
        match self {
            Type::Array { element, .. } => element.structs(),
            Type::Struct { name, members } => {
                let mut all: Vec<_> = members.iter().flat_map(|m| m.kind.structs()).collect();
                all.push((name, members));
                all
            }
            _ => Vec::new(),
        }
    }
}

/// The fields of a `#[repr(C)]` struct with these members and size: name, type and offset, padding written out. Rust
/// aligns nothing more than std430 does, so that explicit padding is all that is needed.
pub(crate) fn padded(members: &[Member], size: u32, scope: &str) -> Vec<(String, String, u32)> {
    let mut fields = Vec::new();
    let mut end = 0;
    let mut padding = 0;
    let mut pad = |fields: &mut Vec<(String, String, u32)>, from: u32, to: u32| {
        if to > from {
            fields.push((format!("_padding{padding}"), format!("[u32; {}]", (to - from) / 4), from));
            padding += 1;
        }
    };
    for member in members {
        pad(&mut fields, end, member.offset);
        fields.push((field_name(&member.name), member.kind.rust(scope), member.offset));
        end = member.offset + member.kind.size();
    }
    pad(&mut fields, end, size);
    fields
}

/// Bytes of the push constants.
pub(crate) fn push_size(reflection: &Reflection) -> u32 {
    Type::Struct { name: String::new(), members: reflection.push.clone() }.size()
}
