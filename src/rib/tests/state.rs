//! Blocks, transformations, attributes, lights, motion.

use super::*;
use crate::diagnostic::Severity;
use crate::scene::{DETAIL_STEPS, ParamValue, PrimvarData, Projection, ShadingInterpolation};

const POINT: &str = "Sphere 1 -1 1 360";

#[test]
fn a_world_starts_at_the_identity_and_keeps_the_camera() {
    let world = clean("Translate 0 0 5\nRotate 90 0 0 1\nWorldBegin\nTranslate 1 0 0\nSphere 1 -1 1 360\nWorldEnd");
    let camera = world.camera.camera_from_world.first();
    // The world's x axis points up in the camera, five units away.
    assert_eq!(camera.transform_point3(DVec3::X), DVec3::new(0.0, 1.0, 5.0));
    assert_eq!(placed(&world.drawables[0], [0.0; 3]), [1.0, 0.0, 0.0]);
}

#[test]
fn transformations_multiply_on_the_right() {
    let cases: [(&str, [f64; 3], [f64; 3]); 11] = [
        ("Translate 1 2 3\nScale 2 2 2", [1.0, 0.0, 0.0], [3.0, 2.0, 3.0]),
        ("Rotate 90 0 0 1\nTranslate 1 0 0", [0.0; 3], [0.0, 1.0, 0.0]),
        ("Rotate 90 1 0 0", [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]),
        ("ConcatTransform [1 0 0 0 0 1 0 0 0 0 1 0 4 5 6 1]", [0.0; 3], [4.0, 5.0, 6.0]),
        ("ConcatTransform [1 0 0 0 0 1 0 0 0 0 1 0 4 5 6 2]", [0.0; 3], [2.0, 2.5, 3.0]),
        ("Translate 9 9 9\nTransform [0 1 0 0 -1 0 0 0 0 0 1 0 4 5 6 1]", [1.0, 0.0, 0.0], [4.0, 6.0, 6.0]),
        ("Translate 9 9 9\nIdentity", [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]),
        ("Skew 45 0 1 0 1 0 0", [0.0, 2.0, 0.0], [2.0, 2.0, 0.0]),
        ("TransformBegin\nScale 3 3 3\nTransformEnd", [1.0; 3], [1.0; 3]),
        ("AttributeBegin\nScale 3 3 3\nAttributeEnd", [1.0; 3], [1.0; 3]),
        ("Translate 0 0 -1\nTranslate 0 0 1\nScale -1 1 1", [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]),
    ];
    for (text, point, wanted) in cases {
        assert_eq!(placed(&drawn(&format!("{text}\n{POINT}")).drawables[0], point), wanted, "{text}");
    }
    // A perspective in the stack divides by depth: at 90 degrees x' = x / z.
    let outcome = read_text(&format!("WorldBegin\nPerspective 90\n{POINT}\nWorldEnd\n"));
    // What is drawn does not divide yet.
    assert_eq!(outcome.codes(), [("unimplement", 2)]);
    let point = outcome.world().drawables[0].world_from_object.first().project_point3(DVec3::new(1.0, 2.0, 4.0));
    assert!((point - DVec3::new(0.25, 0.5, 0.75)).length() < 1e-12);
}

#[test]
fn a_perspective_before_the_world_is_the_cameras() {
    let with = |text: &str| clean(&format!("Shutter 0 1\n{text}\nWorldBegin\n{POINT}\nWorldEnd\n")).camera;
    let camera = with("Perspective 40\nTranslate 0 0 5\nScale 2 2 2");
    let Projection::Perspective { fov_degrees } = camera.projection else { panic!("{:?}", camera.projection) };
    assert!((fov_degrees - 40.0).abs() < 1e-9);
    let affine = DMat4::from_translation(DVec3::Z * 5.0) * DMat4::from_scale(DVec3::splat(2.0));
    assert!(camera.camera_from_world.first().abs_diff_eq(affine, 1e-12));
    // A zoom outside of it changes no depth.
    let zoomed = with("Scale 2 2 1\nPerspective 90\nTranslate 0 0 5");
    assert!(zoomed.camera_from_world.first().abs_diff_eq(DMat4::from_translation(DVec3::Z * 5.0), 1e-12));
    let wanted = 2.0 * 0.5_f64.atan().to_degrees();
    let Projection::Perspective { fov_degrees } = zoomed.projection else { panic!("{:?}", zoomed.projection) };
    assert!((fov_degrees - wanted).abs() < 1e-9, "{fov_degrees}");
    // A lens that zooms moves everything towards the axis.
    let zooming = with("MotionBegin [0 1]\nPerspective 40\nPerspective 60\nMotionEnd\nTranslate 0 0 5");
    let grown = zooming.camera_from_world.at(1.0).transform_point3(DVec3::ONE);
    let part = 20_f64.to_radians().tan() / 30_f64.to_radians().tan();
    assert!(grown.abs_diff_eq(DVec3::new(part, part, 6.0), 1e-9), "{grown}");
}

