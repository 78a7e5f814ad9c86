//! One program of the shaders of a pipeline: shaders are put one after the other, what they read is bound to buffers,
//! lights are put into their loops, and outputs that were not requested are dropped.

mod bind;
mod computed;
mod constants;
mod decided;
mod filters;
mod lights;
mod map_lists;
mod message;
mod opacity;
mod others;
mod reflection;
mod request;
mod spline;
mod table;
mod texture;
mod texture_info;

pub use decided::{BoundPipeline, Composed};
pub use lights::sees_lights;
pub use map_lists::is_list;
pub use message::asks_displacement;
pub use reflection::{
    BlockLayout, BlockSlot, Content, Decision, DisplacementValue, Input, InputChannel, Opacity, OutputChannel, Pattern,
    PlacedShortfall, Reflection, Role, Shortfall, TextureUse, UniformInput,
};
pub use request::{Binding, OutputRequest, PipelineRequest, ShaderUse, Slice};

use crate::abi::{self, channels, output_channel};
use crate::ir::{Body, MachineType, Op, Shader, Unary, Value};
use crate::passes::translate::{Translator, translate};
use crate::passes::writer::BodyWriter;
use crate::passes::{
    checked, drop_uniform_derivatives, keep_shown, merge_light_loops, number_prints, prints, remove_dead, roll,
    simplify, to_light_loops, unroll_texts,
};
use bind::{Binder, OutputValues};
use computed::compute_once;
use constants::store_tables;
use decided::decisions;
use filters::number_filters;
use lights::InlineLights;
use map_lists::spread_map_lists;
use opacity::opacity;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::Arc;
use table::{BindingTable, Placement};
use texture::note_literals;

/// Returns the first outputs that stand in for geometry channels: a position kernel's P and N, where u and v stay in
/// lane 3.
pub fn carried_channels(slice: Slice) -> u32 {
    if slice == Slice::Position { 2 } else { 0 }
}

/// Composes and binds a pipeline.
pub fn compose(request: &PipelineRequest<'_>) -> Composed {
    bind_pipeline(request).program(&[])
}

/// Composes a pipeline and binds it to buffers.
pub fn bind_pipeline(request: &PipelineRequest<'_>) -> BoundPipeline {
    let mut table = BindingTable::default();
    if request.slice == Slice::Colour {
        table.displacement = request.displacement_values();
    }
    let body = checked(bind_shaders(request, &mut table));
    let body = checked(merge_light_loops(checked(simplify(&body))));
    let body = checked(translate(&body, &mut InlineLights::new(request, &mut table), true));
    let body = checked(unroll_texts(checked(simplify(&body))));
    let body = checked(number_filters(body, &mut table));
    let body = checked(spread_map_lists(body, &mut table));
    let opacity = opacity(&body, request, &table);
    let body = if prints(&body) { checked(number_prints(&body, first_number(request.slice))) } else { body };
    note_literals(&body, &mut table);
    let body = if request.roll { checked(roll(body)) } else { body };
    let body = checked(store_tables(body, &mut table, request.tokens));
    let (body, programs) = compute_once(&body, &mut table);
    let mut body = checked(drop_uniform_derivatives(&body));
    remove_dead(&mut body);
    let places = table::place(&mut body, programs, &table, request.lights.len());
    let body = checked(body);
    let reflection = reflect(request, &body, places, opacity, table);
    BoundPipeline { body, reflection }
}

/// Returns the number of the first record of a program.
fn first_number(slice: Slice) -> f32 {
    if slice == Slice::Position { 0.0 } else { abi::print::COLOUR_NUMBERS as f32 }
}

/// Returns what a finished program reads and writes.
fn reflect(
    request: &PipelineRequest<'_>,
    body: &Body,
    places: Placement,
    opacity: Opacity,
    table: BindingTable,
) -> Reflection {
    let mut output_channels = 0;
    let output = |o: OutputRequest| {
        let channel = output_channel(output_channels, carried_channels(request.slice));
        output_channels = channel + channels(o.ty.machine());
        OutputChannel { name: o.name, ty: o.ty, channel }
    };
    let outputs = request.stored().into_iter().map(output).collect();
    let decisions = decisions(&places.block, &table);
    let strings = places.strings.into_iter().map(|text| {
        let token = (request.tokens)(&text);
        (text, token)
    });
    Reflection {
        block: places.block,
        lights: places.lights,
        inputs: places.inputs,
        input_channels: places.input_channels,
        uniform_inputs: places.uniform_inputs,
        uniform_records: places.uniform_records,
        outputs,
        output_channels,
        decisions,
        strings: strings.collect(),
        tables: table.tables,
        opacity,
        takes_derivatives: false,
        counts_trips: false,
        print_words: 0,
        bakes: false,
        reads_space_table: places.reads_space_table,
        uses_textures: false,
        texture_names: table.texture_names.into_iter().collect(),
        filter_names: table.filter_names.into_iter().collect(),
        shortfalls: table.shortfalls.into_iter().collect(),
    }
    .of_program(body)
}

