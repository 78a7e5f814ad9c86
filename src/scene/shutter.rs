//! A world while the shutter is open: motions cut to the keyframes that matter for it.

use super::{
    Attributes, Blobs, Camera, CurveSegments, Drawable, Facets, Geometry, Light, LimitPatches, Motion, NamedSpace,
    Patches, Points, Quadric, QuadricShape, ShaderInstance, Shape, ShapeArray, World,
};
use glam::{DMat4, Vec3};
use std::collections::HashMap;
use std::sync::Arc;

/// The position of a time among keyframes: at one of them (the nearest, if it is outside of all), or between two.
enum KeyframeInterval<'a, T> {
    One(&'a T),
    Two(&'a T, &'a T, f64),
}

impl<T> Motion<T> {
    fn around(&self, time: f32) -> KeyframeInterval<'_, T> {
        let after = self.keyframes.partition_point(|(at, _)| *at < time);
        match (after.checked_sub(1).map(|before| &self.keyframes[before]), self.keyframes.get(after)) {
            (Some((t0, a)), Some((t1, b))) if *t1 != time => {
                KeyframeInterval::Two(a, b, (f64::from(time) - f64::from(*t0)) / (f64::from(*t1) - f64::from(*t0)))
            }
            (Some((_, value)), None) | (_, Some((_, value))) => KeyframeInterval::One(value),
            (None, None) => KeyframeInterval::One(self.first()),
        }
    }
}

impl Motion<DMat4> {
    /// Returns the matrix at a time: linear between keyframes, which moves every point on a straight line; outside them
    /// the nearest.
    pub fn at(&self, time: f32) -> DMat4 {
        match self.around(time) {
            KeyframeInterval::One(matrix) => *matrix,
            KeyframeInterval::Two(a, b, weight) => *a * (1.0 - weight) + *b * weight,
        }
    }
}

impl Motion<Shape> {
    /// Returns the shape at a time: every number is linear between keyframes; outside them the nearest shape.
    pub fn at(&self, time: f32) -> Shape {
        match self.around(time) {
            KeyframeInterval::One(shape) => shape.clone(),
            KeyframeInterval::Two(a, b, weight) => between(a, b, weight as f32),
        }
    }
}

impl<T: PartialEq> Motion<T> {
    /// Cuts a motion to a span of time: keyframes at its ends, made by `at`, and the authored ones between them.
    /// Outside its keyframes a motion stands still. One keyframe is left of what does not move in the span.
    fn cut(&self, [open, close]: [f32; 2], at: impl Fn(&Self, f32) -> T) -> Self
    where
        T: Clone,
    {
        let first = at(self, open);
        if !self.moves() || open >= close {
            return Self { keyframes: vec![(open, first)] };
        }
        let inside = self.keyframes.iter().filter(|(time, _)| open < *time && *time < close).cloned();
        let mut keyframes = vec![(open, first)];
        keyframes.extend(inside);
        keyframes.push((close, at(self, close)));
        if keyframes.iter().all(|(_, value)| *value == keyframes[0].1) {
            keyframes.truncate(1);
        }
        Self { keyframes }
    }
}

fn mix(a: f32, b: f32, t: f32) -> f32 {
    a * (1.0 - t) + b * t
}

fn mix3(a: [f32; 3], b: [f32; 3], t: f32) -> [f32; 3] {
    std::array::from_fn(|i| mix(a[i], b[i], t))
}

fn mix_all<T: Copy>(a: &[T], b: &[T], each: impl Fn(T, T) -> T) -> ShapeArray<T> {
    a.iter().zip(b).map(|(&a, &b)| each(a, b)).collect()
}

fn points(a: &[[f32; 3]], b: &[[f32; 3]], t: f32) -> ShapeArray<[f32; 3]> {
    mix_all(a, b, |a, b| mix3(a, b, t))
}

fn unit(v: [f32; 3]) -> [f32; 3] {
    Vec3::from(v).normalize_or_zero().to_array()
}

