//! Implicit surfaces: their meshes, programs and refusals.

use super::*;
use crate::scene::{BlobStep, Blobs, Class, PrimvarData, ValueType};
use std::collections::HashMap;

const UNIT: &str = "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1";

fn blobs(world: &World) -> &Blobs {
    match only_shape(world) {
        Shape::Blobs(blobs) => blobs,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_mesh_is_closed_and_near_the_surface() {
    let world = drawn(&format!(
        "Blobby 2 [1001 0 1001 16 0 2 0 1] [{UNIT} 2 0 0 0 0 1 0 0 0 0 1 0 1.6 0.3 0 1] [\"\"] \"vertex float k\" [1 3]"
    ));
    let blobs = blobs(&world);
    let mut sides: HashMap<[u32; 2], i32> = HashMap::new();
    for [a, b, c, d] in blobs.corners.iter().copied() {
        for [from, to] in [[a, b], [b, d], [d, c], [c, a]] {
            *sides.entry([from.min(to), from.max(to)]).or_default() += if from < to { 1 } else { -1 };
        }
    }
    assert!(blobs.corners.len() > 100 && sides.values().all(|turns| *turns == 0), "{}", blobs.corners.len());
    assert!(blobs.programs.iter().any(|steps| steps.len() == 1), "where one leaf is alone its program is one step");
    assert!(blobs.programs.iter().any(|steps| matches!(steps[..], [_, _, BlobStep::Add])));
    let primvar = &world.drawables[0].geometry.primvars[0];
    let PrimvarData::Floats(k) = &primvar.data else { panic!("{primvar:?}") };
    assert_eq!((primvar.class, k.len()), (Class::Vertex, blobs.positions.len()));
    assert!(k.iter().all(|k| (1.0..=3.0).contains(k)) && k.contains(&1.0) && k.contains(&3.0));
}

#[test]
fn what_is_wrong_with_a_blobby_is_refused_with_its_reason() {
    let cases = [
        ("1 [1001 0 9 0] [U]", "badargument", "instruction 1: there is no opcode 9"),
        ("1 [1001 0 0 2 0 1] [U]", "range", "instruction 1: operand 1 is none of the 1 instructions before it"),
        ("1 [1001 0 0 2 0 -1] [U]", "range", "operand -1"),
        ("1 [1001 0 0 0] [U]", "range", "an operation on 0 operands"),
        ("1 [1001 0 0 2 0] [U]", "badarray", "instruction 1: the code ends in the middle of it"),
        ("1 [1001 1] [U]", "range", "its 16 floats begin at 1, and there are 16"),
        ("1 [1001 -1] [U]", "range", "its 16 floats begin at -1"),
        ("1 [1002 0] [U]", "range", "its 23 floats begin at 0"),
        ("1 [1004 0 0 0 0 0] [U]", "unimplement", "plug-ins (opcode 1004)"),
        ("1 [1000 0] [1e99]", "math", "not a finite number"),
        ("0 [] [U]", "missingdata", "it has no instructions"),
        ("1 [1000 0] [1]", "consistency", "none of its leaves has a size"),
        ("2 [1001 0 1000 16 1 2 0 1] [U 0.1]", "consistency", "nowhere large enough"),
    ];
    for (request, code, reason) in cases {
        let request = format!("Blobby {} [\"\"]", request.replace('U', UNIT));
        let outcome = read_text(&format!("WorldBegin\n{request}\nWorldEnd"));
        assert_eq!(outcome.codes(), [(code, 2)], "{request}: {:?}", outcome.messages);
        assert!(outcome.messages[0].message.contains(reason), "{}", outcome.messages[0].message);
        assert_eq!(outcome.world().drawables.len(), 0, "{request}");
    }
}

#[test]
fn leaves_without_a_size_count_as_nothing() {
    let flat = "1 0 0 0 0 0 0 0 0 0 1 0 0 0 0 1";
    let outcome = read_text(&format!("WorldBegin\nBlobby 2 [1001 0 1001 16 0 2 0 1] [{UNIT} {flat}] [\"\"]\nWorldEnd"));
    assert_eq!(outcome.codes(), [("range", 2)]);
    assert!(outcome.messages[0].message.contains("leaf 1 has no size"), "{}", outcome.messages[0].message);
    assert_eq!(outcome.world().drawables.len(), 1);
    let outcome = read_text(&format!("WorldBegin\nBlobby 7 [1001 0] [{UNIT}] [\"\"]\nWorldEnd"));
    assert!(outcome.messages[0].message.contains("announces 7 leaves and has 1"), "{:?}", outcome.messages);
}

#[test]
fn leaves_beyond_the_range_of_floats_count_as_nothing() {
    let tiny = "0 0 0 1 0 0 1e-30 1e-30 0 0 0 0 1e-30 0 0 0 0 1e-30 0 0 0 0 1";
    let code = "1001 0 1002 16 0 2 0 1";
    let outcome = read_text(&format!("WorldBegin\nBlobby 2 [{code}] [{UNIT} {tiny}] [\"\"]\nWorldEnd"));
    assert_eq!(outcome.codes(), [("range", 2)]);
    assert!(outcome.messages[0].message.contains("leaf 1 is too small"), "{}", outcome.messages[0].message);
    assert_eq!(outcome.world().drawables.len(), 1);
}

#[test]
fn hostile_instructions_end_soon() {
    // Sums of sums of sums: 2^60 leaves, or 300 nested ones.
    let doubled: String = (0..60).map(|k| format!("0 2 {k} {k} ")).collect();
    let chain: String = (0..300).map(|k| format!("6 {k} ")).collect();
    for code in [doubled, chain] {
        let outcome = read_text(&format!("WorldBegin\nBlobby 1 [1001 0 {code}] [{UNIT}] [\"\"]\nWorldEnd"));
        assert_eq!(outcome.codes(), [("limitcheck", 2)], "{:?}", outcome.messages);
    }
    // Leaves far apart and of very different sizes.
    let far = "1e6 0 0 0 0 1e6 0 0 0 0 1e6 0 0 0 0 1";
    let outcome = read_text(&format!("WorldBegin\nBlobby 2 [1001 0 1001 16 0 2 0 1] [{UNIT} {far}] [\"\"]\nWorldEnd"));
    assert_eq!(outcome.codes(), [("limitcheck", 2)], "{:?}", outcome.messages);
}

#[test]
fn what_moves_keeps_its_mesh_or_stands_still() {
    let ball = |x: f64| format!("1 0 0 0 0 1 0 0 0 0 1 0 {x} 0 0 1");
    let pair = |code: &str, x: f64| format!("Blobby 2 [{code} 0 2 0 1] [{} {}] [\"\"]\n", ball(-x), ball(x));
    let ends = |first: &str, last: &str| format!("WorldBegin\nMotionBegin [0 1]\n{first}{last}MotionEnd\nWorldEnd");
    let leaves = "1001 0 1001 16";
    let near = read_text(&ends(&pair(leaves, 0.3), &pair(leaves, 0.35)));
    assert_eq!(near.codes(), []);
    let keyframes = near.world().drawables[0].geometry.shape.keyframes();
    let [(_, Shape::Blobs(a)), (_, Shape::Blobs(b))] = keyframes else { panic!("{} keyframes", keyframes.len()) };
    assert!(a.corners == b.corners && a.program == b.program && a.positions != b.positions);
    let size = |blobs: &Blobs| blobs.programs.iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(size(a), size(b), "devices find the records of one time as far from each other as those of the other");
    // Two that come apart.
    let apart = read_text(&ends(&pair(leaves, 0.3), &pair(leaves, 1.5)));
    assert_eq!(apart.codes(), [("unimplement", 5)]);
    assert!(apart.messages[0].message.contains("stands still as at its first time"), "{:?}", apart.messages);
    assert_eq!(apart.world().drawables[0].geometry.shape.keyframes().len(), 1);
    let other = read_text(&ends(&pair(leaves, 0.3), &pair("1001 0 1001 16 7 1", 0.3)));
    assert_eq!(other.codes()[0], ("consistency", 5), "{:?}", other.messages);
}

#[test]
fn many_leaves_may_meet_inside_of_the_surface() {
    let matrices = (0..512).map(|i| format!("1 0 0 0 0 1 0 0 0 0 1 0 {} {} {} 1", i % 8, i / 8 % 8, i / 64));
    let matrices: String = matrices.map(|matrix| matrix + "\n").collect();
    let leaves: String = (0..512).map(|i| format!("1001 {} ", 16 * i)).collect();
    let operands: String = (0..512).map(|i| format!("{i} ")).collect();
    // Half as far from each other as they are large.
    let scaled = matrices.replace("1 0 0 0 0 1 0 0 0 0 1 0", "2 0 0 0 0 2 0 0 0 0 2 0");
    let world = drawn(&format!("Blobby 512 [{leaves} 0 512 {operands}] [{scaled}] [\"\"]"));
    let longest = blobs(&world).programs.iter().map(|program| BlobStep::count(program)).max();
    assert!(longest.is_some_and(|steps| steps > 64 && steps <= 256), "{longest:?}");
}

#[test]
fn a_surface_of_too_many_leaves_costs_only_its_place() {
    let far = "1 0 0 0 0 1 0 0 0 0 1 0 9 0 0 1";
    let leaves: String = (0..300).map(|_| "1001 0 ").collect();
    let operands: String = (0..301).map(|i| format!("{i} ")).collect();
    let text = format!("WorldBegin\nBlobby 301 [{leaves} 1001 16 0 301 {operands}] [{UNIT} {far}] [\"\"]\nWorldEnd");
    let outcome = read_text(&text);
    assert_eq!(outcome.codes(), [("limitcheck", 2)]);
    assert!(outcome.messages[0].message.contains("a part of its surface is left out"), "{:?}", outcome.messages);
    let blobs = blobs(outcome.world());
    assert!(blobs.positions.iter().all(|[x, ..]| *x > 7.9) && blobs.corners.len() > 100);
}

/// A matrix for each leaf, the leaf's own moved by 5, gives the points of the surface moved by 5.
#[test]
fn matrices_of_the_type_mpoint_make_points() {
    let (ball, moved) = ("2 0 0 0 0 1 0 0 0 0 1 0 0.5 0 0 1", "2 0 0 0 0 1 0 0 0 0 1 0 0.5 5 0 1");
    let segment = "0 0 -1 0 0 1 0.8";
    let world = drawn(&format!(
        "Blobby 2 [1001 0 1002 16 0 2 0 1] [{ball} {segment} {ball}] [\"\"] \"vertex mpoint rest\" [{moved} {moved}]"
    ));
    let points = numbers(&world, "rest");
    let primvar = &world.drawables[0].geometry.primvars[0];
    assert_eq!((primvar.class, primvar.ty), (Class::Vertex, ValueType::Point));
    let (points, rest) = points.as_chunks::<3>();
    assert!(rest.is_empty() && points.len() == blobs(&world).positions.len());
    for ([x, y, z], [px, py, pz]) in points.iter().zip(blobs(&world).positions.iter()) {
        let off = (x - px).abs() + (y - py - 5.0).abs() + (z - pz).abs();
        assert!(off < 1e-5, "{x} {y} {z} for {px} {py} {pz}");
    }
    let unlike = [("vertex mpoint m", "1"), ("constant mpoint m", UNIT)];
    for (declaration, values) in unlike {
        let text = format!("WorldBegin\nBlobby 1 [1001 0] [{UNIT}] [\"\"] \"{declaration}\" [{values}]\nWorldEnd");
        let outcome = read_text(&text);
        assert_eq!((outcome.codes().len(), outcome.world().drawables.len()), (1, 1), "{declaration}");
    }
    assert_eq!(faults(&format!("Sphere 1 -1 1 360 \"vertex mpoint m\" [{UNIT}]")), [("badtoken", 2)]);
    // A standard variable has its own type, and one name is one variable.
    let blobby = format!("Blobby 1 [1001 0] [{UNIT}] [\"\"]");
    for name in ["Cs", "N", "s"] {
        let text = format!("WorldBegin\n{blobby} \"vertex mpoint {name}\" [{UNIT}]\nWorldEnd");
        let outcome = read_text(&text);
        assert_eq!((outcome.codes(), outcome.world().drawables[0].geometry.primvars.len()), (vec![("badtoken", 2)], 0));
    }
    let twice = drawn(&format!("{blobby} \"vertex mpoint m\" [{UNIT}] \"vertex float m\" [3]"));
    assert_eq!(twice.drawables[0].geometry.primvars.len(), 1);
    assert!(numbers(&twice, "m").iter().all(|value| *value == 3.0));
}