#[test]
fn lights_before_the_world_are_where_they_were_made() {
    let camera = "Perspective 40\nTranslate 1 2 3\nLightSource \"pointlight\" 1\nTranslate 0 0 5";
    let world = clean(&format!("{camera}\nWorldBegin\n{POINT}\nWorldEnd\n"));
    let light = world.lights[0].shader.world_from_shader.first();
    assert!(light.abs_diff_eq(DMat4::from_translation(DVec3::Z * -5.0), 1e-9), "{light}");
}

#[test]
fn a_camera_divides_by_depth_once() {
    let both = "Projection \"perspective\"\nPerspective 40";
    let outcome = read_text(&format!("{both}\nWorldBegin\n{POINT}\nWorldEnd\n"));
    assert_eq!(outcome.codes(), [("unimplement", 3)]);
}

#[test]
fn a_matrix_that_divides_by_depth_is_named_inside_of_a_world() {
    let matrix = "[1 0 0 0 0 1 0 0 0 0 1 1 0 0 -1 0]";
    for request in ["ConcatTransform", "Transform"] {
        let outcome = read_text(&format!("WorldBegin\n{request} {matrix}\n{POINT}\nWorldEnd"));
        assert_eq!(outcome.codes(), [("unimplement", 2)], "{request}");
    }
    // What is only rounding is not.
    let outcome =
        read_text(&format!("WorldBegin\nConcatTransform [1 0 0 1e-9 0 1 0 0 0 0 1 0 0 0 0 1]\n{POINT}\nWorldEnd"));
    assert!(outcome.codes().is_empty());
}

#[test]
fn what_cannot_be_inverted_is_refused_and_the_old_transformation_kept() {
    for bad in [
        "Scale 1 1 0",
        "Transform [0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0]",
        "ConcatTransform [1 0 0 0 1 0 0 0 0 0 1 0 0 0 0 1]",
        "Scale NaN 1 1",
        "Translate inf 0 0",
    ] {
        let outcome = read_text(&format!("WorldBegin\nTranslate 1 2 3\n{bad}\n{POINT}\nWorldEnd"));
        assert_eq!(outcome.codes(), [("math", 3)], "{bad}");
        assert_eq!(placed(&outcome.world().drawables[0], [0.0; 3]), [1.0, 2.0, 3.0], "{bad}");
    }
    for bad in ["Rotate 30 0 0 0", "Skew 90 0 1 0 1 0 0", "Perspective 180"] {
        assert_eq!(faults(&format!("{bad}\n{POINT}")), [("range", 2)], "{bad}");
    }
}

#[test]
fn named_spaces() {
    let text = "Translate 0 0 7\nCoordinateSystem \"lens\"\nTranslate 0 1 0\nWorldBegin\n\
                TransformBegin\nTranslate 5 0 0\nCoordinateSystem \"here\"\nTransformEnd\n\
                CoordSysTransform \"here\"\nSphere 1 -1 1 360\nCoordSysTransform \"world\"\nSphere 1 -1 1 360\n\
                CoordSysTransform \"camera\"\nSphere 1 -1 1 360\nCoordSysTransform \"lens\"\nSphere 1 -1 1 360\n\
                AttributeBegin Translate 3 3 3 Surface \"s\" AttributeEnd Translate 0 0 1 CoordSysTransform \"current\"\nSphere 1 -1 1 360\nWorldEnd";
    let world = clean(text);
    let at: Vec<_> = world.drawables.iter().map(|drawable| placed(drawable, [0.0; 3])).collect();
    assert_eq!(at, [[5.0, 0.0, 0.0], [0.0; 3], [0.0, -1.0, -7.0], [0.0, -1.0, 0.0], [0.0, -1.0, 1.0]]);
    let names: Vec<&str> = world.spaces.iter().map(|space| &*space.name).collect();
    assert_eq!(names, ["lens", "here"]);
    assert_eq!(world.spaces[0].world_from_space.first().w_axis.truncate(), DVec3::new(0.0, -1.0, 0.0));
    assert_eq!(faults("CoordSysTransform \"nowhere\""), [("badtoken", 2)]);
}

