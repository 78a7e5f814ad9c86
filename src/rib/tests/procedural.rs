//! Procedurals: what they read, where, and what of it stays.

use super::*;
use crate::host_memory::HostMemory;

const BOUND: &str = "[-1 1 -1 1 -1 1]";

fn delayed(name: &str) -> String {
    format!("Procedural \"DelayedReadArchive\" [\"{name}\"] {BOUND}\n")
}

/// The world in which `body` is drawn, without faults, as a camera sees it that shows all of it.
fn overview(body: &str) -> World {
    clean(&format!("ScreenWindow -100 100 -100 100\nTranslate 0 0 50\nWorldBegin\n{body}\nWorldEnd\n"))
}

/// The kinds and places of what is drawn.
fn placements(world: &World) -> Vec<([f64; 3], [f32; 3])> {
    world.drawables.iter().map(|drawable| (placed(drawable, [0.0; 3]), drawable.attributes.color)).collect()
}

#[test]
fn a_delayed_archive_is_read_in_a_block_of_its_own() {
    let archive = "ArchiveBegin \"a\"\nColor 1 0 0 Translate 1 0 0 Sphere 1 -1 1 360\nTranslate 1 0 0\nSphere 1 -1 1 360\nArchiveEnd\n";
    let body = format!("{archive}{}Translate 0 5 0\n{}{}Disk 0 1 360", delayed("a"), delayed("a"), delayed("a"));
    let found = placements(&overview(&body));
    let (red, white) = ([1.0, 0.0, 0.0], [1.0; 3]);
    let three = |y: f64| [([1.0, y, 0.0], red), ([2.0, y, 0.0], red)];
    let wanted: Vec<_> = [three(0.0), three(5.0), three(5.0)].concat();
    assert_eq!(found[..6], wanted);
    assert_eq!(found[6], ([0.0, 5.0, 0.0], white));
    // From the second on, all share their geometry.
    let world = overview(&body);
    assert!(Arc::ptr_eq(&world.drawables[2].geometry, &world.drawables[4].geometry));
}

#[test]
fn the_same_requests_are_drawn_with_readarchive() {
    for condition in ["", "IfBegin \"1 == 1\"\nColor 0 1 0\nIfEnd\n"] {
        compare_with_read_archive(condition);
    }
}

fn compare_with_read_archive(condition: &str) {
    let archive = format!(
        "ArchiveBegin \"a\"\nDeclare \"k\" \"varying float\"\nBasis \"b-spline\" 1 \"bezier\" 3\nPatch \"bilinear\" \"P\" [0 0 0 1 0 0 0 1 0 1 1 0] \"k\" [1 2 3 4]\n{condition}Sides 1\nDisk 0 1 360\nCoordinateSystem \"here\"\nArchiveEnd\n"
    );
    let text = |read: &str| {
        let one = |at: u32| format!("Translate {at} 0 0\nScale -1 1 1\n{read}Color .{at} 0 0\n");
        format!("{archive}{}", (1..5).map(one).collect::<String>())
    };
    let described = |body: &str| {
        let world = overview(body);
        let parts = world.drawables.iter().map(|drawable| {
            let Drawable { geometry, world_from_object, attributes, detail, solid, seed: _ } = drawable;
            format!(
                "{:?} {:?} {world_from_object:?} {attributes:?} {detail:?} {solid:?}",
                geometry.shape, geometry.primvars
            )
        });
        parts.collect::<Vec<_>>()
    };
    let wanted = described(&text("AttributeBegin\nReadArchive \"a\"\nAttributeEnd\n"));
    assert_eq!(wanted.len(), 8);
    let place = |texts: &[String]| texts.iter().map(|text| text.replace(char::is_whitespace, "")).collect::<Vec<_>>();
    assert_eq!(place(&described(&text(&delayed("a")))), place(&wanted));
}

#[test]
fn what_lies_outside_of_the_picture_is_not_read() {
    let camera = "Format 64 64 1 Projection \"perspective\" \"fov\" 90\nClipping 1 100\nTranslate 0 0 10\nWorldBegin\n";
    let codes = |place: &str, bound: &str| {
        let body = format!("{place}\nProcedural \"DelayedReadArchive\" \"none.rib\" {bound}\nWorldEnd\n");
        read_text(&format!("{camera}{body}")).codes()
    };
    let read = vec![("nofile", 6)];
    assert_eq!(codes("", BOUND), read);
    // The picture shows -10 to 10 in the distance of 10.
    for (seen, unseen) in [
        ("Translate 10 0 0", "Translate 14 0 0"),
        ("Translate -10 0 0", "Translate -14 0 0"),
        ("Translate 0 9 0", "Translate 0 14 0"),
        ("Translate 0 -9 0", "Translate 0 -14 0"),
        ("Translate 0 0 -9", "Translate 0 0 -11"),
        ("Translate 0 0 90", "Translate 0 0 92"),
        ("Scale 20 20 20", "Translate 0 0 -200 Scale 20 20 20"),
    ] {
        assert_eq!(codes(seen, BOUND), read, "{seen}");
        assert_eq!(codes(unseen, BOUND), [], "{unseen}");
    }
    let far = "Translate 1000 0 0";
    assert_eq!(codes(far, "[-1e38 1e38 -1 1 -1 1]"), read);
    assert_eq!(codes(far, "[-inf inf -1 1 -1 1]"), read);
    assert_eq!(codes(&format!("{far} Attribute \"displacementbound\" \"sphere\" 1"), BOUND), read);
    // A level of detail that is not drawn.
    assert_eq!(codes("Detail [-1 1 -1 1 -1 1] DetailRange 0 0 4 4", BOUND), []);
    assert_eq!(codes("Detail [-1 1 -1 1 -1 1] DetailRange 4 4 1e38 1e38", BOUND), read);
    // It may come into the picture while the shutter is open.
    let moving = "MotionBegin [0 1] Translate 100 0 0 Translate -100 0 0 MotionEnd";
    assert_eq!(codes(moving, BOUND), read);
    assert_eq!(codes("MotionBegin [0 1] Translate 100 0 0 Translate 200 0 0 MotionEnd", BOUND), []);
}

