//! Edits of objects: their attributes, places and geometry.

use super::notes::ShownDrawable;
use super::place::{MatrixStep, after};
use super::{NamePattern, Touched};
use crate::diagnostic::SourceLocation;
use crate::scene::{
    Attributes, DisplacementBound, Drawable, Geometry, LightId, Motion, NamedSpace, ParamValue, ShaderInstance,
    ShaderParam, ShadingInterpolation, World,
};
use glam::DMat4;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// One of the shaders of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShaderPlace {
    /// Surface.
    Surface,
    /// Displacement.
    Displacement,
    /// Atmosphere.
    Atmosphere,
}

/// A shader that is swapped, or some of its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct ShaderEdit {
    /// The name of the new shader; `None` keeps the shader, and those parameters that are not given.
    pub name: Option<Arc<str>>,
    /// Parameters.
    pub params: Vec<ShaderParam>,
    /// What its space becomes, from that of the shader there was, or else of the object.
    pub steps: Vec<MatrixStep>,
    /// Where the edit was written.
    pub location: SourceLocation,
}

/// Which way surfaces face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FacingEdit {
    /// As the object's coordinates define it.
    Outside,
    /// The opposite of `Outside`.
    Inside,
    /// By the left-hand rule.
    LeftHanded,
    /// By the right-hand rule.
    RightHanded,
    /// The opposite of what it was.
    Reverse,
}

/// A change of objects.
#[derive(Clone, Debug, PartialEq)]
pub enum ObjectChange {
    /// The colour.
    Color([f32; 3]),
    /// The opacity.
    Opacity([f32; 3]),
    /// TextureCoordinates, as in [`Attributes::texture_coordinates`].
    TextureCoordinates([[f32; 2]; 4]),
    /// A shader or its parameters; `None` removes it.
    Shader(ShaderPlace, Option<ShaderEdit>),
    /// Switches the lights of this handle.
    Illuminate(Arc<str>, bool),
    /// The desired area of micropolygons; positive.
    ShadingRate(f32),
    /// What that is multiplied by; positive.
    RelativeShadingRate(f32),
    /// How colours vary over a micropolygon.
    Interpolation(ShadingInterpolation),
    /// Whether the object only hides others.
    Matte(bool),
    /// Whether back faces are visible.
    TwoSided(bool),
    /// Which way surfaces face.
    Facing(FacingEdit),
    /// The displacement bound; what is not given stays.
    DisplacementBound {
        /// Its radius.
        radius: Option<f32>,
        /// The name of the coordinate system of the radius.
        space: Option<Arc<str>>,
    },
    /// Any other attribute, as `category:name`.
    Other(String, ParamValue),
    /// Whether the object is drawn.
    Visible(bool),
    /// Where it is, from where it was.
    Place(Vec<MatrixStep>),
    /// Its geometry.
    Geometry(Vec<Arc<Geometry>>),
}

impl ObjectChange {
    /// Makes the change of all objects that match.
    pub(super) fn apply(&self, names: &NamePattern, world: &mut World) -> Touched {
        match self {
            Self::Visible(visible) => show(*visible, names, world),
            Self::Geometry(geometry) => replace(geometry, names, world),
            Self::Place(steps) => place(steps, names, world),
            change => change.apply_attributes(names, world),
        }
    }

    /// Changes attributes. States that were shared stay shared.
    fn apply_attributes(&self, names: &NamePattern, world: &mut World) -> Touched {
        let mut touched = Touched::NOTHING;
        let mirrored_camera = mirrors(&world.camera.camera_from_world);
        let lights = match self {
            Self::Illuminate(handle, _) => ids_of(handle, world),
            _ => Vec::new(),
        };
        let mut shaders: FxHashMap<(usize, usize), [Arc<ShaderInstance>; 2]> = FxHashMap::default();
        change_attributes(names, world, self.asks_for_place(), |attributes, drawable| {
            let before = attributes.clone();
            match self {
                Self::Shader(slot, edit) => {
                    let shader = slot.of(attributes);
                    let old = shader.take();
                    *shader = edit.as_ref().and_then(|edit| {
                        let key = |old: &Arc<ShaderInstance>| (Arc::as_ptr(old).addr(), 0);
                        let key = old.as_ref().map_or((0, Arc::as_ptr(&drawable.world_from_object).addr()), key);
                        if let Some([_, new]) = shaders.get(&key) {
                            return Some(Arc::clone(new));
                        }
                        let new = edit.made(old.as_ref(), &drawable.world_from_object)?;
                        shaders.insert(key, [old.clone().unwrap_or_else(|| Arc::clone(&new)), Arc::clone(&new)]);
                        Some(new)
                    });
                }
                Self::Illuminate(_, on) => illuminate(attributes, &lights, *on),
                change => {
                    let mirrored = mirrored_camera != mirrors(&drawable.world_from_object);
                    change.change(attributes, mirrored);
                }
            }
            let is_new = *attributes != before;
            touched |= self.touched(&before, attributes).when(is_new);
            is_new
        });
        touched
    }