#[test]
fn scoped_spaces_end_with_their_block() {
    let text = "Translate 0 0 7\nScopedCoordinateSystem \"lens\"\nTranslate 0 1 0\nWorldBegin\n\
                AttributeBegin\nTransformBegin\nTranslate 5 0 0\nScopedCoordinateSystem \"here\"\nTransformEnd\n\
                CoordSysTransform \"here\"\nSphere 1 -1 1 360\nScopedCoordinateSystem \"lens\"\nAttributeEnd\n\
                CoordSysTransform \"lens\"\nSphere 1 -1 1 360\nWorldEnd";
    let world = clean(text);
    let at: Vec<_> = world.drawables.iter().map(|drawable| placed(drawable, [0.0; 3])).collect();
    assert_eq!(at, [[5.0, 0.0, 0.0], [0.0, -1.0, 0.0]]);
    let names = |index: usize| -> Vec<String> {
        let spaces = &world.drawables[index].attributes.scoped_spaces;
        spaces.iter().map(|space| space.name.to_string()).collect()
    };
    assert_eq!((names(0), names(1)), (vec!["lens".into(), "here".into()], vec!["lens".into()]));
    assert!(world.spaces.is_empty());
    let leaked = "AttributeBegin ScopedCoordinateSystem \"here\" AttributeEnd\nCoordSysTransform \"here\"";
    assert_eq!(faults(leaked), [("badtoken", 3)]);
}

#[test]
fn shaders_made_before_the_world_are_seen_from_it() {
    let world = clean(
        "Translate 0 0 10\nLightSource \"l\" 1\nTranslate 0 2 0\nSurface \"s\"\nImager \"i\"\nWorldBegin\nSphere 1 -1 1 360\nWorldEnd",
    );
    let light = world.lights[0].shader.world_from_shader.first().w_axis.truncate();
    assert_eq!(light, DVec3::new(0.0, -2.0, 0.0));
    let surface = world.drawables[0].attributes.surface.as_ref().expect("s");
    assert_eq!(*surface.world_from_shader.first(), DMat4::IDENTITY);
    assert_eq!(*world.options.imager.as_ref().expect("i").world_from_shader.first(), DMat4::IDENTITY);
    assert_eq!(world.drawables[0].attributes.lights.len(), 1);
}

#[test]
fn blocks_restore_what_they_save() {
    let world = drawn(
        "Color 1 0 0\nAttributeBegin\nColor 0 1 0\nSphere 1 -1 1 360\nTransformBegin\nColor 0 0 1\nTransformEnd\nSphere 1 -1 1 360\nAttributeEnd\nSphere 1 -1 1 360",
    );
    let colors: Vec<_> = world.drawables.iter().map(|drawable| drawable.attributes.color).collect();
    assert_eq!(colors, [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]);
}

#[test]
fn attribute_states_are_shared() {
    let world = drawn(
        "Color 1 0 0\nSphere 1 -1 1 360\nTransformBegin Translate 1 0 0 Sphere 1 -1 1 360 TransformEnd\nScale -1 1 1\nSphere 1 -1 1 360\nSphere 2 -2 2 360",
    );
    let at = |index: usize| &world.drawables[index];
    assert!(Arc::ptr_eq(&at(0).attributes, &at(1).attributes));
    // A mirrored object has the same attributes but for its normal.
    assert!(
        Arc::ptr_eq(&at(2).attributes, &at(3).attributes)
            && at(2).attributes.flip_normal != at(0).attributes.flip_normal
    );
    assert!(Arc::ptr_eq(&at(2).world_from_object, &at(3).world_from_object));
}

#[test]
fn wrong_nesting_is_named_and_survived() {
    let cases: [(&str, &[(&str, u32)]); 7] = [
        ("AttributeEnd", &[("nesting", 2)]),
        ("AttributeBegin\nTransformBegin\nAttributeEnd", &[("nesting", 4)]),
        ("TransformBegin\nAttributeBegin\nColor 0 0 1\nTransformEnd", &[("nesting", 5)]),
        ("TransformBegin\nAttributeBegin", &[("nesting", 4), ("nesting", 4)]),
        ("ObjectEnd\nMotionEnd\nSolidEnd", &[("nesting", 2), ("nesting", 3), ("nesting", 4)]),
        ("FrameBegin 1", &[("nesting", 2)]),
        ("WorldBegin", &[("nesting", 2)]),
    ];
    for (text, wanted) in cases {
        let outcome = read_text(&format!("WorldBegin\n{text}\nWorldEnd\nWorldBegin\n{POINT}\nWorldEnd"));
        assert_eq!(outcome.codes(), wanted, "{text}");
        assert_eq!(outcome.worlds.len(), 2, "{text}");
        assert_eq!(outcome.worlds[1].drawables[0].attributes.color, [1.0; 3], "{text}");
    }
    // A stray end inside the world does not close a block outside of it.
    let outcome = read_text("AttributeBegin\nWorldBegin\nAttributeEnd\nSphere 1 -1 1 360\nWorldEnd\nAttributeEnd");
    assert_eq!((outcome.codes(), outcome.world().drawables.len()), (vec![("nesting", 3)], 1));
    let messages = read_text("WorldBegin\nAttributeBegin\nWorldEnd").messages;
    assert_eq!(messages[0].message, "AttributeBegin at t.rib:2:1 is still open at WorldEnd");
}

