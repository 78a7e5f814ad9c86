//! A world as devices draw it: pages of geometry, instances, sublists, and the frame record.

use super::bound_split::{FullKinds, KindMotion};
use super::frame;
use super::geometry::{Page, Pages, PrimitiveKind, PrimitiveRun, RunPrimvar};
use super::kernels::constants::{
    BINDING_STRIDE_SHIFT, BINDING_TAKEN_SHIFT, BINDING_TYPE_SHIFT, BINDING_UNIFORM_SHIFT, CLASS_CONSTANT, CLASS_END,
    CLASS_FACEVARYING, CLASS_UNIFORM, CLASS_VARYING, CLASS_VERTEX, DETAIL_END_SHIFT, INSTANCE_BAKES_UNSEEN,
    INSTANCE_FLIP_NORMAL, INSTANCE_MATTE, INSTANCE_ONE_SIDED, INSTANCE_OPAQUE, INSTANCE_SMOOTH, INSTANCE_SOLID,
    INSTANCE_TRANSLUCENT, PRIMVARS_NONE, TYPE_NORMAL, TYPE_PLAIN, TYPE_POINT, TYPE_VECTOR,
};
use super::kernels::records::{Frame, Instance, Keyframe, LensCell, PrimvarBinding};
use super::lens::Lens;
use super::look::{HideSublist, Interpolation, Look, Program, ShadeSublist, Verdict};
use super::motion::{Path, largest_scale};
use super::outside::Outside;
use super::solid_table::{PrimitiveSolid, SolidTable};
use crate::diagnostic::SourceLocation;
use crate::scene::{
    Attributes, Class, DETAIL_STEPS, Drawable, ParamValue, ShadingInterpolation, Shape, ValueType, World,
};
use glam::{DMat3, DMat4};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Consecutive primitives of one instance in one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnRun {
    /// The page.
    pub page: usize,
    /// First primitive, page-relative.
    pub first: u32,
    /// How many.
    pub count: u32,
    /// The instance record.
    pub instance: u32,
    /// Whether the last primitive comes first.
    pub reversed: bool,
}

/// All that devices must know of a world, except compiled kernels and their parameters.
#[derive(Debug)]
pub struct DrawnWorld {
    /// Camera and sampling.
    pub frame: Frame,
    /// Clipping planes besides hither and yon (glsl/lib/sampling/clip.glsl).
    pub clip_planes: Vec<[f32; 4]>,
    /// Geometry.
    pub pages: Arc<[Arc<Page>]>,
    /// Instances.
    pub instances: Vec<Instance>,
    /// The motion of the instances that move: a record for each of their keyframes.
    pub motion: Vec<Keyframe>,
    /// The cells of the lens and the wedges of its aperture; none where all is in focus.
    pub lens: Vec<LensCell>,
    /// Primvars of instances' programs; lists end with `CLASS_END`.
    pub primvar_bindings: Vec<PrimvarBinding>,
    /// What is drawn, in authored order; of a picture that is painted in the opposite one, because of equal depths the
    /// first is seen.
    pub runs: Vec<DrawnRun>,
    /// Sublists of hiding, opaque ones first; instances name them by index.
    pub hide_sublists: Vec<HideSublist>,
    /// Sublists of shading; instances name them by index.
    pub shade_sublists: Vec<ShadeSublist>,
    /// Where each instance was authored, and its identifier, for messages.
    pub origins: Vec<(Arc<str>, SourceLocation)>,
    /// What is kept of the colours of a micropolygon.
    pub interpolation: Interpolation,
    /// Whether any instance bakes what no sample sees of it.
    pub bakes_unseen: bool,
    /// Kinds that need all that they may have.
    pub full: FullKinds,
    /// Solids, whose primitives instances name by number.
    pub solids: SolidTable,
    /// Instances that are displaced without a declared bound, so that their displacement must be measured.
    pub unbounded: Vec<u32>,
    /// Instances whose motion has too many times to follow all of them.
    pub few_keyframes: Vec<FewKeyframes>,
}

/// An instance whose motion is followed at some of its times only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FewKeyframes {
    /// The instance.
    pub instance: u32,
    /// How many times its shape, its transformation and the camera's have together.
    pub asked: usize,
    /// At how many of them it is followed.
    pub followed: usize,
}

