//! What the channels of a film are made of: variables that shaders compute, and records of finished pixels.

use crate::film::{ChannelGroup, PixelLayout};
use crate::pipeline::stage::{Composition, FilteredRecord};
use crate::scene::Filter;
use crate::shading::OutputVariable;

/// What is computed for a film.
pub(crate) struct FilmOutputs {
    /// Variables besides colour, alpha and depth; those that show the nearest surface come last.
    pub variables: Vec<OutputVariable>,
    /// How they are composited.
    pub composition: Composition,
    /// The records of finished pixels. The first is that of colour and alpha.
    pub filtered: Vec<FilteredRecord>,
    /// The record of each channel; that of a depth does not matter.
    pub records: Vec<usize>,
}

impl FilmOutputs {
    /// Returns what a film needs whose channels have this filter unless they have their own.
    pub(super) fn of(layout: &PixelLayout, pixel_filter: Filter) -> Self {
        let mut keyed: Vec<(bool, OutputVariable)> = Vec::new();
        for channel in layout.channels() {
            if let ChannelGroup::Variable { name, ty, composited } = &channel.group {
                let key = (!composited, (name.clone(), *ty));
                if !keyed.contains(&key) {
                    keyed.push(key);
                }
            }
        }
        // Stable, so that the film's order remains.
        keyed.sort_by_key(|(nearest, _)| *nearest);
        let number = |nearest: bool, name: &str| keyed.iter().position(|(n, v)| *n == nearest && &*v.0 == name);
        let mut filtered = vec![FilteredRecord { output: 0, filter: pixel_filter }];
        let mut records = Vec::new();
        for channel in layout.channels() {
            let output = match &channel.group {
                ChannelGroup::Variable { name, ty, composited } => {
                    let key = (!composited, (name.clone(), *ty));
                    1 + keyed.iter().position(|other| *other == key).expect("it was added above") as u64
                }
                _ => 0,
            };
            let record = FilteredRecord { output, filter: channel.filter.unwrap_or(pixel_filter) };
            let known = filtered.iter().position(|other| *other == record);
            records.push(known.unwrap_or_else(|| {
                filtered.push(record);
                filtered.len() - 1
            }));
        }
        let nearest_from = keyed.iter().position(|(nearest, _)| *nearest);
        let composition = Composition {
            weighted: ["Ci", "Oi"].map(|name| number(false, name).map_or(u32::MAX, |n| n as u32)),
            nearest_from: nearest_from.map_or(u32::MAX, |n| n as u32),
        };
        Self { variables: keyed.into_iter().map(|(_, variable)| variable).collect(), composition, filtered, records }
    }
}
