//! Why a texture cannot be read or made.

use super::patient_file::is_unanswered;
use crate::files::FileRefused;
use crate::points::PointsError;
use std::io;
use std::path::{Path, PathBuf};

/// Why a texture cannot be read or made.
#[derive(Debug, thiserror::Error)]
pub enum TextureError {
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
    /// It is no picture that is known.
    #[error("\"{}\" is not a picture of a known format: {KNOWN_FORMATS}", .0.display())]
    Unknown(PathBuf),
    /// It was made by and for another renderer.
    #[error(
        "\"{}\" is a {maker} texture, which only {maker} can read: make it again from its picture with `anthill texture \
         make`",
        path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The other renderer.
        maker: &'static str,
    },
    /// What is in it is wrong, or ends too early.
    #[error("\"{}\" is damaged or incomplete: {reason}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// It says something that is right but not supported.
    #[error("\"{}\" cannot be used as a texture: {reason}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What it says.
        reason: String,
    },
    /// It is a picture without tiles or without levels.
    #[error(
        "\"{}\" is a picture without {lacks}, not a texture: make one of it with `anthill texture make`",
        path.display()
    )]
    NotTiled {
        /// The file.
        path: PathBuf,
        /// What a texture would have.
        lacks: &'static str,
    },
    /// It is a texture of a part of a picture.
    #[error(
        "\"{}\" is a texture of a part of a picture: make one of the whole picture with `anthill texture make`",
        .0.display()
    )]
    PartOfPicture(PathBuf),
    /// It is a picture that was to be drawn just before.
    #[error("\"{}\" was not drawn whole, so no texture is made of it", .0.display())]
    NotWhole(PathBuf),
    /// It was replaced or written since it was opened.
    #[error("\"{}\" has changed since it was opened", .0.display())]
    Changed(PathBuf),
    /// The tile that is asked for does not exist.
    #[error("\"{}\" has no such tile", .0.display())]
    NoSuchTile(PathBuf),
    /// What is asked of the maker makes no sense.
    #[error("{0}")]
    Request(String),
    /// There is too little host memory to make a texture of it.
    #[error("\"{}\" is too large a picture for a texture to be made of it: {reason}", path.display())]
    NoMemory {
        /// The picture.
        path: PathBuf,
        /// What it takes, and what there is.
        reason: String,
    },
    /// The caller stopped its making.
    #[error("it was interrupted")]
    Stopped,
    /// It is a point cloud.
    #[error("\"{}\" is a point cloud, which only texture3d() looks up", .0.display())]
    PointCloud(PathBuf),
    /// It is a point cloud, and cannot be read.
    #[error(transparent)]
    Points(PointsError),
    /// The file has another role.
    #[error(transparent)]
    Refused(#[from] FileRefused),
    /// The texture cannot be written.
    #[error("cannot write \"{}\": {reason}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        reason: String,
    },
}

impl From<PointsError> for TextureError {
    fn from(error: PointsError) -> Self {
        match error {
            PointsError::Stopped => Self::Stopped,
            other => Self::Points(other),
        }
    }
}

/// The formats that are read.
const KNOWN_FORMATS: &str = "TIFF, OpenEXR, PNG, JPEG, Radiance HDR or Targa";

impl TextureError {
    /// Returns the error of a file that the system cannot open or read.
    pub(super) fn of_io(path: &Path, reason: io::Error) -> Self {
        let path = path.to_owned();
        match reason.kind() {
            io::ErrorKind::NotFound => Self::Missing(path),
            io::ErrorKind::UnexpectedEof => Self::Corrupt { path, reason: "it ends too early".into() },
            _ => Self::Unreadable { path, reason },
        }
    }

    /// Whether it could go better with more host memory.
    pub(crate) fn is_for_memory(&self) -> bool {
        matches!(self, Self::NoMemory { .. } | Self::Points(PointsError::TooMany { .. }))
    }

    /// Whether no other read of the file can go better.
    pub(super) fn is_final(&self) -> bool {
        match self {
            Self::Changed(_) => true,
            Self::Unreadable { reason, .. } => is_unanswered(reason),
            _ => false,
        }
    }

    pub(super) fn corrupt(path: &Path, reason: impl ToString) -> Self {
        Self::Corrupt { path: path.to_owned(), reason: reason.to_string() }
    }

    pub(super) fn unsupported(path: &Path, reason: impl ToString) -> Self {
        Self::Unsupported { path: path.to_owned(), reason: reason.to_string() }
    }

    /// Returns what the reader of OpenEXR says.
    pub(super) fn of_exr(path: &Path, error: exr::error::Error) -> Self {
        match error {
            exr::error::Error::Io(reason) => Self::of_io(path, reason),
            // What the crate says of a file that ends too early, apart from the system.
            exr::error::Error::Invalid(reason) if reason == "reference to missing bytes" => {
                Self::of_io(path, io::ErrorKind::UnexpectedEof.into())
            }
            exr::error::Error::Invalid(reason) => Self::corrupt(path, reason),
            exr::error::Error::NotSupported(reason) => Self::unsupported(path, reason),
            other => Self::corrupt(path, other),
        }
    }

    /// Returns what the reader of PNG and its like says.
    pub(super) fn of_image(path: &Path, error: image::ImageError) -> Self {
        match error {
            image::ImageError::IoError(reason) => Self::of_io(path, reason),
            image::ImageError::Unsupported(_) => Self::Unknown(path.to_owned()),
            image::ImageError::Limits(reason) => Self::unsupported(path, reason),
            other => Self::corrupt(path, other),
        }
    }

    /// Returns what the reader of rows of PNG says.
    pub(super) fn of_png(path: &Path, error: png::DecodingError) -> Self {
        match error {
            png::DecodingError::IoError(reason) => Self::of_io(path, reason),
            png::DecodingError::LimitsExceeded => Self::unsupported(path, "its chunks are too large"),
            other => Self::corrupt(path, other),
        }
    }

    /// Returns what the reader of TIFF says.
    pub(super) fn of_tiff(path: &Path, error: tiff::TiffError) -> Self {
        match error {
            tiff::TiffError::IoError(reason) => Self::of_io(path, reason),
            tiff::TiffError::UnsupportedError(reason) => Self::unsupported(path, reason),
            tiff::TiffError::LimitsExceeded => Self::unsupported(path, "its blocks are too large"),
            other => Self::corrupt(path, other),
        }
    }
}

/// Why writing a texture failed.
pub(super) enum WriteFailure {
    /// The caller wanted to stop.
    Stopped,
    /// For this reason, in words.
    Because(String),
    /// What is written is read meanwhile, and that failed.
    Reading(TextureError),
}

impl WriteFailure {
    /// Returns the error of writing this file.
    pub(super) fn of(self, path: &Path) -> TextureError {
        match self {
            Self::Stopped => TextureError::Stopped,
            Self::Because(reason) => TextureError::Write { path: path.to_owned(), reason },
            Self::Reading(error) => error,
        }
    }
}

impl<E: std::error::Error> From<E> for WriteFailure {
    fn from(error: E) -> Self {
        Self::Because(error.to_string())
    }
}
