//! The world that is being built: what requests do to it, at once or later, and what becomes of blocks.
//!
//! A request becomes an [`effect`]: a change of the graphics state or a primitive. The
//! [`SceneBuilder`](scene::SceneBuilder) performs effects at once, leaves them to a motion block, or keeps them for an
//! object.

pub(crate) mod area_lights;
pub(crate) mod block;
pub(crate) mod blocks;
pub(crate) mod draw;
pub(crate) mod edit_blocks;
pub(crate) mod editing;
pub(crate) mod effect;
pub(crate) mod lights;
pub(crate) mod memory;
pub(crate) mod motion_block;
pub(crate) mod moving;
pub(crate) mod object;
pub(crate) mod outline;
pub(crate) mod perform;
pub(crate) mod scene;
pub(crate) mod seeds;
pub(crate) mod solids;
pub(crate) mod view;
pub(crate) mod world_builder;
pub(crate) mod worlds;
