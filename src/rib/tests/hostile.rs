//! Input that wants to hurt: it must end soon, with a message, and without taking memory for what is not there.

use super::*;
use crate::host_memory::{Charge, ChargeKind, HostMemory};
use crate::rib::{Limits, WorldConsumer};
use crate::scene::SolidOperation;
use std::io::Write;

fn limited(text: &str, limits: Limits) -> ReadOutcome {
    read_bytes(text, &Settings { limits, ..Settings::default() })
}

/// Reads with this many bytes of host memory.
fn bounded(text: impl Into<Vec<u8>>, bytes: u64) -> ReadOutcome {
    read_bytes(text, &Settings { memory: HostMemory::new(bytes), ..Settings::default() })
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

/// Each looks for the tree that it is in, which is as deep as they are many.
#[test]
fn thousands_of_nested_solids_are_read_at_once() {
    let count = 30_000;
    let primitive = "SolidBegin \"primitive\" Sphere 1 -1 1 360 SolidEnd\n";
    let text = format!(
        "WorldBegin\n{}{}{}WorldEnd\n",
        "SolidBegin \"union\"\n".repeat(count),
        primitive.repeat(300),
        "SolidEnd\n".repeat(count)
    );
    let outcome = bounded(text, 1 << 30);
    let primitives = outcome.world().solids.iter().filter(|solid| solid.operation == SolidOperation::Primitive);
    assert_eq!(primitives.count(), 256, "all that a tree may have");
}

#[test]
fn a_world_beyond_memory_is_cut_and_reported() {
    let points = format!("Points \"P\" [{}]\nColor 1 0 0\n", "0 ".repeat(3000));
    let text = format!("WorldBegin\n{}WorldEnd\nWorldBegin\nSphere 1 -1 1 360\nWorldEnd", points.repeat(100));
    // Two lines each; 1000 points need about 96 KB, and 1 MiB is left beside the text.
    let length = text.len() as u64;
    let outcome = bounded(text, length + (1 << 20) + 1);
    assert!(outcome.summary.incomplete);
    assert_eq!((outcome.messages[0].code, outcome.messages.len()), ("limitcheck", 1), "{:?}", outcome.messages);
    let drawn = outcome.worlds[0].drawables.len();
    assert!((5..20).contains(&drawn), "{drawn}");
    // The message names the first request that does not fit, and what uses the memory.
    let message = outcome.messages[0].to_string();
    assert!(message.starts_with(&format!("t.rib:{}:1: error: host memory is used up: ", 2 + 2 * drawn)), "{message}");
    assert!(
        message.contains(" of text, ") && message.contains(" of geometry are in use out of 1.6 MiB, and another"),
        "{message}"
    );
    assert_eq!(outcome.worlds[1].drawables.len(), 1);
}

#[test]
fn state_that_instances_and_motion_multiply_counts_as_memory() {
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
        let outcome = bounded(format!("WorldBegin\n{object}{}WorldEnd", "ObjectInstance 1\n".repeat(1000)), 1 << 20);
        assert_eq!((outcome.messages.len(), outcome.messages[0].code), (1, "limitcheck"));
        assert!((20..500).contains(&outcome.world().drawables.len()), "{}", outcome.world().drawables.len());
    }
}

#[test]
fn motion_blocks_and_objects_that_archives_fill_count_as_memory() {
    let points = format!("ArchiveBegin \"p\"\n{}ArchiveEnd\n", "Points \"P\" [0 0 0]\n".repeat(100));
    let colors = format!("ArchiveBegin \"p\"\n{}ArchiveEnd\n", "Color 1 0 0\n".repeat(1000));
    let reads = "ReadArchive \"p\"\n".repeat(1000);
    for text in [
        format!("{points}WorldBegin\nMotionBegin [0 1]\n{reads}MotionEnd\nWorldEnd"),
        format!("{points}ObjectBegin 1\n{reads}ObjectEnd\nWorldBegin\nWorldEnd"),
        format!("{colors}ObjectBegin 1\n{reads}ObjectEnd\nWorldBegin\nWorldEnd"),
    ] {
        let outcome = bounded(text, 1 << 20);
        assert_eq!((outcome.codes().len(), outcome.codes()[0].0), (1, "limitcheck"), "{:?}", outcome.messages);
    }
}

