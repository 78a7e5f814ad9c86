//! Edits of lights.

use super::objects::{ShaderEdit, change_attributes, illuminate};
use super::place::{MatrixStep, after};
use super::{NamePattern, Touched};
use crate::scene::{Light, LightId, ShaderInstance, ShadowRequest, World};
use std::sync::Arc;

/// A change of lights.
#[derive(Clone, Debug, PartialEq)]
pub enum LightChange {
    /// Another shader, or parameters of the one there is.
    Shader(ShaderEdit),
    /// Where it is, from where it was. Area lights stay.
    Place(Vec<MatrixStep>),
    /// The shadow maps that it makes by itself, if it does.
    Casts(Option<ShadowRequest>),
}

impl LightChange {
    /// Makes the change of all lights that match.
    pub(super) fn apply(&self, handles: &NamePattern, world: &mut World) -> Touched {
        let mut touched = Touched::NOTHING;
        for light in world.lights.iter_mut().filter(|light| is_edited(handles, light)) {
            let new = self.made(light);
            if new != **light {
                let is_swapped = new.shader.name != light.shader.name || new.casts != light.casts;
                touched |= Touched::LIGHT_SET.when(is_swapped);
                touched |= Touched::LIGHT_PARAMETER.when(new.shader.params != light.shader.params);
                touched |= Touched::LIGHT_MOVED.when(new.shader.world_from_shader != light.shader.world_from_shader);
                *light = Arc::new(new);
            }
        }
        touched
    }

    fn made(&self, light: &Light) -> Light {
        let mut new = light.clone();
        match self {
            Self::Shader(edit) => {
                new.shader = edit.edited(&light.shader);
                if light.part.is_some() {
                    new.shader.world_from_shader = Arc::clone(&light.shader.world_from_shader);
                }
            }
            Self::Place(steps) if light.part.is_none() => {
                let world_from_shader = after(&light.shader.world_from_shader, steps);
                new.shader = ShaderInstance { world_from_shader, ..light.shader.clone() };
            }
            Self::Place(_) => {}
            Self::Casts(casts) => new.casts.clone_from(casts),
        }
        new
    }
}

/// Whether an edit concerns a light; what is left of removed lights has no handle.
fn is_edited(handles: &NamePattern, light: &Light) -> bool {
    !light.handle.is_empty() && handles.matches(&light.handle)
}

/// Adds a light after all others.
pub(super) fn add(light: &Arc<Light>, names: &NamePattern, world: &mut World) -> Touched {
    let id = LightId(world.lights.len() as u32);
    world.lights.push(Arc::clone(light));
    change_attributes(names, world, false, |attributes, _| {
        illuminate(attributes, &[id], true);
        true
    });
    Touched::LIGHT_SET
}

/// Removes lights: they are on for no object. Those at the end of the list vanish; others keep their numbers.
pub(super) fn remove(handles: &NamePattern, world: &mut World) -> Touched {
    let found = world.lights.iter().enumerate().filter(|(_, light)| is_edited(handles, light));
    let ids: Vec<LightId> = found.map(|(index, _)| LightId(index as u32)).collect();
    if ids.is_empty() {
        return Touched::NOTHING;
    }
    change_attributes(&NamePattern::all(), world, false, |attributes, _| {
        let is_on = attributes.lights.iter().any(|light| ids.contains(light));
        illuminate(attributes, &ids, false);
        is_on
    });
    for id in ids {
        let light = &mut world.lights[id.0 as usize];
        *light = Arc::new(Light { handle: "".into(), casts: None, part: None, ..(**light).clone() });
    }
    while world.lights.last().is_some_and(|light| light.handle.is_empty()) {
        world.lights.pop();
    }
    Touched::LIGHT_SET
}
