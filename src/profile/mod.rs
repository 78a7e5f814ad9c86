//! The profile of a render: where its time went, as text, JSON or a page.
//!
//! A [`Profile`] is made of the statistics of a render whose commands were timed. It is a list of sections, each a
//! table ([`Section`]); `SECTIONS` says which, and in which order.

mod advice;
mod commands;
mod lines;
mod page;
mod phases;
mod section;
mod text;
mod work;

pub use page::page;
pub use section::{Section, TableColumn, TableValue};
pub use text::text;

use crate::line_profile::LineRow;
use crate::stats::Stats;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Where the time of a render went.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The scene files as typed.
    pub scene: String,
    /// One line: what was drawn, and how long it took.
    pub summary: String,
    /// What measuring took, and which devices could not be measured.
    pub remarks: Vec<String>,
    /// What to try, each with the measurement that it is concluded from.
    pub advice: Vec<String>,
    /// The tables.
    pub sections: Vec<Section>,
}

/// Makes a section of statistics, and of what lines of shaders cost.
type SectionFn = fn(&Stats, &[LineRow]) -> Section;

/// The sections of a profile, in order. One without rows is left out.
const SECTIONS: &[SectionFn] = &[
    |stats, _| phases::host(stats),
    |stats, _| phases::stages(stats),
    |stats, _| commands::pipelines(stats),
    lines::by_part,
    lines::by_line,
    |stats, _| commands::kernels(stats),
    |stats, _| work::regions(stats),
    |stats, _| work::textures(stats),
    |stats, _| work::memory(stats),
];

impl Profile {
    /// Makes the profile of a render. `lines` is what lines of shaders cost, where that was counted.
    pub fn new(stats: &Stats, lines: &[LineRow]) -> Self {
        let sections = SECTIONS.iter().map(|section| section(stats, lines)).filter(|section| !section.rows.is_empty());
        Self {
            scene: stats.scene.clone(),
            summary: stats.summary(),
            remarks: phases::remarks(stats).into_iter().chain(lines::remarks(lines)).collect(),
            advice: advice::advice(stats),
            sections: sections.collect(),
        }
    }

    /// Returns the JSON object, followed by a line end.
    pub fn to_json(&self) -> String {
        let json = serde_json::to_string_pretty(self).expect("profiles have string keys and finite numbers");
        json + "\n"
    }
}

impl Serialize for Profile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("scene", &self.scene)?;
        for section in &self.sections {
            map.serialize_entry(section.key, section)?;
        }
        map.serialize_entry("remarks", &self.remarks)?;
        map.serialize_entry("advice", &self.advice)?;
        map.end()
    }
}
