//! Progress on standard error: a bar for people, percent lines for render farms.

use super::console::Messages;
use super::flags::ProgressMode;
use anthill::progress::{Event, Observer};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Watches a render for the user, and stops it when the user says so.
pub(super) struct Watcher {
    messages: Messages,
    /// `None` shows nothing.
    style: Option<Style>,
    world: Mutex<World>,
    cancelled: Arc<AtomicBool>,
    cancel_told: AtomicBool,
}

#[derive(Clone, Copy)]
enum Style {
    Bar,
    Percent,
}

/// The world that is being drawn.
#[derive(Default)]
struct World {
    pixels: u64,
    /// The last line that was printed.
    percent: Option<u64>,
    bar: Option<ProgressBar>,
}

impl Watcher {
    pub(super) fn new(mode: ProgressMode, messages: Messages, cancelled: Arc<AtomicBool>) -> Self {
        let style = match mode {
            ProgressMode::Auto if messages.is_terminal() => Some(Style::Bar),
            ProgressMode::Auto | ProgressMode::Off => None,
            ProgressMode::Bar => Some(Style::Bar),
            ProgressMode::Percent => Some(Style::Percent),
        };
        Self { messages, style, world: Mutex::default(), cancelled, cancel_told: AtomicBool::new(false) }
    }

    /// A line that farm managers know from PRMan, for each new percent.
    fn show_percent(&self, world: &mut World, finished: u64) {
        let percent = (finished.min(world.pixels) * 100).checked_div(world.pixels).unwrap_or(100);
        if world.percent.is_none_or(|last| percent > last) {
            world.percent = Some(percent);
            self.messages.line(&format!("R90000 {percent:4}%"));
        }
    }

    fn begin(&self, world: &mut World, frame: Option<i32>, pixels: u64) {
        *world = World { pixels, ..World::default() };
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
    fn notice(&self, event: Event) {
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
        if cancelled && !self.cancel_told.swap(true, Ordering::Relaxed) {
            self.messages.line("anthill: interrupted: writing what is finished; interrupt again to stop at once");
        }
        cancelled
    }
}