    /// Whether the result depends on the place of the object.
    fn asks_for_place(&self) -> bool {
        matches!(self, Self::Shader(..) | Self::Facing(_))
    }

    /// Changes values that depend on nothing but the state, and on whether the object is mirrored on its way to the
    /// camera.
    fn change(&self, attributes: &mut Attributes, mirrored: bool) {
        match self {
            Self::Color(color) => attributes.color = *color,
            Self::Opacity(opacity) => attributes.opacity = *opacity,
            Self::TextureCoordinates(corners) => attributes.texture_coordinates = *corners,
            Self::ShadingRate(rate) => attributes.shading_rate = *rate,
            Self::RelativeShadingRate(rate) => attributes.relative_shading_rate = *rate,
            Self::Interpolation(interpolation) => attributes.shading_interpolation = *interpolation,
            Self::Matte(matte) => attributes.matte = *matte,
            Self::TwoSided(two_sided) => attributes.two_sided = *two_sided,
            Self::Facing(facing) => {
                attributes.flip_normal = match facing {
                    FacingEdit::Outside => mirrored,
                    FacingEdit::Inside => !mirrored,
                    FacingEdit::LeftHanded => false,
                    FacingEdit::RightHanded => true,
                    FacingEdit::Reverse => !attributes.flip_normal,
                }
            }
            Self::DisplacementBound { radius, space } => {
                let old = attributes.displacement_bound.take();
                let old = old.unwrap_or_else(|| DisplacementBound { radius: 0.0, space: "object".into() });
                let space = space.clone().unwrap_or(old.space);
                attributes.displacement_bound = Some(DisplacementBound { radius: radius.unwrap_or(old.radius), space });
            }
            Self::Other(key, value) => {
                attributes.other.insert(key.clone(), value.clone());
            }
            Self::Shader(..) | Self::Illuminate(..) | Self::Visible(_) | Self::Place(_) | Self::Geometry(_) => {}
        }
    }

    /// Returns what is touched by a change from one state to another.
    fn touched(&self, before: &Attributes, after: &Attributes) -> Touched {
        match self {
            Self::Color(_) => Touched::COLOUR,
            Self::Opacity(_) | Self::Matte(_) => Touched::OPACITY,
            Self::TextureCoordinates(_) => Touched::GEOMETRY,
            Self::Shader(ShaderPlace::Displacement, _) | Self::DisplacementBound { .. } => Touched::DISPLACEMENT,
            Self::Shader(place, _) => {
                let name = |attributes: &Attributes| {
                    let shader =
                        if *place == ShaderPlace::Surface { &attributes.surface } else { &attributes.atmosphere };
                    shader.as_ref().map(|shader| Arc::clone(&shader.name))
                };
                let is_same = name(before) == name(after);
                if is_same { Touched::SHADER_PARAMETER } else { Touched::SHADER_SWAPPED }
            }
            Self::Illuminate(..) => Touched::LIGHT_SET,
            Self::ShadingRate(_) | Self::RelativeShadingRate(_) => Touched::RATE,
            Self::Interpolation(_) => Touched::INTERPOLATION,
            Self::TwoSided(_) | Self::Facing(_) => Touched::SIDES,
            Self::Other(..) => {
                let visibility = Touched::VISIBILITY.when(before.casts_shadows() != after.casts_shadows());
                Touched::SHADER_PARAMETER | visibility
            }
            Self::Visible(_) => Touched::VISIBILITY,
            Self::Place(_) => Touched::TRANSFORM,
            Self::Geometry(_) => Touched::GEOMETRY,
        }
    }
}

impl ShaderPlace {
    /// Returns the shader of a state.
    pub fn of(self, attributes: &mut Attributes) -> &mut Option<Arc<ShaderInstance>> {
        match self {
            Self::Surface => &mut attributes.surface,
            Self::Displacement => &mut attributes.displacement,
            Self::Atmosphere => &mut attributes.atmosphere,
        }
    }
}

