//! Binding the parameters of a drawable's shaders, which gives its look.

use super::block::{BlockSource, fill};
use super::facing::faces_by_winding;
use super::inputs::{inputs, suits, value_type};
use super::lights::LightSet;
use super::look_inputs::{LookInputs, ProgramInputs};
use super::programs::{BoundShader, ComposedProgram, Signature, is_invisible, is_opaque, rsl_type};
use super::query::depends_on_object;
use super::shaders::{FetchedShader, ShaderPurpose};
use super::spaces::LocalSpaces;
use super::{OutputVariable, ShadingBuilder};
use crate::diagnostic::{Diagnostic, Reporter, Severity};
use crate::pipeline::look::{Look, Program, Verdict};
use crate::scene::{Class, Drawable, ParamValue, Primvar, PrimvarData, ShaderInstance, ShaderParam, Shape};
use glam::DMat4;
use rustc_hash::FxHashMap;
use spirv_gen::compose::{Binding, Content, Reflection, Role, Slice, asks_displacement, is_list, sees_lights};
use spirv_gen::ir::{self, Const, ParamDefault, RslType};
use spirv_gen::passes::{map_params, text_params};
use std::sync::Arc;

/// A shader of a drawable with its bindings and its instance.
struct DrawableShader {
    bound: BoundShader,
    instance: ShaderInstance,
}

/// The shaders of a drawable.
pub(super) struct DrawableShaders {
    surface: Option<DrawableShader>,
    displacement: Option<DrawableShader>,
    atmosphere: Option<DrawableShader>,
}

impl DrawableShaders {
    fn by_role(&self) -> Vec<(Role, &BoundShader, &ShaderInstance)> {
        let parts = [
            (Role::Surface, &self.surface),
            (Role::Displacement, &self.displacement),
            (Role::Atmosphere, &self.atmosphere),
        ];
        parts.into_iter().filter_map(|(role, part)| part.as_ref().map(|p| (role, &p.bound, &p.instance))).collect()
    }
}

/// The look of a drawable.
#[derive(Clone)]
pub(super) struct FoundLook {
    pub look: Arc<Look>,
    /// What its programs read.
    pub inputs: Arc<LookInputs>,
    /// All drawables with its attribute state and primvars have it.
    pub is_shared: bool,
    /// Its light depends on the side to which its polygons wind.
    pub faces_by_winding: bool,
}

