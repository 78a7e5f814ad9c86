//! A lock file that admits one process at a time. It exists while the lock is held.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Why a lock was not taken.
#[derive(Debug, thiserror::Error)]
pub(super) enum LockError {
    /// Another process holds it.
    #[error("another render is using it")]
    Taken,
    /// The file cannot be created or locked.
    #[error("cannot lock it: {0}")]
    Io(#[from] io::Error),
}

/// A lock. The system releases it when the process ends, however that happens.
#[derive(Debug)]
pub(super) struct FileLock {
    path: PathBuf,
    _file: File,
}

impl FileLock {
    /// Takes the lock whose file is `path`.
    pub(super) fn take(path: PathBuf) -> Result<Self, LockError> {
        loop {
            // A link is not followed, nothing that has contents is removed, and no pipe is waited for.
            if path.symlink_metadata().is_ok_and(|found| !found.is_file() || found.len() > 0) {
                return Err(io::Error::other(format!("\"{}\" is not a lock", path.display())).into());
            }
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path)?;
            match file.try_lock() {
                Ok(()) if is_there(&file, &path) => return Ok(Self { path, _file: file }),
                // Its previous holder removed the file after it was opened here.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(LockError::Taken),
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
        }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        if cfg!(unix) {
            // Still locked. If the file stays, it is empty and does no harm.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Whether an open file still has its name.
#[cfg(unix)]
fn is_there(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |found: io::Result<std::fs::Metadata>| found.ok().map(|found| (found.dev(), found.ino()));
    id(file.metadata()) == id(path.metadata())
}

/// Open files are not removed here.
#[cfg(not(unix))]
fn is_there(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_holds_it() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a.lock");
        let first = FileLock::take(path.clone()).expect("it is free");
        assert!(matches!(FileLock::take(path.clone()), Err(LockError::Taken)));
        drop(first);
        assert!(!cfg!(unix) || !path.exists());
        drop(FileLock::take(path).expect("it is free again"));
        assert!(matches!(FileLock::take(folder.path().join("no/a.lock")), Err(LockError::Io(_))));
    }
}
