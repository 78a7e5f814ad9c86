//! `anthill preview`: converts an OpenEXR picture to an 8-bit PNG.

use crate::cli::console::Console;
use crate::cli::flags::preview::PreviewFlags;
use anthill::files::{FileClaims, FileRole};
use anthill::outcome::exit_code::{DONE, INCOMPLETE, WRONG_USAGE};

/// Runs the command and returns the exit code.
pub(crate) fn run(flags: &PreviewFlags, console: &Console) -> u8 {
    let claims = FileClaims::default();
    for (path, role) in [(&flags.input, FileRole::Input), (&flags.output, FileRole::Picture)] {
        if let Err(refused) = claims.claim(path, role) {
            console.err.error(&refused.to_string());
            return WRONG_USAGE;
        }
    }
    match anthill::film::preview(&flags.input, &flags.output, flags.gain) {
        Ok(()) => DONE,
        Err(error) => {
            console.err.error(&error.to_string());
            INCOMPLETE
        }
    }
}
