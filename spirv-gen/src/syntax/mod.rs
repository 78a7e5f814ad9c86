//! From text to syntax tree: preprocessor, lexer, parser.

pub(crate) mod lexer;
pub mod loader;
pub mod preprocess;
pub(crate) mod token;
