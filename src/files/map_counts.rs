//! How many maps a run wrote to each depth file, for displays that append theirs.

use super::whole::resolve;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};

/// The maps that this run of the program wrote to depth files.
#[derive(Debug, Default)]
pub(crate) struct MapCounts(Mutex<FxHashMap<PathBuf, usize>>);

impl MapCounts {
    /// Writes a file with one map, or appends one: then `write` gets the number of maps at the end of the file that are
    /// of this run, and no other map is appended meanwhile.
    ///
    /// # Errors
    /// If `write` fails.
    pub(crate) fn counted<E>(
        &self,
        path: &Path,
        appends: bool,
        write: impl FnOnce(Option<usize>) -> Result<(), E>,
    ) -> Result<(), E> {
        if !appends {
            write(None)?;
            self.0.lock().insert(key(path), 1);
            return Ok(());
        }
        let mut counts = self.0.lock();
        let own = counts.get(&key(path)).copied().unwrap_or(0);
        write(Some(own))?;
        counts.insert(key(path), own + 1);
        Ok(())
    }
}

fn key(path: &Path) -> PathBuf {
    resolve(path).unwrap_or_else(|_| path.to_owned())
}
