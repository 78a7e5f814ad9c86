//! Shaders and lights (RISpec 4.2).

use super::effect::{LightExtent, RequestEffect};
use super::fault::{Parsed, RequestFault};
use super::lexer::Lexer;
use super::reader::Reader;
use super::state::{AttributeChange, ShaderCall, ShaderSlot};
use super::worlds::{LightSlot, LightSpan};
use crate::scene::{AreaPart, Light, LightId, ParamValue, ShadowRequest};
use std::sync::Arc;

/// The largest number of lights of a world; each attribute state lists those that are on.
const LIGHTS_MAX: usize = 1 << 14;
/// Pixels along a side of the shadow maps that lights make by themselves, and the most that a scene may ask for.
const SHADOW_MAP_SIDE: i32 = 1024;
const SHADOW_MAP_SIDE_MAX: i32 = 16_384;

impl Reader<'_> {
    /// Reads a shader's name and parameters. `None` is the shader "null" or an empty name.
    pub(super) fn shader_call(&mut self, lexer: &mut Lexer<'_>) -> Parsed<Option<ShaderCall>> {
        let name = lexer.text()?;
        self.read_shader_params(lexer)?;
        let call = ShaderCall { params: self.shader_params(), location: self.current.location.clone(), name };
        Ok((!matches!(&*call.name, "null" | "")).then_some(call))
    }

    fn shader_params(&self) -> Vec<crate::scene::ShaderParam> {
        self.params.shader_params(&mut |fault| self.report_here(fault))
    }

    pub(super) fn surface(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        self.shader_request(lexer, ShaderSlot::Surface)
    }

    pub(super) fn displacement(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        self.shader_request(lexer, ShaderSlot::Displacement)
    }

    pub(super) fn atmosphere(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        self.shader_request(lexer, ShaderSlot::Atmosphere)
    }

    /// Reads a light's shader, handle and parameters.
    fn light_call(&mut self, lexer: &mut Lexer<'_>) -> Parsed<(Arc<str>, Arc<str>)> {
        let name = lexer.text()?;
        let handle = lexer.handle()?;
        self.read_shader_params(lexer)?;
        if self.recording.is_some() {
            let message = "a light cannot be defined inside an object";
            return Err(
                RequestFault::error("illstate", self.current.offset, message).hint("define it before ObjectBegin")
            );
        }
        Ok((name, handle))
    }

    pub(super) fn light_source(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let (name, handle) = self.light_call(lexer)?;
        let call = ShaderCall { params: self.shader_params(), location: self.current.location.clone(), name };
        self.apply(RequestEffect::Light(handle, call, LightExtent::Own));
        Ok(())
    }

    /// Creates a light and switches it on. A handle that is used again refers to the new light; the old one stays on.
    /// What follows is what an area light shines from.
    pub(super) fn make_light(&mut self, handle: &Arc<str>, call: &ShaderCall, extent: LightExtent) {
        let count = if extent == LightExtent::Area { self.area_light_count() } else { 1 };
        if self.lights.len() + count as usize > LIGHTS_MAX {
            let message = format!("more than {LIGHTS_MAX} lights; the rest are ignored");
            self.report_here(RequestFault::error("limitcheck", self.current.offset, message));
            return;
        }
        self.definitions += 1;
        let span = LightSpan { first: LightId(self.lights.len() as u32), count };
        let part = (extent == LightExtent::Area).then_some(AreaPart { count });
        let shader = call.instance(&self.state.transform);
        let scoped_spaces = Arc::clone(&self.state.attributes.scoped_spaces);
        let mut casts = self.shadow_request();
        if let (Some(request), Some(_)) = (&mut casts, part) {
            // One file is not enough for the maps of several lights.
            request.map_name = None;
        }
        let light = Light { shader, handle: Arc::clone(handle), scoped_spaces, part, casts, maps: Arc::default() };
        self.lights.extend(std::iter::repeat_n(Arc::new(light), count as usize));
        self.light_handles.insert(Arc::clone(handle), LightSlot::Lights(span));
        if part.is_some() {
            self.perform(RequestEffect::Change(AttributeChange::AreaLight(Some(span.first))));
        }
        self.perform(RequestEffect::Change(AttributeChange::Illuminate(span, true)));
    }

    /// The shadow maps that a light makes by itself under the current attributes.
    fn shadow_request(&self) -> Option<ShadowRequest> {
        let other = &self.state.attributes.other;
        let text = |key: &str| match other.get(key)? {
            ParamValue::Strings(texts) => texts.first().filter(|text| !text.is_empty()).cloned(),
            _ => None,
        };
        let map_name = text("autoshadows:shadowmapname");
        let is_on = text("light:shadows").map_or(map_name.is_some(), |shadows| &*shadows != "off");
        let resolution = match other.get("autoshadows:res") {
            Some(ParamValue::Ints(sides)) => [0, 1].map(|axis| sides.get(axis).or(sides.first()).copied().unwrap_or(0)),
            _ => [SHADOW_MAP_SIDE; 2],
        };
        let resolution = resolution.map(|side| side.clamp(1, SHADOW_MAP_SIDE_MAX).unsigned_abs());
        is_on.then_some(ShadowRequest { map_name, resolution })
    }

    /// An area light, which the primitives that follow belong to. The shader "null" ends it and gives none.
    pub(super) fn area_light_source(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let (name, handle) = self.light_call(lexer)?;
        if matches!(&*name, "null" | "") {
            self.light_handles.insert(handle, LightSlot::Null);
            self.definitions += 1;
            self.apply(RequestEffect::Change(AttributeChange::AreaLight(None)));
            return Ok(());
        }
        let call = ShaderCall { params: self.shader_params(), location: self.current.location.clone(), name };
        self.apply(RequestEffect::Light(handle, call, LightExtent::Area));
        Ok(())
    }

    pub(super) fn illuminate(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let handle = lexer.handle()?;
        let on = lexer.one_int()? != 0;
        match self.light_handles.get(&handle) {
            Some(LightSlot::Lights(span)) => {
                let change = AttributeChange::Illuminate(*span, on);
                self.apply(RequestEffect::Change(change));
                Ok(())
            }
            Some(LightSlot::Null) => {
                self.mark_inert();
                Ok(())
            }
            None => {
                let message = format!("there is no light {handle}");
                Err(RequestFault::error("badhandle", self.current.offset, message).hint("LightSource defines lights"))
            }
        }
    }
}
