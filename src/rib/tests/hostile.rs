//! Input that wants to hurt: it must end soon, with a message, and without taking memory for what is not there.

use super::*;
use crate::rib::Limits;

fn limited(text: &str, limits: Limits) -> Outcome {
    read_bytes(text, &Settings { limits, ..Settings::default() })
}

#[test]
fn objects_of_objects_of_objects_stop_at_the_limit() {
    let mut text = "ObjectBegin 0\nSphere 1 -1 1 360\nObjectEnd\n".to_owned();
    for level in 1..40 {
        let inside = format!("ObjectInstance {}\n", level - 1).repeat(10);
        text += &format!("ObjectBegin {level}\n{inside}ObjectEnd\n");
    }
    let outcome = limited(
        &format!("{text}WorldBegin\nObjectInstance 2\nObjectInstance 39\nSphere 1 -1 1 360\nWorldEnd\n"),
        Limits::default(),
    );
    assert_eq!(outcome.codes().len(), 1);
    assert_eq!(outcome.messages[0].code, "limitcheck");
    assert_eq!(outcome.world().drawables.len(), 100);
}

#[test]
fn a_chain_of_redefined_objects_is_cut() {
    let text = "ObjectBegin 1\nSphere 1 -1 1 360\nObjectEnd\n".to_owned()
        + &"ObjectBegin 1\nObjectInstance 1\nObjectEnd\n".repeat(50_000);
    let outcome = read_text(&format!("WorldBegin\n{text}ObjectInstance 1\nWorldEnd"));
    assert_eq!(outcome.messages[0].code, "limitcheck");
}

#[test]
fn archives_that_grow_without_bound_are_cut() {
    let mut text = "ArchiveBegin \"0\"\nColor 1 0 0\nArchiveEnd\n".to_owned();
    for level in 1..30 {
        let inside = format!("ReadArchive \"{}\"\n", level - 1).repeat(2);
        text += &format!("ArchiveBegin \"{level}\"\n{inside}ArchiveEnd\n");
    }
    let outcome = limited(
        &format!("{text}ReadArchive \"29\"\nWorldBegin WorldEnd\n"),
        Limits { archive_reads: 1000, ..Limits::default() },
    );
    assert!(outcome.messages.iter().all(|message| message.code == "limitcheck"));
    assert_eq!(outcome.worlds.len(), 1);
    let outcome =
        read_text("ArchiveBegin \"a\"\nReadArchive \"a\"\nArchiveEnd\nReadArchive \"a\"\nWorldBegin WorldEnd");
    assert_eq!(outcome.codes(), [("limitcheck", 2)]);
}

#[test]
fn deep_archives_do_not_exhaust_the_stack() {
    let mut text = "ArchiveBegin \"0\"\nColor 1 0 0\nArchiveEnd\n".to_owned();
    for level in 1..200 {
        text += &format!("ArchiveBegin \"{level}\"\nReadArchive \"{}\"\nArchiveEnd\n", level - 1);
    }
    let outcome = read_text(&format!(
        "{text}ReadArchive \"199\"\nReadArchive \"100\"\nWorldBegin\nSphere 1 -1 1 360\nWorldEnd\n"
    ));
    assert_eq!(outcome.codes().len(), 1);
    assert_eq!((outcome.codes()[0].0, outcome.world().drawables[0].attributes.color), ("limitcheck", [1.0, 0.0, 0.0]));
}

#[test]
fn a_million_open_blocks() {
    let outcome =
        read_text(&format!("WorldBegin\n{}\nSphere 1 -1 1 360\nWorldEnd", "AttributeBegin\n".repeat(200_000)));
    assert!(outcome.codes().iter().any(|(code, _)| *code == "limitcheck"));
    assert_eq!(outcome.world().drawables.len(), 1);
}

#[test]
fn a_scene_beyond_its_limit_is_cut_and_said_to_be() {
    let limits = Limits { scene_bytes: 1 << 20, ..Limits::default() };
    let points = format!("Points \"P\" [{}]\nColor 1 0 0\n", "0 ".repeat(3000));
    let outcome = limited(
        &format!("WorldBegin\n{}WorldEnd\nWorldBegin\nSphere 1 -1 1 360\nWorldEnd", points.repeat(1000)),
        limits,
    );
    assert_eq!((outcome.messages[0].code, outcome.messages.len()), ("limitcheck", 1));
    assert!((10..100).contains(&outcome.worlds[0].drawables.len()));
    assert_eq!(outcome.worlds[1].drawables.len(), 1);
}

