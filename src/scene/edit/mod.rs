//! Edits of a world, as values: what a user changes while looking at a picture.
//!
//! An edit names what it changes by patterns of names, so that it can be made again on the same scene read again. All
//! that match are edited, hidden objects too. What an edit does not change keeps its address (`Arc::ptr_eq`), and what
//! was shared stays shared: by that it is found which products of a picture can be kept.

mod lights;
mod notes;
mod objects;
mod pattern;
mod picture;
mod place;
mod touched;

pub use lights::LightChange;
pub use notes::{EditNotes, HiddenDrawable, ReadingNotes};
pub use objects::{FacingEdit, ObjectChange, ShaderEdit, ShaderPlace};
pub use pattern::NamePattern;
pub use picture::{PictureEdit, PictureLimits};
pub use place::MatrixStep;
pub use touched::Touched;

use super::{Light, World};
use std::path::PathBuf;
use std::sync::Arc;

/// One edit of a world.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Changes the camera or the options.
    Picture(PictureEdit),
    /// Changes objects.
    Objects {
        /// Their names, as `Attribute "identifier" "name"` sets them.
        names: NamePattern,
        /// What is changed.
        change: ObjectChange,
    },
    /// Changes lights.
    Lights {
        /// Their handles.
        handles: NamePattern,
        /// What is changed.
        change: LightChange,
    },
    /// Adds a light, which is on for some objects.
    AddLight {
        /// The light.
        light: Arc<Light>,
        /// Which objects it is on for.
        names: NamePattern,
    },
    /// Removes lights.
    RemoveLights {
        /// Their handles.
        handles: NamePattern,
    },
    /// Says that files were saved: textures, shaders.
    Files(Vec<PathBuf>),
}

impl Edit {
    /// Makes the edit, and returns what it touched: nothing where nothing matches.
    pub fn apply(&self, world: &mut World) -> Touched {
        match self {
            Self::Picture(edit) => edit.apply(world),
            Self::Objects { names, change } => change.apply(names, world),
            Self::Lights { handles, change } => change.apply(handles, world),
            Self::AddLight { light, names } => lights::add(light, names, world),
            Self::RemoveLights { handles } => lights::remove(handles, world),
            Self::Files(_) => Touched::FILES,
        }
    }

    /// Makes edits one after the other, and returns what they touched together.
    pub fn apply_all<'e>(edits: impl IntoIterator<Item = &'e Self>, world: &mut World) -> Touched {
        edits.into_iter().fold(Touched::NOTHING, |touched, edit| touched | edit.apply(world))
    }
}
