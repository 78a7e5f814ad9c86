//! The command line: parses what was typed, runs commands, and prints everything.

mod calibration;
mod console;
mod devices_command;
mod explore_command;
mod explore_flags;
mod flags;
mod interrupt;
mod predict_command;
mod render_command;
mod rib_command;
mod rib_flags;
mod scale_command;
mod shader_command;
#[cfg(test)]
mod tests;
mod texture_command;
mod texture_flags;
mod units;
mod watcher;

pub(crate) use console::Console;
pub(crate) use render_command::RenderFn;

use anthill::files::{FileClaims, FileRole, write_bytes};
use clap::{CommandFactory, Parser};
use flags::{CliCommand, CompletionsFlags, Flags, ManFlags, PreviewFlags};
use interrupt::INTERRUPTED;
use std::ffi::OsString;
use std::process::ExitCode;

/// Ends the program after `code` of [`run`]. Drivers may still be busy for a render that was interrupted.
pub(crate) fn exit(code: u8) -> ExitCode {
    if code == INTERRUPTED {
        interrupt::exit_at_once(code);
    }
    ExitCode::from(code)
}

/// Runs a command line, which begins with the program's name, and returns the exit code.
pub(crate) fn run(args: impl IntoIterator<Item = OsString>, render: &RenderFn<'_>, mut console: Console) -> u8 {
    let flags = match Flags::try_parse_from(args) {
        Ok(flags) => flags,
        Err(answer) => return print_answer(&answer, &mut console),
    };
    match &flags.command {
        CliCommand::Render(flags) => render_command::run(flags, render, &console),
        CliCommand::Preview(flags) => preview(flags, &console),
        CliCommand::Devices(flags) => devices_command::run(flags, &mut console),
        CliCommand::Shader(command) => shader_command::run(command, &mut console),
        CliCommand::Rib(command) => rib_command::run(command, &mut console),
        CliCommand::Texture(command) => texture_command::run(command, &mut console),
        CliCommand::Scale(flags) => scale_command::run(flags, &mut console),
        CliCommand::Explore(flags) => explore_command::run(flags, &mut console),
        CliCommand::Predict(flags) => predict_command::run(flags, &mut console),
        CliCommand::Completions(flags) => completions(flags, &mut console),
        CliCommand::Man(flags) => man(flags, &mut console),
    }
}

/// Prints help and version, which are results, to standard output, and usage errors to standard error.
fn print_answer(answer: &clap::Error, console: &mut Console) -> u8 {
    let text = fitted(&answer.render().to_string(), terminal_width());
    if answer.use_stderr() {
        console.err.block(text.trim_end());
    } else {
        console.print(&text);
    }
    u8::try_from(answer.exit_code()).unwrap_or(2)
}

/// The columns of the terminal, as the parser of flags finds them; as good as endless without a terminal.
fn terminal_width() -> usize {
    let of_terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let of_variable = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    of_terminal.or_else(of_variable).unwrap_or(usize::MAX)
}

/// Breaks the lines that the parser of flags does not break itself, such as those of usage, at blanks.
fn fitted(text: &str, width: usize) -> String {
    let mut result = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let mut column = 0;
        for word in line.split_inclusive(' ') {
            let is_too_far = column > indent && column + word.trim_end().chars().count() > width;
            if is_too_far {
                let kept = result.trim_end_matches(' ').len();
                result.truncate(kept);
                column = (indent + 4).min(width / 4);
                result.push('\n');
                result.extend(std::iter::repeat_n(' ', column));
            }
            result.push_str(word);
            column += word.chars().count();
        }
    }
    result
}

fn completions(flags: &CompletionsFlags, console: &mut Console) -> u8 {
    let mut script = Vec::new();
    clap_complete::generate(flags.shell, &mut Flags::command(), "anthill", &mut script);
    console.print(&String::from_utf8_lossy(&script));
    0
}

fn man(flags: &ManFlags, console: &mut Console) -> u8 {
    let Some(folder) = &flags.output else {
        let (_, page) = manual_page(Flags::command());
        console.print(&String::from_utf8_lossy(&page));
        return 0;
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
            return 2;
        }
        if let Err(error) = write_bytes(&path, &page) {
            console.err.error(&render_command::cannot_write(&path, &error));
            return 1;
        }
    }
    0
}

/// Adds the pages of a command's commands, and its own.
fn add_manual_pages(command: clap::Command, pages: &mut Vec<(String, Vec<u8>)>) {
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        add_manual_pages(inner.clone(), pages);
    }
    pages.push(manual_page(command));
}

/// The name of a command's manual page, and its text.
fn manual_page(command: clap::Command) -> (String, Vec<u8>) {
    let (page, mut text) = (clap_mangen::Man::new(command), Vec::new());
    page.render(&mut text).expect("writing to memory cannot fail");
    (page.get_filename(), text)
}

fn preview(flags: &PreviewFlags, console: &Console) -> u8 {
    let claims = FileClaims::default();
    for (path, role) in [(&flags.input, FileRole::Input), (&flags.output, FileRole::Picture)] {
        if let Err(refused) = claims.claim(path, role) {
            console.err.error(&refused.to_string());
            return 2;
        }
    }
    match anthill::film::preview(&flags.input, &flags.output, flags.gain) {
        Ok(()) => 0,
        Err(error) => {
            console.err.error(&error.to_string());
            1
        }
    }
}
