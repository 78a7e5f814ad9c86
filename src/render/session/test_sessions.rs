//! Sessions, outlines and worlds for tests.

use crate::diagnostic::Reporter;
use crate::gpu::{OpenOptions, open_each};
use crate::host_memory::{Charge, HostMemory};
use crate::options::RenderOptions;
use crate::render::session::devices::DeviceSlot;
use crate::render::session::draw::{Session, SessionSetup};
use crate::render::session::limits::RenderLimits;
use crate::render::session::progress_ticker::ProgressTicker;
use crate::render::session::tuning::Tuning;
use crate::rib;
use crate::scene::World;
use std::ops::ControlFlow;
use std::sync::Arc;

/// What a scene was read as.
#[derive(Default)]
pub(super) struct ReadScene {
    pub outlines: Vec<World>,
    pub worlds: Vec<World>,
}

impl rib::WorldConsumer for ReadScene {
    fn foresee(&mut self, outline: World) {
        self.outlines.push(outline);
    }

    fn take(&mut self, world: World, _: Arc<Charge>) -> ControlFlow<()> {
        self.worlds.push(world);
        ControlFlow::Continue(())
    }
}

pub(super) fn read(text: String) -> ReadScene {
    let (reporter, mut scene) = (Arc::new(Reporter::silent()), ReadScene::default());
    let input = rib::Input::Memory { name: "t.rib".to_owned(), bytes: text.into() };
    rib::read(&input, &rib::Settings::default(), &reporter, &mut scene);
    scene
}

/// Hands a session to a test, with the devices of these numbers if any are named; no message may come of it.
pub(super) fn with_session(devices: Option<&str>, test: impl FnOnce(&mut Session<'_>)) {
    let (options, reporter) = (RenderOptions::default(), Arc::new(Reporter::silent()));
    let ticker = ProgressTicker::new(&(), RenderLimits::new(&options, &reporter));
    let open_options = OpenOptions {
        validate: true,
        compile_log: Arc::clone(&ticker.compile_log),
        ..OpenOptions::new(Arc::clone(&reporter))
    };
    let openings = devices.map(|devices| open_each(devices, &open_options).expect("there are such devices"));
    let slots = openings.into_iter().flatten().map(|opening| DeviceSlot::new(opening, &open_options)).collect();
    let (tuning, memory) = (Tuning::default(), HostMemory::new(u64::MAX));
    let setup = SessionSetup { options: &options, reporter: &reporter, ticker: &ticker, tuning, memory };
    test(&mut Session::new(setup, slots));
    assert!(reporter.all().is_empty(), "{:?}", reporter.all());
}