/// Writes the shaders one after the other; the root yields what is requested.
fn bind_shaders(request: &PipelineRequest<'_>, table: &mut BindingTable) -> Body {
    let mut out = BodyWriter::new(true);
    let shaders = match request.slice {
        Slice::Position => [(Role::Displacement, &request.displacement), (Role::Atmosphere, &None)],
        Slice::Colour => [(Role::Surface, &request.surface), (Role::Atmosphere, &request.atmosphere)],
        Slice::Imager => [(Role::Surface, &request.surface), (Role::Atmosphere, &None)],
    };
    let mut finished = OutputValues::default();
    for (role, shader) in shaders {
        let Some(shader) = shader else { continue };
        let (body, outputs) = wanted(request, role, shader.shader);
        let body = to_light_loops(&simplify(&body));
        let surface = finished.clone();
        let mut binder = Binder { surface: Some(&surface), ..binder(request, table, Some(shader), role) };
        let places = out.inline_places(&body, role);
        let results = Translator::new(&body, &mut out, places).region(&mut binder, body.root());
        finished.extend(outputs.into_iter().zip(results));
    }
    let stored = request.stored();
    let results: Vec<Value> = stored.iter().map(|o| output(request, table, &mut out, &finished, o)).collect();
    out.finish(&results)
}

/// Returns the body of a shader and the names of its outputs, without elements of arrays that are not used, and without
/// what it shows to lights that do not ask.
fn wanted<'s>(request: &PipelineRequest<'_>, role: Role, shader: &'s Shader) -> (Cow<'s, Body>, Vec<Arc<str>>) {
    let names: Vec<Arc<str>> = shader.outputs.iter().map(|output| output.name.clone()).collect();
    let is_element = |name: &Arc<str>| name.ends_with(']');
    let has_elements = names.iter().any(is_element);
    let mut shows = false;
    shader.body.walk(shader.body.root(), &mut |i| shows |= !shader.body.inst(i).op.shown().is_empty());
    if !has_elements && !shows {
        return (Cow::Borrowed(&shader.body), names);
    }
    let (mut body, root) = (shader.body.clone(), shader.body.root());
    let shown = request.shown_to_lights();
    keep_shown(&mut body, |name| shown.contains(name));
    if !has_elements {
        return (Cow::Owned(body), names);
    }
    let wanted = request.wanted_outputs(role);
    let outputs = names.into_iter().zip(std::mem::take(&mut body.region_mut(root).results));
    let (names, results) = outputs.filter(|(name, _)| !is_element(name) || wanted.contains(name)).unzip();
    body.region_mut(root).results = results;
    remove_dead(&mut body);
    (Cow::Owned(body), names)
}

fn binder<'r>(
    request: &'r PipelineRequest<'r>,
    table: &'r mut BindingTable,
    shader: Option<&'r ShaderUse<'r>>,
    role: Role,
) -> Binder<'r> {
    Binder { request, table, shader, role, surface: None, lit: None, arrays: FxHashMap::default() }
}

/// Returns the value of an output, in the type that was requested.
fn output(
    request: &PipelineRequest<'_>,
    table: &mut BindingTable,
    out: &mut BodyWriter,
    finished: &OutputValues,
    wanted: &OutputRequest,
) -> Value {
    let ty = wanted.ty.machine();
    let found = finished.get(&wanted.name).copied();
    let value = found.or_else(|| {
        let mut binder = Binder { surface: Some(finished), ..binder(request, table, None, Role::Surface) };
        binder.variable(out, wanted)
    });
    match value {
        Some(value) if out.ty(value) == ty => value,
        Some(value) if (out.ty(value), ty) == (MachineType::F32, MachineType::Vec3) => {
            out.op(Op::Unary(Unary::Splat), &[value])
        }
        Some(value) if (out.ty(value), ty) == (MachineType::Vec3, MachineType::F32) => out.op(Op::Comp(0), &[value]),
        _ => out.zero(ty),
    }
}