#[test]
fn a_file_that_stops_reports_what_is_open_and_draws() {
    let outcome = read_text("FrameBegin 1\nWorldBegin\nAttributeBegin\nSphere 1 -1 1 360\n");
    assert_eq!(outcome.codes(), [("nesting", 3), ("nesting", 2), ("nesting", 1)]);
    assert_eq!(outcome.world().drawables.len(), 1);
}

#[test]
fn an_imager_inside_the_world_is_that_worlds_imager() {
    let outcome = read_text(
        "WorldBegin\nTranslate 0 0 2\nImager \"clamp\"\nPoints \"P\" [0 0 0]\nWorldEnd\nWorldBegin\nWorldEnd",
    );
    assert_eq!(outcome.codes(), [("illstate", 3)]);
    assert_eq!(outcome.messages[0].severity, Severity::Warning);
    let imagers: Vec<_> = outcome.worlds.iter().map(|world| world.options.imager.as_ref().map(|i| &*i.name)).collect();
    assert_eq!(imagers, [Some("clamp"), None]);
    let outcome = read_text("ObjectBegin 1\nImager \"clamp\"\nObjectEnd\nWorldBegin\nWorldEnd");
    assert_eq!((outcome.codes(), &outcome.worlds[0].options.imager), (vec![("illstate", 2)], &None));
}

#[test]
fn requests_out_of_place() {
    let outcome = read_text(
        "Sphere 1 -1 1 360\nWorldBegin\nFormat 10 10 1\nSphere 1 -1 1 360\nWorldEnd\nObjectBegin 1\nShutter 0 1\nObjectEnd",
    );
    assert_eq!(outcome.codes(), [("illstate", 1), ("illstate", 3), ("illstate", 7)]);
    assert_eq!((outcome.world().drawables.len(), outcome.world().camera.resolution), (1, [640, 480]));
}

#[test]
fn frames_and_several_worlds() {
    let text = "Format 100 50 1\nFrameBegin 3\nFormat 20 10 1\nColor 1 0 0\nTranslate 0 0 1\nWorldBegin\nLightSource \"l\" 1\nSphere 1 -1 1 360\nWorldEnd\n\
                WorldBegin\nIlluminate 1 1\nSphere 1 -1 1 360\nWorldEnd\nFrameEnd\nWorldBegin\nSphere 1 -1 1 360\nWorldEnd\n";
    let outcome = read_text(text);
    // A light of one world is unknown in the next.
    assert_eq!(outcome.codes(), [("badhandle", 11)]);
    let seen: Vec<_> =
        outcome.worlds.iter().map(|w| (w.camera.resolution[0], w.options.frame, w.lights.len())).collect();
    assert_eq!(seen, [(20, Some(3), 1), (20, Some(3), 0), (100, None, 0)]);
    let camera_z: Vec<_> = outcome.worlds.iter().map(|w| w.camera.camera_from_world.first().w_axis.z).collect();
    assert_eq!(camera_z, [1.0, 1.0, 0.0]);
    assert_eq!(outcome.worlds[2].drawables[0].attributes.color, [1.0; 3]);
    assert_eq!(outcome.summary.worlds, 3);
}