impl ShaderEdit {
    /// Returns the shader that comes of one, or of none on an object at `place`.
    fn made(&self, old: Option<&Arc<ShaderInstance>>, place: &Arc<Motion<DMat4>>) -> Option<Arc<ShaderInstance>> {
        let space = old.map_or(place, |old| &old.world_from_shader);
        let world_from_shader = after(space, &self.steps);
        let Some(name) = &self.name else {
            let old = old?;
            return Some(Arc::new(ShaderInstance { world_from_shader, ..self.with_params(old) }));
        };
        let (name, params) = (Arc::clone(name), self.params.clone());
        Some(Arc::new(ShaderInstance { name, params, world_from_shader, location: self.location.clone() }))
    }

    /// Returns the shader with the parameters of the edit.
    pub(super) fn with_params(&self, old: &ShaderInstance) -> ShaderInstance {
        let mut shader = old.clone();
        for param in &self.params {
            match shader.params.iter_mut().rev().find(|old| old.name == param.name) {
                // A value without a type has that of the shader's parameter, however it was written before.
                Some(old) => *old = param.clone(),
                None => shader.params.push(param.clone()),
            }
        }
        shader
    }

    /// Returns a shader that is edited where it is.
    pub(super) fn edited(&self, old: &ShaderInstance) -> ShaderInstance {
        let world_from_shader = after(&old.world_from_shader, &self.steps);
        match &self.name {
            None => ShaderInstance { world_from_shader, ..self.with_params(old) },
            Some(name) => ShaderInstance {
                name: Arc::clone(name),
                params: self.params.clone(),
                world_from_shader,
                location: self.location.clone(),
            },
        }
    }
}

/// Whether a transformation changes handedness.
fn mirrors(motion: &Motion<DMat4>) -> bool {
    motion.first().determinant() < 0.0
}

/// Returns the lights of a handle: the last of that name, and all of it where it is an area light.
fn ids_of(handle: &str, world: &World) -> Vec<LightId> {
    let Some(last) = world.lights.iter().rposition(|light| *light.handle == *handle) else { return Vec::new() };
    let count = world.lights[last].part.map_or(1, |part| part.count as usize);
    ((last + 1).saturating_sub(count)..=last).map(|index| LightId(index as u32)).collect()
}

/// Switches lights; the list stays in the order in which the lights were created.
pub(super) fn illuminate(attributes: &mut Attributes, ids: &[LightId], on: bool) {
    let mut lights: Vec<LightId> = attributes.lights.iter().copied().filter(|light| !ids.contains(light)).collect();
    if on {
        lights.extend(ids);
        lights.sort_unstable();
    }
    if *lights != *attributes.lights {
        attributes.lights = lights.into();
    }
}

/// Changes the attributes of all objects that match. What `change` returns false for keeps its address. Its result may
/// depend on the state, and with `by_place` on where the object is, and on nothing else.
pub(super) fn change_attributes(
    names: &NamePattern,
    world: &mut World,
    by_place: bool,
    mut change: impl FnMut(&mut Attributes, &Drawable) -> bool,
) {
    // States by their addresses, which the entries keep alive.
    let mut changed: FxHashMap<[usize; 2], [Arc<Attributes>; 2]> = FxHashMap::default();
    for drawable in world.all_drawables_mut() {
        let place = if by_place { Arc::as_ptr(&drawable.world_from_object).addr() } else { 0 };
        let key = [Arc::as_ptr(&drawable.attributes).addr(), place];
        let new = match changed.get(&key) {
            Some([_, new]) => Arc::clone(new),
            None => {
                let old = Arc::clone(&drawable.attributes);
                let mut new = Arc::clone(&old);
                if names.matches(&old.name) {
                    let mut attributes = (*old).clone();
                    if change(&mut attributes, drawable) {
                        new = shared(&mut changed, attributes, &old);
                    }
                }
                changed.insert(key, [old, Arc::clone(&new)]);
                new
            }
        };
        drawable.attributes = new;
    }
}

/// Returns a changed state: the one that the same state became at another place, where that is equal.
fn shared(
    changed: &mut FxHashMap<[usize; 2], [Arc<Attributes>; 2]>,
    attributes: Attributes,
    old: &Arc<Attributes>,
) -> Arc<Attributes> {
    let last = changed.entry([Arc::as_ptr(old).addr(), usize::MAX]);
    let pair = last.or_insert_with(|| [Arc::clone(old), Arc::clone(old)]);
    if *pair[1] != attributes {
        pair[1] = Arc::new(attributes);
    }
    Arc::clone(&pair[1])
}

