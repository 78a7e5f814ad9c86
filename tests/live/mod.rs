//! Live sessions: whatever edits come, and whenever, the final picture is that of a batch render of the edited scene.

use anthill::diagnostic::Reporter;
use anthill::live::{Fragment, Level, LiveEdit, LiveEvent, LiveOptions, LivePicture, LiveSession, render_edits};
use anthill::options::RenderOptions;
use anthill::outcome::{Ending, Outcome};
use anthill::scene::{Drawable, Motion, Projection, World};
use anthill::stats::{LivePictureState, LiveStats};
use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// What an event is waited for at most.
const PATIENCE: Duration = Duration::from_secs(120);

/// A small scene, as numbers that edits change.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Scene {
    fov: f64,
    hither: f32,
    samples: [u32; 2],
    red: f32,
    opacity: f32,
    x: f64,
    gain: f32,
}

impl Scene {
    fn base() -> Self {
        Self { fov: 40.0, hither: 0.5, samples: [2, 2], red: 1.0, opacity: 1.0, x: 0.25, gain: 1.0 }
    }

    /// Returns it as RIB.
    fn rib(&self) -> String {
        let Self { fov, hither, samples: [across, down], red, opacity, x, gain } = self;
        format!(
            "Display \"a.exr\" \"exr\" \"rgba\" \"exrpixeltype\" \"float\"\nFormat 32 24 1\nPixelSamples {across} {down}\n\
             Exposure {gain} 1\nClipping {hither} 100\nProjection \"perspective\" \"fov\" [{fov}]\nWorldBegin\n\
             LightSource \"distantlight\" 1\nSurface \"matte\"\nTranslate 0 0 5\nAttributeBegin\nColor [{red} 0.5 0.25]\n\
             Opacity [{opacity} {opacity} {opacity}]\nTranslate {x} 0 0\nSphere 1 -1 1 360\nAttributeEnd\nTranslate 0 0 1\n\
             Sphere 1.5 -1.5 1.5 360\nWorldEnd\n"
        )
    }

    /// Returns the next of random edits, and changes itself in the same way.
    fn edit(&mut self, random: &mut impl FnMut(u32) -> u32) -> LiveEdit {
        let next = *self;
        let choice = random(7);
        let step = random(4);
        let mut next = next;
        match choice {
            0 => next.fov = [20.0, 40.0, 50.0, 90.0][step as usize],
            1 => next.hither = [0.5, 1.0, 4.5, 2.0][step as usize],
            2 => next.samples = [[1, 1], [2, 2], [3, 2], [4, 4]][step as usize],
            3 => next.red = [0.0, 0.5, 1.0, 0.125][step as usize],
            4 => next.opacity = [1.0, 0.5, 0.25, 1.0][step as usize],
            5 => next.x = [-0.5, 0.25, 1.0, 0.0][step as usize],
            _ => next.gain = [1.0, 2.0, 0.5, 4.0][step as usize],
        }
        *self = next;
        let kind = ["camera", "clip", "samples", "colour", "opacity", "transform", "exposure"][choice as usize];
        LiveEdit::new(kind, move |world, _| {
            next.apply(world);
            true
        })
        .replacing("scene")
    }

    /// Edits a world of [`Self::rib`].
    fn apply(&self, world: &mut World) {
        world.camera.projection = Projection::Perspective { fov_degrees: self.fov };
        world.camera.clip[0] = self.hither;
        world.options.pixel_samples = self.samples;
        world.options.exposure[0] = self.gain;
        world.options.displays.iter_mut().flat_map(|display| &mut display.parts).for_each(|part| {
            part.exposure[0] = self.gain;
        });
        let sphere: &mut Drawable = &mut world.drawables[0];
        let attributes = Arc::make_mut(&mut sphere.attributes);
        (attributes.color[0], attributes.opacity) = (self.red, [self.opacity; 3]);
        let mut moved = *sphere.world_from_object.first();
        moved.w_axis.x = self.x;
        sphere.world_from_object = Arc::new(Motion::still(moved));
    }
}

/// Returns the same random numbers for a seed, below what they are asked for.
fn random_of(seed: u64) -> impl FnMut(u32) -> u32 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as u32 % below
    }
}

fn options(folder: &Path, rib: &str, devices: &str) -> RenderOptions {
    let scene = folder.join("a.rib");
    fs::write(&scene, rib.replace("\"a.exr\"", &format!("\"{}\"", folder.join("a.exr").display()))).expect("writable");
    RenderOptions {
        scenes: vec![scene],
        devices: devices.to_owned(),
        memory_bytes: Some(96 << 20),
        ..RenderOptions::default()
    }
}

/// Returns the file that a batch render writes.
fn batch(scene: &Scene) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let outcome = anthill::render(&options(folder.path(), &scene.rib(), "0"), &Arc::new(Reporter::silent()), &());
    assert!(matches!(outcome.ending, Ending::Finished | Ending::FaultNotReached), "{:?}", outcome.ending);
    fs::read(folder.path().join("a.exr")).expect("a picture")
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

