//! Retained objects.

use super::*;

#[test]
fn instances_share_their_geometry_and_have_their_own_transformation() {
    let world = drawn(
        "ObjectBegin 1\nSphere 1 -1 1 360\nTranslate 0 1 0\nPolygon \"P\" [0 0 0 1 0 0 0 1 0]\nObjectEnd\n\
         Translate 10 0 0\nObjectInstance 1\nTranslate 10 0 0\nObjectInstance \"1\"",
    );
    assert_eq!(world.drawables.len(), 4);
    assert!(Arc::ptr_eq(&world.drawables[0].geometry, &world.drawables[2].geometry));
    assert!(Arc::ptr_eq(&world.drawables[1].geometry, &world.drawables[3].geometry));
    let at: Vec<_> = world.drawables.iter().map(|drawable| placed(drawable, [0.0; 3])).collect();
    assert_eq!(at, [[10.0, 0.0, 0.0], [10.0, 1.0, 0.0], [20.0, 0.0, 0.0], [20.0, 1.0, 0.0]]);
}

#[test]
fn an_object_keeps_its_own_attributes_and_takes_the_others_from_outside() {
    let world = drawn(
        "Color 1 0 0\nObjectBegin \"o\"\nOpacity .5 .5 .5\nAttributeBegin\nColor 0 1 0\nSphere 1 -1 1 360\nAttributeEnd\nCone 1 1 360\nObjectEnd\n\
         Color 0 0 1\nSurface \"plastic\"\nObjectInstance \"o\"\nDisk 0 1 360",
    );
    let seen: Vec<_> = world.drawables.iter().map(|d| (d.attributes.color, d.attributes.opacity[0])).collect();
    assert_eq!(seen, [([0.0, 1.0, 0.0], 0.5), ([0.0, 0.0, 1.0], 0.5), ([0.0, 0.0, 1.0], 1.0)]);
    assert_eq!(&*world.drawables[0].attributes.surface.as_ref().expect("plastic").name, "plastic");
}

#[test]
fn objects_hold_objects_motion_and_bases() {
    let world = drawn(
        "ObjectBegin 1\nBasis \"b-spline\" 1 \"b-spline\" 1\nMotionBegin [0 1] Translate 0 0 0 Translate 1 0 0 MotionEnd\n\
         Curves \"cubic\" [5] \"nonperiodic\" \"P\" [0 0 0 1 0 0 2 0 0 3 0 0 4 0 0]\nObjectEnd\n\
         ObjectBegin 2\nTransformBegin Translate 0 5 0 ObjectInstance 1 TransformEnd\nMotionBegin [0 1] Disk 0 1 360 Disk 0 2 360 MotionEnd\nObjectEnd\n\
         ObjectInstance 2\nCurves \"cubic\" [4] \"nonperiodic\" \"P\" [0 0 0 1 0 0 2 0 0 3 0 0]",
    );
    assert_eq!(world.drawables.len(), 3);
    assert_eq!(track(&world.drawables[0].world_from_object), [(0.0, [0.0, 5.0, 0.0]), (1.0, [1.0, 5.0, 0.0])]);
    assert_eq!(world.drawables[0].geometry.shape.first().primitive_count(), 2);
    assert!(world.drawables[1].geometry.shape.moves());
    // The basis that an object set is gone behind it.
    match world.drawables[2].geometry.shape.first() {
        Shape::Curves(curves) => assert_eq!(curves.control[1], [1.0, 0.0, 0.0]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn handles_redefinition_and_mistakes() {
    type ObjectCase = (&'static str, &'static [(&'static str, u32)], usize);
    let cases: [ObjectCase; 7] = [
        ("ObjectInstance 9", &[("badhandle", 2)], 0),
        ("ObjectBegin 1\nObjectInstance 1\nObjectEnd\nObjectInstance 1", &[("badhandle", 3)], 0),
        (
            "ObjectBegin 1\nObjectBegin 2\nSphere 1 -1 1 360\nObjectEnd\nObjectEnd\nObjectInstance 1",
            &[("nesting", 3), ("nesting", 6)],
            1,
        ),
        ("ObjectBegin 1\nLightSource \"l\" 1\nSphere 1 -1 1 360\nObjectEnd\nObjectInstance 1", &[("illstate", 3)], 1),
        ("ObjectBegin 1\nAttributeBegin\nSphere 1 -1 1 360\nObjectEnd\nObjectInstance 1", &[("nesting", 5)], 1),
        ("ObjectBegin 1\nSphere 1 -1 1 360\nObjectEnd\nObjectBegin 1\nObjectEnd\nObjectInstance 1", &[], 0),
        (
            "ObjectBegin 1\nSphere 1 -1 1 360\nWorldEnd\nWorldBegin\nObjectInstance 1",
            &[("nesting", 4), ("badhandle", 6)],
            0,
        ),
    ];
    for (text, wanted, drawables) in cases {
        let outcome = read_text(&format!("WorldBegin\n{text}\nWorldEnd"));
        assert_eq!(outcome.codes(), wanted, "{text}");
        assert_eq!(outcome.worlds[outcome.worlds.len() - 1].drawables.len(), drawables, "{text}");
    }
}

#[test]
fn an_object_made_outside_the_world_is_known_in_all() {
    let outcome = read_text(
        "ObjectBegin 1\nPoints \"P\" [0 0 0]\nObjectEnd\nWorldBegin ObjectInstance 1 WorldEnd\nWorldBegin ObjectInstance 1 WorldEnd",
    );
    assert!(outcome.messages.is_empty());
    let geometries: Vec<_> = outcome.worlds.iter().map(|world| &world.drawables[0].geometry).collect();
    assert!(Arc::ptr_eq(geometries[0], geometries[1]));
}

#[test]
fn a_mirrored_instance_faces_the_other_way() {
    let world = drawn("ObjectBegin 1\nSphere 1 -1 1 360\nObjectEnd\nObjectInstance 1\nScale 1 1 -1\nObjectInstance 1");
    let flips: Vec<bool> = world.drawables.iter().map(|drawable| drawable.attributes.flip_normal).collect();
    assert_eq!(flips, [false, true]);
}