impl DrawnWorld {
    /// Lowers a world. `looks[i]` belongs to drawable `i`. Pages hold at most `page_bytes` each.
    pub fn new(world: &World, looks: &[Arc<Look>], page_bytes: u64) -> Self {
        Self::in_pages(world, looks, &mut Pages::new(page_bytes))
    }

    /// The same in pages that may have geometry of earlier pictures.
    pub fn in_pages(world: &World, looks: &[Arc<Look>], pages: &mut Pages) -> Self {
        pages.begin_picture();
        let mut builder = Builder::new(world, pages);
        for (drawable, look) in world.drawables.iter().zip(looks) {
            if look.verdict != Verdict::Dropped {
                builder.draw(drawable, look);
            }
        }
        builder.finish()
    }

    /// The kinds of primitives, and what those of each kind do that costs time.
    pub fn kinds(&self) -> BTreeSet<KindMotion> {
        let loose: FxHashSet<PrimitiveKind> = self
            .instances
            .iter()
            .filter(|instance| instance.motion_factor > 0.0 || instance.focus_factor > 0.0)
            .map(|instance| self.hide_sublists[instance.hide_sublist as usize].kind)
            .collect();
        let of_sublist = |sublist: &HideSublist| KindMotion {
            kind: sublist.kind,
            moves: self.moves(sublist.kind),
            loose: loose.contains(&sublist.kind),
            full: self.full.has(sublist.kind),
        };
        self.hide_sublists.iter().map(of_sublist).collect()
    }

    /// Whether anything moves or is out of focus.
    pub fn is_blurred(&self) -> bool {
        !self.motion.is_empty() || !self.lens.is_empty()
    }

    /// Whether any primitive of this kind moves.
    pub fn moves(&self, kind: PrimitiveKind) -> bool {
        self.hide_sublists.iter().any(|sublist| sublist.kind == kind && sublist.keyframes > 1)
    }

    /// Primitives drawn, instances counted each time.
    pub fn primitive_count(&self) -> u64 {
        self.runs.iter().map(|run| u64::from(run.count)).sum()
    }
}

struct Builder<'a> {
    world: &'a World,
    frame: Frame,
    outside: Outside,
    camera_from_world: DMat4,
    pages: &'a mut Pages,
    instances: Vec<(Instance, HideSublist, ShadeSublist)>,
    motion: Vec<Keyframe>,
    primvar_bindings: Vec<PrimvarBinding>,
    runs: Vec<DrawnRun>,
    origins: Vec<(Arc<str>, SourceLocation)>,
    /// Most keyframes of a drawable whose colours are interpolated; 0 where there is none.
    smooth_keyframes: u32,
    full: FullKinds,
    solids: SolidTable,
    /// The primitive that each solid of the world is, if it is one.
    primitive_solids: Vec<Option<PrimitiveSolid>>,
    unbounded: Vec<u32>,
    few_keyframes: Vec<FewKeyframes>,
}

impl<'a> Builder<'a> {
    fn new(world: &'a World, pages: &'a mut Pages) -> Self {
        let (solids, primitive_solids) = SolidTable::new(world);
        let frame = frame::frame_record(&world.camera, &world.options);
        let outside = Outside::new(&world.camera, &frame, f64::from(world.options.least_width_px()));
        Self {
            world,
            frame,
            outside,
            camera_from_world: *world.camera.camera_from_world.first(),
            pages,
            instances: Vec::new(),
            motion: Vec::new(),
            primvar_bindings: Vec::new(),
            runs: Vec::new(),
            origins: Vec::new(),
            smooth_keyframes: 0,
            full: FullKinds { curves: world.options.least_width_px() > 0.0, blobs: false },
            solids,
            primitive_solids,
            unbounded: Vec::new(),
            few_keyframes: Vec::new(),
        }
    }

