//! Ctrl-C: the first one asks the render to stop and to write finished pixels, the second one exits at once.

use anthill::outcome::exit_code::INTERRUPTED;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::{flag, low_level};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Starts to listen for SIGINT and SIGTERM, and for SIGHUP, which a closed terminal sends, unless the
/// program was started with it ignored (as by `nohup`). The returned flag becomes true at the first signal.
pub(super) fn listen() -> Arc<AtomicBool> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let hangup = is_ignored(SIGHUP) == Some(false);
    for signal in hangup.then_some(SIGHUP).into_iter().chain([SIGINT, SIGTERM]) {
        // The order matters: the shutdown checks the flag before it is set. If a handler cannot be installed, the first
        // signal ends the program, as it does by default.
        let _ = flag::register_conditional_shutdown(signal, INTERRUPTED.into(), interrupted.clone());
        let _ = flag::register(signal, interrupted.clone());
    }
    interrupted
}

/// Lets writing fail where a file becomes larger than the system allows (`ulimit -f`), with a message that names the
/// file. By default the signal ends the program without one.
pub(super) fn survive_file_limit() {
    // Without a handler it is as it was.
    let _ = flag::register(SIGXFSZ, Arc::default());
}

/// Ends the program without waiting for threads that the driver keeps busy, such as those that compile kernels.
pub(super) fn exit_at_once(code: u8) -> ! {
    low_level::exit(code.into())
}

/// Whether this process ignores a signal; `None` where the system does not say.
fn is_ignored(signal: i32) -> Option<bool> {
    is_set(&std::fs::read_to_string("/proc/self/status").ok()?, signal)
}

/// Whether a signal is in the mask of ignored signals of a process's status.
fn is_set(status: &str, signal: i32) -> Option<bool> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    Some(u64::from_str_radix(mask.trim(), 16).ok()? >> (signal - 1) & 1 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_status() {
        let status = "SigBlk:\t0000000000000001\nSigIgn:\t0000000000001001\n";
        assert_eq!([SIGHUP, SIGINT, SIGTERM].map(|signal| is_set(status, signal)), [true, false, false].map(Some));
        assert_eq!(is_set("Name:\tanthill\n", SIGHUP), None);
    }
}
