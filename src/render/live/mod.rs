//! Live sessions: a scene stays open, is edited, and is drawn again after each edit, coarse first and then final.
//!
//! A [`LiveSession`] has a thread of its own with devices, shaders, textures and the scene. Edits wait in its inbox;
//! all that wait are applied together, stop the picture under way, and are shown by the next one. The final picture of
//! a revision has the bits of a batch render of the edited scene.
//!
//! ```no_run
//! use anthill::live::{Level, LiveEdit, LiveEvent, LiveOptions, LiveSession};
//! use anthill::options::RenderOptions;
//! use anthill::scene::Projection;
//!
//! let render = RenderOptions { scenes: vec!["scene.rib".into()], devices: "all".into(), ..RenderOptions::default() };
//! let (sender, events) = std::sync::mpsc::channel();
//! let session = LiveSession::begin(LiveOptions::new(render), move |event| drop(sender.send(event)))?;
//! let zoom = LiveEdit::new("camera", |world, _| {
//!     world.camera.projection = Projection::Perspective { fov_degrees: 20.0 };
//!     true
//! });
//! let revision = session.edit([zoom]);
//! for event in events {
//!     match event {
//!         LiveEvent::Message { diagnostic, .. } => eprintln!("{diagnostic}"),
//!         LiveEvent::Picture(picture) if picture.level == Level::Final && picture.revision == revision => {
//!             println!("{:?} {:?}: {} values", picture.rectangle, picture.channels, picture.pixels.len());
//!             break;
//!         }
//!         _ => {}
//!     }
//! }
//! let outcome = session.finish();
//! # Ok::<(), anthill::live::LiveError>(())
//! ```
//!
//! # Levels
//!
//! The first picture of a revision is [coarse](Level::Coarse), unless final ones are expected to be as fast; when no
//! edit comes for 120 ms, one with [one sample](Level::OneSample) a pixel follows where the final one takes long, and
//! then the [final](Level::Final) one. Scenes whose shaders bake or print, and deep displays, have final ones only.
//!
//! # Errors
//!
//! A revision with errors that the last good picture had not (an unknown shader, nothing in view) is
//! [refused](LiveEvent::Refused): that picture stands, and messages say why. Its edits stay, and later ones may
//! mend it.

mod edit;
mod event;
mod fragments;
mod inbox;
mod levels;
mod messages;
mod server;
mod shared;
mod stream;
mod watch;

pub use edit::LiveEdit;
pub use event::{Level, LiveEvent, LivePicture};
pub use fragments::Fragment;
pub use stream::{FragmentReader, render_edits};

use crate::diagnostic::Reporter;
use crate::options::RenderOptions;
use crate::outcome::Outcome;
use crate::progress::Interrupt;
use crate::render::session::live_renderer::run_live;
use server::{Server, report_unwatched};
use shared::Shared;
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use watch::FileWatch;

/// What a live session is to do.
#[derive(Clone, Debug)]
pub struct LiveOptions {
    /// The scene, the devices and all that a batch render is asked for.
    pub render: RenderOptions,
    /// Whether coarse pictures are drawn before final ones.
    pub coarse: bool,
    /// Whether each final picture is written to its displays; if not, [`LiveSession::save`] does.
    pub writes: bool,
    /// Whether the files of the scene are watched: one that is saved is an edit.
    pub watch: bool,
    /// Ends the session when it is raised, as a batch render.
    pub interrupt: Interrupt,
}

impl LiveOptions {
    /// Returns options for someone who looks at pictures: coarse ones first, none written, files watched.
    pub fn new(render: RenderOptions) -> Self {
        Self { render, coarse: true, writes: false, watch: true, interrupt: Interrupt::default() }
    }
}

/// Why a live session cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// The render was asked for something that only batch renders do.
    #[error("{0} does not go with edits as they come")]
    Unsupported(&'static str),
    /// The system creates no thread.
    #[error("no thread could be created for the session: {0}")]
    NoThread(#[from] io::Error),
}

/// A scene that is edited and drawn. Dropped, it ends at once.
pub struct LiveSession {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Outcome>>,
}

impl LiveSession {
    /// Begins: opens the devices, reads the scene and draws it. `events` is called on the session's threads, and must
    /// return quickly.
    ///
    /// # Errors
    /// If the options ask for a checkpoint, a capture, a check or a profile, or if there is no thread.
    pub fn begin(options: LiveOptions, events: impl Fn(LiveEvent) + Send + Sync + 'static) -> Result<Self, LiveError> {
        let RenderOptions { checkpoint, capture, check, line_profile, .. } = &options.render;
        let asked = [
            (checkpoint.is_some(), "a checkpoint"),
            (capture.is_some(), "a capture"),
            (*check, "a check"),
            (line_profile.is_some(), "a profile of lines"),
        ];
        if let Some((_, what)) = asked.into_iter().find(|(asked, _)| *asked) {
            return Err(LiveError::Unsupported(what));
        }
        let shared = Arc::new(Shared::new(Box::new(events), options.interrupt.clone()));
        let own = Arc::clone(&shared);
        let thread = thread::Builder::new().name("live".into()).spawn(move || run(&own, &options))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Edits the scene, and returns the number of the revision that shows these edits, or a later one if more edits
    /// come before it is begun. The picture under way is stopped.
    pub fn edit(&self, edits: impl IntoIterator<Item = LiveEdit>) -> u64 {
        self.shared.inbox.edit(edits)
    }

    /// Asks for the displays of the newest revision, which are written when its final picture is finished.
    pub fn save(&self) {
        self.shared.inbox.save();
    }

    /// Whether it has ended by itself, as for want of a scene or of devices.
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Finishes the newest revision, and ends.
    pub fn finish(self) -> Outcome {
        self.shared.inbox.close();
        self.join()
    }

    /// Ends at once.
    pub fn stop(self) -> Outcome {
        self.shared.inbox.stop();
        self.join()
    }

    fn join(mut self) -> Outcome {
        let thread = self.thread.take().expect("a session has its thread until it ends");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for LiveSession {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.shared.inbox.stop();
            // A panic there was printed.
            let _ = thread.join();
        }
    }
}

/// The thread of a session.
fn run(shared: &Arc<Shared>, options: &LiveOptions) -> Outcome {
    let to_sink = Arc::clone(shared);
    let reporter = Arc::new(Reporter::new(move |diagnostic| to_sink.send_message(diagnostic)));
    let watch = options.watch.then(|| FileWatch::new(&shared.inbox));
    let mut watch = watch.and_then(|watch| watch.map_err(|error| report_unwatched(&reporter, &error)).ok());
    let (render, inbox) = (&options.render, &shared.inbox);
    run_live(render, &reporter, &**shared, &inbox.stop, &mut |renderer| {
        let asked = (render, options.writes, options.coarse);
        Server::new(shared, asked, &reporter, renderer, watch.take()).serve()
    })
}
