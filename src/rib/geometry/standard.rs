//! The standard primitive variables (RISpec 5, table 5.2), which mean the same whatever type declares them.

use crate::rib::stream::declare::Declaration;
use crate::scene::{ValueFit, ValueType};

/// Returns the type of a standard variable and the number of its elements.
fn type_of(name: &str) -> Option<(ValueType, u32)> {
    Some(match name {
        "P" => (ValueType::Point, 1),
        "Pw" => (ValueType::HPoint, 1),
        "N" | "Np" => (ValueType::Normal, 1),
        "Cs" | "Os" => (ValueType::Color, 1),
        "Pz" | "s" | "t" | "width" | "constantwidth" => (ValueType::Float, 1),
        "st" => (ValueType::Float, 2),
        _ => return None,
    })
}

/// Gives a standard variable its own type, where it was declared with an equivalent one: one of equal size, or one
/// number for a colour. Returns whether each value is to be repeated three times for that.
///
/// # Errors
/// Names both types if the values cannot be used.
pub(super) fn adopt_type(declaration: &mut Declaration) -> Result<bool, String> {
    let Some((ty, array_len)) = type_of(&declaration.name) else { return Ok(false) };
    let is_number = declaration.ty != ValueType::String;
    let given = usize::try_from(declaration.width()).ok();
    let Some(fit) = given.filter(|_| is_number).and_then(|given| ty.fit(array_len, given)) else {
        let has = declaration.ty.described(declaration.array_len);
        let needs = ty.described(array_len);
        return Err(format!("\"{}\" has the type {has} and needs {needs}", declaration.name));
    };
    (declaration.ty, declaration.array_len) = (ty, array_len);
    Ok(fit == ValueFit::Spread)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Class;

    #[test]
    fn equivalent_types_become_that_of_the_variable() {
        use ValueType::{Color, Float, HPoint, Int, Normal, Point, Vector};
        for (name, given, array_len, wanted) in [
            ("N", Float, 3, Some((Normal, 1, false))),
            ("N", Color, 1, Some((Normal, 1, false))),
            ("Np", Vector, 1, Some((Normal, 1, false))),
            ("Cs", Float, 3, Some((Color, 1, false))),
            ("Os", Float, 1, Some((Color, 1, true))),
            ("Cs", Int, 1, Some((Color, 1, true))),
            ("P", Float, 3, Some((Point, 1, false))),
            ("Pw", Float, 4, Some((HPoint, 1, false))),
            ("st", Float, 2, Some((Float, 2, false))),
            ("s", Int, 1, Some((Float, 1, false))),
            ("mine", Float, 3, Some((Float, 3, false))),
            ("N", Float, 1, None),
            ("Cs", Float, 2, None),
            ("s", Color, 1, None),
            ("Cs", ValueType::String, 1, None),
        ] {
            let mut declaration = Declaration { name: name.into(), class: Class::Vertex, ty: given, array_len };
            let found = adopt_type(&mut declaration).ok();
            let found = found.map(|spreads| (declaration.ty, declaration.array_len, spreads));
            assert_eq!(found, wanted, "{name} {given:?} {array_len}");
        }
    }
}