#[test]
fn ten_thousand_of_an_archive_take_little_memory() {
    let polygon = "Polygon \"P\" [0 0 0 1 0 0 1 1 0]\n".repeat(2_000);
    let mut text = format!("ArchiveBegin \"a\"\n{polygon}ArchiveEnd\nWorldBegin\n");
    for at in 0..10_000 {
        text += &format!("TransformBegin\nTranslate 0 0 {at}\n{}TransformEnd\n", delayed("a"));
    }
    text += "WorldEnd\n";
    let settings = Settings { memory: HostMemory::new(32 << 20), ..Settings::default() };
    let outcome = read_bytes(text, &settings);
    assert_eq!(outcome.codes(), []);
    assert_eq!(outcome.world().drawables.len(), 10_000);
}

#[test]
fn procedurals_in_objects_and_in_archives() {
    let texts = format!(
        "ArchiveBegin \"a\"\nSphere 1 -1 1 360\nArchiveEnd\nArchiveBegin \"b\"\n{a}Translate 3 0 0\n{a}ArchiveEnd\n",
        a = delayed("a")
    );
    let object = format!("ObjectBegin 1\nTranslate 1 0 0\n{}Disk 0 1 360\nObjectEnd\n", delayed("b"));
    let world = overview(&format!("{texts}{object}ObjectInstance 1\nTranslate 0 1 0\nObjectInstance 1\n"));
    let places: Vec<_> = placements(&world).into_iter().map(|(place, _)| place).collect();
    let one = |y: f64| [[1.0, y, 0.0], [4.0, y, 0.0], [1.0, y, 0.0]];
    assert_eq!(places, [one(0.0), one(1.0)].concat());
    let world = overview(&format!("{texts}{0}{0}{0}", delayed("b")));
    assert_eq!(world.drawables.len(), 6);
}

#[test]
fn archives_that_read_themselves_end() {
    let text =
        format!("ArchiveBegin \"a\"\nSphere 1 -1 1 360\n{}ArchiveEnd\n{}{}", delayed("a"), delayed("a"), delayed("a"));
    let outcome = read_text(&format!("WorldBegin\n{text}WorldEnd"));
    assert!(outcome.messages[0].to_string().contains("reads itself"), "{}", outcome.messages[0]);
    assert_eq!((outcome.codes()[0], outcome.world().drawables.len()), (("limitcheck", 4), 2));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("a.rib");
    std::fs::write(&file, delayed(&file.display().to_string())).expect("a file");
    let outcome = read_text(&format!("WorldBegin\n{}WorldEnd", delayed(&file.display().to_string())));
    assert_eq!(outcome.codes(), [("limitcheck", 1)]);
}

#[test]
fn blocks_of_a_procedural_end_with_it() {
    let archive = "ArchiveBegin \"a\"\nAttributeEnd\nWorldEnd\nAttributeBegin\nColor 1 0 0\nArchiveEnd\n";
    let outcome = read_text(&format!(
        "WorldBegin\nAttributeBegin\n{archive}{}Disk 0 1 360\nAttributeEnd\nWorldEnd",
        delayed("a")
    ));
    assert_eq!(outcome.codes(), [("nesting", 4), ("nesting", 5), ("nesting", 9)]);
    assert_eq!(placements(outcome.world()), [([0.0; 3], [1.0; 3])]);
}

#[test]
fn procedurals_that_cannot_be_read() {
    assert_eq!(faults(&format!("Procedural \"DelayedReadArchive\" [\"a\" \"b\"] {BOUND}")), [("badarray", 2)]);
    assert_eq!(faults(&format!("Procedural \"Frobnicate\" [\"a\"] {BOUND}")), [("badtoken", 2)]);
    assert_eq!(faults("Procedural \"DelayedReadArchive\" [\"a\"] [1 -1 0 1 0 1]"), [("range", 2)]);
    assert_eq!(faults("Procedural \"DelayedReadArchive\" [\"a\"] [1 2 3]"), [("badarray", 2)]);
    assert_eq!(
        faults(&format!("MotionBegin [0 1]\n{}MotionEnd", delayed("none.rib"))),
        [("badmotion", 3), ("nofile", 3), ("nesting", 4)]
    );
    assert_eq!(read_text(&delayed("a")).codes(), [("illstate", 1)]);
}
