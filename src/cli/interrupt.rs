//! Ctrl-C: the first one asks the render to stop and to write finished pixels, the second one exits at once.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The exit code of a program that was interrupted.
const INTERRUPTED: i32 = 130;

/// Starts to listen for SIGINT and SIGTERM. The returned flag becomes true at the first signal.
pub(super) fn listen() -> Arc<AtomicBool> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // The order matters: the shutdown checks the flag before it is set. If a handler cannot be installed, the first
        // signal ends the program, as it does by default.
        let _ = flag::register_conditional_shutdown(signal, INTERRUPTED, interrupted.clone());
        let _ = flag::register(signal, interrupted.clone());
    }
    interrupted
}
