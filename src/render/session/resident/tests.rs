use super::*;
use crate::diagnostic::Reporter;
use crate::gpu::{OpenOptions, open_each};
use crate::host_memory::{Charge, HostMemory};
use crate::options::RenderOptions;
use crate::render::session::draw::{Session, SessionSetup, is_whole};
use crate::render::session::limits::RenderLimits;
use crate::render::session::progress_ticker::ProgressTicker;
use crate::render::session::tuning::Tuning;
use crate::rib;
use crate::scene::{Attributes, Light, ParamValue, ShaderInstance, ShaderParam};
use glam::{DMat4, DVec3};
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

fn world(text: &str) -> World {
    let mut worlds = Vec::new();
    let input = rib::Input::Memory { name: "t.rib".to_owned(), bytes: text.into() };
    rib::read(&input, &rib::Settings::default(), &Reporter::silent(), &mut |world: World| {
        worlds.push(world);
        ControlFlow::Continue(())
    });
    worlds.remove(0)
}

/// Opens devices and has them draw; no message may come.
fn with_session(devices: &str, tuning: Tuning, act: impl FnOnce(&mut Session<'_>)) {
    let (options, reporter) = (RenderOptions::default(), Arc::new(Reporter::silent()));
    let ticker = ProgressTicker::new(&(), RenderLimits::new(&options, &reporter));
    let compile_log = Arc::clone(&ticker.compile_log);
    let open_options = OpenOptions { validate: true, compile_log, ..OpenOptions::new(Arc::clone(&reporter)) };
    let openings = open_each(devices, &open_options).expect("there are devices");
    let slots: Vec<_> = openings.into_iter().map(|opening| DeviceSlot::new(opening, &open_options)).collect();
    let memory = HostMemory::new(u64::MAX);
    let setup = SessionSetup { options: &options, reporter: &reporter, ticker: &ticker, tuning, memory };
    act(&mut Session::new(setup, slots));
    assert!(reporter.all().is_empty(), "{:?}", reporter.all());
}

/// Draws a world and returns the file of its display, which is a new one in `folder`.
fn draw(session: &mut Session<'_>, world: &World, folder: &Path) -> Vec<u8> {
    let mut world = world.clone();
    let file = folder.join(format!("{}.exr", session.world_count()));
    world.options.displays[0].name = file.display().to_string();
    let charge = Charge::new(&session.memory);
    let displays = session.draw(world, &charge, false).displays;
    assert!(displays.len() == 1 && displays.iter().all(is_whole));
    fs::read(file).expect("it was written")
}

const SCENE: &str = concat!(
    "Option \"searchpath\" \"string shader\" [\"",
    env!("CARGO_MANIFEST_DIR"),
    "/scenes/shaders\"]
    Display \"t\" \"exr\" \"rgba\" Format 40 30 1 PixelSamples 3 2 Projection \"perspective\" \"fov\" 40
    Translate 0 0 6
    WorldBegin
    LightSource \"pointlight\" \"l\" \"from\" [3 4 -5] \"intensity\" 30
    AttributeBegin Surface \"plastic\" \"Ks\" 0.4 Color 0.8 0.3 0.2 Sphere 1.2 -1.2 1.2 360 AttributeEnd
    AttributeBegin Surface \"matte\" Translate 0.6 0.3 -0.8 Opacity 0.5 0.6 0.7
    Polygon \"P\" [-1 -1 0 1 -1 0 1 1 0 -1 1 0] AttributeEnd
    AttributeBegin Translate -1 -0.5 0 Displacement \"scales\" Attribute \"displacementbound\" \"sphere\" [0.2]
    Surface \"matte\" Torus 0.6 0.2 0 360 360 AttributeEnd
    WorldEnd"
);

type EditWorld = Box<dyn Fn(&mut World)>;

fn of_attributes(which: usize, edit: impl Fn(&mut Attributes) + 'static) -> EditWorld {
    Box::new(move |world| edit(Arc::make_mut(&mut world.drawables[which].attributes)))
}

fn set(shader: &ShaderInstance, name: &str, value: f32) -> ShaderInstance {
    let mut shader = shader.clone();
    shader.params.retain(|param| &*param.name != name);
    shader.params.push(ShaderParam { name: name.into(), ty: None, value: ParamValue::Floats(vec![value]) });
    shader
}

fn of_light(name: &'static str, value: f32) -> EditWorld {
    Box::new(move |world| {
        let light = (*world.lights[0]).clone();
        world.lights[0] = Arc::new(Light { shader: set(&light.shader, name, value), ..light });
    })
}

fn surface(which: usize, name: &'static str, value: f32) -> EditWorld {
    of_attributes(which, move |attributes| {
        let shader = attributes.surface.as_ref().expect("it has one");
        attributes.surface = Some(Arc::new(set(shader, name, value)));
    })
}

fn displacement(which: usize, name: &'static str, value: f32) -> EditWorld {
    of_attributes(which, move |attributes| {
        let shader = attributes.displacement.as_ref().expect("it has one");
        attributes.displacement = Some(Arc::new(set(shader, name, value)));
    })
}

/// What an edit may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cost {
    Nothing,
    /// What samples see is recalled.
    Shades,
    Hides,
    Counts,
}

