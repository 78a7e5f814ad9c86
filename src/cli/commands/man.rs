//! `anthill man`: prints the manual page, or writes those of all commands.

use crate::cli::console::Console;
use crate::cli::file_errors::cannot_write;
use crate::cli::flags::Flags;
use crate::cli::flags::man::ManFlags;
use anthill::files::{FileClaims, FileRole, write_bytes};
use anthill::outcome::exit_code::{DONE, INCOMPLETE, WRONG_USAGE};
use clap::CommandFactory;

/// Runs the command and returns the exit code.
pub(crate) fn run(flags: &ManFlags, console: &mut Console) -> u8 {
    let Some(folder) = &flags.output else {
        let (_, page) = manual_page(Flags::command());
        console.print(&String::from_utf8_lossy(&page));
        return DONE;
    };
    let mut command = Flags::command().disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    add_manual_pages(command, &mut pages);
    let claims = FileClaims::default();
    for (name, page) in pages {
        let path = folder.join(name);
        if let Err(refused) = claims.claim(&path, FileRole::ManualPage) {
            console.err.error(&refused.to_string());
            return WRONG_USAGE;
        }
        if let Err(error) = write_bytes(&path, &page) {
            console.err.error(&cannot_write(&path, &error));
            return INCOMPLETE;
        }
    }
    DONE
}

/// Adds the pages of a command's commands, and its own.
fn add_manual_pages(command: clap::Command, pages: &mut Vec<(String, Vec<u8>)>) {
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        add_manual_pages(inner.clone(), pages);
    }
    pages.push(manual_page(command));
}

/// Returns the name of a command's manual page, and its text.
fn manual_page(command: clap::Command) -> (String, Vec<u8>) {
    let (page, mut text) = (clap_mangen::Man::new(command), Vec::new());
    page.render(&mut text).expect("writing to memory cannot fail");
    (page.get_filename(), text)
}
