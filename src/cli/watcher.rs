//! Shows progress on standard error: a bar for people, percent lines for render farms.

use super::console::MessageStream;
use super::flags::ProgressMode;
use anthill::progress::{Event, Observer};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Watches a render for the user, and stops it on Ctrl-C.
pub(super) struct Watcher {
    messages: MessageStream,
    /// How to show progress; `None` shows nothing.
    style: Option<Style>,
    world: Mutex<WorldProgress>,
    cancelled: Arc<AtomicBool>,
    /// Whether the user was told that the render is stopping.
    cancel_reported: AtomicBool,
}

#[derive(Clone, Copy)]
enum Style {
    Bar,
    Percent,
}

/// Progress of the world that is being rendered.
#[derive(Default)]
struct WorldProgress {
    pixels: u64,
    /// The last percentage that was printed.
    percent: Option<u64>,
    bar: Option<ProgressBar>,
}

impl Watcher {
    pub(super) fn new(mode: ProgressMode, messages: MessageStream, cancelled: Arc<AtomicBool>) -> Self {
        let style = match mode {
            ProgressMode::Auto if messages.is_terminal() => Some(Style::Bar),
            ProgressMode::Auto | ProgressMode::Off => None,
            ProgressMode::Bar => Some(Style::Bar),
            ProgressMode::Percent => Some(Style::Percent),
        };
        Self { messages, style, world: Mutex::default(), cancelled, cancel_reported: AtomicBool::new(false) }
    }

    /// Prints a line for each new percentage, in the format of PRMan that farm managers parse.
    fn show_percent(&self, world: &mut WorldProgress, finished: u64) {
        let percent = (finished.min(world.pixels) * 100).checked_div(world.pixels).unwrap_or(100);
        if world.percent.is_none_or(|last| percent > last) {
            world.percent = Some(percent);
            self.messages.line(&format!("R90000 {percent:4}%"));
        }
    }

    fn begin(&self, world: &mut WorldProgress, frame: Option<i32>, pixels: u64) {
        *world = WorldProgress { pixels, ..WorldProgress::default() };
        match self.style {
            None => {}
            Some(Style::Percent) => self.show_percent(world, 0),
            Some(Style::Bar) => {
                let bar = ProgressBar::with_draw_target(Some(pixels), ProgressDrawTarget::stderr());
                let template = "{prefix}[{wide_bar}] {percent:>3}% {elapsed}, {eta} left";
                bar.set_style(
                    ProgressStyle::with_template(template).expect("the template is valid").progress_chars("=> "),
                );
                bar.set_prefix(frame.map(|frame| format!("frame {frame} ")).unwrap_or_default());
                self.messages.set_bar(Some(bar.clone()));
                world.bar = Some(bar);
            }
        }
    }
}

impl Observer for Watcher {
    fn notify(&self, event: Event) {
        let mut world = self.world.lock();
        match event {
            Event::WorldBegin { frame, pixels } => self.begin(&mut world, frame, pixels),
            Event::Pixels { finished } => match (self.style, &world.bar) {
                (Some(Style::Percent), _) => self.show_percent(&mut world, finished),
                (_, Some(bar)) => bar.set_position(finished),
                (_, None) => {}
            },
            Event::WorldEnd => {
                if let Some(bar) = world.bar.take() {
                    self.messages.set_bar(None);
                    bar.finish_and_clear();
                }
            }
        }
    }

    fn is_cancelled(&self) -> bool {
        let cancelled = self.cancelled.load(Ordering::Relaxed);
        if cancelled && !self.cancel_reported.swap(true, Ordering::Relaxed) {
            self.messages.line("anthill: interrupted: finishing regions in progress and writing the picture; interrupt again to exit at once");
        }
        cancelled
    }
}