    fn draw(&mut self, drawable: &Drawable, look: &Look) {
        let solid = drawable.solid.and_then(|solid| self.primitive_solids[solid.0 as usize]);
        let path = Path::of(self.world, drawable);
        let grown = self.displaced_by(drawable, look, &path);
        if self.outside.has(drawable, &path, grown, |geometry| self.pages.bound(geometry)) {
            return;
        }
        let geometry = path.geometry(&drawable.geometry, self.pages);
        match geometry.shape.first() {
            Shape::Curves(curves) => self.full.curves |= !curves.weights.is_empty(),
            Shape::Blobs(blobs) => self.full.blobs |= !blobs.repellers().is_empty(),
            _ => {}
        }
        let runs = self.pages.runs(&geometry);
        if path.asked > path.keyframes.len() && !runs.is_empty() {
            let (instance, asked, followed) = (self.instances.len() as u32, path.asked, path.keyframes.len());
            self.few_keyframes.push(FewKeyframes { instance, asked, followed });
        }
        let mut before = 0;
        for run in runs.iter() {
            let first_primitive = run.first.wrapping_sub(before);
            before += run.count;
            let instance = self.instance(drawable, look, run, &path, solid);
            let instance = Instance { seed: drawable.seed, first_primitive, ..instance };
            let is_smooth = look.shade.is_some() && instance.flags & INSTANCE_SMOOTH != 0;
            let smooth_keyframes = if is_smooth { instance.keyframes } else { 0 };
            self.smooth_keyframes = self.smooth_keyframes.max(smooth_keyframes);
            self.runs.push(DrawnRun {
                page: run.page,
                first: run.first,
                count: run.count,
                instance: self.instances.len() as u32,
                reversed: self.world.options.hider.paints(),
            });
            if look.displace.is_some() && drawable.attributes.displacement_bound.is_none() {
                self.unbounded.push(self.instances.len() as u32);
            }
            let displace = look.displace.as_ref().map(|program| program.kernel);
            let shade = look.shade.as_ref().map(|program| program.kernel);
            let has_inputs = |program: &Option<Program>| program.as_ref().is_some_and(|p| !p.inputs.is_empty());
            let (displace_primvars, shade_primvars) = (has_inputs(&look.displace), has_inputs(&look.shade));
            let translucent = instance.flags & INSTANCE_TRANSLUCENT != 0;
            let (page, kind) = (run.page, run.kind);
            let trimmed = drawable.geometry.shape.first().trim().is_some();
            let keyframes = instance.keyframes;
            let hide_sublist = HideSublist { translucent, page, kind, trimmed, displace, displace_primvars, keyframes };
            let thin = look.thin;
            let keyframes = smooth_keyframes;
            let shade_sublist =
                ShadeSublist { page, kind, displace, displace_primvars, shade, shade_primvars, thin, keyframes };
            self.instances.push((instance, hide_sublist, shade_sublist));
            self.origins.push((Arc::clone(&drawable.attributes.name), drawable.geometry.location.clone()));
        }
    }

    fn instance(
        &mut self,
        drawable: &Drawable,
        look: &Look,
        run: &PrimitiveRun,
        path: &Path,
        solid: Option<PrimitiveSolid>,
    ) -> Instance {
        let attributes = &drawable.attributes;
        let camera_from_object = self.camera_from_world * *drawable.world_from_object.first();
        let rows = camera_from_object.transpose();
        let rate = frame::dice_rate(
            attributes.shading_rate * attributes.relative_shading_rate,
            self.world.options.pixel_samples,
        );
        let st = attributes.texture_coordinates;
        let motion = self.motion.len() as u32;
        if path.moves() {
            self.motion.extend(path.records(self.world.camera.shutter, keyframe_records(drawable, run)));
        }
        let block = |program: &Option<Program>| program.as_ref().map_or(0, |p| p.block);
        Instance {
            row0: rows.x_axis.as_vec4().to_array(),
            row1: rows.y_axis.as_vec4().to_array(),
            row2: rows.z_axis.as_vec4().to_array(),
            texture_st0: [st[0][0], st[0][1], st[1][0], st[1][1]],
            texture_st1: [st[2][0], st[2][1], st[3][0], st[3][1]],
            flags: flags(drawable, look, solid),
            dice_scale: (1.0 / (frame::PIXEL_PARTS * f64::from(rate).sqrt())) as f32,
            displacement_bound: self.displacement_bound(attributes, look, camera_from_object),
            scale: largest_scale(DMat3::from_mat4(camera_from_object)) as f32,
            displace_block: block(&look.displace),
            shade_block: block(&look.shade),
            displace_primvars: self.bind(look.displace.as_ref(), &run.primvars),
            shade_primvars: self.bind(look.shade.as_ref(), &run.primvars),
            hide_sublist: 0,
            shade_sublist: 0,
            solid: solid.map_or(0, |solid| solid.number),
            detail: drawable.detail[0] | (DETAIL_STEPS - drawable.detail[1]) << DETAIL_END_SHIFT,
            keyframes: path.keyframes.len() as u32,
            motion: if path.moves() { motion } else { 0 },
            motion_factor: if path.moves() { loosening(attributes, "motionfactor") } else { 0.0 },
            focus_factor: if frame::has_lens(&self.world.camera) { loosening(attributes, "focusfactor") } else { 0.0 },
            ..Instance::default()
        }
    }

