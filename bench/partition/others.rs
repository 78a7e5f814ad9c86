//! The two other shaders of Chan et al. (2002), which it does not print: built to what table 1 counts of them.

use crate::shaders::Sketch;
use spirv_gen::partition::{Dag, NodeId, NodeKind};

/// The bowling pin with bumps under a point light (BMBP): 33 operations, 3 fetches, 6 interpolants.
pub(crate) fn bumpy_pin() -> Dag {
    let mut sketch = Sketch::default();
    let bump = sketch.map();
    let normal = scaled(&mut sketch, bump);
    let normal = normalized(&mut sketch, normal);
    let (to_light, to_eye, distance) = (sketch.interpolant(), sketch.interpolant(), sketch.interpolant());
    let light = normalized(&mut sketch, to_light);
    let eye = normalized(&mut sketch, to_eye);
    let half = sketch.op(&[light, eye]);
    let half = normalized(&mut sketch, half);
    let facing = clamped_dot(&mut sketch, normal, light);
    let glossy = clamped_dot(&mut sketch, normal, half);
    let glossy = power(&mut sketch, glossy);

    // 1 / (a + b d + c d^2), and the light's colour.
    let attenuation = scaled(&mut sketch, distance);
    let attenuation = with_constant(&mut sketch, &[attenuation, distance]);
    let attenuation = sketch.op(&[attenuation]);
    let colour = with_constant(&mut sketch, &[attenuation]);
    let (base, marks) = (sketch.map(), sketch.map());
    let surface = sketch.op(&[base, marks]);
    let diffuse = sketch.op(&[facing, colour]);
    let matte = scaled(&mut sketch, diffuse);
    let specular = sketch.op(&[glossy, colour]);
    let specular = with_constant(&mut sketch, &[specular]);
    // Not where the surface itself is turned away from the light.
    let shown = with_constant(&mut sketch, &[facing]);
    let specular = sketch.op(&[specular, shown]);
    let out = sketch.op(&[surface, matte, specular]);
    sketch.dag.add_output(out);
    sketch.dag
}

/// A value times a constant, plus a constant.
fn scaled(sketch: &mut Sketch, value: NodeId) -> NodeId {
    let (factor, offset) = (sketch.constant(), sketch.constant());
    sketch.op(&[value, factor, offset])
}

fn with_constant(sketch: &mut Sketch, kids: &[NodeId]) -> NodeId {
    let constant = sketch.constant();
    sketch.op(&[kids, &[constant]].concat())
}

/// `v / sqrt(v . v)`, in three operations.
fn normalized(sketch: &mut Sketch, vector: NodeId) -> NodeId {
    let square = sketch.op(&[vector, vector]);
    let length = sketch.op(&[square]);
    sketch.op(&[vector, length])
}

fn clamped_dot(sketch: &mut Sketch, a: NodeId, b: NodeId) -> NodeId {
    let cosine = sketch.op(&[a, b]);
    with_constant(sketch, &[cosine])
}

/// A power: logarithm, product, exponential.
fn power(sketch: &mut Sketch, base: NodeId) -> NodeId {
    let logarithm = sketch.op(&[base]);
    let product = with_constant(sketch, &[logarithm]);
    sketch.op(&[product])
}

/// A procedural wood (Wood): 175 operations, 33 fetches of 6 textures, 5 interpolants. Seven noise functions of four
/// fetches each, each of the one before, their sum, one of the sum for the grain, a map of colours.
pub(crate) fn wood() -> Dag {
    let mut sketch = Sketch::default();
    let place = sketch.interpolant();
    let (mut value, mut rings) = (scaled(&mut sketch, place), Vec::new());
    for octave in 0..7 {
        let noise = noise(&mut sketch, value, [0, 1, 2]);
        rings.push(if octave < 6 { vec![noise, value] } else { vec![noise] });
        value = scaled(&mut sketch, noise);
    }
    // All of them are needed until here.
    let mut sum = with_constant(&mut sketch, &[value]);
    for ring in rings.into_iter().rev() {
        sum = sketch.op(&[ring, vec![sum]].concat());
    }
    let grain_at = scaled(&mut sketch, sum);
    let grain = noise(&mut sketch, grain_at, [3, 4, 4]);
    let sum = sketch.op(&[grain, grain_at]);
    let colour = fetch_of(&mut sketch, 5, sum);
    let lights: Vec<NodeId> = (0..4).map(|_| sketch.interpolant()).collect();
    let normal = normalized(&mut sketch, lights[0]);
    let light = normalized(&mut sketch, lights[1]);
    let facing = clamped_dot(&mut sketch, normal, light);
    let half = sketch.op(&[light, lights[2]]);
    let half = normalized(&mut sketch, half);
    let glossy = clamped_dot(&mut sketch, normal, half);
    let glossy = power(&mut sketch, glossy);
    let glossy = sketch.op(&[glossy, sum]);
    let matte = sketch.op(&[colour, facing, lights[3]]);
    let matte = with_constant(&mut sketch, &[matte]);
    let out = sketch.op(&[matte, glossy]);
    sketch.dag.add_output(out);
    sketch.dag
}

fn fetch_of(sketch: &mut Sketch, texture: u32, at: NodeId) -> NodeId {
    sketch.dag.add(spirv_gen::partition::DagNode::new(NodeKind::Fetch(texture), &[at]))
}

/// Lattice noise by textures: four dependent fetches and 17 operations.
fn noise(sketch: &mut Sketch, at: NodeId, [hash, near, far]: [u32; 3]) -> NodeId {
    let cell = sketch.op(&[at]);
    let offset = sketch.op(&[at, cell]);
    let square = sketch.op(&[offset, offset]);
    let fade = with_constant(sketch, &[offset]);
    let fade = sketch.op(&[square, fade]);
    let next = with_constant(sketch, &[cell]);
    let corner = |sketch: &mut Sketch, cell: NodeId, texture: u32| {
        let hashed = fetch_of(sketch, hash, cell);
        let moved = with_constant(sketch, &[hashed, cell]);
        let gradient = fetch_of(sketch, texture, moved);
        let apart = sketch.op(&[offset, cell]);
        let dot = sketch.op(&[gradient, apart]);
        with_constant(sketch, &[dot])
    };
    let (near, far) = (corner(sketch, cell, near), corner(sketch, next, far));
    let difference = sketch.op(&[far, near]);
    let mixed = sketch.op(&[fade, difference, near]);
    with_constant(sketch, &[mixed])
}