/// Interpolates between two shapes of the same topology.
fn between(a: &Shape, b: &Shape, t: f32) -> Shape {
    match (a, b) {
        (Shape::Quadric(a), Shape::Quadric(b)) => Shape::Quadric(quadric(a, b, t)),
        (Shape::Facets(a), Shape::Facets(b)) => Shape::Facets(Facets {
            positions: points(&a.positions, &b.positions, t),
            face_normals: mix_all(&a.face_normals, &b.face_normals, |a, b| unit(mix3(a, b, t))),
            ..a.clone()
        }),
        (Shape::Patches(a), Shape::Patches(b)) => Shape::Patches(Patches {
            control: points(&a.control, &b.control, t),
            weights: mix_all(&a.weights, &b.weights, |a, b| mix(a, b, t)),
            ..a.clone()
        }),
        (Shape::Limit(a), Shape::Limit(b)) => Shape::Limit(LimitPatches {
            control: points(&a.control, &b.control, t),
            seam_points: points(&a.seam_points, &b.seam_points, t),
            ..a.clone()
        }),
        (Shape::Curves(a), Shape::Curves(b)) => Shape::Curves(CurveSegments {
            control: points(&a.control, &b.control, t),
            weights: mix_all(&a.weights, &b.weights, |a, b| std::array::from_fn(|i| mix(a[i], b[i], t))),
            widths: mix_all(&a.widths, &b.widths, |a, b| std::array::from_fn(|i| mix(a[i], b[i], t))),
            normals: mix_all(&a.normals, &b.normals, |a, b| std::array::from_fn(|i| mix3(a[i], b[i], t))),
            ..a.clone()
        }),
        (Shape::Points(a), Shape::Points(b)) => Shape::Points(Points {
            positions: points(&a.positions, &b.positions, t),
            widths: mix_all(&a.widths, &b.widths, |a, b| mix(a, b, t)),
            form: a.form,
        }),
        (Shape::Blobs(a), Shape::Blobs(b)) => {
            Shape::Blobs(Blobs { positions: points(&a.positions, &b.positions, t), ..a.between(b, t) })
        }
        _ => a.clone(),
    }
}

fn quadric(a: &Quadric, b: &Quadric, t: f32) -> Quadric {
    use QuadricShape::{Cone, Cylinder, Disk, Hyperboloid, Paraboloid, Sphere, Torus};
    let m = |a, b| mix(a, b, t);
    let shape = match (a.shape, b.shape) {
        (Sphere { radius: r, zmin: y, zmax: z }, Sphere { radius, zmin, zmax }) => {
            Sphere { radius: m(r, radius), zmin: m(y, zmin), zmax: m(z, zmax) }
        }
        (Cone { height: h, radius: r }, Cone { height, radius }) => Cone { height: m(h, height), radius: m(r, radius) },
        (Cylinder { radius: r, zmin: y, zmax: z }, Cylinder { radius, zmin, zmax }) => {
            Cylinder { radius: m(r, radius), zmin: m(y, zmin), zmax: m(z, zmax) }
        }
        (Hyperboloid { p1: p, p2: q }, Hyperboloid { p1, p2 }) => {
            Hyperboloid { p1: mix3(p, p1, t), p2: mix3(q, p2, t) }
        }
        (Paraboloid { rmax: r, zmin: y, zmax: z }, Paraboloid { rmax, zmin, zmax }) => {
            Paraboloid { rmax: m(r, rmax), zmin: m(y, zmin), zmax: m(z, zmax) }
        }
        (Disk { height: h, radius: r }, Disk { height, radius }) => Disk { height: m(h, height), radius: m(r, radius) },
        (Torus { major: r, minor: s, phi_min: y, phi_max: z }, Torus { major, minor, phi_min, phi_max }) => {
            Torus { major: m(r, major), minor: m(s, minor), phi_min: m(y, phi_min), phi_max: m(z, phi_max) }
        }
        (shape, _) => shape,
    };
    Quadric { shape, sweep_degrees: m(a.sweep_degrees, b.sweep_degrees) }
}

/// Moving geometry of a world, cut to the time when the shutter is open: what was cut for one picture of the world
/// serves the next, by the same address.
#[derive(Debug, Default)]
pub struct CutGeometries {
    span: [f32; 2],
    /// By the address of the original, which is kept alive.
    known: HashMap<*const Geometry, CutGeometry>,
}

/// A geometry, and what is left of it when the shutter is open.
#[derive(Debug)]
struct CutGeometry {
    _original: Arc<Geometry>,
    cut: Arc<Geometry>,
    /// Whether the last world has it.
    is_used: bool,
}