/// Keeps the worlds that it takes, and needs a film of one size.
struct HoldingConsumer {
    film_bytes: u64,
    held: Vec<(World, Arc<Charge>)>,
}

impl WorldConsumer for HoldingConsumer {
    fn film_bytes(&self, _: &crate::scene::Options, _: &crate::scene::Camera) -> u64 {
        self.film_bytes
    }

    fn take(&mut self, world: World, charge: Arc<Charge>) -> ControlFlow<()> {
        self.held.push((world, charge));
        ControlFlow::Continue(())
    }
}

#[test]
fn geometry_leaves_room_for_the_film_and_a_film_that_does_not_fit_is_reported() {
    let text = format!("WorldBegin\n{}WorldEnd\n", "Points \"P\" [0 0 0]\nColor 1 0 0\n".repeat(500));
    let read_with_film = |film_bytes| {
        let settings = Settings { memory: HostMemory::new(1 << 20), ..Settings::default() };
        let reporter = Reporter::silent();
        let mut consumer = HoldingConsumer { film_bytes, held: Vec::new() };
        let input = Input::Memory { name: "t.rib".to_owned(), bytes: text.clone().into() };
        read(&input, &settings, &reporter, &mut consumer);
        let (world, charge) = consumer.held.remove(0);
        let messages = reporter.all().into_iter().map(|(message, _)| message.to_string()).collect::<Vec<_>>();
        (world.drawables.len(), charge.refused(), messages)
    };
    assert_eq!(read_with_film(1 << 10), (500, None, vec![]));
    let (drawables, refused, _) = read_with_film(900 << 10);
    assert!((10..200).contains(&drawables) && refused == Some(ChargeKind::Geometry), "{drawables}");
    let (drawables, refused, messages) = read_with_film(2 << 20);
    assert_eq!((drawables, refused, messages.len()), (0, Some(ChargeKind::Film), 1));
    let wanted = "t.rib:1:1: error: host memory is used up: ";
    assert!(
        messages[0].starts_with(wanted) && messages[0].contains("2.0 MiB for a film of 640 by 480 pixels"),
        "{messages:?}"
    );
}

#[test]
fn a_text_beyond_memory_is_cut_and_the_part_before_is_drawn() {
    let text = format!("WorldBegin\n{}WorldEnd\n", "Sphere 1 -1 1 360\n".repeat(10_000));
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(text.as_bytes()).expect("writing to memory");
    let packed = encoder.finish().expect("writing to memory");
    // 32 KiB of text: line 1821 is cut after 15 bytes.
    for (bytes, length) in [(text.into_bytes(), "takes 175.8 KiB"), (packed, "is too long")] {
        let outcome = bounded(bytes, 64 << 10);
        assert_eq!(outcome.codes()[1..], [("limitcheck", 1821)], "{:?}", outcome.messages);
        let message = outcome.messages[1].to_string();
        assert!(message.starts_with(&format!("t.rib:1821:16: error: the text {length}: ")), "{message}");
        assert!((10..1000).contains(&outcome.world().drawables.len()));
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
    let outcome = read_text(&format!("WorldBegin\nSphere 1 -1 1 360{unknown}\nWorldEnd"));
    assert_eq!((outcome.codes(), outcome.summary.errors), (vec![("badtoken", 3)], 200_000));
    let many: String = (0..100_000).map(|i| format!("\"uniform float x{i}\" 1\n")).collect();
    let outcome = read_text(&format!("WorldBegin\nSphere 1 -1 1 360 {many}\nWorldEnd"));
    assert_eq!(outcome.codes(), [("limitcheck", 2)]);
    assert_eq!(outcome.world().drawables[0].geometry.primvars.len(), 1024);
}

#[test]
fn many_worlds_with_many_objects_and_spaces() {
    let each = |i: usize| format!("ObjectBegin {i}\nObjectEnd\nCoordinateSystem \"c{i}\"\nAreaLightSource \"a\" {i}\n");
    let before = String::from("Attribute \"light\" \"nsamples\" [1]\n") + &(0..1000).map(each).collect::<String>();
    let worlds = "WorldBegin\nObjectBegin 1\nObjectEnd\nWorldEnd\n".repeat(300);
    let outcome = read_text(&(before + &worlds));
    assert_eq!((outcome.codes(), outcome.worlds.len()), (vec![], 300));
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
