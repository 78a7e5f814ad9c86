//! Tests of the whole reader: RIB text in, worlds and messages out.

mod area_lights;
mod blobby;
mod edits;
mod geometry;
mod hostile;
mod left_out;
mod moving_values;
mod nurbs;
mod objects;
mod options;
mod other_programs;
mod outline;
mod primvar_types;
mod procedural;
#[cfg(unix)]
mod programs;
mod resources;
mod round_trip;
mod scenes;
mod state;
mod stream;
mod subdivision;
mod textures;

use super::{Input, RibOverrides, Settings, Summary, read, read_stream};
use crate::diagnostic::{Diagnostic, Reporter};
use crate::scene::{CurveSegments, Drawable, Motion, Points, PrimvarData, Shape, World};
use glam::{DMat4, DVec3};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

/// The result of reading a text.
struct ReadOutcome {
    worlds: Vec<World>,
    messages: Vec<Diagnostic>,
    summary: Summary,
}

impl ReadOutcome {
    /// The codes of the messages with their lines, except that nothing is left of a world, which has its own test.
    fn codes(&self) -> Vec<(&'static str, u32)> {
        self.messages
            .iter()
            .filter(|message| message.code != "nothing")
            .map(|message| (message.code, message.location.line))
            .collect()
    }

    /// The only world.
    fn world(&self) -> &World {
        assert_eq!(self.worlds.len(), 1, "{:?}", self.messages);
        &self.worlds[0]
    }
}

fn read_bytes(bytes: impl Into<Vec<u8>>, settings: &Settings) -> ReadOutcome {
    let messages = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&messages);
    let reporter = Reporter::new(move |message| sink.lock().expect("not poisoned").push(message.clone()));
    let mut worlds = Vec::new();
    let input = Input::Memory { name: "t.rib".to_owned(), bytes: bytes.into() };
    let summary = read(&input, settings, &reporter, &mut |world: World| {
        worlds.push(world);
        ControlFlow::Continue(())
    });
    let messages = messages.lock().expect("not poisoned").clone();
    ReadOutcome { worlds, messages, summary }
}

fn read_text(text: &str) -> ReadOutcome {
    read_bytes(text, &Settings::default())
}

fn read_with(text: &str, overrides: RibOverrides) -> ReadOutcome {
    read_bytes(text, &Settings { overrides, ..Settings::default() })
}

/// The world of a text without faults.
fn clean(text: &str) -> World {
    let mut outcome = read_text(text);
    assert!(outcome.messages.is_empty(), "{text}: {:?}", outcome.messages);
    assert_eq!(outcome.worlds.len(), 1, "{text}");
    outcome.worlds.remove(0)
}

/// The world in which `body` is drawn, without faults.
fn drawn(body: &str) -> World {
    clean(&format!("WorldBegin\n{body}\nWorldEnd\n"))
}

/// The codes and lines of the faults of `body`, which begins in line 2 inside a world.
fn faults(body: &str) -> Vec<(&'static str, u32)> {
    let outcome = read_text(&format!("WorldBegin\n{body}\nWorldEnd\n"));
    assert_eq!(outcome.worlds.len(), 1, "{body}");
    outcome.codes()
}

/// The shape of the only drawable.
fn only_shape(world: &World) -> &Shape {
    assert_eq!(world.drawables.len(), 1);
    world.drawables[0].geometry.shape.first()
}

fn curves(world: &World) -> &CurveSegments {
    match only_shape(world) {
        Shape::Curves(curves) => curves,
        other => panic!("{other:?}"),
    }
}

fn points(world: &World) -> &Points {
    match only_shape(world) {
        Shape::Points(points) => points,
        other => panic!("{other:?}"),
    }
}

/// The position of the object's point in the world, at the first time.
fn placed(drawable: &Drawable, point: [f64; 3]) -> [f64; 3] {
    let point = drawable.world_from_object.first().transform_point3(DVec3::from(point)).to_array();
    point.map(|value| (value * 1e9).round() / 1e9 + 0.0)
}

/// The translations of a moving transformation with their times.
fn track(motion: &Motion<DMat4>) -> Vec<(f32, [f64; 3])> {
    motion.keyframes().iter().map(|(time, matrix)| (*time, matrix.w_axis.truncate().to_array())).collect()
}

/// The numbers of a primitive variable of the only drawable.
fn numbers(world: &World, name: &str) -> Vec<f32> {
    let primvars = &world.drawables[0].geometry.primvars;
    let primvar = primvars.iter().find(|primvar| &*primvar.name == name).expect(name);
    match &primvar.data {
        PrimvarData::Floats(values) => values.to_vec(),
        PrimvarData::Strings(_) => panic!("{name} holds strings"),
    }
}
