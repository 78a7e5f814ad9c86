//! The thread of a live session: applies edits, and draws pictures from coarse to final until the next edit.

use super::edit::{EditLog, LiveEdit};
use super::event::{Level, LiveEvent, LivePicture};
use super::inbox::Taken;
use super::levels::{LevelChoice, REST};
use super::shared::Shared;
use super::watch::{FileWatch, effect_of};
use crate::diagnostic::{Diagnostic, Reporter, Severity, SourceLocation};
use crate::files::FileRole;
use crate::film::DisplayOutcome;
use crate::options::RenderOptions;
use crate::outcome::{Ending, Outcome};
use crate::render::session::live_renderer::{DrawnFilm, LiveDrawn, LiveFormat, LiveRenderer};
use crate::render::session::live_scene::LiveScene;
use crate::scene::World;
use crate::stats::{LivePictureState, LivePictureStats, LiveStats, Stats};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What the thread of a live session works with.
pub(super) struct Server<'a, 'r> {
    shared: &'a Arc<Shared>,
    options: &'a RenderOptions,
    reporter: &'a Reporter,
    renderer: &'a mut LiveRenderer<'r>,
    /// Whether each final picture is written to its displays.
    writes: bool,
    watch: Option<FileWatch>,
    scene: LiveScene,
    edits: EditLog,
    revision: Revision,
    levels: LevelChoice,
    /// The picture that is drawn next, and when.
    next: Option<(Level, Instant)>,
    /// The last good picture, if it is not written yet, and whether there was any.
    finished: Option<(u64, DrawnFilm)>,
    has_picture: bool,
    is_closing: bool,
    saves: bool,
    stats: LiveStats,
}

/// The revision of the scene that is drawn.
#[derive(Debug, Default)]
struct Revision {
    number: u64,
    /// The kinds of its edits.
    kinds: Vec<String>,
    /// When the first of its edits came; `None` once a picture of it is finished.
    begun: Option<Instant>,
    /// When its edits will have rested.
    rested: Option<Instant>,
    /// How long the scene was read for it.
    read: Option<Duration>,
    /// Whether its final picture is finished or refused.
    is_done: bool,
    /// Whether it was refused, though it would be drawn if it is the last.
    is_refused: bool,
}

