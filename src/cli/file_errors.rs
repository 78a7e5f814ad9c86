//! Messages about files that commands cannot read or write.

use std::path::Path;

/// Checks that a scene is a file that exists.
pub(crate) fn check_readable(scene: &Path) -> Result<(), String> {
    let cannot_read = |reason: &dyn std::fmt::Display| format!("cannot read \"{}\": {reason}", scene.display());
    match std::fs::metadata(scene) {
        Ok(found) if found.is_dir() => Err(cannot_read(&"it is a directory")),
        Ok(_) => Ok(()),
        Err(error) => Err(cannot_read(&error)),
    }
}

/// Returns the message about a file that could not be written.
pub(crate) fn cannot_write(path: &Path, error: &std::io::Error) -> String {
    format!("cannot write \"{}\": {error}", path.display())
}