impl ShadingBuilder<'_> {
    /// Returns the look of a drawable, and what else is known of its shaders.
    pub(super) fn look(&mut self, drawable: &Drawable) -> FoundLook {
        let attributes = &drawable.attributes;
        let dropped = Look { verdict: Verdict::Dropped, displace: None, shade: None, thin: false, bakes: false };
        let parts = self.parts(drawable);
        let set = self.light_set(&attributes.lights);
        let signature = signature(drawable, &parts, &set, self.programs.variables);
        let location = &drawable.geometry.location;
        let opacity = self.programs.opacity(&signature);
        let from_block = signature.opacity == Binding::Block;
        // What is not seen of a solid still cuts it.
        if drawable.solid.is_none() && is_invisible(&opacity, attributes.opacity, from_block) {
            let inputs = Arc::default();
            return FoundLook { look: Arc::new(dropped), inputs, is_shared: true, faces_by_winding: false };
        }
        let curves = matches!(drawable.geometry.shape.first(), Shape::Curves(_));
        let thin = curves && self.world.options.least_width_px() > 0.0;
        let opaque = !thin && is_opaque(&opacity, attributes.opacity, from_block);
        let (mut object_space, mut bakes) = (false, false);
        let mut program = |this: &mut Self, signature: &Signature| {
            let composition = this.programs.get(signature, location);
            object_space |= uses_object_space(&composition.reflection);
            bakes |= composition.reflection.bakes;
            this.program(drawable, &parts, &set, &composition)
        };
        let displace = parts.displacement.as_ref().map(|displacement| {
            let mut signature = Signature { slice: Slice::Position, ..signature.clone() };
            // Without light only those lights matter that ask the displacement shader.
            if !sees_lights(&displacement.bound.shader) {
                signature.lights.retain(|light| asks_displacement(&light.bound.shader));
            }
            program(self, &signature)
        });
        let coloured = !(attributes.matte && opaque);
        let shade = coloured.then(|| program(self, &Signature { stores_opacity: !opaque, ..signature.clone() }));
        let ((displace, displaced), (shade, shaded)) = (displace.unzip(), shade.unzip());
        let verdict = if opaque { Verdict::Opaque } else { Verdict::Translucent };
        let surface = parts.surface.as_ref().map(|surface| &surface.bound.shader);
        FoundLook {
            look: Arc::new(Look { verdict, displace, shade, thin, bakes }),
            inputs: Arc::new(LookInputs { displace: displaced, shade: shaded }),
            is_shared: !object_space,
            faces_by_winding: !attributes.lights.is_empty() && surface.is_some_and(|shader| faces_by_winding(shader)),
        }
    }

    pub(super) fn parts(&mut self, drawable: &Drawable) -> DrawableShaders {
        let attributes = &drawable.attributes;
        let primvars = &drawable.geometry.primvars;
        let (world, reporter) = (self.world, self.reporter);
        let mut part = |instance: &Option<Arc<ShaderInstance>>, need| -> Option<DrawableShader> {
            let instance = instance.as_ref()?;
            let shader = self.shaders.fetch(instance, need, &world.options.search.shader, reporter)?;
            let instance = match &shader {
                FetchedShader::Wanted(_) => (**instance).clone(),
                FetchedShader::StandIn(_) => ShaderInstance { params: Vec::new(), ..(**instance).clone() },
            };
            check_primvars(shader.shader(), &instance, drawable, reporter);
            let bound = bind(shader.shader(), &instance, primvars, reporter);
            Some(DrawableShader { bound, instance })
        };
        let displacement = part(&attributes.displacement, ShaderPurpose::Displacement);
        if attributes.surface.is_none() {
            // Surface "null": a displacement gives it its shape, but nothing else is computed.
            return DrawableShaders { surface: self.null_surface(drawable), displacement, atmosphere: None };
        }
        let surface = part(&attributes.surface, ShaderPurpose::Surface);
        let atmosphere = part(&attributes.atmosphere, ShaderPurpose::Volume);
        self.displaced_by_surface(DrawableShaders { surface, displacement, atmosphere }, primvars)
    }

    /// Returns the shaders of a drawable whose surface moves P with its two parts instead of it. If there is also a
    /// displacement shader the surface moves nothing, which is reported.
    fn displaced_by_surface(&self, shaders: DrawableShaders, primvars: &[Primvar]) -> DrawableShaders {
        let moving = shaders.surface.as_ref().and_then(|surface| self.shaders.moving(&surface.bound.shader));
        let (Some([displacement, surface]), Some(whole)) = (moving, &shaders.surface) else { return shaders };
        let instance = &whole.instance;
        if shaders.displacement.is_some() {
            let message = format!(
                "the surface shader {:?} moves P, which has no effect beside a displacement shader",
                instance.name
            );
            self.reporter.warn("incapable", &instance.location, message);
            return shaders;
        }
        // What is wrong with the parameters has been reported.
        let silent = Reporter::silent();
        let part = |shader: &Arc<ir::Shader>| DrawableShader {
            bound: bind(shader, instance, primvars, &silent),
            instance: instance.clone(),
        };
        let [displacement, surface] = [&displacement, &surface].map(|shader| Some(part(shader)));
        DrawableShaders { surface, displacement, atmosphere: shaders.atmosphere }
    }

    /// Returns the colour by the opacity, as the shader "constant" has it.
    fn null_surface(&mut self, drawable: &Drawable) -> Option<DrawableShader> {
        let instance = ShaderInstance {
            name: "constant".into(),
            params: Vec::new(),
            world_from_shader: Arc::clone(&drawable.world_from_object),
            location: drawable.geometry.location.clone(),
        };
        let shader = self.shaders.built_in(&instance.name, self.reporter)?;
        Some(DrawableShader { bound: bind_plain(&shader, &instance, self.reporter), instance })
    }

    /// Returns a program as the drawable uses it, and what it reads: its block, the inputs that its primvars go to, and
    /// instead of a kernel, as long as none is compiled, the number of its variant.
    fn program(
        &mut self,
        drawable: &Drawable,
        parts: &DrawableShaders,
        set: &LightSet,
        composition: &ComposedProgram,
    ) -> (Program, ProgramInputs) {
        let reflection = &composition.reflection;
        self.programs.tokens.listen();
        let asks_lights = reflection.block.slots.iter().any(|slot| slot.content == Content::LightList);
        let light_list = if asks_lights { self.light_list(set, composition.program, reflection) } else { 0 };
        let camera_from_world = *self.world.camera.camera_from_world.first();
        let camera_from_object = camera_from_world * *drawable.world_from_object.first();
        let tables = self.params.block(reflection.tables.clone());
        let mut source = BlockSource {
            world: self.world,
            attributes: Some(&drawable.attributes),
            shaders: parts.by_role(),
            current_from_camera: DMat4::IDENTITY,
            given_in_current: false,
            local: LocalSpaces {
                camera_from_shader: camera_from_object,
                camera_from_object,
                scoped: &drawable.attributes.scoped_spaces,
            },
            light_list,
            lights_taken: FxHashMap::default(),
            tables,
            strings: strings(&drawable.geometry.primvars),
        };
        source.lights_taken = self.lights_taken(set, reflection, &source);
        let tokens = &self.programs.tokens;
        let block = fill(&reflection.block, &source, tokens, self.reporter);
        self.textures.note(reflection, &source, &block.computed, tokens, self.reporter);
        self.programs.note_once(composition.program, block.took);
        let inputs = inputs(reflection, &drawable.geometry.primvars);
        let variant = self.programs.variant(composition, &block.computed);
        let read = ProgramInputs {
            reflection: Arc::clone(reflection),
            composed_of: self.programs.texts(composition),
            texts: self.programs.tokens.heard().into(),
        };
        (Program { kernel: variant, block: self.params.block(block.records), inputs: inputs.into() }, read)
    }
}

