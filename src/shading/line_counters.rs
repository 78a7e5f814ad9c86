//! What programs count of their lines, and where.

use super::lights::LightUse;
use crate::line_profile::{Counter, LineKey, LineUnit};
use spirv_gen::emit::LineCost;
use spirv_gen::ir::{Role, SourceLine};
use std::sync::Arc;

/// Handles of lights that a part names, at most.
const HANDLES_MAX: usize = 4;

/// The counters of all programs of a world.
pub(super) struct LineCounters {
    unit: LineUnit,
    counters: Vec<Counter>,
}

impl LineCounters {
    pub(super) fn new(cost: Option<LineCost>) -> Self {
        let unit = if cost == Some(LineCost::Clocks) { LineUnit::Clocks } else { LineUnit::Steps };
        Self { unit, counters: Vec::new() }
    }

    /// Adds the counters of a pass of a pipeline, which counts these lines, and returns the number of the first.
    pub(super) fn add(&mut self, pipeline: &Arc<str>, pass: usize, lines: &[SourceLine], lights: &[LightUse]) -> u32 {
        let first = self.counters.len();
        let key = |part: Arc<str>, file: Arc<str>, line| {
            Counter::Line(LineKey { pipeline: Arc::clone(pipeline), unit: self.unit, part, file, line })
        };
        let vertices = if pass == 0 { Counter::Vertices(Arc::clone(pipeline)) } else { Counter::Unused };
        let counting = Counter::Counting(Arc::clone(pipeline));
        let frame = key("inputs and outputs".into(), "".into(), 0);
        let lines = lines.iter().map(|line| key(part(line, lights), Arc::clone(&line.file), line.line));
        // In the order of `abi::counters`.
        self.counters.extend([vertices, counting, frame].into_iter().chain(lines));
        first as u32
    }

    /// Returns the counters by number, and the number of the first one of lookups, if any kernel counts: behind those
    /// of lines there is one for each of some tokens.
    pub(super) fn with_lookups(mut self, tokens: usize) -> (Arc<[Counter]>, u32) {
        let first = self.counters.len();
        let tokens = if first > 0 { tokens as u32 } else { 0 };
        self.counters.extend((0..tokens).map(|token| Counter::Lookups { token }));
        (self.counters.into(), first as u32)
    }
}

/// Names the shader of a line.
fn part(line: &SourceLine, lights: &[LightUse]) -> Arc<str> {
    let kind = match line.role {
        Some(Role::Surface) => "surface ",
        Some(Role::Displacement) => "displacement ",
        Some(Role::Atmosphere) => "atmosphere ",
        Some(Role::Light(_)) => "light ",
        None => "",
    };
    let mut name = format!("{kind}{}", line.shader);
    if let Some(Role::Light(number)) = line.role
        && let Some(light) = lights.get(number as usize)
    {
        let handles = light.handles.iter().filter(|handle| !handle.is_empty());
        handles.clone().take(HANDLES_MAX).for_each(|handle| name.push_str(&format!(" \"{handle}\"")));
        name.push_str(if handles.count() > HANDLES_MAX { " ..." } else { "" });
    }
    name.into()
}
