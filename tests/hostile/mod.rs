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
    let begin = Instant::now();
    let copy = text.to_vec();
    let reporter = Reporter::new(move |diagnostic| {
        let message = diagnostic.to_string();
        let is_one = message.lines().skip(1).all(|line| line.starts_with(' '));
        let is_good = message.len() <= MESSAGE_BYTES_MAX && is_printable(message.as_bytes()) && is_one;
        assert!(is_good, "{}\nof {}", message.escape_debug(), copy.escape_ascii());
    });
    let limits = Limits { archive_reads: 64, blocks: 256 };
    let settings = Settings { limits, memory: HostMemory::new(1 << 24), ..Settings::default() };
    let input = Input::Memory { name: "a.rib".into(), bytes: text.to_vec() };
    read(&input, &settings, &reporter, &mut |world: World| {
        for drawable in &world.drawables {
            assert!(drawable.world_from_object.keyframes().iter().all(|(_, matrix)| matrix.is_finite()));
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
