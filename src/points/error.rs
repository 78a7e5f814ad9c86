//! Why points cannot be read or written.

use super::ply::PointsFault;
use std::io;
use std::path::{Path, PathBuf};

/// Why points cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum PointsError {
    /// There is no such file.
    #[error("there is no file \"{}\"", .0.display())]
    Missing(PathBuf),
    /// It is a folder, a pipe or a device.
    #[error("\"{}\" is {what}, not a file", path.display())]
    NotAFile {
        /// As it was named.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// The system cannot read it.
    #[error("cannot read \"{}\": {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: io::Error,
    },
    /// It is not a file of points, or it is damaged.
    #[error("\"{}\" is not a whole PLY file of points: {reason}", path.display())]
    Bad {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: &'static str,
    },
    /// There are more points than may be read.
    #[error("\"{}\" is not read: {reason}", path.display())]
    TooMany {
        /// The file.
        path: PathBuf,
        /// How many, and how many may be read.
        reason: String,
    },
    /// The caller stopped its reading.
    #[error("it was interrupted")]
    Stopped,
    /// It cannot be written.
    #[error("cannot write \"{}\": {reason}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        reason: String,
    },
}

impl PointsError {
    /// Returns the error of a file that the system cannot open or read.
    pub(super) fn of_io(path: &Path, reason: io::Error) -> Self {
        let path = path.to_owned();
        if reason.kind() == io::ErrorKind::NotFound { Self::Missing(path) } else { Self::Unreadable { path, reason } }
    }

    pub(super) fn of_fault(path: &Path, fault: PointsFault) -> Self {
        match fault {
            PointsFault::Io(reason) => Self::of_io(path, reason),
            PointsFault::Bad(reason) => Self::Bad { path: path.to_owned(), reason },
            PointsFault::TooMany(reason) => Self::TooMany { path: path.to_owned(), reason },
            PointsFault::Stopped => Self::Stopped,
        }
    }
}
