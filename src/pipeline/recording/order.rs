//! Whether the commands of a concurrent group are independent of each other.

use super::{Access, BufferRange, Command, Groups, Recording};

/// A range that a command uses, and whether it writes there.
struct Touch<'a> {
    command: &'a str,
    range: BufferRange,
    writes: bool,
}

impl Recording {
    /// The first two commands of a [`Recording::concurrent`] group that are not independent, in words: one writes what
    /// the other reads or writes.
    pub fn conflict(&self) -> Option<String> {
        let mut group: Option<Vec<Touch<'_>>> = None;
        for command in self.commands() {
            match (command, &mut group) {
                (Command::BeginConcurrent, _) => group = Some(Vec::new()),
                (Command::EndGroup, _) => group = None,
                (_, Some(earlier)) => {
                    let touches = touches(command);
                    if let Some(conflict) = touches.iter().find_map(|touch| conflict(earlier, touch)) {
                        return Some(conflict);
                    }
                    earlier.extend(touches);
                }
                (_, None) => {}
            }
        }
        None
    }
}

/// What a command touches.
fn touches(command: &Command) -> Vec<Touch<'_>> {
    let touch = |command, range: &BufferRange, writes| Touch { command, range: *range, writes };
    match command {
        Command::Dispatch(dispatch) => {
            let name = dispatch.kernel.label();
            let bound = dispatch.kernel.bindings().iter().zip(&dispatch.bindings);
            let mut all: Vec<Touch<'_>> =
                bound.map(|(binding, range)| touch(name, range, binding.access != Access::Read)).collect();
            if let Groups::Indirect(place) = &dispatch.groups {
                all.push(touch(name, place, false));
            }
            all
        }
        Command::Copy { from, to } => vec![touch("copy", from, false), touch("copy", to, true)],
        Command::Fill { to, .. } => vec![touch("fill", to, true)],
        Command::Write { to, .. } => vec![touch("write", to, true)],
        _ => Vec::new(),
    }
}

fn conflict(earlier: &[Touch<'_>], touch: &Touch<'_>) -> Option<String> {
    let clashes = |other: &&Touch<'_>| (other.writes || touch.writes) && other.range.overlaps(&touch.range);
    let other = earlier.iter().find(clashes)?;
    let verb = |touch: &Touch<'_>| if touch.writes { "writes" } else { "reads" };
    Some(format!(
        "in a concurrent group {} {} {} and {} {} {}; if their order does not matter, say so with `unordered`",
        other.command,
        verb(other),
        other.range,
        touch.command,
        verb(touch),
        touch.range
    ))
}