impl<'a, 'r> Server<'a, 'r> {
    pub(super) fn new(
        shared: &'a Arc<Shared>,
        (options, writes, coarse): (&'a RenderOptions, bool, bool),
        reporter: &'a Reporter,
        renderer: &'a mut LiveRenderer<'r>,
        watch: Option<FileWatch>,
    ) -> Self {
        Self {
            shared,
            options,
            reporter,
            renderer,
            writes,
            watch,
            scene: LiveScene::default(),
            edits: EditLog::default(),
            revision: Revision::default(),
            levels: LevelChoice::new(coarse),
            next: None,
            finished: None,
            has_picture: false,
            is_closing: false,
            saves: false,
            stats: LiveStats::default(),
        }
    }

    /// Serves until the session ends.
    pub(super) fn serve(mut self) -> Outcome {
        self.begin_revision(Revision { begun: Some(Instant::now()), ..Revision::default() });
        self.scene = self.renderer.read(&mut |_| false);
        self.revision.read = Some(self.renderer.read_time());
        self.follow_files();
        let ending = if self.scene.has_world() {
            self.plan();
            self.draw_all()
        } else if self.shared.inbox.stop.is_raised() {
            self.stopped()
        } else {
            Ending::Unreadable
        };
        let stats = Stats::default();
        self.renderer.stats().live = Some(self.stats);
        Outcome { ending, displays: self.scene.displays(), stats }
    }

    fn draw_all(&mut self) -> Ending {
        loop {
            let taken = self.shared.inbox.take(self.next.map(|(_, at)| at));
            if self.shared.inbox.stop.is_raised() {
                return self.stopped();
            }
            (self.is_closing, self.saves) = (taken.is_closing, self.saves | taken.saves);
            if !taken.edits.is_empty() {
                self.apply(taken);
            }
            if self.is_closing && self.next.is_none() && self.owes_picture() {
                self.next = Some((Level::Final, Instant::now()));
            }
            self.save_if_finished();
            match self.next {
                Some((level, at)) if self.is_closing || at <= Instant::now() => {
                    // Whoever closes a session wants its last picture only.
                    self.draw(if self.is_closing { Level::Final } else { level });
                }
                None if self.is_closing => return Ending::Finished,
                _ => {}
            }
        }
    }

    fn stopped(&self) -> Ending {
        if self.shared.inbox.cancel.limit().is_some() { Ending::LimitReached } else { Ending::Interrupted }
    }

    /// Whether the picture of the last revision must still be drawn before the session may end.
    fn owes_picture(&self) -> bool {
        !self.revision.is_done || self.revision.is_refused
    }

    fn begin_revision(&mut self, revision: Revision) {
        self.reporter.forget();
        self.shared.messages.begin(revision.number);
        self.shared.set_drawn(revision.number, None);
        self.stats.revisions += 1;
        self.shared.send(LiveEvent::Begun { revision: revision.number });
        self.revision = revision;
    }

    /// Applies all edits that have waited, and plans the pictures of the revision.
    fn apply(&mut self, taken: Taken) {
        let mut kinds: Vec<String> = taken.edits.iter().map(|edit| edit.kind().to_owned()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        self.stats.edits += taken.edits.len() as u64;
        let rested = taken.last_edit.map(|at| at + REST);
        let (number, begun) = (taken.revision, taken.first_edit);
        self.begin_revision(Revision { number, kinds, begun, rested, ..Revision::default() });
        let (files, changes): (Vec<_>, Vec<_>) = taken.edits.into_iter().partition(|edit| edit.file().is_some());
        let reads = self.files_changed(&files);
        for edit in changes {
            self.edits.push(edit.clone());
            if !reads {
                let reporter = self.reporter;
                self.scene.edit(&mut |world| edit.apply(world, reporter));
            }
        }
        self.shared.messages.pardon();
        if reads {
            self.read_again();
        }
        self.plan();
    }

    /// Plans the pictures of a revision.
    fn plan(&mut self) {
        let (level, waits) = self.levels.first();
        self.next = Some((level, if waits { self.rested() } else { Instant::now() }));
    }

    /// Notes which files have changed, and returns whether the scene is to be read again.
    fn files_changed(&mut self, files: &[LiveEdit]) -> bool {
        let roles = if files.is_empty() { Vec::new() } else { self.files() };
        let mut reads = false;
        for path in files.iter().filter_map(LiveEdit::file) {
            if !path.exists() {
                let message = format!("\"{}\" is gone: the last picture stays until it is back", path.display());
                self.reporter.warn("nofile", &SourceLocation::default(), message);
                continue;
            }
            let role = roles.iter().find(|(read, _)| is_same_file(read, path)).map(|(_, role)| *role);
            let effect = effect_of(role);
            reads |= effect.reads_scene;
            if effect.reads_shaders {
                self.renderer.forget_shaders();
            }
            self.scene.renew();
        }
        reads
    }

    /// Reads the scene again, and edits it as before. What cannot be read leaves the scene as it was.
    fn read_again(&mut self) {
        if self.options.scenes.iter().any(|scene| scene.as_os_str() == "-") {
            let message = "the scene came from standard input, which is not read again";
            self.reporter.warn("nofile", &SourceLocation::default(), message);
            return;
        }
        let (before, reporter, edits) = (self.renderer.read_time(), self.reporter, &self.edits);
        let scene = self.renderer.read(&mut |world: &mut World| edits.apply(world, reporter));
        self.revision.read = Some(self.renderer.read_time().saturating_sub(before));
        if scene.has_world() {
            self.scene = scene;
        }
        self.follow_files();
    }

    /// Returns the files that the scene consists of, with their roles.
    fn files(&self) -> Vec<(PathBuf, FileRole)> {
        let scenes = self.options.scenes.iter().filter(|scene| scene.as_os_str() != "-");
        scenes.map(|scene| (scene.clone(), FileRole::Scene)).chain(self.options.files.read_files()).collect()
    }

    fn follow_files(&mut self) {
        let files = self.files();
        let Some(watch) = &mut self.watch else { return };
        for (folder, error) in watch.follow(files.into_iter().map(|(path, _)| path)) {
            let message = format!("changes of files in \"{}\" go unnoticed: {error}", folder.display());
            self.reporter.warn("watch", &SourceLocation::default(), message);
        }
    }

    /// Draws a picture, unless edits wait.
    fn draw(&mut self, level: Level) {
        if !self.shared.inbox.begin_picture() {
            return;
        }
        self.shared.set_drawn(self.revision.number, Some(level));
        let begin = Instant::now();
        let format = match level {
            Level::Coarse { divider } => LiveFormat::Coarse(divider),
            Level::OneSample => LiveFormat::Coarse(1),
            Level::Final => LiveFormat::Final,
        };
        let is_forced = self.is_forced();
        let mut drawn = LiveDrawn::Nothing(Vec::new());
        if self.renderer.draw_passes(&mut self.scene) {
            let messages = &self.shared.messages;
            drawn = self.renderer.draw(&self.scene, &format, &|| is_forced || !messages.has_new_mistakes());
        }
        let cancel = self.shared.inbox.end_picture();
        self.shared.set_drawn(self.revision.number, None);
        self.follow_files();
        let mut row = self.row(level, &drawn);
        match drawn {
            LiveDrawn::FinalOnly => {
                self.levels.only_final();
                self.plan();
                return;
            }
            // A stopped session writes what it has, as any render.
            LiveDrawn::Film(drawn) if self.shared.inbox.stop.is_raised() => {
                row.state = LivePictureState::Cancelled;
                self.next = None;
                if self.writes && level == Level::Final {
                    self.write(*drawn);
                }
            }
            LiveDrawn::Film(drawn) if drawn.film.values().is_some() && (is_forced || !self.has_new_mistakes()) => {
                self.good_picture(level, *drawn, begin.elapsed());
            }
            // The next revision is drawn instead.
            _ if cancel.is_some() || self.shared.inbox.stop.is_raised() => row.state = LivePictureState::Cancelled,
            unusable => {
                row.state = LivePictureState::Refused;
                self.refuse(unusable);
            }
        }
        let latest = self.revision.begun.filter(|_| row.state != LivePictureState::Cancelled);
        row.latency = latest.unwrap_or(begin).elapsed();
        row.cancel = cancel.unwrap_or_default();
        if row.state == LivePictureState::Whole {
            self.revision.begun = None;
        }
        self.stats.add(row);
    }

    fn has_new_mistakes(&self) -> bool {
        self.shared.messages.has_new_mistakes()
    }

    /// Whether a picture is good whatever errors it has: any is better than none, and what comes of the last revision
    /// is what a batch render draws.
    fn is_forced(&self) -> bool {
        !self.has_picture || self.is_closing
    }

    /// Returns the statistics of a picture.
    fn row(&mut self, level: Level, drawn: &LiveDrawn) -> LivePictureStats {
        let mut row = LivePictureStats {
            revision: self.revision.number,
            level: level.number(),
            divider: level.divider(),
            edits: self.revision.kinds.clone(),
            ..LivePictureStats::default()
        };
        if let Some(read) = self.revision.read.take() {
            (row.read, row.read_time) = (true, read);
        }
        if let LiveDrawn::Film(drawn) = drawn {
            let regions = drawn.stats.regions.len() as u64;
            (row.kernels, row.pages) = (drawn.kernels, drawn.repeated.pages);
            (row.recalled_regions, row.shaded_regions) = (drawn.recalled, regions);
            row.hidden_regions = regions.saturating_sub(drawn.recalled);
            row.counted = drawn.repeated.counted > 0;
            (row.prepare, row.count, row.draw) = (drawn.stats.prepare, drawn.stats.count, drawn.stats.draw);
        }
        row
    }

    /// Hands a picture on, and plans the next level.
    fn good_picture(&mut self, level: Level, drawn: DrawnFilm, took: Duration) {
        self.levels.took(level, took);
        let picture = LivePicture {
            revision: self.revision.number,
            level,
            rectangle: drawn.film.crop().to_array(),
            channels: drawn.film.layout().names().into(),
            pixels: drawn.film.values().unwrap_or_default().into(),
        };
        self.shared.send(LiveEvent::Picture(picture));
        self.next = self.levels.after(level).map(|level| (level, self.rested()));
        if level == Level::Final {
            self.has_picture = true;
            self.revision.is_done = true;
            self.shared.messages.accept();
            self.finished = Some((self.revision.number, drawn));
            if self.writes || self.saves {
                self.save_if_finished_now();
            }
            self.shared.send(LiveEvent::Finished { revision: self.revision.number });
        }
    }

    /// Returns when edits will have rested.
    fn rested(&self) -> Instant {
        self.revision.rested.unwrap_or_else(Instant::now)
    }

    /// Keeps the last picture instead of one with errors. The last revision of a session is written all the same.
    fn refuse(&mut self, drawn: LiveDrawn) {
        self.next = None;
        self.revision.is_done = true;
        self.revision.is_refused = !self.is_closing;
        self.shared.send(LiveEvent::Refused { revision: self.revision.number });
        if !(self.writes && self.is_closing) {
            return;
        }
        match drawn {
            LiveDrawn::Film(drawn) => self.write(*drawn),
            LiveDrawn::Nothing(displays) => self.renderer.write_nothing(&mut self.scene, displays),
            LiveDrawn::FinalOnly => {}
        }
    }

    /// Writes the last good picture where that was asked for, if it is that of the last revision.
    fn save_if_finished(&mut self) {
        let is_newest = self.revision.is_done && self.next.is_none();
        if self.saves && is_newest {
            self.save_if_finished_now();
        }
    }

    fn save_if_finished_now(&mut self) {
        self.saves = false;
        if let Some((_, drawn)) = self.finished.take() {
            self.write(drawn);
        }
        let displays: Vec<DisplayOutcome> = self.scene.displays();
        self.shared.send(LiveEvent::Written { revision: self.revision.number, displays });
    }

    fn write(&mut self, drawn: DrawnFilm) {
        self.renderer.write(&mut self.scene, drawn);
        self.renderer.make_rest(&mut self.scene);
        self.renderer.check_output();
    }
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    a == b || a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b))
}

/// Reports that files are not watched.
pub(super) fn report_unwatched(reporter: &Reporter, error: &notify::Error) {
    let message = format!("changed files go unnoticed: {error}");
    reporter.report(Diagnostic::new(Severity::Warning, "watch", SourceLocation::default(), message));
}
