//! The command `anthill`: exit codes only.

#![forbid(unsafe_code)]

mod cli;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The exit code of a program that was interrupted.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let cancelled = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // The first signal sets the flag, which a render sees; one that comes when it is set ends the program. Without handlers the first
        // one ends it.
        let _ = flag::register_conditional_shutdown(signal, INTERRUPTED.into(), cancelled.clone());
        let _ = flag::register(signal, cancelled.clone());
    }
    ExitCode::from(cli::run(std::env::args_os(), &anthill::render, cli::Console::of_process(cancelled)))
}
