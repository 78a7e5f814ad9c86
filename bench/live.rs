//! How soon live sessions answer: cameras are edited as fast as a hand moves, and pictures are stopped at random.
//!
//!     cargo bench --bench live -- SCENE.rib... [--devices WHICH] [--edits N]
//!
//! For each scene: the latency of the first picture after an edit and of final ones, and the time from the edit that
//! stops a picture until the devices are idle, as median, 95% and most.

use anthill::live::{LiveEdit, LiveEvent, LiveOptions, LiveSession};
use anthill::options::RenderOptions;
use anthill::scene::Projection;
use anthill::stats::{LivePictureState, LivePictureStats};
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::Duration;

fn main() {
    let (mut scenes, mut devices, mut edits) = (Vec::new(), "all".to_owned(), 200_u64);
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--devices" => devices = args.next().expect("--devices WHICH"),
            "--edits" => edits = args.next().and_then(|count| count.parse().ok()).expect("--edits N"),
            _ => scenes.push(PathBuf::from(arg)),
        }
    }
    for scene in scenes {
        println!("{}", scene.display());
        let render = RenderOptions { scenes: vec![scene], devices: devices.clone(), ..RenderOptions::default() };
        measure(render, edits);
    }
}

fn measure(render: RenderOptions, edits: u64) {
    let (sender, events) = channel();
    let options = LiveOptions { watch: false, ..LiveOptions::new(render) };
    let session = LiveSession::begin(options, move |event| drop(sender.send(event))).expect("a session");
    let wait = |wanted: u64| {
        let is_end = |event: &LiveEvent| matches!(event, LiveEvent::Finished { revision } | LiveEvent::Refused { revision } if *revision == wanted);
        while events.recv().is_ok_and(|event| !is_end(&event)) && !session.has_ended() {}
    };
    wait(0);
    let mut state = 1_u64;
    for number in 0..edits {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let fov_degrees = 30.0 + (state >> 40) as f64 / (1 << 24) as f64 * 20.0;
        let revision = session.edit([LiveEdit::new("camera", move |world, _| {
            world.camera.projection = Projection::Perspective { fov_degrees };
            true
        })
        .replacing("camera")]);
        // Every tenth is looked at until it is final.
        if number % 10 == 9 {
            wait(revision);
        } else {
            std::thread::sleep(Duration::from_millis(5 + (state >> 33) % 400));
        }
    }
    let outcome = session.finish();
    let rows = outcome.stats.live.map(|live| live.pictures).unwrap_or_default();
    let times = |wanted: &dyn Fn(&&LivePictureStats) -> bool, time: fn(&LivePictureStats) -> Duration| {
        rows.iter().filter(wanted).map(time).collect::<Vec<_>>()
    };
    let whole = |level: u32| move |row: &&LivePictureStats| row.level == level && row.state == LivePictureState::Whole;
    print_times("coarse pictures", times(&whole(0), |row| row.latency));
    print_times("final pictures", times(&whole(2), |row| row.latency));
    print_times("from cancel to idle", times(&|row| !row.cancel.is_zero(), |row| row.cancel));
}

fn print_times(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let ms = |place: usize| times.get(place.min(times.len().saturating_sub(1))).map_or(0.0, |t| t.as_secs_f64() * 1e3);
    let [median, most_of, most] = [times.len() / 2, times.len() * 95 / 100, times.len()].map(ms);
    println!("  {what}: {} of them, median {median:.0} ms, 95% {most_of:.0} ms, most {most:.0} ms", times.len());
}
