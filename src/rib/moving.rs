//! Motion blocks: one request, given once for each time (RISpec 6.3).

use super::blocks::BlockKind;
use super::effect::RequestEffect;
use super::fault::{Parsed, RequestFault};
use super::geometry::{Batch, carry_blobs};
use super::lexer::Lexer;
use super::reader::Reader;
use super::requests::{InMotion, Request};
use super::state::{AttributeChange, ShaderCall};
use crate::diagnostic::SourceLocation;
use crate::scene::Motion;
use std::sync::Arc;

/// An open motion block.
pub(super) struct MovingBlock {
    times: Vec<f32>,
    /// The request that it contains, once there is one.
    request: Option<&'static str>,
    /// The number of these requests that were begun.
    begun: usize,
    items: Vec<RequestEffect>,
    location: SourceLocation,
    /// Set when its request is known to have no effect, and a warning was given.
    inert: bool,
}

impl MovingBlock {
    /// Collects the effect of one of its requests.
    pub(super) fn collect(&mut self, effect: RequestEffect) {
        self.items.push(effect);
    }

    /// Marks its request as having no effect.
    pub(super) fn mark_inert(&mut self) {
        self.inert = true;
    }
}

/// Values at a motion block's times.
type MotionKeys<T> = Vec<(f32, T)>;

impl Reader<'_> {
    pub(super) fn motion_begin(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let mut times = lexer.float_list()?;
        let offset = self.options.options.shutter_offset;
        for time in &mut times {
            *time += offset;
        }
        let increasing = times.windows(2).all(|pair| pair[0] < pair[1]) && times.iter().all(|time| time.is_finite());
        if times.is_empty() {
            return Err(RequestFault::error("badmotion", self.current.offset, "a motion block needs times"));
        }
        if !increasing {
            let message = "the times of a motion block must increase; only the first is used";
            self.report_here(RequestFault::error("badmotion", self.current.offset, message));
            times.truncate(1);
            times[0] = if times[0].is_finite() { times[0] } else { 0.0 };
        }
        self.open(BlockKind::Motion)?;
        let location = self.current.location.clone();
        self.moving = Some(MovingBlock { times, request: None, begun: 0, items: Vec::new(), location, inert: false });
        Ok(())
    }

    pub(super) fn motion_end(&mut self, _: &mut Lexer<'_>) -> Parsed<()> {
        self.close(BlockKind::Motion)
    }

    /// Checks a request against the open motion block; a request that cannot move ends the block.
    pub(super) fn leave_motion_for(&mut self, request: &Request) -> Parsed<()> {
        let Some(block) = &mut self.moving else { return Ok(()) };
        let fault = |message: String| Err(RequestFault::error("badmotion", self.current.offset, message));
        match request.in_motion {
            InMotion::Passes => Ok(()),
            InMotion::Ends => {
                let message =
                    format!("{} is not allowed in the motion block that begins at {}", request.name, block.location);
                let fault =
                    RequestFault::error("badmotion", self.current.offset, message).hint("the block is closed here");
                self.report_here(fault);
                self.close_innermost();
                Ok(())
            }
            InMotion::Moves => match block.request {
                Some(first) if first != request.name => fault(format!(
                    "{} in a motion block of {first}: a motion block holds one kind of request",
                    request.name
                )),
                _ => {
                    block.request = Some(request.name);
                    block.begun += 1;
                    Ok(())
                }
            },
        }
    }

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
            let at = self.current.location.clone();
            self.messages.report_at(
                at,
                RequestFault::error("badmotion", 0, message).hint(format!("the block begins at {}", block.location)),
            );
        }
        if block.begun == block.items.len() {
            let keys = block.times.into_iter().zip(block.items).collect();
            if let Some(effect) = self.moving_effect(name, keys) {
                self.perform(effect);
            }
        }
    }

    /// Combines several still effects to one that moves.
    fn moving_effect(&mut self, name: &str, mut keys: MotionKeys<RequestEffect>) -> Option<RequestEffect> {
        if keys.len() == 1 {
            return keys.pop().map(|(_, effect)| effect);
        }
        let open = self.options.shutter[0];
        match &keys.first()?.1 {
            RequestEffect::Transform(_) => {
                let step =
                    |effect| if let RequestEffect::Transform(steps) = effect { Some(*steps.first()) } else { None };
                Motion::new(pick(keys, step)).map(RequestEffect::Transform)
            }
            RequestEffect::Primitive(_) => {
                let batch = |effect| if let RequestEffect::Primitive(batch) = effect { Some(*batch) } else { None };
                self.moving_geometry(name, pick(keys, batch))
            }
            RequestEffect::Change(_) => {
                let change = |effect| if let RequestEffect::Change(change) = effect { Some(change) } else { None };
                blend_at(open, &pick(keys, change), AttributeChange::blend).map(RequestEffect::Change)
            }
            RequestEffect::Light(handle, _, extent) => {
                let extent = *extent;
                let handle = Arc::clone(handle);
                let call = |effect| if let RequestEffect::Light(_, call, _) = effect { Some(call) } else { None };
                blend_at(open, &pick(keys, call), ShaderCall::blend)
                    .map(|call| RequestEffect::Light(handle, call, extent))
            }
            // An object moves with the transformation, and by what moves in it.
            RequestEffect::Instance(object) if keys.iter().all(|(_, effect)| effect.is_instance_of(object)) => {
                keys.into_iter().next().map(|(_, effect)| effect)
            }
            _ => {
                let message = format!("a moving {name} is not supported; the first time is used");
                self.warn_once(name, "unimplement", &message);
                keys.into_iter().next().map(|(_, effect)| effect)
            }
        }
    }

    fn moving_geometry(&mut self, name: &str, mut batches: MotionKeys<Batch>) -> Option<RequestEffect> {
        let (_, first) = batches.first()?;
        if let Some((_, other)) = batches.iter().find(|(_, batch)| !batch.same_topology(first)) {
            let message = format!(
                "the moving {name} is left out: its counts at {} differ from those at {}",
                other.location, first.location
            );
            self.report_here(RequestFault::error("consistency", self.current.offset, message));
            return None;
        }
        if let Err(why) = carry_blobs(&mut batches) {
            let message = format!("the moving {name} stands still as at its first time: {why}");
            self.report_here(RequestFault::warning("unimplement", self.current.offset, message));
            batches.truncate(1);
        }
        Batch::moving_geometry(batches).map(|geometry| RequestEffect::Geometry(Arc::new(geometry)))
    }
}

/// Extracts the keys' values of one kind; a block contains only one kind.
fn pick<T>(keys: MotionKeys<RequestEffect>, part: impl Fn(RequestEffect) -> Option<T>) -> MotionKeys<T> {
    keys.into_iter().filter_map(|(time, effect)| part(effect).map(|value| (time, value))).collect()
}

/// Returns the value at `time` between increasing keys. Attributes are evaluated once, at shutter open, so this is all
/// that is visible of their motion.
fn blend_at<T: Clone>(time: f32, keys: &[(f32, T)], blend: impl Fn(&T, &T, f32) -> T) -> Option<T> {
    let after = keys.partition_point(|(key, _)| *key <= time);
    match (after.checked_sub(1).map(|before| &keys[before]), keys.get(after)) {
        (Some((t0, a)), Some((t1, b))) => Some(blend(a, b, (time - t0) / (t1 - t0))),
        (Some((_, only)), None) | (None, Some((_, only))) => Some(only.clone()),
        (None, None) => None,
    }
}
