//! The input: bytes to tokens, arguments and parameter lists, and the messages about them. Knows no graphics state.

pub(crate) mod archive;
pub(crate) mod args;
pub(crate) mod binary;
pub(crate) mod calls;
pub(crate) mod capabilities;
pub(crate) mod condition;
pub(crate) mod copy;
pub(crate) mod declare;
#[cfg(target_os = "linux")]
mod descendants;
pub(crate) mod fault;
pub(crate) mod lexer;
pub(crate) mod messages;
pub(crate) mod number;
pub(crate) mod params;
pub(crate) mod program;
pub(crate) mod search;
pub(crate) mod skip_block;
pub(crate) mod source;
pub(crate) mod tokens;
pub(crate) mod windows_path;