/// A session with its events.
struct Live {
    session: LiveSession,
    events: Receiver<LiveEvent>,
}

impl Live {
    fn begin(options: LiveOptions) -> Self {
        let (sender, events) = channel();
        let session = LiveSession::begin(options, move |event| drop(sender.send(event)));
        Self { session: session.expect("it begins"), events }
    }

    /// Waits for the first event of which this makes something.
    fn wait<T>(&self, find: impl Fn(LiveEvent) -> Option<T>) -> T {
        loop {
            if let Some(found) = find(self.events.recv_timeout(PATIENCE).expect("an event in time")) {
                return found;
            }
        }
    }

    fn wait_finished(&self, revision: u64) {
        self.wait(|event| matches!(event, LiveEvent::Finished { revision: of } if of == revision).then_some(()));
    }
}

fn stats(outcome: &Outcome) -> &LiveStats {
    outcome.stats.live.as_ref().expect("it was live")
}

/// Edits a scene at random, sometimes in the middle of a picture, and compares what is written in the end.
fn check_sequence(seed: u64, devices: &str, coarse: bool) {
    let (folder, mut scene, mut random) = (folder(), Scene::base(), random_of(seed));
    let render = options(folder.path(), &scene.rib(), devices);
    let live = Live::begin(LiveOptions { coarse, writes: true, watch: false, ..LiveOptions::new(render) });
    for _ in 0..6 {
        let revision = live.session.edit([scene.edit(&mut random)]);
        match random(3) {
            0 => live.wait_finished(revision),
            1 => thread::sleep(Duration::from_millis(u64::from(random(60)))),
            _ => {}
        }
    }
    let outcome = live.session.finish();
    assert_eq!(stats(&outcome).edits, 6, "seed {seed}");
    let written = fs::read(folder.path().join("a.exr")).expect("a picture");
    assert!(written == batch(&scene), "seed {seed} on {devices}: {scene:?} differs from its batch render");
}

#[test]
fn sequences_of_edits_are_batch_renders() {
    // The first seed is another where this test is run with aids, by the test below.
    let seed: u64 = std::env::var("ANTHILL_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    check_sequence(seed, "0", true);
    check_sequence(seed + 1, "0,0", false);
}

#[test]
fn neither_faults_nor_little_memory_nor_chance_change_the_pictures() {
    let aids: [&[(&str, &str)]; 2] = [
        &[("ANTHILL_FAULT", "lost:0:60"), ("ANTHILL_PAGE_KIB", "16")],
        &[("ANTHILL_PERTURB", "5"), ("ANTHILL_BUCKET", "16")],
    ];
    let program = std::env::current_exe().expect("this program");
    for (seed, aids) in (10..).zip(aids) {
        let mut command = Command::new(&program);
        command.args(["live::sequences_of_edits_are_batch_renders", "--exact"]).envs(aids.iter().copied());
        let ran = command.env("ANTHILL_TEST_SEED", seed.to_string()).output().expect("it runs");
        assert!(ran.status.success(), "{aids:?}: {}", String::from_utf8_lossy(&ran.stdout));
    }
}

#[test]
fn errors_keep_the_last_picture_and_later_edits_mend_them() {
    let folder = folder();
    let live = Live::begin(LiveOptions {
        coarse: false,
        watch: false,
        ..LiveOptions::new(options(folder.path(), &Scene::base().rib(), "0"))
    });
    live.wait_finished(0);
    let surface = |name: &'static str| {
        LiveEdit::new("surface", move |world, _| {
            let attributes = Arc::make_mut(&mut world.drawables[0].attributes);
            let mut shader = (**attributes.surface.as_ref().expect("matte")).clone();
            shader.name = name.into();
            attributes.surface = Some(Arc::new(shader));
            true
        })
    };
    let wrong = live.session.edit([surface("nosuchshader")]);
    let mut messages = 0;
    let refused = |event| match event {
        LiveEvent::Message { revision, diagnostic } if diagnostic.code == "noshader" => {
            assert_eq!((revision, diagnostic.location.line), (wrong, 9), "{diagnostic}");
            Some(Some(()))
        }
        LiveEvent::Refused { revision } => {
            assert_eq!(revision, wrong);
            Some(None)
        }
        LiveEvent::Picture(picture) => panic!("revision {} is drawn", picture.revision),
        _ => None,
    };
    while live.wait(refused).is_some() {
        messages += 1;
    }
    assert_eq!(messages, 1);
    // Nothing in view is refused as well.
    let clip = |near: f32, far: f32| {
        LiveEdit::new("clip", move |world, _| {
            world.camera.clip = [near, far];
            true
        })
    };
    let empty = live.session.edit([surface("matte"), clip(0.25, 0.5)]);
    live.wait(|event| matches!(event, LiveEvent::Refused { revision } if revision == empty).then_some(()));
    let mended = live.session.edit([clip(0.5, 100.0)]);
    let picture = live.wait(|event| match event {
        LiveEvent::Picture(picture) => Some(picture),
        _ => None,
    });
    let LivePicture { revision, level, rectangle, channels, pixels } = picture;
    assert_eq!((revision, level, rectangle), (mended, Level::Final, [0, 0, 32, 24]));
    assert_eq!((channels.join(" "), pixels.len()), ("R G B A".into(), 32 * 24 * 4));
    assert!(!folder.path().join("a.exr").exists(), "nothing was to be written");
    live.session.save();
    live.wait(|event| matches!(event, LiveEvent::Written { .. }).then_some(()));
    assert!(folder.path().join("a.exr").exists());
    let outcome = live.session.stop();
    let states: Vec<_> = stats(&outcome).pictures.iter().map(|picture| picture.state).collect();
    assert_eq!(states.iter().filter(|state| **state == LivePictureState::Refused).count(), 2, "{states:?}");
}

