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
        let frame = key("inputs and outputs".into(), "".into(), 0);
        let lines = lines.iter().map(|line| key(part(line, lights), Arc::clone(&line.file), line.line));
        self.counters.extend([vertices, frame].into_iter().chain(lines));
        first as u32
    }

    /// Returns the counters, by number.
    pub(super) fn all(self) -> Arc<[Counter]> {
        self.counters.into()
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
