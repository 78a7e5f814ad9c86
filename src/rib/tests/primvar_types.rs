//! Standard primitive variables of equivalent types.

use super::*;
use crate::scene::ValueType;

#[test]
fn standard_variables_have_their_own_type() {
    let square = "Polygon \"P\" [0 0 0 1 0 0 1 1 0 0 1 0]";
    let world = drawn(&format!(
        "{square} \"facevarying float[3] N\" [0 0 1 0 0 1 0 0 1 0 0 1] \"uniform float Cs\" [0.5] \"constant int Os\" [1]"
    ));
    let primvars = &world.drawables[0].geometry.primvars;
    let types: Vec<_> = primvars.iter().map(|primvar| (&*primvar.name, primvar.ty, primvar.array_len)).collect();
    let expected = [("N", ValueType::Normal, 1), ("Cs", ValueType::Color, 1), ("Os", ValueType::Color, 1)];
    assert_eq!(types, expected);
    assert_eq!((numbers(&world, "Cs"), numbers(&world, "Os")), (vec![0.5; 3], vec![1.0; 3]));
}

#[test]
fn positions_and_widths_of_equivalent_types() {
    let point = |request: &str| match only_shape(&drawn(request)) {
        Shape::Points(points) => (points.positions.to_vec(), points.widths.to_vec()),
        other => panic!("{other:?}"),
    };
    for ty in ["float[3]", "color", "vector"] {
        assert_eq!(point(&format!("Points \"vertex {ty} P\" [1 2 3]")), (vec![[1.0, 2.0, 3.0]], vec![1.0]), "{ty}");
    }
    assert_eq!(point("Points \"vertex float[4] Pw\" [2 4 6 2]").0, [[1.0, 2.0, 3.0]]);
    assert_eq!(point("Points \"vertex int[3] P\" [1 2 3]").0, [[1.0, 2.0, 3.0]]);
    assert_eq!(point("Points \"vertex int[4] Pw\" [2 4 6 2]").0, [[1.0, 2.0, 3.0]]);
    let curves = drawn(
        "Curves \"linear\" [2] \"nonperiodic\" \"vertex int[4] Pw\" [2 4 6 2 3 3 3 3] \"uniform int[3] N\" [0 0 1]",
    );
    match only_shape(&curves) {
        Shape::Curves(curves) => {
            assert_eq!((curves.control.as_ref(), curves.normals.len()), (&[[1.0, 2.0, 3.0], [1.0; 3]][..], 1));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(point("Points \"P\" [1 2 3] \"constant int width\" [2]").1, [2.0]);
    assert_eq!(faults("Points \"vertex float P\" [1 2 3]"), [("badtoken", 2)]);
    assert_eq!(faults("Points \"P\" [1 2 3]\n\"constant color width\" [2 2 2]"), [("badtoken", 3)]);
}

#[test]
fn other_types_are_left_out() {
    let square = "Polygon \"P\" [0 0 0 1 0 0 1 1 0 0 1 0]";
    for variable in ["varying float N\" [0 0 0 0]", "constant color s\" [0 0 0]", "constant string Cs\" [\"red\"]"] {
        let text = format!("WorldBegin\n{square}\n\"{variable}\nWorldEnd\n");
        let outcome = read_text(&text);
        assert_eq!((outcome.codes(), outcome.summary.errors), (vec![("badtoken", 3)], 1), "{variable}");
        assert!(outcome.world().drawables[0].geometry.primvars.is_empty(), "{variable}");
    }
}
