//! Display, Quantize and Imager (RISpec 4.1.4).

use super::options::filter_kind;
use super::parameters::{read_params_in, warn_of_tokens};
use super::shaders::shader_call;
use crate::rib::state::displays::{DisplayRequest, ImagingRequest, PartRequest};
use crate::rib::state::shader_call::ShaderCall;
use crate::rib::stream::fault::{Parsed, RequestFault};
use crate::rib::stream::lexer::Lexer;
use crate::rib::stream::tokens;
use crate::rib::world::scene::SceneBuilder;
use crate::scene::{DisplayMode, FILTER_WIDTH_MAX, ParamValue, Quantize, ValueType};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The largest number of displays of a world.
const DISPLAYS_MAX: usize = 1024;

/// Variables that every shader has (RISpec tables 12.1 to 12.5), which a display may show without a declaration.
const SHADER_VARIABLES: &[(&str, ValueType)] = &[
    ("P", ValueType::Point),
    ("N", ValueType::Normal),
    ("Ng", ValueType::Normal),
    ("I", ValueType::Vector),
    ("E", ValueType::Point),
    ("dPdu", ValueType::Vector),
    ("dPdv", ValueType::Vector),
    ("Cs", ValueType::Color),
    ("Os", ValueType::Color),
    ("Ci", ValueType::Color),
    ("Oi", ValueType::Color),
    ("s", ValueType::Float),
    ("t", ValueType::Float),
    ("u", ValueType::Float),
    ("v", ValueType::Float),
    ("du", ValueType::Float),
    ("dv", ValueType::Float),
    ("time", ValueType::Float),
    ("dtime", ValueType::Float),
    ("dPdtime", ValueType::Vector),
    ("ncomps", ValueType::Float),
];

/// Returns the mode if it is a combination of channels.
fn channels(mode: &str) -> Option<DisplayMode> {
    let (rgb, rest) = mode.strip_prefix("rgb").map_or((false, mode), |rest| (true, rest));
    let (a, rest) = rest.strip_prefix('a').map_or((false, rest), |rest| (true, rest));
    let (z, rest) = rest.strip_prefix('z').map_or((false, rest), |rest| (true, rest));
    (rest.is_empty() && (rgb || a || z)).then_some(DisplayMode::Image { rgb, a, z })
}

pub(super) fn display(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let (name, driver) = (lexer.text()?, lexer.text()?);
    lexer.peek();
    let mode_offset = lexer.position();
    let mode = lexer.text()?;
    read_params_in(scene, lexer, tokens::group("Display", ""))?;
    let parts = parts_of(scene, &mode, mode_offset)?;
    let added = name.starts_with('+');
    let request = DisplayRequest {
        name: name.strip_prefix('+').unwrap_or(&name).to_owned(),
        driver: driver.to_string(),
        parts,
        imaging: imaging(scene),
        params: driver_params(scene),
        location: scene.messages.current.location.clone(),
    };
    if !added {
        scene.options.displays.clear();
    }
    if scene.options.displays.len() >= DISPLAYS_MAX {
        return Err(scene.messages.error("limitcheck", format!("more than {DISPLAYS_MAX} displays")));
    }
    scene.options.displays.push(request);
    Ok(())
}

/// Describes a channel, which displays may name in their modes.
pub(super) fn display_channel(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    lexer.peek();
    let offset = lexer.position();
    let declared = lexer.text()?;
    let group = tokens::group("DisplayChannel", "");
    read_params_in(scene, lexer, group)?;
    let composited = scene.params.numbers("composite", 1).is_none_or(|values| values[0] != 0.0);
    let mode = mode_named(scene, &declared, offset, composited)?;
    // Channels are known by their names, without their types.
    let name: Arc<str> = match &mode {
        DisplayMode::Variable { name, .. } => Arc::clone(name),
        DisplayMode::Image { .. } => declared.as_ref().into(),
    };
    let part = PartRequest { mode, imaging: imaging(scene) };
    group.into_iter().for_each(|group| warn_of_tokens(scene, group));
    if scene.options.channels.len() < DISPLAYS_MAX || scene.options.channels.contains_key(&name) {
        scene.options.channels.insert(name, part);
        return Ok(());
    }
    let message = format!("more than {DISPLAYS_MAX} display channels");
    Err(scene.messages.error("limitcheck", message))
}

/// Returns what a mode shows: channels, variables and what DisplayChannel describes, separated by commas. What is
/// not known is reported and left out.
fn parts_of(scene: &mut SceneBuilder<'_>, mode: &str, offset: usize) -> Parsed<Vec<PartRequest>> {
    let mut parts = Vec::new();
    for name in mode.split(',').map(str::trim).filter(|name| !name.is_empty()).take(DISPLAYS_MAX) {
        let composited = scene.params.numbers("composite", 1).is_none_or(|values| values[0] != 0.0);
        let part = match scene.options.channels.get(name) {
            Some(part) => Ok(part.clone()),
            None => {
                let imaging = ImagingRequest::default();
                mode_named(scene, name, offset, composited).map(|mode| PartRequest { mode, imaging })
            }
        };
        match part {
            Ok(part) => parts.push(part),
            Err(fault) if name.len() == mode.len() => return Err(fault),
            Err(fault) => scene.messages.report_here(fault),
        }
    }
    if parts.is_empty() {
        return Err(RequestFault::error("badargument", offset, "the mode names nothing to show"));
    }
    Ok(parts)
}

