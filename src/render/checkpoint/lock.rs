//! One process at a time: a lock on a file that is there while it is held.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Why a lock is not had.
#[derive(Debug, thiserror::Error)]
pub(super) enum LockError {
    /// Someone else has it.
    #[error("another render uses it")]
    Taken,
    /// The file cannot be made or locked.
    #[error("cannot lock it: {0}")]
    Io(#[from] io::Error),
}

/// A lock. The system ends it with the process, however that ends.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Takes the lock whose file is `path`.
    pub(super) fn take(path: PathBuf) -> Result<Self, LockError> {
        loop {
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path)?;
            match file.try_lock() {
                Ok(()) if is_there(&file, &path) => return Ok(Self { path, _file: file }),
                // Whoever had it before removed the file after it was opened here.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(LockError::Taken),
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if cfg!(unix) {
            // Still locked. A file that stays is empty and harms nobody.
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
    fn only_one_has_it() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a.lock");
        let first = Lock::take(path.clone()).expect("it is free");
        assert!(matches!(Lock::take(path.clone()), Err(LockError::Taken)));
        drop(first);
        assert!(!cfg!(unix) || !path.exists());
        drop(Lock::take(path).expect("it is free again"));
        assert!(matches!(Lock::take(folder.path().join("no/a.lock")), Err(LockError::Io(_))));
    }
}