impl CutGeometries {
    /// Begins another world; what the last one did not have is forgotten, and all if the shutter is open at another
    /// time.
    fn begin(&mut self, span: [f32; 2]) {
        self.known.retain(|_, geometry| std::mem::take(&mut geometry.is_used) && span == self.span);
        self.span = span;
    }

    fn geometry(&mut self, moving: &Arc<Geometry>) -> Arc<Geometry> {
        if !moving.shape.moves() {
            return Arc::clone(moving);
        }
        let span = self.span;
        let cut = || Arc::new(Geometry { shape: moving.shape.cut(span, Motion::<Shape>::at), ..(**moving).clone() });
        let new = || CutGeometry { _original: Arc::clone(moving), cut: cut(), is_used: true };
        let known = self.known.entry(Arc::as_ptr(moving)).or_insert_with(new);
        known.is_used = true;
        Arc::clone(&known.cut)
    }
}

/// Copies cut to a span of time, made once for each original, so that shared values stay shared.
#[derive(Default)]
struct CutCopies {
    span: [f32; 2],
    matrices: HashMap<*const Motion<DMat4>, Arc<Motion<DMat4>>>,
    attributes: HashMap<*const Attributes, Arc<Attributes>>,
}

impl CutCopies {
    fn matrix(&mut self, moving: &Arc<Motion<DMat4>>) -> Arc<Motion<DMat4>> {
        if !moving.moves() {
            return Arc::clone(moving);
        }
        let span = self.span;
        let cut = || Arc::new(moving.cut(span, Motion::<DMat4>::at));
        Arc::clone(self.matrices.entry(Arc::as_ptr(moving)).or_insert_with(cut))
    }

    fn shader(&mut self, shader: &ShaderInstance) -> ShaderInstance {
        ShaderInstance { world_from_shader: self.matrix(&shader.world_from_shader), ..shader.clone() }
    }

    fn space(&mut self, space: &NamedSpace) -> NamedSpace {
        NamedSpace { world_from_space: self.matrix(&space.world_from_space), ..space.clone() }
    }

    fn attributes(&mut self, moving: &Arc<Attributes>) -> Arc<Attributes> {
        if let Some(known) = self.attributes.get(&Arc::as_ptr(moving)) {
            return Arc::clone(known);
        }
        let mut still = (**moving).clone();
        for shader in [&mut still.surface, &mut still.displacement, &mut still.atmosphere].into_iter().flatten() {
            *shader = Arc::new(self.shader(shader));
        }
        still.scoped_spaces = still.scoped_spaces.iter().map(|space| self.space(space)).collect();
        let still = Arc::new(still);
        self.attributes.insert(Arc::as_ptr(moving), Arc::clone(&still));
        still
    }
}

impl World {
    /// Whether anything moves.
    pub fn moves(&self) -> bool {
        let drawable = |drawable: &Drawable| drawable.world_from_object.moves() || drawable.geometry.shape.moves();
        let light = |light: &Arc<Light>| light.shader.world_from_shader.moves();
        self.camera.camera_from_world.moves() || self.drawables.iter().any(drawable) || self.lights.iter().any(light)
    }

    /// Returns the world with all motions cut to the time when the shutter is open: their first keyframe is at its
    /// opening.
    #[must_use]
    pub fn in_shutter(self) -> Self {
        self.in_shutter_again(&mut CutGeometries::default())
    }

