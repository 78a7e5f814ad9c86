//! What reading edits needs to know of the scene that they are made in.

use super::options::OptionState;
use crate::rib::stream::declare::Declarations;
use crate::scene::Motion;
use glam::DMat4;
use std::path::PathBuf;
use std::sync::Arc;

/// What a fragment of edits inherits from its scene: the options and the transformation of the camera before their
/// defaults are resolved, declarations, and the folder in which archives are searched.
#[derive(Clone, Debug)]
pub struct EditScene {
    /// The options at WorldBegin.
    pub(crate) options: OptionState,
    /// The current transformation at WorldBegin.
    pub(crate) camera: Arc<Motion<DMat4>>,
    /// The declarations at WorldBegin.
    pub(crate) declarations: Declarations,
    /// The folder of the input.
    pub(crate) directory: Option<PathBuf>,
}