/// Shows or hides objects.
fn show(visible: bool, names: &NamePattern, world: &mut World) -> Touched {
    let concerns = |drawable: &Drawable| names.matches(&drawable.attributes.name);
    let any = if visible {
        world.notes.hidden.iter().any(|hidden| concerns(&hidden.drawable))
    } else {
        world.drawables.iter().any(concerns)
    };
    if any {
        let mut all = world.take_authored();
        for (drawable, is_shown) in &mut all {
            if concerns(drawable) {
                *is_shown = visible;
            }
        }
        world.put_authored(all);
    }
    Touched::VISIBILITY.when(any)
}

/// Moves objects. Shaders and coordinate systems in the object's own space move with it.
fn place(steps: &[MatrixStep], names: &NamePattern, world: &mut World) -> Touched {
    let mut touched = Touched::NOTHING;
    let mut places: FxHashMap<usize, [Arc<Motion<DMat4>>; 2]> = FxHashMap::default();
    let mut moved = |old: &Arc<Motion<DMat4>>| {
        let new = || [Arc::clone(old), after(old, steps)];
        let [old, new] = places.entry(Arc::as_ptr(old).addr()).or_insert_with(new);
        if old == new { Arc::clone(old) } else { Arc::clone(new) }
    };
    change_attributes(names, world, true, |attributes, drawable| {
        let old = &drawable.world_from_object;
        let new = moved(old);
        attributes.flip_normal ^= mirrors(old) != mirrors(&new);
        let is_own = |space: &Arc<Motion<DMat4>>| Arc::ptr_eq(space, old) || **space == **old;
        for place in [ShaderPlace::Surface, ShaderPlace::Displacement, ShaderPlace::Atmosphere] {
            let shader = place.of(attributes);
            if let Some(own) = shader.as_ref().filter(|shader| is_own(&shader.world_from_shader)) {
                let world_from_shader = Arc::clone(&new);
                *shader = Some(Arc::new(ShaderInstance { world_from_shader, ..(**own).clone() }));
            }
        }
        if attributes.scoped_spaces.iter().any(|space| is_own(&space.world_from_space)) {
            let spaces = attributes.scoped_spaces.iter().map(|space| match is_own(&space.world_from_space) {
                true => NamedSpace { world_from_space: Arc::clone(&new), ..space.clone() },
                false => space.clone(),
            });
            attributes.scoped_spaces = spaces.collect();
        }
        *attributes != *drawable.attributes
    });
    for drawable in world.all_drawables_mut().filter(|drawable| names.matches(&drawable.attributes.name)) {
        let new = moved(&drawable.world_from_object);
        touched |= Touched::TRANSFORM.when(!Arc::ptr_eq(&new, &drawable.world_from_object));
        drawable.world_from_object = new;
    }
    touched
}

/// Replaces the geometry of each object: of all that follows each other with the same name, state and place.
fn replace(geometry: &[Arc<Geometry>], names: &NamePattern, world: &mut World) -> Touched {
    let is_same = |a: &ShownDrawable, b: &ShownDrawable| {
        let same_state = Arc::ptr_eq(&a.0.attributes, &b.0.attributes) || a.0.attributes == b.0.attributes;
        let same_place = Arc::ptr_eq(&a.0.world_from_object, &b.0.world_from_object);
        a.1 == b.1 && same_state && same_place && a.0.solid == b.0.solid && a.0.detail == b.0.detail
    };
    let mut touched = Touched::NOTHING;
    let mut replaced: Option<ShownDrawable> = None;
    let mut result = Vec::new();
    for one in world.take_authored() {
        if !names.matches(&one.0.attributes.name) {
            replaced = None;
            result.push(one);
            continue;
        }
        touched = Touched::GEOMETRY;
        if replaced.as_ref().is_some_and(|object| is_same(object, &one)) {
            continue;
        }
        for (index, geometry) in geometry.iter().enumerate() {
            // Far from the numbers of all others.
            let seed = one.0.seed ^ (index as u32).wrapping_mul(0x9e37_79b9);
            result.push((Drawable { geometry: Arc::clone(geometry), seed, ..one.0.clone() }, one.1));
        }
        replaced = Some(one);
    }
    world.put_authored(result);
    touched
}
