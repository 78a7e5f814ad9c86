//! Worlds made by hand, and what a device holds of them.

use super::lab::Lab;
use crate::reference::edge;
use crate::reference::surface::Surface;
use anthill::diagnostic::SourceLocation;
use anthill::pipeline::buffers::{FrameSlices, PageSlices};
use anthill::pipeline::geometry::PrimitiveKind;
use anthill::pipeline::kernels::constants::FRAME_PERSPECTIVE;
use anthill::pipeline::kernels::records::Subpatch;
use anthill::pipeline::look::{Look, Verdict};
use anthill::pipeline::world::DrawnWorld;
use anthill::scene::*;
use glam::{DMat4, DVec3};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A shape, where it stands, and its primitive variables.
#[derive(Clone, Debug)]
pub(crate) struct Thing {
    pub shape: Shape,
    pub camera_from_object: DMat4,
    pub shading_rate: f32,
    pub primvars: Vec<Primvar>,
    pub look: Look,
}

impl Thing {
    /// An opaque thing without a shader, at shading rate 1.
    pub(crate) fn new(shape: Shape, camera_from_object: DMat4) -> Self {
        let look = Look { verdict: Verdict::Opaque, displace: None, shade: None, thin: false, bakes: false };
        Self { shape, camera_from_object, shading_rate: 1.0, primvars: Vec::new(), look }
    }

    /// How many kinds of primitives it has.
    fn run_count(&self) -> usize {
        1 + usize::from(matches!(&self.shape, Shape::Limit(p) if p.plain_count > 0 && !p.seams.is_empty()))
    }

    /// The same at another shading rate.
    pub(crate) fn rate(mut self, shading_rate: f32) -> Self {
        self.shading_rate = shading_rate;
        self
    }
}

/// A camera at the origin that looks along z; both projections see the same at distance 5.
pub(crate) fn camera(resolution: [u32; 2], perspective: bool) -> Camera {
    let [width, height] = resolution.map(f64::from);
    let half = if perspective { 1.0 } else { 5.0 * 22.5_f64.to_radians().tan() };
    let projection = if perspective { Projection::Perspective { fov_degrees: 45.0 } } else { Projection::Orthographic };
    Camera {
        camera_from_world: Motion::still(DMat4::IDENTITY),
        projection,
        resolution,
        pixel_aspect: 1.0,
        screen_window: [-width / height, width / height, -1.0, 1.0].map(|x| x * half),
        crop_window: FORMAT_WINDOW,
        whole_window: FORMAT_WINDOW,
        clip: [0.1, 1000.0],
        clip_planes: Vec::new(),
        depth_of_field: None,
        shutter: [0.0, 0.0],
    }
}

/// Options with a box filter of one pixel: nothing is sampled outside the picture.
pub(crate) fn options() -> Options {
    Options { filter: Filter { kind: FilterKind::Box, width: [1.0, 1.0] }, ..Options::default() }
}

fn attributes(thing: &Thing) -> Attributes {
    Attributes {
        color: [1.0; 3],
        opacity: [1.0; 3],
        texture_coordinates: [[0.1, 0.2], [0.9, 0.3], [0.0, 1.2], [1.5, 0.8]],
        surface: None,
        displacement: None,
        atmosphere: None,
        lights: Arc::new([]),
        shading_rate: thing.shading_rate,
        relative_shading_rate: 1.0,
        shading_interpolation: ShadingInterpolation::Constant,
        matte: false,
        two_sided: true,
        flip_normal: false,
        displacement_bound: None,
        name: "thing".into(),
        scoped_spaces: Arc::new([]),
        other: BTreeMap::new(),
    }
}

/// Things before a camera, as written and as drawn. Instance `i` is thing `i`.
pub(crate) struct Scene {
    pub things: Vec<Thing>,
    pub camera: Camera,
    pub drawn: DrawnWorld,
}

impl Scene {
    /// Lowers the things.
    pub(crate) fn new(things: Vec<Thing>, camera: Camera, options: Options) -> Self {
        let drawn = Self::lowered(&things, &camera, options);
        let runs: usize = things.iter().map(Thing::run_count).sum();
        assert_eq!((drawn.pages.len(), drawn.runs.len()), (1, runs), "one page, a run for each kind of a thing");
        Self { things, camera, drawn }
    }

