//! Shaders and lights (RISpec 4.2).

use super::parameters::read_shader_params;
use crate::rib::state::attributes::{AttributeChange, ShaderSlot};
use crate::rib::state::lights::LightSlot;
use crate::rib::state::shader_call::ShaderCall;
use crate::rib::stream::fault::Parsed;
use crate::rib::stream::lexer::Lexer;
use crate::rib::world::effect::{LightExtent, RequestEffect};
use crate::rib::world::scene::SceneBuilder;
use crate::scene::ShaderParam;
use std::sync::Arc;

/// Reads a shader's name and parameters. `None` is the shader "null" or an empty name.
pub(super) fn shader_call(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<Option<ShaderCall>> {
    let name = lexer.text()?;
    read_shader_params(scene, lexer)?;
    let call = ShaderCall { params: shader_params(scene), location: scene.messages.current.location.clone(), name };
    Ok((!matches!(&*call.name, "null" | "")).then_some(call))
}

fn shader_params(scene: &SceneBuilder<'_>) -> Vec<ShaderParam> {
    scene.params.shader_params(&mut |fault| scene.messages.report_here(fault))
}

/// Reads a shader request for a slot of the attributes.
fn shader_request(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>, slot: ShaderSlot) -> Parsed<()> {
    let call = shader_call(scene, lexer)?;
    scene.apply(RequestEffect::Change(AttributeChange::Shader(slot, call)));
    Ok(())
}

pub(super) fn surface(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    shader_request(scene, lexer, ShaderSlot::Surface)
}

pub(super) fn displacement(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    shader_request(scene, lexer, ShaderSlot::Displacement)
}

pub(super) fn atmosphere(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    shader_request(scene, lexer, ShaderSlot::Atmosphere)
}

/// Reads a light's shader, handle and parameters.
fn light_call(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<(Arc<str>, Arc<str>)> {
    let name = lexer.text()?;
    let handle = lexer.handle()?;
    read_shader_params(scene, lexer)?;
    if scene.recording.is_some() {
        let message = "a light cannot be defined inside an object";
        return Err(scene.messages.error("illstate", message).hint("define it before ObjectBegin"));
    }
    check_edited_light(scene, &name, &handle)?;
    Ok((name, handle))
}

/// Checks that a light in a block of edits is one that the block is about, or a new one.
fn check_edited_light(scene: &SceneBuilder<'_>, name: &str, handle: &str) -> Parsed<()> {
    let Some(open) = scene.editing.as_ref().and_then(|editing| editing.open.as_ref()) else { return Ok(()) };
    let is_known = scene.lights.list.iter().any(|light| *light.handle == *handle);
    let error = |message: String| scene.messages.error("badhandle", message);
    match &open.lights {
        Some(lights) if !is_known || !lights.matches(handle) => {
            Err(error(format!("the light {handle} is none of \"editlights\"; it is left out")))
        }
        None if is_known => {
            let fault = error(format!("there is a light {handle} already; this one is left out"));
            Err(fault.hint("EditBegin \"attribute\" \"string editlights\" edits lights that there are"))
        }
        None if matches!(name, "*" | "null" | "") || handle.is_empty() => {
            let fault = error(format!("a new light needs a shader and a handle, not \"{name}\" and \"{handle}\""));
            Err(fault.hint("EditBegin \"attribute\" \"string editlights\" edits lights that there are"))
        }
        _ => Ok(()),
    }
}

pub(super) fn light_source(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let (name, handle) = light_call(scene, lexer)?;
    let call = ShaderCall { params: shader_params(scene), location: scene.messages.current.location.clone(), name };
    scene.apply(RequestEffect::Light(handle, call, LightExtent::Own));
    Ok(())
}

/// Makes an area light, which the primitives that follow belong to. The shader "null" ends it and makes none.
pub(super) fn area_light_source(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let (name, handle) = light_call(scene, lexer)?;
    if matches!(&*name, "null" | "") {
        scene.lights.handles.insert(handle, LightSlot::Null);
        scene.definitions += 1;
        scene.apply(RequestEffect::Change(AttributeChange::AreaLight(None)));
        return Ok(());
    }
    let call = ShaderCall { params: shader_params(scene), location: scene.messages.current.location.clone(), name };
    scene.apply(RequestEffect::Light(handle, call, LightExtent::Area));
    Ok(())
}

pub(super) fn illuminate(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let handle = lexer.handle()?;
    let on = lexer.one_int()? != 0;
    match scene.lights.handles.get(&handle) {
        Some(LightSlot::Lights(span)) => {
            let change = AttributeChange::Illuminate(*span, on);
            scene.apply(RequestEffect::Change(change));
            Ok(())
        }
        Some(LightSlot::Null) => {
            scene.mark_inert();
            Ok(())
        }
        None => {
            let message = format!("there is no light {handle}");
            Err(scene.messages.error("badhandle", message).hint("LightSource defines lights"))
        }
    }
}
