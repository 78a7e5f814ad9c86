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

const SCENE: &str = "
    Display \"t\" \"exr\" \"rgba\" Format 40 30 1 PixelSamples 3 2 Projection \"perspective\" \"fov\" 40
    Translate 0 0 6
    WorldBegin
    LightSource \"pointlight\" \"l\" \"from\" [3 4 -5] \"intensity\" 30
    AttributeBegin Surface \"plastic\" \"Ks\" 0.4 Color 0.8 0.3 0.2 Sphere 1.2 -1.2 1.2 360 AttributeEnd
    AttributeBegin Surface \"matte\" Translate 0.6 0.3 -0.8 Opacity 0.5 0.6 0.7
    Polygon \"P\" [-1 -1 0 1 -1 0 1 1 0 -1 1 0] AttributeEnd
    AttributeBegin Translate -1 -0.5 0 Displacement \"bumpy\" Attribute \"displacementbound\" \"sphere\" [0.2]
    Surface \"matte\" Torus 0.6 0.2 0 360 360 AttributeEnd
    WorldEnd";

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

/// Edits in turn, each with how many counting passes and films it takes.
fn edits() -> Vec<(&'static str, EditWorld, Repeated)> {
    let nothing = Repeated::default();
    let draws = Repeated { drawn: 1, ..nothing };
    let counts = Repeated { counted: 1, ..draws };
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
        ("as it is", Box::new(|_: &mut World| ()), counts),
        ("nothing", Box::new(|_: &mut World| ()), nothing),
        ("a light's parameter", of_light("intensity", 50.0), draws),
        ("a parameter", surface(0, "Ks", 0.9), draws),
        ("a colour", of_attributes(0, |attributes| attributes.color = [0.1, 0.9, 0.4]), draws),
        ("exposure", Box::new(|world| world.options.displays[0].parts[0].exposure = [2.0, 1.2]), nothing),
        ("opacity", of_attributes(1, |attributes| attributes.opacity = [0.2, 0.6, 0.9]), draws),
        ("an opaque one becomes translucent", of_attributes(0, |attributes| attributes.opacity = [0.5; 3]), draws),
        ("a shading rate", of_attributes(0, |attributes| attributes.shading_rate = 4.0), counts),
        ("an object moved", Box::new(moved), counts),
        ("the camera moved", Box::new(camera), counts),
        ("one side", of_attributes(0, |attributes| attributes.two_sided = false), draws),
        ("samples", Box::new(|world| world.options.pixel_samples = [4, 4]), counts),
        ("the format", Box::new(|world| world.camera.resolution = [32, 24]), counts),
        ("another order of objects", Box::new(|world| world.drawables.swap(0, 1)), counts),
        ("an object left out", Box::new(|world| drop(world.drawables.remove(1))), counts),
    ]
}

fn edited_pictures_are_those_of_fresh_sessions(devices: &'static str, tuning: Tuning) {
    let [edited, fresh] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let mut pictures = Vec::new();
    with_session(devices, tuning, |session| {
        session.resident = Some(Resident { level: Some(KeptLevel::Final), ..Resident::default() });
        let mut world = world(SCENE);
        for (name, edit, expected) in edits() {
            let before = session.resident.as_ref().map(|resident| resident.repeated).unwrap_or_default();
            edit(&mut world);
            let picture = draw(session, &world, edited.path());
            let now = session.resident.as_ref().map(|resident| resident.repeated).unwrap_or_default();
            assert_eq!(Repeated { pages: 0, ..now.since(before) }, expected, "{name}");
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