#[test]
fn shading_attributes() {
    let body = "Color .1 .2 .3 Opacity [.4 .5 .6] TextureCoordinates [0 0 2 0 0 2 2 2] ShadingRate 4 ShadingInterpolation \"smooth\" Matte 1 Sides 1\n\
         Surface \"plastic\" Displacement \"bumpy\" Atmosphere \"fog\"\n\
         Attribute \"displacementbound\" \"sphere\" .5\nAttribute \"displacementbound\" \"coordinatesystem\" \"shader\"\n\
         Attribute \"identifier\" \"name\" \"ball\" \"shadinggroup\" \"g\"\nAttribute \"user\" \"color tint\" [1 2 3]\nAttribute \"cull\" \"hidden\" 0 Attribute \"visibility\" \"transmission\" \"opaque\"\n\
         Attribute \"dice\" \"rasterorient\" 0 \"string strategy\" \"x\"\nAttribute \"3delight\" \"nope\" 1\nAttribute \"aqsis\" \"expandgrids\" [1]\n\
         GeometricApproximation \"motionfactor\" 2\nSphere 1 -1 1 360\nSurface \"null\" Displacement \"null\" Atmosphere \"null\" Sphere 1 -1 1 360";
    let mut outcome = read_text(&format!("WorldBegin\n{body}\nWorldEnd\n"));
    assert_eq!(outcome.codes(), [("badtoken", 9), ("badtoken", 9)]);
    let world = outcome.worlds.remove(0);
    let a = &world.drawables[0].attributes;
    assert_eq!((a.color, a.opacity), ([0.1, 0.2, 0.3], [0.4, 0.5, 0.6]));
    assert_eq!(a.texture_coordinates, [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]]);
    assert_eq!((a.shading_rate, a.shading_interpolation), (4.0, ShadingInterpolation::Smooth));
    assert!(a.matte && !a.two_sided && a.surface.is_some() && a.displacement.is_some() && a.atmosphere.is_some());
    let bound = a.displacement_bound.as_ref().expect("a bound");
    assert_eq!((bound.radius, &*bound.space, &*a.name), (0.5, "shader", "ball"));
    let keys: Vec<&str> = a.other.keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "GeometricApproximation:motionfactor",
            "cull:hidden",
            "dice:rasterorient",
            "dice:strategy",
            "identifier:shadinggroup",
            "user:tint",
            "visibility:transmission"
        ]
    );
    assert_eq!(a.other["user:tint"], ParamValue::Floats(vec![1.0, 2.0, 3.0]));
    let b = &world.drawables[1].attributes;
    assert!(b.surface.is_none() && b.displacement.is_none() && b.atmosphere.is_none());
    // The defaults.
    let c = drawn(POINT).drawables[0].attributes.clone();
    assert_eq!(&*c.surface.as_ref().expect("a default").name, "defaultsurface");
    assert!(c.two_sided && !c.matte && !c.flip_normal && c.shading_rate == 1.0 && c.lights.is_empty());
}

#[test]
fn attributes_out_of_range_are_ignored() {
    let cases = [
        ("Sides 3", "range"),
        ("Orientation \"sideways\"", "badargument"),
        ("ShadingInterpolation \"phong\"", "badargument"),
        ("Basis \"besier\" 3 \"bezier\" 3", "badbasis"),
        ("Basis \"bezier\" 0 \"bezier\" 3", "badbasis"),
        ("DetailRange 5 4 3 2", "range"),
        ("Attribute \"displacementbound\" \"sphere\" -1", "range"),
        ("Attribute \"unheardof\" \"int x\" 1", "badtoken"),
        ("Attribute \"cull\" \"unheardof\" 1", "badtoken"),
        ("GeometricApproximation \"roundness\" 1", "badargument"),
        ("ShadingRate NaN", "range"),
        ("Illuminate \"nobody\" 1", "badhandle"),
    ];
    for (text, code) in cases {
        assert_eq!(faults(&format!("{text}\n{POINT}")), [(code, 2)], "{text}");
    }
}

#[test]
fn orientation_and_handedness() {
    // Camera space is left-handed. "outside" is the cross product in the object's own coordinates, so in camera space
    // the normal is turned exactly when the object is mirrored.
    let cases = [
        ("", "", false),
        ("", "Orientation \"inside\"", true),
        ("", "ReverseOrientation", true),
        ("", "ReverseOrientation ReverseOrientation", false),
        ("", "ReverseOrientation Orientation \"outside\"", false),
        ("", "Scale -1 1 1", true),
        ("", "Orientation \"outside\" Scale 1 1 -1 Scale 1 -1 1", false),
        ("", "Scale 1 1 -1 ReverseOrientation", false),
        ("", "Orientation \"inside\" Scale 1 1 -1", false),
        ("", "Orientation \"lh\"", false),
        ("", "Orientation \"rh\"", true),
        ("", "Orientation \"rh\" ReverseOrientation", false),
        // "lh" and "rh" flip with the coordinate system like the others (RISpec 4.2.14).
        ("", "Orientation \"lh\" Scale 1 1 -1", true),
        ("", "Orientation \"rh\" Scale 1 1 -1", false),
        ("", "Scale 1 1 -1 Orientation \"lh\"", false),
        ("", "Scale 1 1 -1 Orientation \"rh\"", true),
        ("", "Scale 1 1 -1 Orientation \"rh\" Scale 1 1 -1", false),
        ("", "TransformBegin Scale 1 1 -1 Orientation \"rh\" TransformEnd", false),
        // A right-handed world: the camera's transformation mirrors.
        ("Scale 1 1 -1", "", true),
        ("Scale 1 1 -1", "Scale 1 1 -1", false),
        ("Scale 1 1 -1", "Orientation \"rh\"", true),
        ("Scale 1 1 -1", "Orientation \"lh\"", false),
        ("Orientation \"rh\" Scale 1 1 -1", "", false),
        ("Scale 1 1 -1 Orientation \"rh\"", "", true),
        ("Scale 1 1 -1 Orientation \"rh\"", "Scale 1 1 -1", false),
    ];
    for (camera, object, wanted) in cases {
        let world = clean(&format!("{camera}\nWorldBegin\n{object}\n{POINT}\nWorldEnd"));
        assert_eq!(world.drawables[0].attributes.flip_normal, wanted, "{camera} | {object}");
    }
}