    /// How far in camera space a drawable may reach beyond its shape; infinite if that is not known.
    fn displaced_by(&self, drawable: &Drawable, look: &Look, path: &Path) -> f64 {
        match (&look.displace, &drawable.attributes.displacement_bound) {
            (None, _) => 0.0,
            (Some(_), Some(_)) if !path.moves() => {
                f64::from(self.displacement_bound(&drawable.attributes, look, path.keyframes[0].1))
            }
            _ => f64::INFINITY,
        }
    }

    /// Radius in camera space by which a displaced surface may move.
    fn displacement_bound(&self, attributes: &Attributes, look: &Look, camera_from_object: DMat4) -> f32 {
        let (Some(bound), Some(_)) = (&attributes.displacement_bound, &look.displace) else { return 0.0 };
        // A surface that moves P displaces where there is no displacement shader.
        let shader = attributes.displacement.as_ref().or(attributes.surface.as_ref());
        let shader = shader.map(|shader| *shader.world_from_shader.first());
        let named =
            self.world.spaces.iter().chain(&*attributes.scoped_spaces).rev().find(|space| space.name == bound.space);
        let camera_from_space = match (&*bound.space, named) {
            (_, Some(space)) => self.camera_from_world * *space.world_from_space.first(),
            ("camera" | "current", None) => DMat4::IDENTITY,
            ("world", None) => self.camera_from_world,
            ("shader", None) => shader.map_or(camera_from_object, |m| self.camera_from_world * m),
            _ => camera_from_object,
        };
        (f64::from(bound.radius) * largest_scale(DMat3::from_mat4(camera_from_space))) as f32
    }

    fn bind(&mut self, program: Option<&Program>, primvars: &[RunPrimvar]) -> u32 {
        let Some(program) = program.filter(|program| !program.inputs.is_empty()) else { return PRIMVARS_NONE };
        let first = self.primvar_bindings.len() as u32;
        for input in program.inputs.iter() {
            if let Some(primvar) = primvars.iter().find(|primvar| primvar.name == input.primvar) {
                let uniform = u32::from(input.uniform) << BINDING_UNIFORM_SHIFT;
                let stride = primvar.ty.floats() as u32 * primvar.array_len;
                let kind = class_number(primvar.class) | type_number(input.meaning) << BINDING_TYPE_SHIFT;
                self.primvar_bindings.push(PrimvarBinding {
                    class_type: kind | input.floats << BINDING_TAKEN_SHIFT | stride << BINDING_STRIDE_SHIFT | uniform,
                    first_value: primvar.first_value + input.first,
                    channel: input.channel,
                    component: input.component,
                });
            }
        }
        self.primvar_bindings.push(PrimvarBinding { class_type: CLASS_END, first_value: 0, channel: 0, component: 0 });
        first
    }

    fn interpolation(&self) -> Interpolation {
        match self.smooth_keyframes {
            0 => Interpolation::Constant,
            1 if !frame::has_lens(&self.world.camera) => Interpolation::Smooth,
            keyframes => Interpolation::Blurred(keyframes),
        }
    }

