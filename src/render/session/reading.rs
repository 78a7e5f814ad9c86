//! Reads scenes, and hands on their worlds while earlier ones are drawn.

use crate::diagnostic::Reporter;
use crate::film::Film;
use crate::host_memory::{Charge, HostMemory};
use crate::options::RenderOptions;
use crate::progress::Interrupt;
use crate::rib::{self, RequestedTexture};
use crate::scene::{Camera, Options, SearchPaths, World};
use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, bounded, never, unbounded};
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
    /// The number of requests for geometry that is not supported or not valid.
    pub left_out: u64,
}

/// What was read of a scene, in its order.
pub(super) enum ReadItem {
    /// A world to draw.
    World(Box<ReadWorld>),
    /// A texture to make.
    Texture(Box<RequestedTexture>),
    /// Reading goes on when everything before is done.
    Settle(Sender<()>),
}

/// A world that waits to be drawn.
pub(super) struct ReadWorld {
    pub world: World,
    /// The charge for the memory that the world holds.
    pub charge: Arc<Charge>,
}

/// The items, as they are read.
pub(super) struct ReadItems {
    items: Receiver<ReadItem>,
    /// One for each world among them; where it is full, reading waits. Requests for textures are small: any number may
    /// wait, so that the world behind them is read while they are made.
    worlds: Receiver<()>,
}

impl ReadItems {
    /// No items: sending to the earlier ones fails from now on.
    fn none() -> Self {
        Self { items: never(), worlds: never() }
    }

    /// Takes the next one, in the order of the scene.
    pub(super) fn take(&self, timeout: Duration) -> Result<ReadItem, RecvTimeoutError> {
        let item = self.items.recv_timeout(timeout)?;
        if matches!(item, ReadItem::World(_)) {
            // It was counted before it was sent.
            let _ = self.worlds.try_recv();
        }
        Ok(item)
    }
}

/// Sends worlds to be drawn and textures to be made as they are read, except those of frames that are not wanted.
struct WorldSender<'a> {
    options: &'a RenderOptions,
    items: Sender<ReadItem>,
    worlds: Sender<()>,
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
        // Sending fails when no more worlds are drawn.
        if matches!(item, ReadItem::World(_)) {
            let full = Instant::now();
            let _ = self.worlds.send(());
            self.waited += full.elapsed();
        }
        let _ = self.items.send(item);
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
        self.send(ReadItem::Texture(Box::new(texture)))
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
    pub items: ReadItems,
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
        let (item_sender, items) = unbounded();
        let (world_sender, worlds) = bounded(READ_AHEAD);
        let stop = Interrupt::default();
        let reading = SceneReading {
            options: options.clone(),
            memory: Arc::clone(memory),
            reporter: Arc::clone(reporter),
            items: item_sender,
            worlds: world_sender,
            stop: [stop.clone(), interrupt.clone()],
        };
        let items = ReadItems { items, worlds };
        Self { items, summary: Some(reading.begin()), stop, interrupt: interrupt.clone() }
    }

    /// Ends it, and returns what came of it. A thread that waits for input when the user stops the render is left
    /// behind.
    pub(super) fn end(mut self) -> ReadSummary {
        // It may wait for memory of worlds that are not drawn any more; this ends it.
        self.stop.raise();
        loop {
            match self.items.take(STARVED_POLL) {
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) if !self.interrupt.is_raised() => {}
                Err(_) => break,
            }
        }
        self.items = ReadItems::none();
        let Some(summary) = self.summary.take() else { return ReadSummary::default() };
        match self.interrupt.is_raised() {
            true => summary.recv_timeout(ABANDON_READING),
            false => summary.recv().map_err(Into::into),
        }
        .unwrap_or_default()
    }
}

impl Drop for BegunReading {
    /// Ends reading if it still goes on, so that it reports nothing later. Waits no longer than an interrupt would.
    fn drop(&mut self) {
        self.stop.raise();
        self.items = ReadItems::none();
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
    worlds: Sender<()>,
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
        let Self { options, memory, reporter, items, worlds, stop } = &self;
        let settings = settings(options, memory, &stop[1]);
        let begin = Instant::now();
        let (items, worlds) = (items.clone(), worlds.clone());
        let mut sender = WorldSender { options, items, worlds, stop, count: 0, waited: Duration::ZERO };
        let inputs: Vec<_> = options.scenes.iter().map(rib::Input::from_argument).collect();
        let summary = rib::read_stream(&inputs, &settings, reporter, &mut sender);
        let ended = matches!(summary.stopped, Some(rib::Stopped::Unreadable | rib::Stopped::Aborted));
        ReadSummary {
            took: begin.elapsed().saturating_sub(sender.waited),
            worlds: u64::from(summary.worlds),
            textures: u64::from(summary.textures),
            unreadable: summary.incomplete || ended,
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
        limits: rib::Limits::default(),
        memory: Arc::clone(memory),
        interrupt: interrupt.clone(),
        files: Arc::clone(&options.files),
    }
}

#[cfg(test)]
mod tests {
    use super::{BegunReading, READ_AHEAD, ReadItem};
    use crate::diagnostic::Reporter;
    use crate::host_memory::HostMemory;
    use crate::options::RenderOptions;
    use crate::progress::Interrupt;
    use std::sync::Arc;
    use std::time::Duration;

    const TEXTURE: &str = "MakeTexture \"a.tif\" \"a.tx\" \"black\" \"black\" \"box\" 1 1\n";
    const WORLD: &str = "WorldBegin\nSphere 1 -1 1 360\nWorldEnd\n";

    /// Begins to read a scene; what comes of that within some time though nothing is taken, and then whether each item
    /// is a world.
    fn read(scene: &str, wait: Duration) -> (Option<(u64, u64)>, Vec<bool>) {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let path = folder.path().join("a.rib");
        std::fs::write(&path, scene).expect("writable");
        let options = RenderOptions { scenes: vec![path], ..RenderOptions::default() };
        let (reporter, memory) = (Arc::new(Reporter::silent()), HostMemory::new(1 << 30));
        let reading = BegunReading::begin(&options, &reporter, &memory, &Interrupt::default());
        let summary = reading.summary.as_ref().and_then(|summary| summary.recv_timeout(wait).ok());
        let items = std::iter::from_fn(|| reading.items.take(Duration::from_secs(60)).ok());
        let are_worlds = items.map(|item| matches!(item, ReadItem::World(_))).collect();
        (summary.map(|summary| (summary.worlds, summary.textures)), are_worlds)
    }

    #[test]
    fn a_world_is_read_while_textures_wait_to_be_made() {
        let scene = format!("{}{WORLD}", TEXTURE.repeat(4));
        let whole = read(&scene, Duration::from_secs(60));
        assert_eq!(whole, (Some((1, 4)), vec![false, false, false, false, true]));
    }

    #[test]
    fn one_world_waits_to_be_drawn() {
        let worlds = READ_AHEAD + 1;
        let (early, are_worlds) = read(&WORLD.repeat(worlds), Duration::from_millis(500));
        assert_eq!((early, are_worlds), (None, vec![true; worlds]));
    }
}
