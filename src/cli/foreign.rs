//! Flags of other renderers, and what they are called here.

use clap::error::ErrorKind;
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

/// Returns the answer to a flag of another renderer, where the parser of flags refused one; with a line end in front.
pub(super) fn tip(answer: &clap::Error, args: &[OsString]) -> Option<String> {
    let may_be_flag = matches!(answer.kind(), ErrorKind::UnknownArgument | ErrorKind::ValueValidation);
    let words = args.iter().filter(|_| may_be_flag).filter_map(|word| word.to_str());
    let name = |word: &str| word.split([':', '=']).next().unwrap_or_default().to_owned();
    let (theirs, ours) = words.map(name).find_map(|word| FLAGS.into_iter().find(|(theirs, _)| *theirs == word))?;
    Some(format!("\n  tip: what other renderers call {theirs} is {ours}"))
}
