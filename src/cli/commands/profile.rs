//! `anthill profile`: renders as `anthill render` does, with each kernel timed, and prints where the time went.

use crate::cli::commands::render::{self, Profiling, RenderFn, Rendered};
use crate::cli::console::Console;
use crate::cli::file_errors::cannot_write;
use crate::cli::flags::profile::ProfileFlags;
use anthill::files::write_bytes;
use anthill::line_profile::LineProfile;
use anthill::outcome::exit_code::INCOMPLETE;
use anthill::profile::{Profile, page, text};
use std::sync::Arc;

/// Runs the command and returns the exit code.
pub(crate) fn run(flags: &ProfileFlags, render: &RenderFn<'_>, console: &mut Console) -> u8 {
    let lines = Arc::new(LineProfile::default());
    let profiling = Profiling { page: flags.page.as_deref(), lines: (!flags.no_lines).then_some(&lines) };
    let Rendered { exit_code, stats, files } = render::draw(&flags.render, Some(profiling), render, console);
    let Some(stats) = stats else { return exit_code };
    let profile = Profile::new(&stats, &lines.rows());
    console.print(&if flags.json { profile.to_json() } else { text(&profile) });
    let Some(path) = &flags.page else { return exit_code };
    let write = |path: &std::path::Path| write_bytes(path, page(&profile).as_bytes());
    match render::write_unwanted(Some(path), &files, &write) {
        Ok(()) => exit_code,
        Err(error) => {
            console.err.error(&cannot_write(path, &error));
            exit_code.max(INCOMPLETE)
        }
    }
}
