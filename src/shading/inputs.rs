//! Primitive variables as inputs of programs: which of them suit, and where their floats go.

use super::values::words_of;
use crate::pipeline::look::InputBinding;
use crate::scene::{Primvar, ValueFit, ValueType};
use spirv_gen::compose::{Input, Reflection};
use spirv_gen::ir::RslType;
use std::sync::Arc;

/// Whether the values of a primitive variable can be those of `len` elements of a type.
pub(super) fn suits(primvar: &Primvar, ty: RslType, len: u32) -> bool {
    let is_text = primvar.ty == ValueType::String;
    is_text == (ty == RslType::String) && fit(primvar, ty, len).is_some()
}

/// Returns how the values of a primitive variable become those of `len` elements of a type.
fn fit(primvar: &Primvar, ty: RslType, len: u32) -> Option<ValueFit> {
    value_type(ty).fit(len, primvar.ty.floats() * primvar.array_len as usize)
}

/// Returns the inputs that the primvars of a drawable go to: parameters, Cs and Os, and replacements of N, s and t.
pub(super) fn inputs(reflection: &Reflection, primvars: &[Primvar]) -> Vec<InputBinding> {
    let mut bindings = Vec::new();
    for input in &reflection.inputs {
        bindings.extend(elements(primvars, &input.input, false, input.channel));
    }
    for input in &reflection.uniform_inputs {
        bindings.extend(elements(primvars, &input.input, true, input.record));
    }
    let has = |input: &Input| reflection.inputs.iter().any(|i| i.input == *input);
    let standard = [
        ("N", Input::NormalV, 1, 0, ValueType::Normal),
        ("s", Input::DpduS, 2, 3, ValueType::Float),
        ("t", Input::DpdvT, 3, 3, ValueType::Float),
    ];
    for (name, input, channel, component, meaning) in standard {
        let primvar = primvars.iter().find(|primvar| &*primvar.name == name && primvar.ty != ValueType::String);
        if let Some(primvar) = primvar.filter(|_| has(&input)) {
            let (primvar, floats) = (Arc::clone(&primvar.name), meaning.floats() as u32);
            bindings.push(InputBinding { primvar, uniform: false, channel, component, first: 0, floats, meaning });
        }
    }
    bindings
}

/// Returns the name, the type and the number of elements of what a primitive variable is bound to.
fn receiver(input: &Input) -> Option<(Arc<str>, RslType, u32)> {
    match input {
        Input::Primvar { name, ty, len, .. } => Some((Arc::clone(name), *ty, *len)),
        Input::Color => Some(("Cs".into(), RslType::Color, 1)),
        Input::Opacity => Some(("Os".into(), RslType::Color, 1)),
        _ => None,
    }
}

/// Returns where the floats of a primitive variable go: each element of an array has its own channel (or record), and a
/// matrix has four.
fn elements(primvars: &[Primvar], input: &Input, uniform: bool, channel: u32) -> Vec<InputBinding> {
    let Some((name, ty, len)) = receiver(input) else { return Vec::new() };
    let Some(primvar) = primvars.iter().find(|primvar| primvar.name == name) else { return Vec::new() };
    let binding = |channel: u32, component: u32, first: u32, floats: u32| InputBinding {
        primvar: Arc::clone(&name),
        uniform,
        channel,
        component,
        first,
        floats,
        meaning: value_type(ty),
    };
    if fit(primvar, ty, len) == Some(ValueFit::Spread) {
        return (0..3).map(|component| binding(channel, component, 0, 1)).collect();
    }
    let floats = words_of(ty) as u32;
    let records = if ty == RslType::Matrix { 4 } else { 1 };
    (0..len).map(|i| binding(channel + i * records, 0, i * floats, floats)).collect()
}

/// Returns the type of RIB's that a type of RSL is.
pub(super) fn value_type(ty: RslType) -> ValueType {
    match ty {
        RslType::Float => ValueType::Float,
        RslType::Color => ValueType::Color,
        RslType::Point => ValueType::Point,
        RslType::Vector => ValueType::Vector,
        RslType::Normal => ValueType::Normal,
        RslType::Matrix => ValueType::Matrix,
        RslType::String => ValueType::String,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Class, PrimvarData, ShapeArray};
    use spirv_gen::compose::Role;

    fn primvar(ty: ValueType, array_len: u32) -> Primvar {
        let data = PrimvarData::Floats(ShapeArray::default());
        Primvar { name: "x".into(), class: Class::Vertex, ty, array_len, data }
    }

    #[test]
    fn variables_of_an_equivalent_size_suit() {
        for (ty, array_len, wanted, len, right) in [
            (ValueType::Float, 3, RslType::Color, 1, true),
            (ValueType::Color, 1, RslType::Float, 3, true),
            (ValueType::Float, 1, RslType::Color, 1, true),
            (ValueType::Int, 1, RslType::Color, 1, true),
            (ValueType::Float, 6, RslType::Point, 2, true),
            (ValueType::Float, 16, RslType::Matrix, 1, true),
            (ValueType::Float, 1, RslType::Vector, 1, false),
            (ValueType::Float, 1, RslType::Color, 2, false),
            (ValueType::Float, 2, RslType::Color, 1, false),
            (ValueType::String, 1, RslType::Float, 1, false),
            (ValueType::String, 1, RslType::String, 1, true),
            (ValueType::Float, 1, RslType::String, 1, false),
        ] {
            assert_eq!(suits(&primvar(ty, array_len), wanted, len), right, "{ty:?}[{array_len}] to {wanted:?}[{len}]");
        }
    }

    #[test]
    fn floats_go_where_the_parameter_has_its_elements() {
        let to = |given: Primvar, ty, len| {
            let input = Input::Primvar { shader: Role::Surface, name: "x".into(), ty, len };
            let bindings = elements(&[given], &input, false, 5);
            let place = |b: &InputBinding| (b.channel, b.component, b.first, b.floats, b.meaning);
            bindings.iter().map(place).collect::<Vec<_>>()
        };
        assert_eq!(to(primvar(ValueType::Float, 3), RslType::Point, 1), [(5, 0, 0, 3, ValueType::Point)]);
        let (color, float) = (ValueType::Color, ValueType::Float);
        assert_eq!(to(primvar(color, 1), RslType::Float, 2), [(5, 0, 0, 1, float), (6, 0, 1, 1, float)]);
        assert_eq!(
            to(primvar(float, 1), RslType::Color, 1),
            [(5, 0, 0, 1, color), (5, 1, 0, 1, color), (5, 2, 0, 1, color)]
        );
        let matrices = to(primvar(float, 32), RslType::Matrix, 2);
        assert_eq!(matrices, [(5, 0, 0, 16, ValueType::Matrix), (9, 0, 16, 16, ValueType::Matrix)]);
    }
}