#[test]
fn state_that_instances_and_motion_multiply_counts_towards_the_limit() {
    let limits = Limits { scene_bytes: 1 << 20, ..Limits::default() };
    let shader = format!(
        "ObjectBegin 1\nSurface \"s\" \"float[1000] x\" [{}]\nPoints \"P\" [0 0 0]\nObjectEnd\n",
        "1 ".repeat(1000)
    );
    let times: String = (0..200).map(|time| format!("{time} ")).collect();
    let steps = "Translate 0 0 0\n".repeat(200);
    let moving = format!(
        "MotionBegin [{times}]\n{steps}MotionEnd\nObjectBegin 1\nTranslate 1 0 0\nPoints \"P\" [0 0 0]\nObjectEnd\n"
    );
    for object in [shader, moving] {
        let outcome = limited(&format!("WorldBegin\n{object}{}WorldEnd", "ObjectInstance 1\n".repeat(1000)), limits);
        assert_eq!((outcome.messages.len(), outcome.messages[0].code), (1, "limitcheck"));
        assert!((20..500).contains(&outcome.world().drawables.len()), "{}", outcome.world().drawables.len());
    }
}

#[test]
fn motion_without_end() {
    let times: Vec<String> = (0..10_000).map(|time| time.to_string()).collect();
    let many = format!("MotionBegin [{}]\n{}MotionEnd", times.join(" "), "Translate 1 0 0\n".repeat(10_000));
    let outcome = read_text(&format!("WorldBegin\n{many}\nSphere 1 -1 1 360\nWorldEnd"));
    assert_eq!(outcome.messages[0].code, "limitcheck");
    assert!(!outcome.world().drawables[0].world_from_object.moves());
}

#[test]
fn counts_are_not_believed() {
    for text in [
        "Surface \"s\" \"float[4000000000] x\" [1]",
        "Points \"P\" [0 0 0] \"varying float[4000000000] x\" [1]",
        "Points \"P\" [0 0 0] \"constant matrix[4294967295] x\" [1]",
        "PatchMesh \"bilinear\" 2147483647 \"periodic\" 2147483647 \"periodic\" \"P\" [0 0 0]",
        "Curves \"linear\" [2147483647 2147483647 2147483647] \"periodic\" \"P\" [0 0 0]",
        "GeneralPolygon [2147483647 2147483647] \"P\" [0 0 0]",
    ] {
        assert_eq!(faults(text), [("badarray", 2)], "{text}");
    }
}

#[test]
fn very_long_requests_are_read_in_one_pass() {
    // Each would take minutes if every pair looked at all pairs before it.
    let unknown = "\n\"unknown\" 1".repeat(200_000);
    let outcome = read_text(&format!("WorldBegin\nSurface \"s\"{unknown}\nSphere 1 -1 1 360\nWorldEnd"));
    assert_eq!((outcome.codes(), outcome.summary.errors), (vec![("badtoken", 3)], 200_000));
    let many: String = (0..100_000).map(|i| format!("\"uniform float x{i}\" 1\n")).collect();
    let outcome = read_text(&format!("WorldBegin\nSphere 1 -1 1 360 {many}\nWorldEnd"));
    assert_eq!(outcome.codes(), [("limitcheck", 2)]);
    assert_eq!(outcome.world().drawables[0].geometry.primvars.len(), 1024);
}

#[test]
fn many_worlds_with_many_objects_and_spaces() {
    let each = |i: usize| format!("ObjectBegin {i}\nObjectEnd\nCoordinateSystem \"c{i}\"\nAreaLightSource \"a\" {i}\n");
    let before: String = (0..1000).map(each).collect();
    let worlds = "WorldBegin\nObjectBegin 1\nObjectEnd\nWorldEnd\n".repeat(300);
    let outcome = read_text(&(before + &worlds));
    assert_eq!((outcome.codes(), outcome.worlds.len()), (vec![("unimplement", 4)], 300));
}

#[test]
fn truncation_anywhere_is_survived() {
    let text = "##RenderMan\nFormat 64 64 1\nDisplay \"a\" \"file\" \"rgba\" \"float[4] quantize\" [0 0 0 0]\nArchiveBegin \"x\"\nColor 1 0 0\nArchiveEnd\nFrameBegin 1\nWorldBegin\nReadArchive \"x\"\n\
                LightSource \"l\" 1 \"from\" [1 2 3]\nObjectBegin 1\nMotionBegin [0 1]\nTranslate 1 0 0\nTranslate 2 0 0\nMotionEnd\nPatchMesh \"bicubic\" 4 \"nonperiodic\" 4 \"nonperiodic\" \"Pz\" [0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0]\nObjectEnd\nObjectInstance 1\n\
                PointsGeneralPolygons [1] [4] [0 1 2 3] \"P\" [0 0 0 1 0 0 1 1 0 0 1 0] \"st\" [0 0 1 0 1 1 0 1]\nWorldEnd\nFrameEnd\n";
    for length in 0..text.len() {
        read_text(&text[..length]);
        // And with a byte that fits nowhere.
        let mut bytes = text.as_bytes().to_vec();
        bytes[length] = b"\"[]-#\x80\xffx9"[length % 9];
        read_bytes(bytes, &Settings::default());
    }
}
