//! Flags of other renderers, and what they are called here.

use super::flags::Flags;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};
use std::ffi::OsString;

/// Flags of PRMan, Aqsis and Pixie that this program has by another name, or in another way.
const FLAGS: [(&str, &str); 18] = [
    ("-res", "--format W H"),
    ("-crop", "--crop X0 X1 Y0 Y1"),
    ("-progress", "--progress bar"),
    ("-Progress", "--progress percent"),
    ("-p", "-t N for a number of cores, or --progress bar"),
    ("-P", "-t N for a number of cores"),
    ("-f", "--frames 1,3-5"),
    ("-type", "-d TYPE"),
    ("-option", "--option TEXT"),
    ("-shaders", "--shaders PATH"),
    ("-textures", "--textures PATH"),
    ("-archives", "--archives PATH"),
    ("-displays", "--displays PATH"),
    ("-procedurals", "--procedurals PATH"),
    ("-statsfile", "--stats FILE.json"),
    ("-endofframe", "--stats FILE.json"),
    ("-recover", "--checkpoint FILE --resume"),
    ("-verbose", "-v"),
];

/// Returns the answer to a flag of another renderer, where the parser of flags refused one and the command has what
/// other renderers mean; with a line end in front.
pub(super) fn tip(answer: &clap::Error, args: &[OsString]) -> Option<String> {
    let program = Flags::command();
    let command = program.find_subcommand(args.get(1)?)?;
    let words: Vec<&str> = args.iter().filter_map(|word| word.to_str()).filter(|word| may_be(word, answer)).collect();
    let is_meant = |theirs: &str| words.iter().any(|word| is_flag(word, theirs));
    let (theirs, ours) = FLAGS.into_iter().find(|(theirs, ours)| is_meant(theirs) && has(command, ours))?;
    Some(format!("\n  tip: what other renderers call {theirs} is {ours}"))
}

/// Whether a word may be the one that the parser refused: it reads it as flags of one letter.
fn may_be(word: &str, answer: &clap::Error) -> bool {
    match (answer.kind(), answer.get(ContextKind::InvalidArg)) {
        (ErrorKind::ValueValidation, _) => true,
        (ErrorKind::UnknownArgument, Some(ContextValue::String(flag))) => {
            flag.strip_prefix('-').is_some_and(|letter| !letter.starts_with('-') && word.contains(letter))
        }
        _ => false,
    }
}

/// Whether a word is this flag, alone or with a value behind `:` or `=`.
fn is_flag(word: &str, flag: &str) -> bool {
    let rest = word.strip_prefix(flag);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '=']))
}

/// Whether a command has the flag that a text begins with.
fn has(command: &Command, text: &str) -> bool {
    let flag = text.split(' ').next().unwrap_or_default();
    command.get_arguments().any(|argument| match flag.strip_prefix("--") {
        Some(long) => argument.get_long() == Some(long),
        None => argument.get_short() == flag.chars().nth(1),
    })
}
