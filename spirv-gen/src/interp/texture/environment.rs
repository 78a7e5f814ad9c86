//! Environment maps.

use super::arithmetic::{bounded, bounded_all, reciprocal, root, widened};
use super::filter::{Footprint, LookupFilter, Window};
use super::store::{FoundTexture, TextureShape, TextureStore, WantedChannels};
use std::f32::consts::{FRAC_1_PI, FRAC_PI_4};

type MapDirection = [f32; 3];

/// 1 / 2 pi and 1 / pi.
const TURNS: [f32; 2] = [0.5 * FRAC_1_PI, FRAC_1_PI];

fn largest(v: MapDirection) -> f32 {
    v.into_iter().fold(0.0, |high, x| high.max(x.abs()))
}

fn inner(a: MapDirection, b: MapDirection) -> f32 {
    (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]
}

fn atan2(y: f32, x: f32) -> f32 {
    f64::from(y).atan2(f64::from(x)) as f32
}

/// Returns the probes in a lat-long map for a unit direction and its derivatives.
fn on_sphere(shape: &TextureShape, [d, dx, dy]: [MapDirection; 3], filter: &LookupFilter) -> Footprint {
    let across = root(d[0] * d[0] + d[1] * d[1]);
    let stretch = reciprocal(across.max(1e-6));
    let turn = TURNS[0] * (stretch * stretch);
    let along = |v: MapDirection| {
        let t = bounded(v[2] * stretch, largest(v)) * -TURNS[1];
        bounded_all([(d[0] * v[1] - d[1] * v[0]) * turn, t], 1.0)
    };
    let s = if across > 0.0 { atan2(d[1], d[0]) * TURNS[0] + 0.5 } else { 0.5 };
    let place = [s, atan2(across, d[2]) * TURNS[1]];
    let blur = [(bounded(filter.blur[0], 1.0).abs() * stretch).min(1.0), bounded(filter.blur[1], 1.0)];
    let area = [along(dx), along(dy), blur];
    Footprint::new(shape.size.map(|n| n as f32), shape.levels, place, area, filter)
}

/// Returns a vector by its components along a cube's face: to the right, down, out.
fn along_face([x, y, z]: MapDirection, face: u32) -> MapDirection {
    match face {
        0 => [-z, -y, x],
        1 => [z, -y, -x],
        2 => [x, z, y],
        3 => [x, -z, -y],
        4 => [x, -y, z],
        _ => [-x, -y, -z],
    }
}

fn face_of(d: MapDirection) -> u32 {
    let [x, y, z] = d.map(f32::abs);
    let axis = if x >= y && x >= z { 0 } else { if y >= z { 1 } else { 2 } };
    2 * axis as u32 + u32::from(d[axis] < 0.0)
}

/// Returns the probes in a face of a cube.
fn on_face(shape: &TextureShape, size: [u32; 2], v: [MapDirection; 3], filter: &LookupFilter) -> Footprint {
    let [d, dx, dy] = v;
    let near = reciprocal(d[2]);
    let place = [d[0] * near, d[1] * near];
    let half = if shape.fov > 0.0 && shape.fov < 179.0 { 0.008_726_646 * shape.fov } else { FRAC_PI_4 };
    let (sine, cosine) = f64::from(half).sin_cos();
    let scale = if shape.fov == 90.0 { 0.5 } else { 0.5 * cosine as f32 * reciprocal(sine as f32) };
    let along = |v: MapDirection| bounded_all([0, 1].map(|i| (v[i] - place[i] * v[2]) * (near * scale)), 4.0);
    let levels = shape.levels.min(size[0].min(size[1]).ilog2() + 1);
    let area = [along(dx), along(dy), bounded_all(filter.blur, 1.0)];
    Footprint::new(size.map(|n| n as f32), levels, place.map(|x| x * scale + 0.5), area, filter)
}

/// `environment()` towards `r`, over its derivatives.
pub fn environment(
    store: &dyn TextureStore,
    token: u32,
    wanted: WantedChannels,
    [r, dx, dy]: [[f32; 3]; 3],
    filter: &LookupFilter,
) -> [f32; 3] {
    let FoundTexture::Number(number) = store.texture(token) else { return [0.0; 3] };
    if !(r.iter().all(|x| x.is_finite()) && largest(r) > 1e-30) {
        return [0.0; 3];
    }
    let mut shape = store.shape(number);
    let filter = LookupFilter { lerp: 1.0, ..*filter };
    let scale = reciprocal(largest(r).min(1e30));
    let d = bounded_all(r.map(|x| x * scale), 1.0);
    let shorter = reciprocal(root(inner(d, d)));
    let d = d.map(|x| x * shorter);
    let [dx, dy] = [(dx, filter.width[0]), (dy, filter.width[1])].map(|(v, width)| {
        let v = widened(v.map(|x| x * (scale * shorter)), [width; 3], 16.0);
        let out = inner(d, v);
        std::array::from_fn(|i| v[i] - d[i] * out)
    });
    let mut window = Window::whole(&shape, number, wanted);
    if shape.kind != 2 {
        shape.kind = 1;
        let footprint = on_sphere(&shape, [d, dx, dy], &filter);
        return window.filtered(store, &shape, &footprint, &filter);
    }
    let face = face_of(d);
    window.cell = [face % 3, face / 3];
    window.parts = [3, 2];
    shape.wrap = [1; 2];
    let size = [(shape.size[0] / 3).max(1), (shape.size[1] / 2).max(1)];
    let footprint = on_face(&shape, size, [d, dx, dy].map(|v| along_face(v, face)), &filter);
    window.filtered(store, &shape, &footprint, &filter)
}