pub(super) fn signature(
    drawable: &Drawable,
    parts: &DrawableShaders,
    set: &LightSet,
    variables: &[OutputVariable],
) -> Signature {
    let bound = |part: &Option<DrawableShader>| part.as_ref().map(|part| part.bound.clone());
    let standard = |name: &str| {
        let primvar = drawable.geometry.primvars.iter().find(|primvar| &*primvar.name == name);
        primvar.map_or(Binding::Block, |primvar| class_binding(primvar.class))
    };
    Signature {
        slice: Slice::Colour,
        surface: bound(&parts.surface),
        displacement: bound(&parts.displacement),
        atmosphere: bound(&parts.atmosphere),
        lights: set.kinds.clone(),
        colour: standard("Cs"),
        opacity: standard("Os"),
        stores_opacity: true,
        variables: variables.iter().map(|variable| variable_binding(&drawable.geometry.primvars, variable)).collect(),
    }
}

/// Returns the input for a display's variable, if it is a primitive variable.
fn variable_binding(primvars: &[Primvar], (name, ty): &OutputVariable) -> Binding {
    let shown = primvars.iter().find(|primvar| primvar.name == *name && suits(primvar, rsl_type(*ty), 1));
    let number = shown.filter(|primvar| matches!(primvar.data, PrimvarData::Floats(_)));
    number.map_or(Binding::Default, |primvar| class_binding(primvar.class))
}

/// A primvar with one value per grid becomes a uniform input, one that varies becomes a channel.
fn class_binding(class: Class) -> Binding {
    match class {
        Class::Constant | Class::Uniform => Binding::UniformInput,
        Class::Varying | Class::Vertex | Class::FaceVarying => Binding::VaryingInput,
    }
}

fn uses_object_space(reflection: &Reflection) -> bool {
    let program = reflection.block.program.as_deref();
    program.is_some_and(asks_attributes_by_computed_names)
        || reflection.block.slots.iter().any(|slot| match &slot.content {
            Content::Space { space, .. } => &**space == "object",
            Content::QueryFound(from, name, ..) | Content::QueryValue(from, name, ..) => depends_on_object(*from, name),
            _ => false,
        })
}

fn asks_attributes_by_computed_names(program: &ir::Body) -> bool {
    let mut asks = false;
    program.walk(program.root(), &mut |inst| {
        asks |= matches!(program.inst(inst).op, ir::Op::QueryBy { source: ir::QuerySource::Attribute, .. });
    });
    asks
}