    /// Whether a thing is left out because it is beside the picture.
    pub(crate) fn leaves_out(thing: &Thing, camera: &Camera) -> bool {
        Self::lowered(std::slice::from_ref(thing), camera, options()).runs.is_empty()
    }

    fn lowered(things: &[Thing], camera: &Camera, options: Options) -> DrawnWorld {
        let drawable = |(seed, thing): (u32, &Thing)| Drawable {
            attributes: Arc::new(attributes(thing)),
            geometry: Arc::new(Geometry {
                shape: Motion::still(thing.shape.clone()),
                primvars: thing.primvars.clone(),
                location: SourceLocation::default(),
            }),
            world_from_object: Arc::new(Motion::still(thing.camera_from_object)),
            detail: [0, DETAIL_STEPS],
            solid: None,
            seed,
        };
        let world = World {
            options,
            drawables: (0..).zip(things).map(drawable).collect(),
            camera: camera.clone(),
            lights: Vec::new(),
            solids: Vec::new(),
            spaces: Vec::new(),
            location: SourceLocation::default(),
            notes: Default::default(),
        };
        let looks: Vec<Arc<Look>> = things.iter().map(|thing| Arc::new(thing.look.clone())).collect();
        DrawnWorld::new(&world, &looks, 64 << 20)
    }

    /// Puts the world on the device.
    pub(crate) fn load(&self, lab: &mut Lab) -> Loaded {
        let page = &self.drawn.pages[0];
        let frame = FrameSlices {
            frame: lab.upload("frame", bytemuck::cast_slice(&[self.drawn.frame])),
            instances: lab.upload("instances", &self.drawn.instances),
            params: lab.space("params", 0),
            primvar_bindings: lab.upload("primvar bindings", &self.drawn.primvar_bindings),
            displaced_by: lab.space("displaced_by", 0),
            clip_planes: lab.space("clip planes", 0),
            solid_primitives: lab.space("solid primitives", 0),
            solid_steps: lab.space("solid steps", 0),
            motion: lab.space("motion", 0),
            lens: lab.space("lens", 0),
            space_table: 0,
            textures: None,
            counters: None,
            lookup_counters: 0,
        };
        let page =
            PageSlices { primitives: lab.upload("primitives", &page.primitives), data: lab.upload("data", &page.data) };
        Loaded { frame, page }
    }

    /// The number of the thing that an instance is part of, and its first primitive: each kind of its primitives has an
    /// instance.
    pub(crate) fn thing(&self, instance: u32) -> (usize, u32) {
        let (instance, mut first) = (instance as usize, 0);
        for (number, thing) in self.things.iter().enumerate() {
            let count = thing.run_count();
            if instance < first + count {
                return (number, self.drawn.runs[first].first);
            }
            first += count;
        }
        panic!("instance {instance} of {first}");
    }

    /// The numbers of grids of each kind of primitives.
    pub(crate) fn by_kind(&self, grids: &[Subpatch]) -> Vec<(PrimitiveKind, Vec<usize>)> {
        let sublist_of = |grid: &Subpatch| self.drawn.instances[grid.instance as usize].hide_sublist as usize;
        let is_of = |kind, grid| self.drawn.hide_sublists[sublist_of(grid)].kind == kind;
        let of_kind = |kind| (0..grids.len()).filter(|&number| is_of(kind, &grids[number])).collect();
        PrimitiveKind::ALL.map(|kind| (kind, of_kind(kind))).into()
    }

