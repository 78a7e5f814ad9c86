//! RIB: bytes to requests to [`World`](crate::scene::World)s.
//!
//! [`read_stream`] reads inputs one after the other. Every request is looked up in one table (`requests`), reads its
//! arguments from the `stream::lexer` and becomes a `world::effect`: a change of the graphics state or a primitive.
//! Effects are applied immediately, collected by a motion block (`world::moving`), or kept by an object and applied
//! again at each instance. The state at a primitive becomes a [`crate::scene::Drawable`]; at WorldEnd the finished
//! world is passed on, so that the next one can be read while it is drawn. So are textures to make, in the order of
//! requests.
//!
//! The folders, each of which uses only those before it: `stream` (bytes to arguments, and messages), `state` (what
//! requests set), `geometry` (primitives to shapes), `world` (the world that is being built), and, above the `reader`,
//! `requests` (one function for each request) and `edits` (fragments that edit finished worlds: docs/edits.md).
//!
//! All input is untrusted. A fault ends the request that contains it and is reported with file, line and column;
//! reading continues at the next request. A count in the input is trusted only as far as values were actually read.

mod consumer;
mod edits;
mod geometry;
mod interpreter;
mod reader;
mod requests;
mod settings;
mod state;
mod stream;
mod summary;
mod world;

#[cfg(test)]
mod tests;

pub use consumer::{RequestedTexture, WorldConsumer};
pub use edits::{EditBatch, EditReader, EditTrust, write_edits};
pub use settings::{Limits, RibOverrides, Settings};
pub use state::edit_scene::EditScene;
pub use stream::capabilities::renderer_resource;
pub use stream::copy::{CopyReport, RibEncoding, copy};
pub use stream::source::Input;
pub use summary::{Stopped, Summary};

use crate::diagnostic::Reporter;
use edits::batch::EditingConsumer;
use reader::Reader;
use std::sync::Arc;
use stream::source::Source;

/// Reads one input and passes each world to `worlds` as soon as it is complete: see [`read_stream`].
pub fn read(input: &Input, settings: &Settings, reporter: &Reporter, worlds: &mut dyn WorldConsumer) -> Summary {
    read_stream(std::slice::from_ref(input), settings, reporter, worlds)
}

/// Reads inputs one after the other as one stream: options, attributes, declarations and objects of one hold in the
/// next, and a block may begin in one and end in another. Each world is passed to `worlds` as soon as it is complete.
///
/// Mistakes in the input are reported to `reporter` and never end the reading, except under `ErrorHandler "abort"`.
/// Texts and worlds are charged to `settings.memory`. When it is used up, the rest of the text or of the world's
/// objects is left out with a severe error, and everything before that is drawn.
pub fn read_stream(
    inputs: &[Input],
    settings: &Settings,
    reporter: &Reporter,
    worlds: &mut dyn WorldConsumer,
) -> Summary {
    if settings.edits.is_empty() {
        return read_unedited(inputs, settings, reporter, worlds, Vec::new());
    }
    let mut sources = Vec::new();
    let mut is_unreadable = false;
    for input in &settings.edits {
        match Source::load(input, &settings.memory) {
            Ok(source) => sources.push(Arc::new(source)),
            Err(error) => {
                edits::report_unreadable(input, &error, reporter);
                is_unreadable = true;
            }
        }
    }
    let mut edited = EditingConsumer { worlds, settings, reporter, sources: sources.clone(), scene: None };
    let mut summary = read_unedited(inputs, settings, reporter, &mut edited, sources);
    if is_unreadable {
        summary.errors += 1;
        summary.stopped = summary.stopped.or(Some(Stopped::Unreadable));
    }
    summary
}

/// Reads inputs as [`read_stream`] does, whose worlds the consumer edits by these fragments.
fn read_unedited(
    inputs: &[Input],
    settings: &Settings,
    reporter: &Reporter,
    worlds: &mut dyn WorldConsumer,
    edits: Vec<Arc<Source>>,
) -> Summary {
    let mut reader = Reader::new(settings, reporter, worlds, interpreter::read_to_end);
    reader.edits = edits;
    reader.read_prologue();
    for input in inputs {
        match Source::load(input, &settings.memory) {
            Ok(source) => reader.read_input(&Arc::new(source)),
            Err(error) => reader.skip_input(input, &error),
        }
        if reader.scene.is_stopped() {
            break;
        }
    }
    reader.finish()
}
