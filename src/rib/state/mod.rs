//! The graphics state and the options, which requests change and blocks save. Knows no geometry and no world.

pub(crate) mod attributes;
pub(crate) mod basis;
pub(crate) mod displays;
pub(crate) mod edit_scene;
pub(crate) mod eye;
pub(crate) mod freeze;
pub(crate) mod graphics;
pub(crate) mod lights;
pub(crate) mod motion;
pub(crate) mod options;
pub(crate) mod resources;
pub(crate) mod scoped;
pub(crate) mod screen;
pub(crate) mod shader_call;
pub(crate) mod spaces;
pub(crate) mod trim;
