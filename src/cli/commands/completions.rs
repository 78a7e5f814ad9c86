//! `anthill completions`: prints a script that completes commands and flags in a shell.

use crate::cli::console::Console;
use crate::cli::flags::Flags;
use crate::cli::flags::completions::CompletionsFlags;
use anthill::outcome::exit_code::DONE;
use clap::CommandFactory;

/// Runs the command and returns the exit code.
pub(crate) fn run(flags: &CompletionsFlags, console: &mut Console) -> u8 {
    let mut script = Vec::new();
    clap_complete::generate(flags.shell, &mut Flags::command(), "anthill", &mut script);
    console.print(&String::from_utf8_lossy(&script));
    DONE
}