#[test]
fn lights_are_on_in_their_block_and_in_order() {
    let world = drawn(
        "LightSource \"a\" 1\nAttributeBegin\nTranslate 0 3 0\nLightSource \"b\" \"bee\" \"intensity\" 2\nAttributeEnd\nSphere 1 -1 1 360\n\
         LightSource \"c\" 3\nIlluminate \"bee\" 1\nIlluminate 1 0\nSphere 1 -1 1 360\nIlluminate \"1\" 1\nSphere 1 -1 1 360",
    );
    let lit: Vec<Vec<&str>> = world
        .drawables
        .iter()
        .map(|d| d.attributes.lights.iter().map(|id| &*world.lights[id.0 as usize].shader.name).collect())
        .collect();
    assert_eq!(lit, [vec!["a"], vec!["b", "c"], vec!["a", "b", "c"]]);
    assert_eq!(&*world.lights[1].handle, "bee");
    assert_eq!(world.lights[1].shader.world_from_shader.first().w_axis.y, 3.0);
}

#[test]
fn moving_transformations() {
    let text = "Shutter 0 1\nMotionBegin [0 1]\nTranslate 0 0 1\nTranslate 0 0 2\nMotionEnd\nWorldBegin\n\
                MotionBegin [0 .5 1]\nTranslate 0 0 0\nTranslate 1 0 0\nTranslate 4 0 0\nMotionEnd\n\
                MotionBegin [0 1]\nTranslate 0 0 0\nTranslate 0 2 0\nMotionEnd\nSphere 1 -1 1 360\nWorldEnd";
    let world = clean(text);
    assert_eq!(track(&world.camera.camera_from_world), [(0.0, [0.0, 0.0, 1.0]), (1.0, [0.0, 0.0, 2.0])]);
    let wanted = [(0.0, [0.0; 3]), (0.5, [1.0, 1.0, 0.0]), (1.0, [4.0, 2.0, 0.0])];
    assert_eq!(track(&world.drawables[0].world_from_object), wanted);
    // The shutter offset moves the times.
    let world = clean(
        "Option \"shutter\" \"offset\" 2\nWorldBegin\nMotionBegin 0 1\nTranslate 0 0 0 Translate 1 0 0\nMotionEnd\nSphere 1 -1 1 360\nWorldEnd",
    );
    assert_eq!(track(&world.drawables[0].world_from_object)[1], (3.0, [1.0, 0.0, 0.0]));
}

#[test]
fn moving_geometry_and_attributes() {
    let text = "Shutter .25 1\nWorldBegin\nMotionBegin [0 1]\nColor 0 0 0\nColor 1 1 0\nMotionEnd\nMotionBegin [0 1]\nSurface \"s\" \"Ka\" 0\nSurface \"s\" \"Ka\" 4\nMotionEnd\n\
                MotionBegin [0 1]\nLightSource \"l\" 1 \"intensity\" 1\nLightSource \"l\" 1 \"intensity\" 5\nMotionEnd\n\
                MotionBegin [0 .5 1]\nSphere 1 -1 1 360\nSphere 2 -2 2 360\nSphere 3 -3 3 360\nMotionEnd\nWorldEnd";
    let outcome = read_text(text);
    assert_eq!(outcome.codes(), [("unimplement", 3), ("unimplement", 7), ("unimplement", 11)]);
    let world = outcome.world();
    let drawable = &world.drawables[0];
    assert_eq!(drawable.geometry.shape.keyframes().len(), 3);
    // Shading happens at shutter open, a quarter of the way.
    assert_eq!(drawable.attributes.color, [0.25, 0.25, 0.0]);
    assert_eq!(drawable.attributes.surface.as_ref().expect("s").params[0].value, ParamValue::Floats(vec![1.0]));
    assert_eq!((world.lights.len(), &world.lights[0].shader.params[0].value), (1, &ParamValue::Floats(vec![2.0])));
}