#[test]
fn a_thousand_edits_are_few_pictures_and_the_coarse_ones_come_first() {
    let folder = folder();
    let live = Live::begin(LiveOptions {
        watch: false,
        ..LiveOptions::new(options(folder.path(), &Scene::base().rib(), "0"))
    });
    let first = live.wait(|event| match event {
        LiveEvent::Picture(picture) => Some(picture),
        _ => None,
    });
    assert_eq!((first.level, first.rectangle), (Level::Coarse { divider: 4 }, [0, 0, 8, 6]));
    for _ in 0..1000 {
        live.session.edit([LiveEdit::new("camera", |world, _| {
            world.camera.projection = Projection::Perspective { fov_degrees: 30.0 };
            true
        })
        .replacing("camera")]);
    }
    let outcome = live.session.finish();
    let live = stats(&outcome);
    assert_eq!(live.edits, 1000);
    assert!(live.pictures_begun < 1000, "{} pictures", live.pictures_begun);
    let last = live.pictures.last().expect("a picture");
    assert_eq!((last.revision, last.level, last.state), (1000, 2, LivePictureState::Whole));
    assert!(outcome.stats.worlds.len() <= 1, "{} worlds", outcome.stats.worlds.len());
}

#[test]
fn saved_files_are_edits_and_deleted_ones_keep_the_picture() {
    let folder = folder();
    let rib = Scene::base().rib().replace("\"matte\"", "\"own\"");
    let shader = folder.path().join("own.sl");
    fs::write(&shader, "surface own() { Ci = 1; Oi = 1; }").expect("writable");
    let render = RenderOptions {
        prologue: vec![format!("Option \"searchpath\" \"shader\" \"{}\"", folder.path().display())],
        ..options(folder.path(), &rib, "0")
    };
    let live = Live::begin(LiveOptions { coarse: false, ..LiveOptions::new(render) });
    live.wait_finished(0);
    let red_of = |event| match event {
        LiveEvent::Picture(LivePicture { pixels, .. }) => Some(pixels[(12 * 32 + 16) * 4]),
        _ => None,
    };
    fs::write(&shader, "surface own() { Ci = 0.25; Oi = 1; }").expect("writable");
    assert_eq!(live.wait(red_of), 0.25);
    let scene = folder.path().join("a.rib");
    let text = fs::read_to_string(&scene)
        .expect("readable")
        .replace("WorldEnd", "Surface \"constant\" Color [4 4 4] Translate 0 0 -3 Sphere 1 -1 1 360\nWorldEnd");
    fs::write(&scene, text).expect("writable");
    assert_eq!(live.wait(red_of), 4.0);
    fs::remove_file(&scene).expect("it is there");
    let message = live.wait(|event| match event {
        LiveEvent::Message { diagnostic, .. } => Some(diagnostic.message),
        _ => None,
    });
    assert!(message.contains("a.rib\" is gone"), "{message}");
    live.session.stop();
}

#[test]
fn a_stream_of_fragments_ends_with_the_batch_render_of_its_last() {
    let folder = folder();
    let edited = Scene { fov: 50.0, red: 0.5, ..Scene::base() };
    let input = Cursor::new("one EditEnd two EditEnd");
    let mut fragments = 0;
    let read = move |_: &Fragment| {
        fragments += 1;
        let scene = Scene { red: edited.red, ..if fragments == 2 { edited } else { Scene::base() } };
        vec![LiveEdit::new("scene", move |world, _| {
            scene.apply(world);
            true
        })]
    };
    let render = options(folder.path(), &Scene::base().rib(), "0");
    let outcome = render_edits(&render, &Arc::new(Reporter::silent()), &(), input, Box::new(read));
    assert_eq!((outcome.ending, outcome.displays.len(), stats(&outcome).edits), (Ending::Finished, 1, 2));
    assert!(fs::read(folder.path().join("a.exr")).expect("a picture") == batch(&edited));
}