fn strings(primvars: &[Primvar]) -> FxHashMap<Arc<str>, Arc<str>> {
    let text = |primvar: &Primvar| match &primvar.data {
        PrimvarData::Strings(texts) => texts.first().map(|text| (Arc::clone(&primvar.name), Arc::clone(text))),
        PrimvarData::Floats(_) => None,
    };
    primvars.iter().filter_map(text).collect()
}

/// Binds a shader without primvars, as for lights.
pub(super) fn bind_plain(shader: &Arc<ir::Shader>, instance: &ShaderInstance, reporter: &Reporter) -> BoundShader {
    bind(shader, instance, &[], reporter)
}

/// Binds each parameter of a shader to a primvar of its name, or else to the value given in RIB, or else to the
/// default.
fn bind(shader: &Arc<ir::Shader>, instance: &ShaderInstance, primvars: &[Primvar], reporter: &Reporter) -> BoundShader {
    check_given(shader, instance, reporter);
    let (decides, maps) = (text_params(shader), map_params(shader));
    let is_list_of = |param| texts_for(param, instance, primvars).iter().any(|text| is_list(text));
    let has_lists = shader.params.iter().zip(&maps).any(|(param, is_map)| *is_map && is_list_of(param));
    let binding = |(number, param): (usize, &ir::Param)| {
        let is_fixed = decides[number] || maps[number] && has_lists;
        let primvar =
            primvars.iter().find(|primvar| primvar.name == param.name && suits(primvar, param.ty, param.len()));
        if let Some(primvar) = primvar {
            return match &primvar.data {
                PrimvarData::Strings(texts) if is_fixed => fixed_texts(texts, param),
                PrimvarData::Strings(_) => Binding::Block,
                PrimvarData::Floats(_) => class_binding(primvar.class),
            };
        }
        let given = instance.params.iter().rev().find(|given| given.name == param.name && param_fits(given, param));
        match (given, &param.default) {
            (None, ParamDefault::Computed(_)) => Binding::Default,
            (Some(ShaderParam { value: ParamValue::Strings(texts), .. }), _) if is_fixed => fixed_texts(texts, param),
            (None, ParamDefault::Values(values)) if is_fixed => Binding::Fixed(values.clone()),
            (given, default) if is_empty_text(given, default, param) => Binding::Fixed(vec![Const::Str("".into())]),
            _ => Binding::Block,
        }
    };
    BoundShader { shader: Arc::clone(shader), bindings: shader.params.iter().enumerate().map(binding).collect() }
}

/// Returns the texts that a parameter gets.
fn texts_for(param: &ir::Param, instance: &ShaderInstance, primvars: &[Primvar]) -> Vec<Arc<str>> {
    let primvar = primvars.iter().find(|primvar| primvar.name == param.name && suits(primvar, param.ty, param.len()));
    if let Some(PrimvarData::Strings(texts)) = primvar.map(|primvar| &primvar.data) {
        return texts.to_vec();
    }
    let given = instance.params.iter().rev().find(|given| given.name == param.name && param_fits(given, param));
    match (given.map(|given| &given.value), &param.default) {
        (Some(ParamValue::Strings(texts)), _) => texts.to_vec(),
        (None, ParamDefault::Values(values)) => texts_of(values),
        _ => Vec::new(),
    }
}

/// Returns the texts among some values.
fn texts_of(values: &[Const]) -> Vec<Arc<str>> {
    values.iter().filter_map(|value| if let Const::Str(text) = value { Some(Arc::clone(text)) } else { None }).collect()
}

/// Binds a parameter on which texts depend: they are made when its pipeline is compiled. Primitives of one geometry
/// have the same texts, so the first are those of all.
fn fixed_texts(texts: &[Arc<str>], param: &ir::Param) -> Binding {
    let first = texts.iter().take(param.len() as usize);
    Binding::Fixed(first.map(|text| Const::Str(Arc::clone(text))).collect())
}

