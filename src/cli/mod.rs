//! The command line: parses what was typed, runs commands, and prints everything.

mod calibration;
mod commands;
mod console;
mod device_errors;
mod file_errors;
mod flags;
mod foreign;
mod help;
mod interrupt;
mod kept_pipelines;
mod runs;
#[cfg(test)]
mod tests;
mod watcher;

pub(crate) use commands::render::RenderFn;
pub(crate) use console::Console;

use anthill::outcome::exit_code::{INTERRUPTED, LIMIT_REACHED};
use clap::Parser;
use commands::{completions, devices, explore, man, predict, preview, profile, render, rib, scale, shader, texture};
use flags::{CliCommand, Flags};
use std::ffi::OsString;
use std::process::ExitCode;

/// Ends the program after `code` of [`run`]. Drivers may still be busy for a render that was interrupted.
pub(crate) fn exit(code: u8) -> ExitCode {
    if matches!(code, INTERRUPTED | LIMIT_REACHED) {
        interrupt::exit_at_once(code);
    }
    ExitCode::from(code)
}

/// Runs a command line, which begins with the program's name, and returns the exit code.
pub(crate) fn run(args: impl IntoIterator<Item = OsString>, render_scenes: &RenderFn<'_>, mut console: Console) -> u8 {
    interrupt::survive_file_limit();
    let args: Vec<OsString> = args.into_iter().collect();
    let flags = match Flags::try_parse_from(&args) {
        Ok(flags) => flags,
        Err(answer) => return help::print_answer(&answer, foreign::tip(&answer, &args).as_deref(), &mut console),
    };
    match &flags.command {
        CliCommand::Render(flags) => render::run(flags, render_scenes, &console),
        CliCommand::Profile(flags) => profile::run(flags, render_scenes, &mut console),
        CliCommand::Preview(flags) => preview::run(flags, &console),
        CliCommand::Devices(flags) => devices::run(flags, &mut console),
        CliCommand::Shader(command) => shader::run(command, &mut console),
        CliCommand::Rib(command) => rib::run(command, &mut console),
        CliCommand::Texture(command) => texture::run(command, &mut console),
        CliCommand::Scale(flags) => scale::run(flags, &mut console),
        CliCommand::Explore(flags) => explore::run(flags, &mut console),
        CliCommand::Predict(flags) => predict::run(flags, &mut console),
        CliCommand::Completions(flags) => completions::run(flags, &mut console),
        CliCommand::Man(flags) => man::run(flags, &mut console),
    }
}
