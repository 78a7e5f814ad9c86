//! The commands, a file each; none uses another, but `profile` draws as `render` does.

pub(crate) mod completions;
pub(crate) mod devices;
pub(crate) mod explore;
pub(crate) mod man;
pub(crate) mod predict;
pub(crate) mod preview;
pub(crate) mod profile;
pub(crate) mod render;
pub(crate) mod rib;
pub(crate) mod scale;
pub(crate) mod shader;
pub(crate) mod texture;