    /// The surface that a grid is part of.
    pub(crate) fn surface(&self, grid: &Subpatch) -> Surface<'_> {
        let (number, first) = self.thing(grid.instance);
        let thing = &self.things[number];
        let mut surface = Surface {
            shape: &thing.shape,
            primitive: (grid.primitive - first) as usize,
            camera_from_object: thing.camera_from_object,
            perspective: self.drawn.frame.flags & FRAME_PERSPECTIVE != 0,
            rim_chords: 0.0,
        };
        if let Shape::Points(points) = &thing.shape {
            let nu = f64::from(grid.micropolygons()[0]);
            surface.rim_chords = if surface.is_octagon(grid) {
                8.0
            } else if edge::levels(grid) == [0, 0] {
                nu
            } else {
                // As many as the circumference is long, in edges of micropolygons.
                let distance = if surface.perspective { surface.position(0.0, 0.0).z } else { 1.0 };
                let radius = 0.5 * f64::from(points.widths[surface.primitive]);
                let px = f64::from(self.drawn.frame.raster_scale[0]).abs() / 1024.0 / distance;
                std::f64::consts::TAU * radius * px / f64::from(thing.shading_rate).sqrt()
            };
        }
        surface
    }
}

/// What the device holds of a scene.
#[derive(Clone, Copy)]
pub(crate) struct Loaded {
    pub frame: FrameSlices,
    pub page: PageSlices,
}

/// A place in camera space, turned about x and a little about z.
pub(crate) fn placed(x: f64, y: f64, z: f64, turn: f64) -> DMat4 {
    DMat4::from_translation(DVec3::new(x, y, z)) * DMat4::from_rotation_x(turn) * DMat4::from_rotation_z(0.3 * turn)
}

/// A whole or partial quadric.
pub(crate) fn quadric(shape: QuadricShape, sweep_degrees: f32) -> Shape {
    Shape::Quadric(Quadric { shape, sweep_degrees })
}

/// A whole sphere.
pub(crate) fn sphere(radius: f32) -> Shape {
    quadric(QuadricShape::Sphere { radius, zmin: -radius, zmax: radius }, 360.0)
}

/// Facets between given positions.
pub(crate) fn facets(positions: Vec<[f32; 3]>, corners: Vec<[u32; 4]>) -> Shape {
    Shape::Facets(Facets {
        positions: positions.into(),
        face_corners: corners.clone().into(),
        face: (0..corners.len() as u32).collect(),
        corners: corners.into(),
        polygon: false,
        face_normals: [].into(),
        uv_range: [].into(),
    })
}

/// Bicubic patches from their control points, 16 each.
pub(crate) fn patches(control: Vec<[f32; 3]>) -> Shape {
    bezier([3; 2], control, Vec::new())
}

/// Bezier patches from their control points, which are multiplied by the weights, if there are any.
pub(crate) fn bezier(degrees: [u32; 2], control: Vec<[f32; 3]>, weights: Vec<f32>) -> Shape {
    let count = control.len() / ((degrees[0] + 1) * (degrees[1] + 1)) as usize;
    let corners: Vec<[u32; 4]> = (0..count as u32).map(|i| [4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3]).collect();
    Shape::Patches(Patches {
        degrees,
        control: control.into(),
        weights: weights.into(),
        corners: corners.clone().into(),
        face_corners: corners.into(),
        face: (0..count as u32).collect(),
        uv_range: vec![[0.0, 0.0, 1.0, 1.0]; count].into(),
        trim: None,
    })
}

/// Curve segments of four (cubic) or two control points each, with normals or without.
pub(crate) fn curves(control: Vec<[f32; 3]>, cubic: bool, width: [f32; 2], normals: Vec<[[f32; 3]; 2]>) -> Shape {
    let count = control.len() / if cubic { 4 } else { 2 };
    let [first, last] = width;
    let width = [first, (2.0 * first + last) / 3.0, (first + 2.0 * last) / 3.0, last];
    Shape::Curves(CurveSegments {
        control: control.into(),
        weights: [].into(),
        cubic,
        ends: (0..count as u32).map(|i| [2 * i, 2 * i + 1]).collect(),
        widths: vec![width; count].into(),
        normals: normals.into(),
        face: (0..count as u32).collect(),
        v_range: vec![[0.25, 0.75]; count].into(),
    })
}

/// Points of different widths.
pub(crate) fn points(positions: Vec<[f32; 3]>, widths: Vec<f32>) -> Shape {
    Shape::Points(Points { positions: positions.into(), widths: widths.into(), form: PointForm::Disk })
}
