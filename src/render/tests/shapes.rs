//! Shapes made by hand.

use super::*;

pub(super) fn sphere(radius: f32) -> Shape {
    Shape::Quadric(Quadric {
        shape: QuadricShape::Sphere { radius, zmin: -radius, zmax: radius },
        sweep_degrees: 360.0,
    })
}

pub(super) fn quadric(shape: QuadricShape, sweep_degrees: f32) -> Shape {
    Shape::Quadric(Quadric { shape, sweep_degrees })
}

/// Returns a wavy bicubic mesh of n x n patches, as a height field over [-1, 1]^2.
pub(super) fn patches(n: usize) -> Shape {
    let height = |x: f32, y: f32| 0.25 * (3.0 * x).sin() * (2.0 * y + x).cos();
    let at = |i: usize| -1.0 + 2.0 * i as f32 / (3 * n) as f32;
    let mut control = Vec::new();
    let mut uv_range = Vec::new();
    for (pv, pu) in (0..n).flat_map(|v| (0..n).map(move |u| (v, u))) {
        let points = (0..16).map(|k| (at(3 * pu + k % 4), at(3 * pv + k / 4)));
        control.extend(points.map(|(x, y)| [x, y, height(x, y)]));
        uv_range.push([pu, pv, pu + 1, pv + 1].map(|i| i as f32 / n as f32));
    }
    Shape::Patches(Patches {
        degrees: [3; 2],
        control: control.into(),
        weights: [].into(),
        corners: vec![[0; 4]; n * n].into(),
        face_corners: vec![[0; 4]; n * n].into(),
        face: (0..(n * n) as u32).collect(),
        uv_range: uv_range.into(),
        trim: None,
    })
}

pub(super) fn curves(count: usize) -> Shape {
    let mut control = Vec::new();
    for i in 0..count {
        let (a, x) = (i as f32 * 2.4, -1.0 + 2.0 * (i as f32 * 0.618).fract());
        let steps = [[0.0, 0.0], [0.1, 0.4], [0.3, 0.8], [0.8, 1.0]];
        control.extend(steps.map(|[out, up]: [f32; 2]| [x + out * a.cos(), up - 0.5, 0.3 * out * a.sin()]));
    }
    Shape::Curves(CurveSegments {
        control: control.into(),
        weights: [].into(),
        cubic: true,
        ends: vec![[0, 0]; count].into(),
        widths: vec![[0.03, 0.65 / 30.0, 0.4 / 30.0, 0.005]; count].into(),
        normals: [].into(),
        face: (0..count as u32).collect(),
        v_range: vec![[0.0, 1.0]; count].into(),
    })
}

pub(super) fn points(count: usize) -> Shape {
    let place = |i: usize| {
        [(i as f32 * 0.618).fract() * 2.0 - 1.0, (i as f32 * 0.417).fract() * 2.0 - 1.0, (i as f32 * 0.291).fract()]
    };
    Shape::Points(Points {
        positions: (0..count).map(place).collect(),
        widths: (0..count).map(|i| 0.02 + 0.1 * (i as f32 * 0.77).fract()).collect(),
        form: PointForm::Disk,
    })
}

/// Returns a grid of facets, every third quadrilateral split into triangles.
pub(super) fn facets(n: usize) -> Shape {
    let at = |i: usize| -1.0 + 2.0 * i as f32 / n as f32;
    let position = |k: usize| [at(k % (n + 1)), at(k / (n + 1)), 0.1 * ((k * 7 % 5) as f32)];
    let mut corners: Vec<[u32; 4]> = Vec::new();
    for (j, i) in (0..n).flat_map(|j| (0..n).map(move |i| (j, i))) {
        let [a, b, c, d] = [(j, i), (j, i + 1), (j + 1, i), (j + 1, i + 1)].map(|(y, x)| (y * (n + 1) + x) as u32);
        if (i + j) % 3 == 0 {
            corners.extend([[a, b, d, d], [a, d, c, c]]);
        } else {
            corners.push([a, b, c, d]);
        }
    }
    Shape::Facets(Facets {
        positions: (0..(n + 1) * (n + 1)).map(position).collect(),
        face_corners: corners.clone().into(),
        face: (0..corners.len() as u32).collect(),
        corners: corners.into(),
        polygon: false,
        face_normals: [].into(),
        uv_range: [].into(),
    })
}