/// Returns what one name of a mode shows: a combination of channels, an inline declaration, a declared name or a
/// variable of every shader.
fn mode_named(scene: &mut SceneBuilder<'_>, mode: &str, offset: usize, composited: bool) -> Parsed<DisplayMode> {
    if let Some(mode) = channels(mode) {
        return Ok(mode);
    }
    // What deep shadow maps show, whatever their mode.
    if mode == "deepopacity" {
        return Ok(DisplayMode::Variable { name: mode.into(), ty: ValueType::Float, composited: true });
    }
    if let Some((name, ty)) = SHADER_VARIABLES.iter().find(|(name, _)| *name == mode) {
        return Ok(DisplayMode::Variable { name: (*name).into(), ty: *ty, composited });
    }
    match scene.dictionary.look_up(mode.as_bytes()) {
        // A declaration of a channel that every picture has.
        Ok(declaration) if channels(&declaration.name).is_some() => Ok(channels(&declaration.name).expect("it is one")),
        Ok(declaration) if declaration.array_len == 1 && !has_no_channels(declaration.ty) => {
            Ok(DisplayMode::Variable { name: Arc::clone(&declaration.name), ty: declaration.ty, composited })
        }
        Ok(declaration) => {
            let message = format!("\"{}\" cannot be shown: it is a string, an mpoint or an array", declaration.name);
            Err(RequestFault::error("badargument", offset, message))
        }
        Err(message) => Err(RequestFault::error("badtoken", offset, message)
            .hint("a mode is a combination of rgb, a, z, or a variable: \"varying color name\"")),
    }
}

/// Whether no picture can show values of a type.
fn has_no_channels(ty: ValueType) -> bool {
    matches!(ty, ValueType::String | ValueType::MPoint)
}

/// Returns what the current parameters say about quantization, exposure and filter.
fn imaging(scene: &SceneBuilder<'_>) -> ImagingRequest {
    let pair = |name: &str| scene.params.numbers(name, 2).map(|values| [values[0], values[1]]);
    let width = pair("filterwidth");
    let valid = |width: &[f32; 2]| width.iter().all(|side| *side > 0.0 && f64::from(*side) <= FILTER_WIDTH_MAX);
    let request = ImagingRequest {
        quantize: scene.params.numbers("quantize", 4).map(|values| own_quantize(scene, &values)),
        dither: scene.params.numbers("dither", 1).map(|values| values[0]),
        exposure: pair("exposure").filter(|[_, gamma]| *gamma > 0.0),
        filter: scene.params.string("filter").and_then(|name| filter_kind(&name)),
        filter_width: width.filter(valid),
    };
    if width.is_some_and(|width| !valid(&width)) {
        let message =
            format!("a \"filterwidth\" must be more than 0 and at most {FILTER_WIDTH_MAX} pixels; it is ignored");
        scene.messages.report_error("range", message);
    }
    if let Some(name) = scene.params.string("filter").filter(|name| filter_kind(name).is_none()) {
        let message = format!("the filter \"{name}\" is not supported for displays; PixelFilter's is used");
        scene.messages.report_warning("incapable", message);
    }
    request
}

/// Returns a display's own quantization, in either of the two orders in use: one min max dither, or zero one min
/// max with the dither in a separate parameter. The last number distinguishes them: a dither is at most 1, a
/// maximum is larger.
fn own_quantize(scene: &SceneBuilder<'_>, values: &[f32]) -> Quantize {
    match *values {
        [_, one, min, max] if max > 1.0 => Quantize { one, min, max, dither: 0.5 },
        [one, min, max, dither, ..] => Quantize { one, min, max, dither },
        _ => scene.options.quantize,
    }
}

fn driver_params(scene: &SceneBuilder<'_>) -> BTreeMap<String, ParamValue> {
    let own = ["quantize", "exposure", "dither", "filter", "filterwidth", "composite"];
    let others = scene.params.iter().filter(|param| !own.contains(&&*param.declaration.name));
    others
        .map(|param| {
            let values = scene.params.values(param);
            (param.declaration.name.to_string(), values.to_param(values.len()))
        })
        .collect()
}

pub(super) fn quantize(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let kind = lexer.text()?;
    let [one, min, max, dither] = lexer.finite::<4>()?.map(|value| value as f32);
    let quantize = Quantize { one, min, max, dither };
    match &*kind {
        "rgba" | "rgb" | "a" => scene.options.quantize = quantize,
        "z" => scene.options.quantize_z = quantize,
        "rgbaz" | "rgbz" | "az" => {
            scene.options.quantize = quantize;
            scene.options.quantize_z = quantize;
        }
        other => {
            let message = format!("\"{other}\" cannot be quantized: expected \"rgba\" or \"z\"");
            return Err(scene.messages.error("badargument", message));
        }
    }
    Ok(())
}

/// Returns a call of the imager "background" whose parameter "color", as the one that PRMan has built in calls it, is
/// named "bgcolor", as that of RISpec is: no shader can have a parameter "color".
fn with_bgcolor(mut call: ShaderCall) -> ShaderCall {
    if &*call.name == "background" {
        let colours = call.params.iter_mut().filter(|param| &*param.name == "color");
        colours.for_each(|param| param.name = "bgcolor".into());
    }
    call
}

/// Sets the imager. It is an option, which freezes at WorldBegin, but renderers accept it inside the world too, where
/// scenes have it.
pub(super) fn imager(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let call = shader_call(scene, lexer)?.map(with_bgcolor);
    if scene.recording.is_some() {
        let message = "Imager is not allowed between ObjectBegin and ObjectEnd";
        return Err(scene.messages.error("illstate", message));
    }
    let instance = call.map(|call| Arc::new(call.instance(&scene.state.transform)));
    let Some(world) = &mut scene.world else {
        scene.options.options.imager = instance;
        return Ok(());
    };
    world.options.imager = instance;
    let message = "Imager is an option and belongs before WorldBegin; it is used for this world";
    scene.messages.report_warning("illstate", message);
    Ok(())
}