impl Cost {
    /// What was made, and whether regions were recalled.
    fn of(repeated: Repeated, recalled: u64) -> Option<Self> {
        match (repeated.counted, repeated.drawn, recalled) {
            (0, 0, 0) => Some(Self::Nothing),
            (0, 1, 1..) => Some(Self::Shades),
            (0, 1, 0) => Some(Self::Hides),
            (1, 1, 0) => Some(Self::Counts),
            _ => None,
        }
    }
}

/// Edits in turn, each with what it may cost.
fn edits() -> Vec<(&'static str, EditWorld, Cost)> {
    use Cost::{Counts, Hides, Nothing, Shades};
    let moved = |world: &mut World| {
        let drawable = &mut world.drawables[0];
        let matrix = DMat4::from_translation(DVec3::new(0.3, 0.1, 0.0)) * *drawable.world_from_object.first();
        drawable.world_from_object = Arc::new(crate::scene::Motion::still(matrix));
    };
    let camera = |world: &mut World| {
        let matrix = DMat4::from_rotation_y(0.2) * *world.camera.camera_from_world.first();
        world.camera.camera_from_world = crate::scene::Motion::still(matrix);
    };
    vec![
        ("as it is", Box::new(|_: &mut World| ()), Counts),
        ("nothing", Box::new(|_: &mut World| ()), Nothing),
        ("a light's parameter", of_light("intensity", 50.0), Shades),
        ("a parameter", surface(0, "Ks", 0.9), Shades),
        ("a colour", of_attributes(0, |attributes| attributes.color = [0.1, 0.9, 0.4]), Shades),
        ("a displacement's parameter", displacement(2, "amplitude", 0.15), Hides),
        ("exposure", Box::new(|world| world.options.displays[0].parts[0].exposure = [2.0, 1.2]), Nothing),
        ("opacity", of_attributes(1, |attributes| attributes.opacity = [0.2, 0.6, 0.9]), Shades),
        ("an opaque one becomes translucent", of_attributes(0, |attributes| attributes.opacity = [0.5; 3]), Hides),
        ("a shading rate", of_attributes(0, |attributes| attributes.shading_rate = 4.0), Counts),
        ("an object moved", Box::new(moved), Counts),
        ("the camera moved", Box::new(camera), Counts),
        ("one side", of_attributes(0, |attributes| attributes.two_sided = false), Hides),
        ("samples", Box::new(|world| world.options.pixel_samples = [4, 4]), Counts),
        ("the format", Box::new(|world| world.camera.resolution = [32, 24]), Counts),
        ("another order of objects", Box::new(|world| world.drawables.swap(0, 1)), Counts),
        ("an object left out", Box::new(|world| drop(world.drawables.remove(1))), Counts),
    ]
}

fn edited_pictures_are_those_of_fresh_sessions(devices: &'static str, tuning: Tuning) {
    let [edited, fresh] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let mut pictures = Vec::new();
    with_session(devices, tuning, |session| {
        session.resident = Some(Resident { level: Some(KeptLevel::Final), ..Resident::default() });
        let mut world = world(SCENE);
        for (name, edit, expected) in edits() {
            let state = |session: &Session<'_>| {
                let repeated = session.resident.as_ref().map(|resident| resident.repeated).unwrap_or_default();
                (repeated, session.stats.counts.recalled_regions)
            };
            let before = state(session);
            edit(&mut world);
            let picture = draw(session, &world, edited.path());
            let now = state(session);
            let cost = Cost::of(now.0.since(before.0), now.1 - before.1);
            // Several devices cut the picture otherwise each time, and recall what they have kept of it, if anything.
            let may_hide = devices != "0" && expected == Cost::Shades && cost == Some(Cost::Hides);
            assert!(cost == Some(expected) || may_hide, "{name}: {cost:?}, not {expected:?}");
            pictures.push((name, world.clone(), picture));
        }
    });
    with_session("0", Tuning::default(), |session| {
        for (name, world, picture) in &pictures {
            assert!(draw(session, world, fresh.path()) == *picture, "{name}");
        }
    });
}

#[test]
fn what_an_edit_does_not_change_is_not_made_again_and_pictures_are_those_of_fresh_sessions() {
    edited_pictures_are_those_of_fresh_sessions("0", Tuning::default());
}

#[test]
fn edits_are_drawn_by_several_devices() {
    edited_pictures_are_those_of_fresh_sessions("0,0", Tuning::default());
}
