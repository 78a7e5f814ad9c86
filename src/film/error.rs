//! Why a display cannot be written.

/// Why a file could not be written.
#[derive(Debug, thiserror::Error)]
pub(super) enum FilmWriteError {
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("{0}")]
    Exr(#[from] exr::error::Error),
    #[error("{0}")]
    Tiff(#[from] tiff::TiffError),
    #[error("{0}")]
    Png(#[from] png::EncodingError),
    #[error("{0}")]
    Append(String),
    #[error("the imager failed: {0}")]
    Imager(String),
    #[error("no pixel of it is inside of the picture, and files of this format hold no others, unlike OpenEXR")]
    Outside,
}
