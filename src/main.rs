//! The command `anthill`: exit codes only.

#![forbid(unsafe_code)]

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    anthill::gpu::return_freed_blocks();
    ExitCode::from(cli::run(std::env::args_os(), &anthill::render, cli::Console::of_process()))
}
