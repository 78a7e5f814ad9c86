//! Input that wants to hurt the program or the terminal: it ends soon, and every message is short and printable.

mod mutate;
mod points;
#[cfg(target_os = "linux")]
mod terminal;

use anthill::diagnostic::Reporter;
use anthill::host_memory::HostMemory;
use anthill::rib::{Input, Limits, Settings, read};
use anthill::scene::World;
use mutate::{NAMES, Random, corpus, mutated};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Mutations of an ordinary run; `ANTHILL_MUTATIONS=COUNT` asks for another number.
const MUTATION_COUNT: usize = 4000;

/// Nothing of the size that is made here takes longer to read, even on a busy machine.
const READ_MAX: Duration = Duration::from_secs(20);

/// The longest message in bytes.
const MESSAGE_BYTES_MAX: usize = 4096;

fn mutation_count() -> usize {
    std::env::var("ANTHILL_MUTATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(MUTATION_COUNT)
}

/// Whether a terminal shows this text and does nothing else.
fn is_printable(text: &[u8]) -> bool {
    text.iter().all(|&byte| byte >= 0x20 && byte != 0x7f || byte == b'\n' || byte == b'\t')
}

/// Reads a scene; all messages must be printable and short.
fn check_reading(text: &[u8]) {
    check_edits(text, &[]);
}

/// Reads a scene with fragments of edits; all messages must be printable and short.
fn check_edits(text: &[u8], edits: &[&[u8]]) {
    let begin = Instant::now();
    let copy = [edits.concat(), text.to_vec()].concat();
    let reporter = Reporter::new(move |diagnostic| {
        let message = diagnostic.to_string();
        let is_one = message.lines().skip(1).all(|line| line.starts_with(' '));
        let is_good = message.len() <= MESSAGE_BYTES_MAX && is_printable(message.as_bytes()) && is_one;
        assert!(is_good, "{}\nof {}", message.escape_debug(), copy.escape_ascii());
    });
    let limits = Limits { archive_reads: 64, blocks: 256 };
    let edits = edits.iter().map(|text| Input::Memory { name: "e.rib".into(), bytes: text.to_vec() }).collect();
    let settings = Settings { limits, memory: HostMemory::new(1 << 24), edits, ..Settings::default() };
    let input = Input::Memory { name: "a.rib".into(), bytes: text.to_vec() };
    read(&input, &settings, &reporter, &mut |world: World| {
        for drawable in &world.drawables {
            assert!(drawable.world_from_object.keyframes().iter().all(|(_, matrix)| matrix.is_finite()));
            assert!(drawable.attributes.lights.iter().all(|light| (light.0 as usize) < world.lights.len()));
        }
        ControlFlow::Continue(())
    });
    assert!(begin.elapsed() < READ_MAX, "{:?} for {}", begin.elapsed(), text.escape_ascii());
}

#[test]
fn mutated_scenes_are_read_to_their_end() {
    let (corpus, mut random) = (corpus(), Random(1));
    assert!(corpus.len() > 20);
    for _ in 0..mutation_count() {
        check_reading(&mutated(&corpus, &mut random));
    }
}

/// The scenes that mutated edits are made of, and edits of all kinds.
const EDITED: &str = "LightSource \"pointlight\" \"a\" WorldBegin Attribute \"identifier\" \"string name\" \"b\" Sphere 1 -1 1 360 \
    Attribute \"visibility\" \"int camera\" 0 Cone 1 1 360 Attribute \"identifier\" \"string name\" \"c\" WorldEnd";
const EDITS: &str = "EditBegin \"option\" Rotate 5 0 1 0 Format 9 9 1 Exposure 2 2 Display \"x\" \"exr\" \"N\" EditEnd\n\
    EditBegin \"attribute\" \"string scopename\" [\"b\"] Color 1 0 0 Surface \"*\" \"Kd\" 1 Illuminate \"a\" 0 Sides 1 EditEnd\n\
    EditBegin \"attribute\" \"string editlights\" [\"a\"] Translate 1 2 3 LightSource \"*\" \"a\" \"intensity\" 2 EditEnd\n\
    EditBegin \"attribute\" LightSource \"pointlight\" \"new\" EditEnd EditBegin \"attribute\" \"string editlights\" \"new\" \
    LightSource \"null\" \"new\" EditEnd EditBegin \"instance\" \"string scopename\" [\"b\"] MotionBegin [0 1] Scale 1 1 1 \
    Scale 2 2 2 MotionEnd Disk 1 1 360 Attribute \"visibility\" \"int camera\" 1 EditEnd EditBegin \"file\" \"name\" \"x\" EditEnd\n";

#[test]
fn mutated_edits_are_read_to_their_end() {
    let (corpus, mut random) = (vec![EDITS.as_bytes().to_vec()], Random(7));
    for _ in 0..mutation_count() / 4 {
        let (first, second) = (mutated(&corpus, &mut random), mutated(&corpus, &mut random));
        check_edits(EDITED.as_bytes(), &[&first, &second]);
    }
}

/// Every name in place of every string.
#[test]
fn no_string_reaches_a_message_as_it_is() {
    for text in corpus() {
        let text = String::from_utf8(text).expect("a text");
        let parts: Vec<&str> = text.split('"').collect();
        for place in (1..parts.len()).step_by(2) {
            let name = NAMES[place / 2 % NAMES.len()];
            let (before, after) = (parts[..place].join("\""), parts[place + 1..].join("\""));
            check_reading(&[before.as_bytes(), b"\"", name, b"\"", after.as_bytes()].concat());
        }
    }
}
