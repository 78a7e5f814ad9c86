//! Shows progress on standard error: a bar for people, percent lines for render farms. Reports an interrupt at once.

use super::console::MessageStream;
use super::flags::values::ProgressMode;
use super::interrupt;
use anthill::outcome::exit_code::LIMIT_REACHED;
use anthill::progress::{Activity, Event, Interrupt, Observer, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Positions of a full bar.
const BAR_LENGTH: u64 = 10_000;

/// With percent lines, a line is printed at least this often.
const QUIET_MAX: Duration = Duration::from_millis(1800);

/// How often to check for an interrupt.
const INTERRUPT_POLL: Duration = Duration::from_millis(10);

/// Watches a render for the user, and stops it on Ctrl-C.
pub(super) struct Watcher {
    messages: MessageStream,
    /// How to show progress; `None` shows nothing.
    style: Option<Style>,
    world: Mutex<WorldProgress>,
    interrupt: Interrupt,
}

#[derive(Clone, Copy)]
enum Style {
    Bar,
    Percent,
}

/// Progress of the world that is being rendered.
#[derive(Default)]
struct WorldProgress {
    begun: bool,
    /// The last percentage that was printed.
    percent: Option<u32>,
    /// When the last line was printed, the last line that was not a percentage, and when that was new.
    printed: Option<Instant>,
    line: String,
    line_begun: Option<Instant>,
    bar: Option<ProgressBar>,
}

impl Watcher {
    pub(super) fn new(mode: ProgressMode, messages: MessageStream, interrupt: Interrupt) -> Self {
        let style = match mode {
            ProgressMode::Auto if messages.is_terminal() => Some(Style::Bar),
            ProgressMode::Auto | ProgressMode::Off => None,
            ProgressMode::Bar => Some(Style::Bar),
            ProgressMode::Percent => Some(Style::Percent),
        };
        Self { messages, style, world: Mutex::default(), interrupt }
    }

    /// Prints a line for each new percentage, in the format of PRMan that farm managers parse, and in between what the
    /// render is doing, if that takes long.
    fn show_line(&self, world: &mut WorldProgress, progress: &Progress) {
        let now = Instant::now();
        let percent = (progress.drawn * 100.0) as u32;
        if world.begun && world.percent.is_none_or(|last| percent > last) {
            world.percent = Some(percent);
            world.printed = Some(now);
            self.messages.line(&format!("R90000 {percent:4}%"));
        } else if now - *world.printed.get_or_insert(now) >= QUIET_MAX {
            let line = describe(progress);
            if line == world.line {
                // Such as a slab of depth that turned out to be thicker than was thought: it is sampled again.
                let waited = now - *world.line_begun.get_or_insert(now) + QUIET_MAX;
                self.messages.line(&format!("anthill: {line}, for {} s", waited.as_secs()));
            } else {
                self.messages.line(&format!("anthill: {line}"));
                (world.line, world.line_begun) = (line, Some(now));
            }
            world.printed = Some(now);
        }
    }

    fn begin(&self, world: &mut WorldProgress, frame: Option<i32>) {
        self.close_bar(world);
        *world = WorldProgress { begun: true, ..WorldProgress::default() };
        match self.style {
            None => {}
            Some(Style::Percent) => self.show_line(world, &Progress::default()),
            Some(Style::Bar) => self.open_bar(world, frame),
        }
    }

    fn open_bar(&self, world: &mut WorldProgress, frame: Option<i32>) {
        let bar = ProgressBar::with_draw_target(Some(BAR_LENGTH), ProgressDrawTarget::stderr());
        let template = "{prefix}[{wide_bar}] {msg} {elapsed}, {eta} left";
        bar.set_style(ProgressStyle::with_template(template).expect("the template is valid").progress_chars("=> "));
        bar.set_prefix(frame.map(|frame| format!("frame {frame} ")).unwrap_or_default());
        self.messages.set_bar(Some(bar.clone()));
        world.bar = Some(bar);
    }

    fn close_bar(&self, world: &mut WorldProgress) {
        if let Some(bar) = world.bar.take() {
            self.messages.set_bar(None);
            bar.finish_and_clear();
        }
    }

    /// Textures that a scene requests have a bar of their own, between those of worlds.
    fn show_bar(&self, world: &mut WorldProgress, progress: &Progress) {
        let fraction = match (&progress.activity, world.begun) {
            (_, true) => progress.drawn,
            (Activity::MakingTexture { fraction, .. }, false) => *fraction,
            (_, false) => return self.close_bar(world),
        };
        if world.bar.is_none() {
            self.open_bar(world, None);
        }
        if let Some(bar) = &world.bar {
            let position = (fraction * BAR_LENGTH as f64) as u64;
            // Pictures do not fall back; the next texture begins at 0.
            bar.set_position(if world.begun { bar.position().max(position) } else { position });
            bar.set_message(describe(progress));
        }
    }
}

/// Returns what the render is doing, in words.
fn describe(progress: &Progress) -> String {
    match &progress.activity {
        Activity::Reading => "reading".to_string(),
        Activity::Preparing => "compiling shaders".to_string(),
        Activity::Compiling { kernel, waited, ready, all } => {
            let waited = waited.as_secs();
            let waited = if waited > 0 { format!(", {waited} s") } else { String::new() };
            format!("compiling kernel {kernel}{waited} ({ready} of {all} are ready)")
        }
        Activity::Counting { fraction, grids } => format!("counting: {:.1}%, {grids} grids", fraction * 100.0),
        Activity::Drawing => format!("drawing: {:.1}%", progress.drawn * 100.0),
        Activity::Writing => "writing".to_string(),
        Activity::MakingTexture { name, fraction } => format!("making {name}: {:.0}%", fraction * 100.0),
    }
}

impl Observer for Watcher {
    fn notify(&self, event: Event) {
        let mut world = self.world.lock();
        match event {
            Event::WorldBegin { frame } => self.begin(&mut world, frame),
            Event::Progress(progress) => match self.style {
                Some(Style::Percent) => self.show_line(&mut world, &progress),
                Some(Style::Bar) => self.show_bar(&mut world, &progress),
                None => {}
            },
            Event::WorldEnd => {
                world.begun = false;
                self.close_bar(&mut world);
            }
            Event::Overdue => {
                self.messages.error("the render does not end although its time is over: it is given up as it is");
                interrupt::exit_at_once(LIMIT_REACHED);
            }
        }
    }

    fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }
}

/// Reports an interrupt with `message` as soon as it is raised, while `act` runs.
pub(super) fn report_interrupt<T>(
    interrupt: &Interrupt,
    messages: &MessageStream,
    message: &str,
    act: impl FnOnce() -> T,
) -> T {
    let done = Arc::new(AtomicBool::new(false));
    thread::scope(|scope| {
        let ended = Arc::clone(&done);
        let watching = scope.spawn(move || {
            while !interrupt.is_raised() {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                thread::park_timeout(INTERRUPT_POLL);
            }
            // The renderer reports a limit itself.
            if interrupt.limit().is_none() {
                messages.line(message);
            }
        });
        // Also when `act` panics: the scope waits for the thread.
        let _ended = EndsWatching { done: &done, watching: watching.thread() };
        act()
    })
}

/// Ends the thread of [`report_interrupt`] when it is dropped.
struct EndsWatching<'a> {
    done: &'a AtomicBool,
    watching: &'a thread::Thread,
}

impl Drop for EndsWatching<'_> {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        self.watching.unpark();
    }
}