/// Whether a string parameter is empty: no texture, no shadow map. The compiler then removes the code that would use
/// it.
fn is_empty_text(given: Option<&ShaderParam>, default: &ParamDefault, param: &ir::Param) -> bool {
    let empty = match (given.map(|given| &given.value), default) {
        (Some(ParamValue::Strings(texts)), _) => texts.iter().all(|text| text.is_empty()),
        (None, ParamDefault::Values(values)) => values.iter().all(|v| matches!(v, Const::Str(t) if t.is_empty())),
        _ => false,
    };
    empty && param.ty == RslType::String && param.len() == 1
}

/// Whether a value given in RIB fits the parameter.
pub(super) fn param_fits(given: &ShaderParam, param: &ir::Param) -> bool {
    let is_text = matches!(given.value, ParamValue::Strings(_));
    is_text == (param.ty == RslType::String) && value_type(param.ty).fit(param.len(), value_count(given)).is_some()
}

/// Returns how many numbers or strings a value has.
fn value_count(given: &ShaderParam) -> usize {
    match &given.value {
        ParamValue::Floats(floats) => floats.len(),
        ParamValue::Ints(ints) => ints.len(),
        ParamValue::Strings(strings) => strings.len(),
    }
}

/// Describes the type of a parameter.
fn param_type(param: &ir::Param) -> String {
    let (ty, len) = (param.ty.name(), param.len());
    if len > 1 { format!("{ty}[{len}]") } else { ty.to_owned() }
}

/// Describes the type of a value given in RIB.
fn given_type(given: &ShaderParam) -> String {
    let count = value_count(given);
    match (given.ty, &given.value) {
        (Some(ty), _) => format!("the type {}", ty.described((count / ty.floats()) as u32)),
        (None, ParamValue::Strings(_)) => format!("{count} strings"),
        (None, _) => format!("{count} numbers"),
    }
}

/// Reports given parameters that the shader does not have, or that have another type.
fn check_given(shader: &ir::Shader, instance: &ShaderInstance, reporter: &Reporter) {
    for given in &instance.params {
        let param = shader.params.iter().find(|param| param.name == given.name);
        match param {
            None => report_unknown(shader, instance, given, reporter),
            Some(param) if !param_fits(given, param) => {
                let message = format!(
                    "parameter {:?} of shader {:?} has the type {}; the given value has {}",
                    given.name,
                    instance.name,
                    param_type(param),
                    given_type(given)
                );
                reporter.error("badparamlist", &instance.location, message);
            }
            Some(_) => {}
        }
    }
}

/// Reports primitive variables whose type differs from that of the shader's parameter of their name.
fn check_primvars(shader: &ir::Shader, instance: &ShaderInstance, drawable: &Drawable, reporter: &Reporter) {
    let location = &drawable.geometry.location;
    for primvar in &drawable.geometry.primvars {
        let param = shader.params.iter().find(|param| param.name == primvar.name);
        if let Some(param) = param.filter(|param| !suits(primvar, param.ty, param.len())) {
            let message = format!(
                "parameter {:?} of shader {:?} has the type {}; the primitive variable has the type {} and is not used",
                primvar.name,
                instance.name,
                param_type(param),
                primvar.ty.described(primvar.array_len)
            );
            reporter.error("badparamlist", location, message);
        }
    }
}

/// Reports a given parameter that the shader does not have, with those that it has, the most alike first.
fn report_unknown(shader: &ir::Shader, instance: &ShaderInstance, given: &ShaderParam, reporter: &Reporter) {
    let (severity, message) = match given.ty {
        None => (
            Severity::Error,
            format!("{:?} is neither declared nor a parameter of shader {:?}", given.name, instance.name),
        ),
        Some(_) => (Severity::Warning, format!("shader {:?} has no parameter {:?}", instance.name, given.name)),
    };
    // Names that begin with two underscores are not for scenes.
    let mut names: Vec<&str> =
        shader.params.iter().map(|param| &*param.name).filter(|n| !n.starts_with("__")).collect();
    let likeness = |name: &str| strsim::jaro(&name.to_lowercase(), &given.name.to_lowercase());
    names.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
    let hint = if names.is_empty() { "it has none".to_string() } else { format!("it has {}", names.join(", ")) };
    reporter.report(Diagnostic::new(severity, "badtoken", instance.location.clone(), message).hint(hint));
}
