//! Why emission fails.

use super::import::LibraryError;

/// Why a program could not be turned into SPIR-V.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmitError {
    /// The helper library does not fit the compiler.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The program holds an operation that should have been lowered.
    #[error("{0} is not an operation of bound programs")]
    NotBound(String),
}
