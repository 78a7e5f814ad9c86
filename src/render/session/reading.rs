//! Reads scenes, and hands on their worlds while earlier ones are drawn.

use crate::diagnostic::Reporter;
use crate::film::Film;
use crate::host_memory::{Charge, HostMemory};
use crate::options::RenderOptions;
use crate::progress::Interrupt;
use crate::rib::{self, RequestedTexture};
use crate::scene::{Camera, Options, SearchPaths, World};
use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, bounded, never};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Worlds that may wait to be drawn while others are read.
const READ_AHEAD: usize = 1;
/// The longest wait for a thread that reads, when the user has stopped the render.
const ABANDON_READING: Duration = Duration::from_millis(300);
/// How often to check whether reading waits for memory, and whether to stop, while worlds are gathered.
pub(super) const STARVED_POLL: Duration = Duration::from_millis(20);

/// What came of reading the scenes.
#[derive(Default)]
pub(super) struct ReadSummary {
    /// The time that reading took, waiting excluded.
    pub took: Duration,
    /// The number of worlds read.
    pub worlds: u64,
    /// The number of requests for textures.
    pub textures: u64,
    /// Whether a scene could not be read whole.
    pub unreadable: bool,
    /// Whether it ended because the render was stopped, or before all that was read was taken.
    pub cut_short: bool,
    /// The number of requests for geometry that is not supported or not valid.
    pub left_out: u64,
}

/// What was read of a scene, in its order.
pub(super) enum ReadItem {
    /// A world to draw.
    World(Box<ReadWorld>),
    /// A texture to make, and a charge that is lent until it is made.
    Texture(Box<RequestedTexture>, Charge),
    /// Reading goes on when everything before is done.
    Settle(Sender<()>),
}

/// A world that waits to be drawn.
pub(super) struct ReadWorld {
    pub world: World,
    /// The charge for the memory that the world holds.
    pub charge: Arc<Charge>,
}

/// Sends worlds to be drawn and textures to be made as they are read, except those of frames that are not wanted.
struct WorldSender<'a> {
    options: &'a RenderOptions,
    memory: &'a Arc<HostMemory>,
    items: Sender<ReadItem>,
    outlines: Sender<World>,
    /// No more worlds are drawn once one of them is raised.
    stop: &'a [Interrupt; 2],
    /// Worlds read so far, in all scenes.
    count: i32,
    /// The time spent waiting for earlier worlds to be drawn.
    waited: Duration,
}