    /// Returns the same, with geometry that was cut for an earlier picture of the world.
    #[must_use]
    pub fn in_shutter_again(self, geometries: &mut CutGeometries) -> Self {
        let [open, close] = self.camera.shutter;
        let span = [open, if self.options.hider.sample_motion { close } else { open }];
        let mut cuts = CutCopies { span, ..CutCopies::default() };
        geometries.begin(span);
        let drawable = |drawable: &Drawable| Drawable {
            geometry: geometries.geometry(&drawable.geometry),
            world_from_object: cuts.matrix(&drawable.world_from_object),
            attributes: cuts.attributes(&drawable.attributes),
            detail: drawable.detail,
            solid: drawable.solid,
            seed: drawable.seed,
        };
        let drawables = self.drawables.iter().map(drawable).collect();
        let light = |light: &Arc<Light>| {
            let scoped_spaces = light.scoped_spaces.iter().map(|space| cuts.space(space)).collect();
            Arc::new(Light { shader: cuts.shader(&light.shader), scoped_spaces, ..(**light).clone() })
        };
        let lights = self.lights.iter().map(light).collect();
        let spaces = self.spaces.iter().map(|space| cuts.space(space)).collect();
        let camera_from_world = self.camera.camera_from_world.cut(span, Motion::<DMat4>::at);
        let mut options = self.options;
        options.imager = options.imager.map(|imager| Arc::new(cuts.shader(&imager)));
        Self { drawables, lights, spaces, options, camera: Camera { camera_from_world, ..self.camera }, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::PointForm;
    use glam::DVec3;

    #[test]
    fn a_cut_motion_has_keys_at_the_ends_and_the_authored_ones_between() {
        let motion = Motion::new(vec![(0.0, 0.0_f32), (1.0, 4.0), (2.0, 4.0), (3.0, 0.0)]).expect("increasing");
        let at = |motion: &Motion<f32>, time: f32| match motion.around(time) {
            KeyframeInterval::One(x) => *x,
            KeyframeInterval::Two(a, b, weight) => a + (b - a) * weight as f32,
        };
        let cut = |span| motion.cut(span, at).keyframes().to_vec();
        assert_eq!(cut([0.5, 2.5]), [(0.5, 2.0), (1.0, 4.0), (2.0, 4.0), (2.5, 2.0)]);
        assert_eq!(cut([1.0, 2.0]), [(1.0, 4.0)], "it stands still");
        assert_eq!(cut([0.5, 0.5]), [(0.5, 2.0)], "the shutter does not stay open");
        assert_eq!(cut([-2.0, -1.0]), [(-2.0, 0.0)]);
    }

    #[test]
    fn geometry_is_cut_once_for_all_pictures_of_a_world() {
        let moving = |at: f32| {
            let quadric = |radius| Quadric { shape: QuadricShape::Disk { height: at, radius }, sweep_degrees: 360.0 };
            let keyframes = vec![(0.0, Shape::Quadric(quadric(1.0))), (1.0, Shape::Quadric(quadric(2.0)))];
            let shape = Motion::new(keyframes).expect("increasing");
            Arc::new(Geometry { shape, primvars: Vec::new(), location: Default::default() })
        };
        let (one, other) = (moving(0.0), moving(1.0));
        let mut geometries = CutGeometries::default();
        geometries.begin([0.0, 0.5]);
        let cut = geometries.geometry(&one);
        assert_eq!(cut.shape.keyframes()[1].0, 0.5);
        geometries.begin([0.0, 0.5]);
        assert!(Arc::ptr_eq(&cut, &geometries.geometry(&one)) && !Arc::ptr_eq(&cut, &geometries.geometry(&other)));
        geometries.begin([0.0, 0.25]);
        assert_eq!(geometries.geometry(&one).shape.keyframes()[1].0, 0.25, "the shutter closes earlier");
        geometries.begin([0.0, 0.25]);
        geometries.begin([0.0, 0.25]);
        assert!(geometries.known.is_empty(), "what is gone is forgotten");
    }

    #[test]
    fn matrices_and_shapes_are_linear_between_keys_and_the_nearest_outside() {
        let shift = |x: f64| DMat4::from_translation(DVec3::new(x, 0.0, 0.0));
        let motion = Motion::new(vec![(1.0, shift(0.0)), (2.0, shift(4.0)), (4.0, shift(0.0))]).expect("increasing");
        for (time, x) in [(0.0, 0.0), (1.0, 0.0), (1.25, 1.0), (2.0, 4.0), (3.0, 2.0), (9.0, 0.0)] {
            assert_eq!(motion.at(time).w_axis.x, x, "at {time}");
        }
        let disk = |radius| Quadric { shape: QuadricShape::Disk { height: 0.0, radius }, sweep_degrees: 360.0 };
        let motion = Motion::new(vec![(0.0, Shape::Quadric(disk(1.0))), (1.0, Shape::Quadric(disk(3.0)))]);
        assert_eq!(motion.expect("increasing").at(0.75), Shape::Quadric(disk(2.5)));
        let point = |x: f32, width| {
            let (positions, widths) = ([[x, 0.0, 0.0]].into(), [width].into());
            Shape::Points(Points { positions, widths, form: PointForm::Disk })
        };
        let motion = Motion::new(vec![(0.0, point(0.0, 1.0)), (2.0, point(8.0, 2.0))]).expect("increasing");
        assert_eq!(motion.at(0.5), point(2.0, 1.25));
    }
}
