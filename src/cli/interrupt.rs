//! Ctrl-C: the first asks the render to stop and write what is finished, the second ends the program at once.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The exit code of a program that was interrupted.
const INTERRUPTED: i32 = 130;

/// Listens from now on: the flag becomes true at the first signal.
pub(super) fn listen() -> Arc<AtomicBool> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // The order matters: the shutdown looks at the flag before it is set. Where a handler cannot be had, the first signal ends the
        // program, as it does by default.
        let _ = flag::register_conditional_shutdown(signal, INTERRUPTED, interrupted.clone());
        let _ = flag::register(signal, interrupted.clone());
    }
    interrupted
}