#[test]
fn a_moving_quadrilateral_is_cut_the_same_way_at_all_times() {
    let world = drawn(
        "MotionBegin [0 1]\nPolygon \"P\" [0 0 0 1 0 0 1 1 0 0 1 0]\nPolygon \"P\" [0 0 0 1 0 0 1 1 1 0 1 0]\nMotionEnd",
    );
    let keyframes = world.drawables[0].geometry.shape.keyframes();
    let corners: Vec<_> = keyframes
        .iter()
        .map(|(_, shape)| match shape {
            Shape::Facets(facets) => facets.corners.len(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(corners, [1, 1]);
}

#[test]
fn motion_blocks_that_make_no_sense() {
    let cases: [(&str, &[(&str, u32)]); 10] = [
        ("MotionBegin []\nMotionEnd", &[("badmotion", 2), ("nesting", 3)]),
        ("MotionBegin [1 0]\nTranslate 1 0 0\nTranslate 2 0 0\nMotionEnd", &[("badmotion", 2), ("badmotion", 5)]),
        ("MotionBegin [0 1]\nTranslate 1 0 0\nMotionEnd", &[("badmotion", 4)]),
        ("MotionBegin [0 1]\nTranslate 1 0 0\nRotate 2 0 0 1\nTranslate 3 0 0\nMotionEnd", &[("badmotion", 4)]),
        (
            "MotionBegin [0 1]\nTranslate 1 0 0\nTranslate x\nMotionEnd",
            &[("syntaxerror", 4), ("unregistered", 4), ("badmotion", 5)],
        ),
        ("MotionBegin [0 1]\nAttributeBegin\nAttributeEnd\nMotionEnd", &[("badmotion", 3), ("nesting", 5)]),
        ("MotionBegin [0 1]\nPoints \"P\" [0 0 0]\nPoints \"P\" [0 0 0 1 1 1]\nMotionEnd", &[("consistency", 5)]),
        ("MotionBegin [0 1]\nSphere 1 -1 1 360\nSphere NaN -1 1 360\nMotionEnd", &[("math", 4), ("badmotion", 5)]),
        ("MotionBegin [0 1]\nVolume 1\nVolume 1\nMotionEnd", &[("unimplement", 3)]),
        ("MotionBegin [0 1]\nMotionEnd", &[]),
    ];
    for (text, wanted) in cases {
        let outcome = read_text(&format!("WorldBegin\n{text}\nSphere 5 -5 5 360\nWorldEnd"));
        assert_eq!(outcome.codes(), wanted, "{text}");
        assert_eq!(outcome.world().drawables.len(), 1, "{text}");
    }
}

#[test]
fn levels_of_detail() {
    // The near face of the box is at z = 9 and is 2 wide: 2/9 of the screen's 2 units, 100 pixels for them, so 11.1
    // pixels wide.
    let level = |range: &str| {
        let text = format!(
            "Format 100 100 1\nProjection \"perspective\" \"fov\" 90\nTranslate 0 0 10\nWorldBegin\nDetail [-1 1 -1 1 -1 1]\nDetailRange {range}\nSphere 1 -1 1 360\nWorldEnd"
        );
        clean(&text).drawables.len()
    };
    assert_eq!(level("0 0 1e38 1e38"), 1);
    assert_eq!(level("0 0 123 123"), 0);
    assert_eq!(level("123 123 124 124"), 1);
    assert_eq!(level("124 124 1e38 1e38"), 0);
    // In a transition each sample sees exactly one of two levels. The box is 480 x 480 pixels here.
    let text = "Translate 0 0 10\nWorldBegin\nDetail -1 1 -1 1 -1 1\nDetailRange 0 0 10 1e6\nSphere 1 -1 1 360\nDetailRange 10 1e6 1e38 1e38\nSphere 1 -1 1 360\nWorldEnd";
    let world = clean(text);
    let [small, large] = [0, 1].map(|level: usize| world.drawables[level].detail);
    assert_eq!((small[0], small[1]), (large[1], DETAIL_STEPS));
    assert_eq!(large[0], 0);
    let part = f64::from(large[1]) / f64::from(DETAIL_STEPS);
    assert!((part - (480.0 * 480.0 - 10.0) / (1e6 - 10.0)).abs() < 1e-3, "{large:?}");
}

#[test]
fn what_falls_back_is_said_once_for_each_token() {
    let text = "Option \"limits\" \"gridsize\" 64\nOption \"shadow\" \"bias0\" .1\nOption \"statistics\" \"endofframe\" 0\nPixelVariance .1\n\
         Hider \"hidden\" \"mattehidden\" 1 \"sigma\" 0\nPixelVariance .2\nOption \"hair\" \"minwidth\" 2\nWorldBegin\n\
         Attribute \"dice\" \"hair\" 1 \"rasterorient\" 1\nAttribute \"dice\" \"hair\" 2\nAttribute \"trace\" \"bias\" .1\n\
         Attribute \"dice\" \"int gloss\" 1\nGeometricApproximation \"deviation\" 1\nSphere 1 -1 1 360\nWorldEnd\n";
    let outcome = read_text(text);
    let found: Vec<(u32, &str)> = outcome.messages.iter().map(|m| (m.location.line, m.message.as_str())).collect();
    assert_eq!(
        found,
        [
            (1, "Option \"limits\" \"gridsize\" is not supported: grids have at most 16 by 16 vertices"),
            (4, "PixelVariance is not supported: all pixels get the samples of PixelSamples"),
            (
                5,
                "Hider \"hidden\" \"mattehidden\" is not supported: matte objects hide, and leave holes in the picture"
            ),
            (9, "Attribute \"dice\" \"hair\" is not supported: curves are diced as all other surfaces"),
            (12, "unknown Attribute \"dice\" \"gloss\"; it is kept for shaders and has no other effect"),
            (13, "GeometricApproximation \"deviation\" is not supported: ShadingRate sets the size of micropolygons"),
        ]
    );
}

#[test]
fn attributes_of_other_renderers_cost_one_line() {
    let body = "Attribute \"render\" \"x\" 1\nAttribute \"renderman\" \"int x\" 1\nAttribute \"runtime\" \"string x\" \"y\"\n\
         Attribute \"divisions\" \"int x\" 1\nAttribute \"aqsis\" \"expandgrids\" 1\nSphere 1 -1 1 360";
    assert_eq!(faults(body), [("badtoken", 2)]);
}

#[test]
fn the_camera_sees_only_what_is_visible_to_it() {
    let hidden = "AttributeBegin\nAttribute \"visibility\" \"camera\" 0\nSphere 1 -1 1 360\nAttributeEnd\n";
    let world = drawn(&format!("{hidden}Attribute \"visibility\" \"int camera\" [1]\nCone 1 1 360"));
    assert_eq!(world.drawables.len(), 1);
    assert_eq!(world.drawables[0].attributes.other["visibility:camera"], ParamValue::Ints(vec![1]));
    // Bits of other renderers, of which the first is for the camera.
    for (bits, count) in [(0, 0), (4, 0), (6, 0), (1, 1), (3, 1), (7, 1)] {
        let outcome =
            read_text(&format!("WorldBegin\nAttribute \"render\" \"int visibility\" [{bits}]\nCone 1 1 360\nWorldEnd"));
        assert_eq!((outcome.world().drawables.len(), outcome.codes()), (count, vec![]), "{bits}");
    }
    // Also in objects, whose own attribute decides.
    let object = "ObjectBegin 1\nSphere 1 -1 1 360\nAttribute \"visibility\" \"camera\" 0\nCone 1 1 360\nObjectEnd\nObjectInstance 1";
    assert_eq!(drawn(object).drawables.len(), 1);
    let all = read_text(&format!("WorldBegin\n{hidden}Blobby 1 [1001 0] [1] [\"\"]\nWorldEnd"));
    let expected =
        "at WorldEnd, nothing of the geometry can be drawn: 1 primitives are left out, 1 are invisible to the camera";
    assert_eq!(all.messages.last().expect("a warning").message, expected);
}

#[test]
fn colours_of_samples_become_rgb() {
    let outcome = read_text(
        "ColorSamples [1 0 0 0 .5 1] [1 0 0 1 0 0]\nWorldBegin\nColor [.5 1]\nOpacity 1 0\n\
         Surface \"plastic\" \"color specularcolor\" [1 .5]\nSphere 1 -1 1 360 \"varying color Cs\" [1 0 0 1 0 0 1 1]\n\
         Sphere 1 -1 1 360 \"varying color Cs\" [1 0 0 1 0 0 1]\nWorldEnd",
    );
    assert_eq!(outcome.codes(), [("badcolor", 7)]);
    let drawable = &outcome.world().drawables[0];
    let attributes = &drawable.attributes;
    assert_eq!((attributes.color, attributes.opacity), ([0.5, 0.5, 1.0], [1.0, 0.0, 0.0]));
    let surface = attributes.surface.as_ref().expect("a surface");
    assert_eq!(surface.params[0].value, ParamValue::Floats(vec![1.0, 0.25, 0.5]));
    let PrimvarData::Floats(colours) = &drawable.geometry.primvars[0].data else { panic!("numbers") };
    assert_eq!(colours[..], [1.0, 0.0, 0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 1.0, 0.5, 1.0]);
}
