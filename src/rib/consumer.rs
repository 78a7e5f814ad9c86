//! What reading passes on: worlds, and textures that are made between them.

use super::state::edit_scene::EditScene;
use crate::diagnostic::SourceLocation;
use crate::host_memory::Charge;
use crate::scene::{Camera, Options, World};
use crate::texture::MakeRequest;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A texture that is made where it is requested: after the worlds before it, and before those after it.
#[derive(Clone, Debug)]
pub struct RequestedTexture {
    /// What is made, with the names of files as the request has them.
    pub make: MakeRequest,
    /// The name of the request.
    pub request: &'static str,
    /// The frame that it is requested in.
    pub frame: Option<i32>,
    /// The folders in which pictures are looked for that do not exist as they are named.
    pub folders: Vec<String>,
    /// Where it is requested.
    pub location: SourceLocation,
}

/// Receives the worlds of an input, and the textures that are made between them.
pub trait WorldConsumer {
    /// Returns the bytes of host memory that the film of a world needs. Called at WorldBegin, so that geometry leaves
    /// room for the film.
    fn film_bytes(&self, _options: &Options, _camera: &Camera) -> u64 {
        0
    }

    /// Takes an outline of a large world that is still being read: all but its drawables as it is so far, and the first
    /// drawable of each sort. What the world needs can be prepared meanwhile; more may follow that needs other things.
    fn foresee(&mut self, _outline: World) {}

    /// Takes what edits of the next world need to know, if they are expected.
    fn editable(&mut self, _scene: EditScene) {}

    /// Takes a world with the charge for everything in it; dropping the charge frees the world's share of host memory.
    /// Returning `Break` ends the reading.
    fn take(&mut self, world: World, charge: Arc<Charge>) -> ControlFlow<()>;

    /// Takes a texture that is to be made after the worlds so far. Returning `Break` ends the reading.
    fn make(&mut self, _texture: RequestedTexture) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Waits until the files of all worlds so far are written, because the next one is made from them.
    fn settle(&mut self) {}
}

impl<F: FnMut(World) -> ControlFlow<()>> WorldConsumer for F {
    fn take(&mut self, world: World, _charge: Arc<Charge>) -> ControlFlow<()> {
        self(world)
    }
}