impl WorldSender<'_> {
    /// Whether the world that is being read is to be drawn. A world without FrameBegin has the number of its position
    /// as its frame.
    fn wants(&self, options: &Options) -> bool {
        let frame = options.frame.unwrap_or(self.count.saturating_add(1));
        self.options.frames.as_ref().is_none_or(|frames| frames.contains(frame))
    }

    /// Sends an item, and says whether to read on.
    fn send(&mut self, item: ReadItem) -> ControlFlow<()> {
        let full = Instant::now();
        // Sending fails when no more worlds are drawn.
        let _ = self.items.send(item);
        self.waited += full.elapsed();
        self.goes_on()
    }

    fn goes_on(&self) -> ControlFlow<()> {
        let stops = self.stop.iter().any(Interrupt::is_raised);
        if stops { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl rib::WorldConsumer for WorldSender<'_> {
    fn film_bytes(&self, options: &Options, camera: &Camera) -> u64 {
        if self.wants(options) { Film::bytes_of(options, camera) } else { 0 }
    }

    fn foresee(&mut self, outline: World) {
        if !self.options.check && self.wants(&outline.options) {
            // While a world is drawn, the devices have enough to do.
            let _ = self.outlines.try_send(outline);
        }
    }

    fn take(&mut self, world: World, charge: Arc<Charge>) -> ControlFlow<()> {
        let wanted = self.wants(&world.options);
        self.count = self.count.saturating_add(1);
        if !wanted {
            return self.goes_on();
        }
        self.send(ReadItem::World(Box::new(ReadWorld { world, charge })))
    }

    fn make(&mut self, texture: RequestedTexture) -> ControlFlow<()> {
        // One between frames is for all of them.
        let frames = self.options.frames.as_ref().zip(texture.frame);
        if self.options.check || frames.is_some_and(|(frames, frame)| !frames.contains(frame)) {
            return self.goes_on();
        }
        let charge = Charge::new(self.memory);
        charge.lend();
        self.send(ReadItem::Texture(Box::new(texture), charge))
    }

    fn settle(&mut self) {
        let (done, settled) = bounded(1);
        let began = Instant::now();
        let _ = self.items.send(ReadItem::Settle(done));
        // Fails when no more worlds are drawn.
        let _ = settled.recv();
        self.waited += began.elapsed();
    }
}

/// Reading that goes on while devices are opened and worlds are drawn. Dropped, it ends.
pub(super) struct BegunReading {
    /// What was read, in order.
    pub items: Receiver<ReadItem>,
    /// The latest outline of the world that is being read.
    pub outlines: Receiver<World>,
    /// What comes of it; `None` once it was waited for.
    summary: Option<Receiver<ReadSummary>>,
    stop: Interrupt,
    interrupt: Interrupt,
}

impl BegunReading {
    /// Begins to read the scenes of `options`; `interrupt` ends it early.
    pub(super) fn begin(
        options: &RenderOptions,
        reporter: &Arc<Reporter>,
        memory: &Arc<HostMemory>,
        interrupt: &Interrupt,
    ) -> Self {
        let (sender, items) = bounded(READ_AHEAD);
        let (outline_sender, outlines) = bounded(1);
        let stop = Interrupt::default();
        let reading = SceneReading {
            options: options.clone(),
            memory: Arc::clone(memory),
            reporter: Arc::clone(reporter),
            items: sender,
            outlines: outline_sender,
            stop: [stop.clone(), interrupt.clone()],
        };
        Self { items, outlines, summary: Some(reading.begin()), stop, interrupt: interrupt.clone() }
    }

    /// Returns a reader that only hands on what these channels get.
    #[cfg(test)]
    pub(super) fn of_channels(items: Receiver<ReadItem>, outlines: Receiver<World>) -> Self {
        Self { items, outlines, summary: None, stop: Interrupt::default(), interrupt: Interrupt::default() }
    }

    /// Drops outlines, which keep geometry alive, of a world that was read.
    pub(super) fn drop_outlines(&self) {
        self.outlines.try_iter().for_each(drop);
    }

    /// Whether all is read, and was taken.
    pub(super) fn is_over(&self) -> bool {
        // The summary comes after all items.
        self.summary.as_ref().is_some_and(|summary| !summary.is_empty()) && self.items.is_empty()
    }

    /// Ends it, and returns what came of it. A thread that waits for input when the user stops the render is left
    /// behind.
    pub(super) fn end(mut self) -> ReadSummary {
        // It may wait for memory of worlds that are no longer drawn; this ends it.
        self.stop.raise();
        let mut untaken = 0;
        loop {
            match self.items.recv_timeout(STARVED_POLL) {
                Ok(_) => untaken += 1,
                Err(RecvTimeoutError::Timeout) if !self.interrupt.is_raised() => {}
                Err(_) => break,
            }
        }
        self.items = never();
        let Some(summary) = self.summary.take() else { return ReadSummary::default() };
        let read = match self.interrupt.is_raised() {
            true => summary.recv_timeout(ABANDON_READING),
            false => summary.recv().map_err(Into::into),
        };
        let left_behind = ReadSummary { cut_short: true, ..ReadSummary::default() };
        read.map_or(left_behind, |read| ReadSummary { cut_short: read.cut_short || untaken > 0, ..read })
    }
}

impl Drop for BegunReading {
    /// Ends reading if it still goes on, so that it reports nothing later. Waits no longer than an interrupt would.
    fn drop(&mut self) {
        self.stop.raise();
        self.items = never();
        if let Some(summary) = self.summary.take() {
            let _ = summary.recv_timeout(ABANDON_READING);
        }
    }
}

/// Reading of all scenes, which sends each world as it is complete.
struct SceneReading {
    options: RenderOptions,
    memory: Arc<HostMemory>,
    reporter: Arc<Reporter>,
    items: Sender<ReadItem>,
    outlines: Sender<World>,
    /// What ends it early.
    stop: [Interrupt; 2],
}

impl SceneReading {
    /// Reads on a thread of its own; the summary comes when it is done.
    fn begin(self) -> Receiver<ReadSummary> {
        let (done, summary) = bounded(1);
        std::thread::spawn(move || {
            let read = self.read();
            // Nobody waits for it after an interrupt.
            let _ = done.send(read);
        });
        summary
    }

    fn read(self) -> ReadSummary {
        let Self { options, memory, reporter, items, outlines, stop } = &self;
        let settings = settings(options, memory, &stop[1]);
        let begin = Instant::now();
        let (items, outlines) = (items.clone(), outlines.clone());
        let mut sender = WorldSender { options, memory, items, outlines, stop, count: 0, waited: Duration::ZERO };
        let inputs: Vec<_> = options.scenes.iter().map(rib::Input::from_argument).collect();
        let summary = rib::read_stream(&inputs, &settings, reporter, &mut sender);
        let end = Instant::now();
        options.trace.track("reading").slice("read", begin, end, &[("waited, s", sender.waited.as_secs_f64())]);
        let ended = matches!(summary.stopped, Some(rib::Stopped::Unreadable | rib::Stopped::Aborted));
        ReadSummary {
            took: (end - begin).saturating_sub(sender.waited),
            worlds: u64::from(summary.worlds),
            textures: u64::from(summary.textures),
            unreadable: summary.incomplete || ended,
            cut_short: summary.stopped == Some(rib::Stopped::Consumer),
            left_out: summary.left_out,
        }
    }
}

fn settings(options: &RenderOptions, memory: &Arc<HostMemory>, interrupt: &Interrupt) -> rib::Settings {
    let overrides = &options.overrides;
    rib::Settings {
        overrides: rib::RibOverrides {
            format: overrides.format,
            crop: overrides.crop,
            overscan: overrides.overscan,
            pixel_samples: overrides.samples,
            shading_rate: overrides.shading_rate,
            texture_memory_kib: options.texture_memory_bytes.map(|bytes| {
                // 4 TiB are as good as no limit.
                u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX)
            }),
        },
        search: SearchPaths::default(),
        search_first: options.search_first.clone(),
        search_last: options.search_last.clone(),
        prologue: options.prologue.clone(),
        programs: options.programs,
        edits: options.edits.iter().map(rib::Input::from_argument).collect(),
        is_live: false,
        limits: rib::Limits::default(),
        memory: Arc::clone(memory),
        interrupt: interrupt.clone(),
        files: Arc::clone(&options.files),
    }
}
