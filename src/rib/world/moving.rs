//! The ends of motion blocks: several still effects become one that moves.

use super::effect::RequestEffect;
use super::scene::SceneBuilder;
use crate::diagnostic::SourceLocation;
use crate::rib::geometry::batch::Batch;
use crate::rib::geometry::blob_motion::carry_blobs;
use crate::rib::state::attributes::AttributeChange;
use crate::rib::state::shader_call::ShaderCall;
use crate::rib::stream::fault::RequestFault;
use crate::scene::Motion;
use std::sync::Arc;

/// Values at a motion block's times.
type Keyframes<T> = Vec<(f32, T)>;

impl SceneBuilder<'_> {
    /// Applies the collected effects of a motion block.
    pub(super) fn finish_motion(&mut self) {
        let Some(block) = self.moving.take() else { return };
        let Some(name) = block.request else { return };
        if block.inert {
            return;
        }
        let message = match (block.times.len(), block.begun) {
            (_, begun) if begun != block.items.len() => {
                format!("the moving {name} is left out because it could not be read at every time")
            }
            (times, begun) if times < begun => {
                format!("{begun} {name} requests for {times} times; the last ones are ignored")
            }
            (times, begun) if times > begun => {
                format!("{times} times but only {begun} {name} requests; the last times are ignored")
            }
            _ => String::new(),
        };
        if !message.is_empty() {
            let at = self.messages.current.location.clone();
            self.messages.report_at(
                at,
                RequestFault::error("badmotion", 0, message).hint(format!("the block begins at {}", block.location)),
            );
        }
        if block.begun == block.items.len() {
            let keyframes: Keyframes<_> = block.times.into_iter().zip(block.items).collect();
            if let Some(what) = what_stands_still(&keyframes) {
                self.warn_of_stillness(name, &what, &block.location);
            }
            if let Some(effect) = self.moving_effect(name, keyframes) {
                self.perform(effect);
            }
        }
    }

    /// Combines several still effects to one that moves.
    fn moving_effect(&mut self, name: &str, mut keyframes: Keyframes<RequestEffect>) -> Option<RequestEffect> {
        if keyframes.len() == 1 {
            return keyframes.pop().map(|(_, effect)| effect);
        }
        let open = self.options.shutter[0];
        match &keyframes.first()?.1 {
            RequestEffect::Transform(_) => {
                let step =
                    |effect| if let RequestEffect::Transform(steps) = effect { Some(*steps.first()) } else { None };
                Motion::new(pick(keyframes, step)).map(RequestEffect::Transform)
            }
            RequestEffect::Primitive(_) => {
                let batch = |effect| if let RequestEffect::Primitive(batch) = effect { Some(*batch) } else { None };
                self.moving_geometry(name, pick(keyframes, batch))
            }
            RequestEffect::Change(_) => {
                let change = |effect| if let RequestEffect::Change(change) = effect { Some(change) } else { None };
                blend_at(open, &pick(keyframes, change), AttributeChange::blend).map(RequestEffect::Change)
            }
            RequestEffect::Light(handle, _, extent) => {
                let extent = *extent;
                let handle = Arc::clone(handle);
                let call = |effect| if let RequestEffect::Light(_, call, _) = effect { Some(call) } else { None };
                blend_at(open, &pick(keyframes, call), ShaderCall::blend)
                    .map(|call| RequestEffect::Light(handle, call, extent))
            }
            // An object moves with the transformation, and by what moves in it.
            RequestEffect::Instance(object) if keyframes.iter().all(|(_, effect)| effect.is_instance_of(object)) => {
                keyframes.into_iter().next().map(|(_, effect)| effect)
            }
            _ => {
                let message = format!("a moving {name} is not supported; the first time is used");
                self.messages.warn_once(name, "unimplement", &message);
                keyframes.into_iter().next().map(|(_, effect)| effect)
            }
        }
    }

    /// Warns, once for each kind of request, that something in a motion block has one value for the whole picture.
    fn warn_of_stillness(&mut self, name: &str, what: &str, begin: &SourceLocation) {
        let [open, close] = self.options.shutter;
        if open < close && self.messages.is_first(&format!("motion of {name}")) {
            let message = format!("the moving {name} {what}");
            let fault = RequestFault::warning("unimplement", 0, message);
            self.messages.report_at(begin.clone(), fault.hint("only positions, widths and transformations move"));
        }
    }

    fn moving_geometry(&mut self, name: &str, mut batches: Keyframes<Batch>) -> Option<RequestEffect> {
        let (_, first) = batches.first()?;
        if let Some((_, other)) = batches.iter().find(|(_, batch)| !batch.same_topology(first)) {
            let message = format!(
                "the moving {name} is left out: its counts at {} differ from those at {}",
                other.location, first.location
            );
            self.messages.report_error("consistency", message);
            return None;
        }
        if let Err(why) = carry_blobs(&mut batches) {
            let message = format!("the moving {name} stands still as at its first time: {why}");
            self.messages.report_warning("unimplement", message);
            batches.truncate(1);
        }
        Batch::moving_geometry(batches).map(|geometry| RequestEffect::Geometry(Arc::new(geometry)))
    }
}

/// Says what of a motion block's requests differs from one time to another and yet has one value in the picture, as all
/// has that surfaces are shaded with. Normals are not mentioned: they follow the positions, of which shading sees those
/// of the same time.
fn what_stands_still(keyframes: &[(f32, RequestEffect)]) -> Option<String> {
    let ((_, first), later) = keyframes.split_first()?;
    let changes = later.iter().any(|(_, effect)| match (first, effect) {
        (RequestEffect::Change(a), RequestEffect::Change(b)) => !a.is_like(b),
        (RequestEffect::Light(_, a, _), RequestEffect::Light(_, b, _)) => !a.is_like(b),
        _ => false,
    });
    if changes {
        return Some("has one value in the picture: that of the time when the shutter opens".into());
    }
    let RequestEffect::Primitive(batch) = first else { return None };
    let changing = batch.columns.iter().filter(|column| {
        later.iter().any(|(_, effect)| match effect {
            RequestEffect::Primitive(other) => !other.columns.contains(column),
            _ => false,
        })
    });
    let names: Vec<String> = changing
        .map(|column| &*column.declaration.name)
        .filter(|name| *name != "N")
        .map(|name| format!("\"{name}\""))
        .collect();
    (!names.is_empty()).then(|| format!("has {} of its first time at all times", names.join(", ")))
}

/// Extracts the keyframes' values of one kind; a block contains only one kind.
fn pick<T>(keyframes: Keyframes<RequestEffect>, part: impl Fn(RequestEffect) -> Option<T>) -> Keyframes<T> {
    keyframes.into_iter().filter_map(|(time, effect)| part(effect).map(|value| (time, value))).collect()
}

/// Returns the value at `time` between increasing keyframes. Attributes are evaluated once, at shutter open, so this is
/// all that is visible of their motion.
fn blend_at<T: Clone>(time: f32, keyframes: &[(f32, T)], blend: impl Fn(&T, &T, f32) -> T) -> Option<T> {
    let after = keyframes.partition_point(|(at, _)| *at <= time);
    match (after.checked_sub(1).map(|before| &keyframes[before]), keyframes.get(after)) {
        (Some((t0, a)), Some((t1, b))) => Some(blend(a, b, (time - t0) / (t1 - t0))),
        (Some((_, only)), None) | (None, Some((_, only))) => Some(only.clone()),
        (None, None) => None,
    }
}
