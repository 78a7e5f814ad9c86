//! The command line: parses what was typed, runs commands, and prints everything.

mod console;
mod devices_command;
mod flags;
mod interrupt;
mod predict_command;
mod render_command;
mod scale_command;
mod shader_command;
#[cfg(test)]
mod tests;
mod units;
mod watcher;

pub(crate) use console::Console;
pub(crate) use render_command::RenderFn;

use clap::Parser;
use flags::{CliCommand, Flags, PreviewFlags};
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
        CliCommand::Texture(_) => not_supported_yet("texture", &console),
        CliCommand::Scale(flags) => scale_command::run(flags, &mut console),
        CliCommand::Predict(flags) => predict_command::run(flags, &mut console),
    }
}

/// Prints help and version, which are results, to standard output, and usage errors to standard error.
fn print_answer(answer: &clap::Error, console: &mut Console) -> u8 {
    let text = answer.render().to_string();
    if answer.use_stderr() {
        console.err.block(text.trim_end());
    } else {
        console.print(&text);
    }
    u8::try_from(answer.exit_code()).unwrap_or(2)
}

fn preview(flags: &PreviewFlags, console: &Console) -> u8 {
    match anthill::film::preview(&flags.input, &flags.output, flags.gain) {
        Ok(()) => 0,
        Err(error) => {
            console.err.error(&error.to_string());
            1
        }
    }
}

fn not_supported_yet(command: &str, console: &Console) -> u8 {
    console.err.error(&format!("`anthill {command}` is not supported yet"));
    2
}
