//! The command line: what was typed to what is meant, and everything that is printed.

mod console;
mod devices;
mod flags;
mod interrupt;
mod predict;
mod progress;
mod render;
mod scale;
mod shader;
#[cfg(test)]
mod tests;
mod units;

pub(crate) use console::Console;
pub(crate) use render::Render;

use clap::Parser;
use flags::{Command, Flags, PreviewFlags};
use std::ffi::OsString;

/// Runs a command line (with the program's name first) and returns the exit code.
pub(crate) fn run(args: impl IntoIterator<Item = OsString>, render: &Render<'_>, mut console: Console) -> u8 {
    let flags = match Flags::try_parse_from(args) {
        Ok(flags) => flags,
        Err(answer) => return print_answer(&answer, &mut console),
    };
    match &flags.command {
        Command::Render(flags) => render::run(flags, render, &console),
        Command::Preview(flags) => preview(flags, &console),
        Command::Devices(flags) => devices::run(flags, &mut console),
        Command::Shader(command) => shader::run(command, &mut console),
        Command::Texture(_) => not_yet("texture", &console),
        Command::Scale(flags) => scale::run(flags, &mut console),
        Command::Predict(flags) => predict::run(flags, &mut console),
    }
}

/// Help and version were asked for and go to standard output; what is wrong goes to standard error.
fn print_answer(answer: &clap::Error, console: &mut Console) -> u8 {
    let text = answer.render().to_string();
    if answer.use_stderr() {
        console.err.line(text.trim_end());
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

fn not_yet(command: &str, console: &Console) -> u8 {
    console.err.error(&format!("`anthill {command}` is not supported yet"));
    2
}
