//! Files: which role each has in a run of the program, and writing them whole or not at all.

mod budget;
mod claims;
mod handles;
mod map_counts;
mod special;
mod spelling;
mod text;
mod utf16;
mod whole;

pub use budget::OutputBudget;
pub(crate) use claims::number_of;
pub use claims::{FileClaims, FileRefused, FileRole};
pub(crate) use handles::{close_when_short, handles_max, keep_reserve, with_handles};
pub(crate) use special::{open_file, read_file, what_is_no_file};
pub(crate) use spelling::spellings;
pub(crate) use text::{read_text, to_text};
pub(crate) use utf16::{read_utf_16, utf_16_of};
pub(crate) use whole::FileSink;
pub use whole::{PendingFile, check_writable, write_bytes};
pub(crate) use whole::{beside, keep_mode, resolve, unnamed_beside, write_whole};
