//! Lights that requests create.

use super::area_lights::area_light_count;
use super::effect::LightExtent;
use super::scene::SceneBuilder;
use crate::rib::state::attributes::AttributeChange;
use crate::rib::state::lights::{LightSlot, LightSpan};
use crate::rib::state::shader_call::ShaderCall;
use crate::scene::{AreaPart, Attributes, Light, LightId, ParamValue, ShadowRequest};
use std::sync::Arc;

/// The largest number of lights of a world; each attribute state lists those that are on.
const LIGHTS_MAX: usize = 1 << 14;
/// Pixels along a side of the shadow maps that lights make by themselves, and the most that a scene may ask for.
const SHADOW_MAP_SIDE: i32 = 1024;
const SHADOW_MAP_SIDE_MAX: i32 = 16_384;

impl SceneBuilder<'_> {
    /// Creates a light and switches it on. A handle that is used again refers to the new light; the old one stays on.
    /// What follows is what an area light shines from.
    pub(super) fn make_light(&mut self, handle: &Arc<str>, call: &ShaderCall, extent: LightExtent) {
        let is_area = extent == LightExtent::Area;
        let count = if is_area { area_light_count(&self.state.attributes, &mut self.messages) } else { 1 };
        if self.lights.list.len() + count as usize > LIGHTS_MAX {
            let message = format!("more than {LIGHTS_MAX} lights; the rest are ignored");
            self.messages.report_error("limitcheck", message);
            return;
        }
        let [open, close] = self.options.shutter;
        if self.state.transform.moves() && open < close {
            let message = "a light in a moving coordinate system stands still, as when the shutter opens";
            self.messages.warn_once("motion of lights", "unimplement", message);
        }
        self.definitions += 1;
        let span = LightSpan { first: LightId(self.lights.list.len() as u32), count };
        let part = is_area.then_some(AreaPart { count });
        let shader = call.instance(&self.state.transform);
        let scoped_spaces = Arc::clone(&self.state.attributes.scoped_spaces);
        let mut casts = shadow_request(&self.state.attributes);
        if let (Some(request), Some(_)) = (&mut casts, part) {
            // One file is not enough for the maps of several lights.
            request.map_name = None;
        }
        let light = Light { shader, handle: Arc::clone(handle), scoped_spaces, part, casts, maps: Arc::default() };
        self.lights.list.extend(std::iter::repeat_n(Arc::new(light), count as usize));
        self.lights.handles.insert(Arc::clone(handle), LightSlot::Lights(span));
        if part.is_some() {
            self.state.area_light = Some(span.first);
        }
        self.state.change(&AttributeChange::Illuminate(span, true), &self.messages);
    }
}

/// Returns the shadow maps that a light makes by itself under these attributes.
pub(crate) fn shadow_request(attributes: &Attributes) -> Option<ShadowRequest> {
    let other = &attributes.other;
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
