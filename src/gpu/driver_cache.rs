//! Mesa's cache of compiled kernels on a full disk. Mesa maps the cache's index into memory before the disk has room
//! for it, and writing to it then ends the program (SIGBUS) without a message.

use crate::diagnostic::{Diagnostic, Reporter, Severity, SourceLocation};
use crate::gpu::threads::is_single_threaded;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Mesa's variable that switches the cache off.
const SWITCH: &str = "MESA_SHADER_CACHE_DISABLE";

/// Mesa's variable for the folder of the cache.
const FOLDER: &str = "MESA_SHADER_CACHE_DIR";

/// The least free space for the cache: its index takes 1.3 MB, and others write to the disk too.
const FREE_BYTES_MIN: u64 = 32 << 20;

/// Why the cache is switched off, if it is.
static SWITCHED_OFF: OnceLock<String> = OnceLock::new();

/// Switches Mesa's cache off if its disk is full. This applies to every device that the process opens afterwards, and
/// must be called before the program starts threads.
pub fn avoid_full_driver_cache() {
    let Some(folder) = folder(|name| env::var_os(name)) else { return };
    let Some(message) = free_bytes(&folder).and_then(|free| verdict(&folder, free)) else { return };
    if env::var_os(SWITCH).is_some() || !is_single_threaded() {
        return;
    }
    // SAFETY: no other thread can read the environment meanwhile: /proc/self/task, read just above, listed one thread,
    // and only this thread could have started another since.
    unsafe { env::set_var(SWITCH, "true") };
    let _ = SWITCHED_OFF.set(message);
}

/// Reports that the cache is switched off, if it is.
pub(super) fn report(reporter: &Reporter) {
    if let Some(message) = SWITCHED_OFF.get() {
        let warning = Diagnostic::new(Severity::Warning, "system", SourceLocation::default(), message.as_str());
        reporter.report(warning.hint(format!("free some space, or set {FOLDER} to a folder on another disk")));
    }
}

/// Returns the folder in which Mesa puts its cache.
fn folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    folder(FOLDER).or_else(|| folder("XDG_CACHE_HOME")).or_else(|| Some(folder("HOME")?.join(".cache")))
}

/// Returns the free space on the disk of a folder, which need not exist yet.
#[cfg(target_os = "linux")]
fn free_bytes(folder: &Path) -> Option<u64> {
    let found = folder.ancestors().find_map(|folder| rustix::fs::statvfs(folder).ok())?;
    // Some file systems do not know.
    (found.f_blocks > 0).then(|| found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(not(target_os = "linux"))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}

/// Returns the message if the cache must be switched off.
fn verdict(folder: &Path, free_bytes: u64) -> Option<String> {
    (free_bytes < FREE_BYTES_MIN).then(|| {
        format!(
            "the disk of the drivers' shader cache (\"{}\") has only {} KiB left, on which Mesa's drivers crash: their \
             cache is switched off, and starting takes longer",
            folder.display(),
            free_bytes >> 10
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_switched_off_on_full_disks_only() {
        assert_eq!(verdict(Path::new("/c"), FREE_BYTES_MIN), None);
        let message = verdict(Path::new("/c"), 65536).expect("full");
        assert!(message.contains("\"/c\"") && message.contains("only 64 KiB left"), "{message}");
        let missing = env::temp_dir().join("anthill").join("none");
        assert!(free_bytes(&missing).is_none_or(|free| free > 0));
    }

    #[test]
    fn the_folder_is_the_one_that_mesa_chooses() {
        let chosen = |set: &[(&str, &str)]| {
            let value =
                |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
            folder(value)
        };
        let all = [("HOME", "/h"), ("XDG_CACHE_HOME", "/x"), (FOLDER, "/m")];
        assert_eq!(chosen(&all), Some("/m".into()));
        assert_eq!(chosen(&all[..2]), Some("/x".into()));
        assert_eq!(chosen(&all[..1]), Some("/h/.cache".into()));
        assert_eq!(chosen(&[]), None);
    }
}
