//! From text to syntax tree: preprocessor, lexer, parser.

pub mod ast;
pub(crate) mod lexer;
pub mod loader;
pub(crate) mod parser;
pub mod preprocess;
pub(crate) mod token;

pub use token::Name;
