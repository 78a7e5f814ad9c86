//! A recording as text: one command a line, indented by its scopes.

use super::{Command, Dispatch, Groups, Items, Kernel, PushKind, PushMember, Recording};
use std::fmt;

impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.label())?;
        let mut depth = 1;
        for command in self.commands() {
            if matches!(command, Command::EndGroup | Command::EndLabel | Command::EndStage) {
                depth -= 1;
                continue;
            }
            write!(f, "{:1$}", "", 2 * depth)?;
            match command {
                Command::Dispatch(dispatch) => writeln!(f, "{dispatch}")?,
                Command::Copy { from, to } => writeln!(f, "copy {from} -> {to}")?,
                Command::Fill { to, value } => writeln!(f, "fill {to} = {value:#x}")?,
                Command::Write { to, data } => writeln!(f, "write {to} ({} bytes)", data.len())?,
                Command::BeginConcurrent => writeln!(f, "concurrent")?,
                Command::BeginUnordered => writeln!(f, "unordered")?,
                Command::BeginLabel(label) => writeln!(f, "label {label}")?,
                Command::BeginStage(name) => writeln!(f, "stage {name}")?,
                Command::EndGroup | Command::EndLabel | Command::EndStage => {}
            }
            if matches!(
                command,
                Command::BeginConcurrent | Command::BeginUnordered | Command::BeginLabel(_) | Command::BeginStage(_)
            ) {
                depth += 1;
            }
        }
        Ok(())
    }
}

impl Dispatch {
    /// What is run, and over how much: `shade glaze: 12,000 vertices`.
    pub fn title(&self) -> String {
        title(self.kernel.label(), self.items)
    }
}

/// Returns what is done, and over how much.
pub fn title(name: &str, items: Option<Items>) -> String {
    match items {
        Some(Items { count, unit }) => format!("{name}: {} {unit}", with_commas(count)),
        None => name.to_string(),
    }
}

/// Returns a count with a comma before each three digits: `12,000`.
pub fn with_commas(count: u64) -> String {
    let digits = count.to_string();
    let comma = |at: usize| if at > 0 && (digits.len() - at).is_multiple_of(3) { "," } else { "" };
    digits.char_indices().flat_map(|(at, digit)| [comma(at).to_string(), digit.to_string()]).collect()
}

impl fmt::Display for Dispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "dispatch {} ", self.kernel.label())?;
        match self.groups {
            Groups::Direct([x, 1, 1]) => write!(f, "{x}")?,
            Groups::Direct([x, y, z]) => write!(f, "{x}x{y}x{z}")?,
            Groups::Indirect(place) => write!(f, "as {place}")?,
        }
        for (name, value) in self.kernel.constants().iter().zip(&self.constants) {
            write!(f, " {name}:{value:#x}")?;
        }
        for (binding, range) in self.kernel.bindings().iter().zip(&self.bindings) {
            write!(f, " {}={range}", binding.name)?;
        }
        write_push(f, &self.kernel, &self.push)
    }
}

fn write_push(f: &mut fmt::Formatter<'_>, kernel: &Kernel, push: &[u8]) -> fmt::Result {
    if push.is_empty() {
        return Ok(());
    }
    let members = kernel.push();
    if members.is_empty() {
        return write!(f, " push={}", hexadecimal(push));
    }
    for (index, member) in members.iter().enumerate() {
        let end = members.get(index + 1).map_or(push.len(), |next| next.offset as usize);
        let bytes = push.get(member.offset as usize..end).unwrap_or(&[]);
        write!(f, " {}:{}", member.name, push_value(member, bytes))?;
    }
    Ok(())
}

/// The value of a push constant as text.
fn push_value(member: &PushMember, bytes: &[u8]) -> String {
    let word = bytes.first_chunk::<4>().copied();
    let double = bytes.first_chunk::<8>().copied();
    let text = match member.kind {
        PushKind::U32 => word.map(|b| u32::from_le_bytes(b).to_string()),
        PushKind::I32 => word.map(|b| i32::from_le_bytes(b).to_string()),
        PushKind::F32 => word.map(|b| f32::from_le_bytes(b).to_string()),
        PushKind::U64 => double.map(|b| u64::from_le_bytes(b).to_string()),
        PushKind::I64 => double.map(|b| i64::from_le_bytes(b).to_string()),
        PushKind::Other => None,
    };
    text.unwrap_or_else(|| hexadecimal(bytes))
}

/// Words in the order of memory, lowest first.
fn hexadecimal(bytes: &[u8]) -> String {
    let word = |b: &[u8]| format!("{:08x}", b.iter().rev().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)));
    bytes.chunks(4).map(word).collect::<Vec<_>>().join(",")
}
