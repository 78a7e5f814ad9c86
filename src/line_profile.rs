//! What shading costs by part of a pipeline and by line of RSL, counted by the kernels themselves
//! (`spirv_gen::abi::COUNTERS_PUSH_WORD`).

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// What a row counts. Only amounts of one unit can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LineUnit {
    /// Clocks of the device, summed over invocations: measured.
    Clocks,
    /// Operations that kernels run, weighed: an estimate, for devices without a shader clock.
    Steps,
    /// Nanoseconds of the host, for what is computed once an instance or a light: measured.
    HostNs,
}

/// A part of a shading pipeline, or a line of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineKey {
    /// The pipeline: `shade`, `displace`, and its shaders.
    pub pipeline: Arc<str>,
    /// What is counted.
    pub unit: LineUnit,
    /// The shader in the pipeline, such as `surface plastic` or `light spotlight "key"`.
    pub part: Arc<str>,
    /// The file, or empty for what belongs to no line.
    pub file: Arc<str>,
    /// The line, counted from 1, or 0.
    pub line: u32,
}

/// What a line costs.
#[derive(Clone, Debug, PartialEq)]
pub struct LineRow {
    /// Which line.
    pub key: LineKey,
    /// Its cost.
    pub amount: u64,
    /// Its part of all that its pipeline costs on devices, 0 to 1: that of the pipeline's time without counting which
    /// is the line's. Of what the host computes, its part of that.
    pub share: f64,
    /// The part of the pipeline's time on devices that counting takes, 0 to 1, as far as is known.
    pub counting: f64,
    /// Vertices that the pipeline was run for; repeats count.
    pub vertices: u64,
}

/// A counter of kernels: what it counts, for [`LineProfile::add`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counter {
    /// Vertices of a pipeline.
    Vertices(Arc<str>),
    /// Clocks of a pipeline that counting takes.
    Counting(Arc<str>),
    /// A line.
    Line(LineKey),
    /// Lookups of the texture that a token names.
    Lookups {
        /// The token.
        token: u32,
    },
    /// Nothing that is asked for.
    Unused,
}

/// Costs by line, added up over the worlds and devices of a render.
#[derive(Debug, Default)]
pub struct LineProfile {
    estimates: bool,
    counts: Mutex<LineCounts>,
}

#[derive(Debug, Default)]
struct LineCounts {
    lines: BTreeMap<LineKey, u64>,
    vertices: BTreeMap<Arc<str>, u64>,
    counting: BTreeMap<Arc<str>, u64>,
}

impl LineProfile {
    /// Returns one for which operations are counted even where all devices have a shader clock: estimates are the same
    /// in every render.
    pub fn of_estimates() -> Self {
        Self { estimates: true, ..Self::default() }
    }

    /// Whether operations are counted in any case.
    pub fn estimates(&self) -> bool {
        self.estimates
    }

    /// Adds what a device has counted of lines.
    pub fn add(&self, counters: &[Counter], counted: &[u64]) {
        let mut counts = self.counts.lock();
        for (counter, &count) in counters.iter().zip(counted).filter(|(_, count)| **count > 0) {
            match counter {
                Counter::Vertices(pipeline) => *counts.vertices.entry(Arc::clone(pipeline)).or_default() += count,
                Counter::Counting(pipeline) => *counts.counting.entry(Arc::clone(pipeline)).or_default() += count,
                Counter::Line(key) => *counts.lines.entry(key.clone()).or_default() += count,
                Counter::Lookups { .. } | Counter::Unused => {}
            }
        }
    }

    /// Adds the time that the host has taken to compute what is the same for an instance or a light.
    pub fn add_host(&self, pipeline: &Arc<str>, took: Duration) {
        let (pipeline, part) = (Arc::clone(pipeline), "once an instance".into());
        let key = LineKey { pipeline, unit: LineUnit::HostNs, part, file: "".into(), line: 0 };
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        *self.counts.lock().lines.entry(key).or_default() += took;
    }

    /// Returns all lines that cost something, the dearest of each unit first.
    pub fn rows(&self) -> Vec<LineRow> {
        let counts = self.counts.lock();
        let mut totals: BTreeMap<(&Arc<str>, LineUnit), u64> = BTreeMap::new();
        for (key, amount) in &counts.lines {
            *totals.entry((&key.pipeline, key.unit)).or_default() += amount;
        }
        let row = |(key, &amount): (&LineKey, &u64)| {
            let total = totals[&(&key.pipeline, key.unit)] as f64;
            let counting = counts.counting.get(&key.pipeline).copied().unwrap_or(0) as f64;
            LineRow {
                key: key.clone(),
                amount,
                share: amount as f64 / total,
                counting: if key.unit == LineUnit::Clocks { counting / (counting + total) } else { 0.0 },
                vertices: counts.vertices.get(&key.pipeline).copied().unwrap_or(0),
            }
        };
        let mut rows: Vec<LineRow> = counts.lines.iter().filter(|(_, amount)| **amount > 0).map(row).collect();
        rows.sort_by(|a, b| (a.key.unit, b.amount, &a.key).cmp(&(b.key.unit, a.amount, &b.key)));
        rows
    }
}

/// Returns the rows of parts: the lines of each added up, the dearest first.
pub fn parts(rows: &[LineRow]) -> Vec<LineRow> {
    let mut parts: Vec<LineRow> = Vec::new();
    for row in rows {
        let key = LineKey { file: "".into(), line: 0, ..row.key.clone() };
        match parts.iter_mut().find(|part| part.key == key) {
            Some(part) => (part.amount, part.share) = (part.amount + row.amount, part.share + row.share),
            None => parts.push(LineRow { key, ..row.clone() }),
        }
    }
    parts.sort_by(|a, b| (a.key.unit, b.amount, &a.key).cmp(&(b.key.unit, a.amount, &b.key)));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(part: &str, line: u32, unit: LineUnit) -> LineKey {
        let file = if line == 0 { "" } else { "a.sl" };
        LineKey { pipeline: "shade a".into(), unit, part: part.into(), file: file.into(), line }
    }

    #[test]
    fn counts_of_devices_add_up_to_shares_of_their_pipeline() {
        let profile = LineProfile::default();
        let clocks = LineUnit::Clocks;
        let counters = [
            Counter::Vertices("shade a".into()),
            Counter::Line(key("surface a", 3, clocks)),
            Counter::Line(key("surface a", 4, clocks)),
            Counter::Counting("shade a".into()),
            Counter::Line(key("light b", 7, clocks)),
        ];
        profile.add(&counters, &[10, 100, 0, 50, 300]);
        profile.add(&counters, &[10, 100, 200, 200, 300]);
        profile.add_host(&"shade a".into(), Duration::from_micros(1500));
        let rows = profile.rows();
        let found: Vec<_> = rows.iter().map(|row| (row.key.line, row.amount, row.share, row.vertices)).collect();
        assert_eq!(found, [(7, 600, 0.6, 20), (3, 200, 0.2, 20), (4, 200, 0.2, 20), (0, 1_500_000, 1.0, 20)]);
        assert!(rows.iter().all(|row| row.counting == if row.key.unit == clocks { 0.2 } else { 0.0 }), "{rows:?}");
        let parts: Vec<_> = parts(&rows).iter().map(|part| (part.key.part.to_string(), part.amount)).collect();
        let expected = [("light b", 600), ("surface a", 400), ("once an instance", 1_500_000)];
        assert_eq!(parts, expected.map(|(part, amount)| (part.to_string(), amount)));
    }
}
