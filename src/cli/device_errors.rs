//! Messages about devices that cannot be used.

use crate::cli::console::Console;
use anthill::gpu::GpuError;
use anthill::outcome::exit_code::{NO_USABLE_DEVICE, WRONG_USAGE};

/// Prints an error and what to do about it.
pub(crate) fn report_error(error: &GpuError, console: &Console) {
    console.err.error(&error.to_string());
    if !error.hint().is_empty() {
        console.err.line(&format!("  help: {}", error.hint()));
    }
}

/// Prints why devices cannot be used, and returns the exit code.
pub(crate) fn refuse(error: &GpuError, console: &Console) -> u8 {
    report_error(error, console);
    if matches!(error, GpuError::UnknownDevice { .. }) { WRONG_USAGE } else { NO_USABLE_DEVICE }
}