    fn finish(mut self) -> DrawnWorld {
        if self.world.options.hider.paints() {
            self.runs.reverse();
        }
        let interpolation = self.interpolation();
        if !matches!(interpolation, Interpolation::Blurred(_)) {
            self.instances.iter_mut().for_each(|(_, _, sublist)| sublist.keyframes = 0);
        }
        let mut hide_sublists: Vec<HideSublist> = self.instances.iter().map(|(_, sublist, _)| *sublist).collect();
        let mut shade_sublists: Vec<ShadeSublist> = self.instances.iter().map(|(_, _, sublist)| *sublist).collect();
        hide_sublists.sort_unstable();
        hide_sublists.dedup();
        shade_sublists.sort_unstable();
        shade_sublists.dedup();
        let bakes_unseen = self.instances.iter().any(|(instance, ..)| instance.flags & INSTANCE_BAKES_UNSEEN != 0);
        let number = |found: Result<usize, usize>| found.unwrap_or_else(|at| at) as u32;
        let numbered = |(mut instance, hide, shade): (Instance, HideSublist, ShadeSublist)| {
            instance.hide_sublist = number(hide_sublists.binary_search(&hide));
            instance.shade_sublist = number(shade_sublists.binary_search(&shade));
            instance
        };
        DrawnWorld {
            frame: self.frame,
            clip_planes: frame::clip_planes(&self.world.camera),
            pages: self.pages.pages(),
            instances: self.instances.into_iter().map(numbered).collect(),
            motion: self.motion,
            lens: if frame::has_lens(&self.world.camera) {
                Lens::new(&self.world.options.hider.aperture).records(self.world.options.pixel_samples)
            } else {
                Vec::new()
            },
            primvar_bindings: self.primvar_bindings,
            runs: self.runs,
            hide_sublists,
            shade_sublists,
            origins: self.origins,
            interpolation,
            bakes_unseen,
            full: self.full,
            solids: self.solids,
            unbounded: self.unbounded,
            few_keyframes: self.few_keyframes,
        }
    }
}

/// How much blur loosens the shading rate of an object: `GeometricApproximation` of some kind, or 0.
fn loosening(attributes: &Attributes, kind: &str) -> f32 {
    let value = attributes.other.get(&format!("GeometricApproximation:{kind}"));
    let number = match value {
        Some(ParamValue::Floats(values)) => values.first().copied(),
        _ => None,
    };
    number.filter(|factor| factor.is_finite() && *factor > 0.0).unwrap_or(0.0)
}

fn flags(drawable: &Drawable, look: &Look, solid: Option<PrimitiveSolid>) -> u32 {
    let attributes = &drawable.attributes;
    let faces_camera = match drawable.geometry.shape.first() {
        Shape::Curves(curves) => curves.normals.is_empty(),
        Shape::Points(_) => true,
        _ => false,
    };
    let bit = |on: bool, bit: u32| if on { bit } else { 0 };
    let inside_out = solid.is_some_and(|solid| solid.subtracted);
    let opaque = look.verdict == Verdict::Opaque;
    bit(attributes.flip_normal != inside_out && !faces_camera, INSTANCE_FLIP_NORMAL)
        | bit(!attributes.two_sided, INSTANCE_ONE_SIDED)
        | bit(attributes.matte, INSTANCE_MATTE)
        | bit(attributes.shading_interpolation == ShadingInterpolation::Smooth, INSTANCE_SMOOTH)
        // Surfaces of solids leave entries, because what is seen of them is decided on whole lists.
        | bit(!opaque || solid.is_some(), INSTANCE_TRANSLUCENT)
        | bit(opaque, INSTANCE_OPAQUE)
        | bit(solid.is_some(), INSTANCE_SOLID)
        | bit(look.bakes && attributes.bakes_unseen(), INSTANCE_BAKES_UNSEEN)
}

/// Records from a run's control data at one keyframe to those at the next: none where its shape stands still.
fn keyframe_records(drawable: &Drawable, run: &PrimitiveRun) -> u32 {
    if drawable.geometry.shape.moves() { run.keyframe_records } else { 0 }
}

fn class_number(class: Class) -> u32 {
    match class {
        Class::Constant => CLASS_CONSTANT,
        Class::Uniform => CLASS_UNIFORM,
        Class::Varying => CLASS_VARYING,
        Class::FaceVarying => CLASS_FACEVARYING,
        Class::Vertex => CLASS_VERTEX,
    }
}

fn type_number(ty: ValueType) -> u32 {
    match ty {
        ValueType::Point => TYPE_POINT,
        ValueType::Vector => TYPE_VECTOR,
        ValueType::Normal => TYPE_NORMAL,
        _ => TYPE_PLAIN,
    }
}
