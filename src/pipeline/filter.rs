//! Filter: resolved samples become pixels. Depths of pixels are not filtered but chosen (RISpec 4.1.3).

use super::buffers::{ActiveRegion, FrameSlices};
use super::frame::filter_apron;
use super::kernels::constants::{
    DEPTH_FILTER_FARTHEST, DEPTH_FILTER_MEAN, DEPTH_FILTER_MIDPOINT, DEPTH_FILTER_NEAREST,
};
use super::kernels::{depth, filter};
use super::needed_kernels::KernelList;
use super::portion;
use super::recording::Recording;
use crate::scene::{DepthFilter, Filter, FilterKind};
use std::ops::Range;

/// Samples that one invocation visits in a dispatch: half as many as it may make loop trips (docs/pipeline.md), for
/// pixels of one column.
const SAMPLES_OF_A_PART: u32 = 16_000;

/// The kernel of a filter: each has its own, because drivers of CPUs compute the weights of all that a kernel knows.
fn variant(kind: FilterKind) -> filter::Variant {
    match kind {
        FilterKind::Box => filter::Variant::Box,
        FilterKind::Triangle => filter::Variant::Triangle,
        FilterKind::Gaussian => filter::Variant::Gaussian,
        FilterKind::CatmullRom => filter::Variant::CatmullRom,
        FilterKind::Sinc => filter::Variant::Sinc,
        FilterKind::Mitchell => filter::Variant::Mitchell,
        FilterKind::Lanczos => filter::Variant::Lanczos,
        FilterKind::BlackmanHarris => filter::Variant::BlackmanHarris,
        FilterKind::Disk => filter::Variant::Disk,
        FilterKind::SeparableCatmullRom => filter::Variant::SeparableCatmullRom,
    }
}

/// A record of finished pixels: a record of the samples and the filter that it goes through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilteredRecord {
    /// 0 is colour and alpha; 1 is the first variable.
    pub output: u64,
    /// The filter.
    pub filter: Filter,
}

impl FilteredRecord {
    /// Colour and all variables through one filter.
    pub fn all(variables: u64, filter: Filter) -> Vec<Self> {
        (0..=variables).map(|output| Self { output, filter }).collect()
    }
}

/// Samples of the window that a pixel's filter goes through.
pub fn window_samples(pixel_samples: u64, by: &Filter) -> u64 {
    window(by).map(u64::from).iter().product::<u64>() * pixel_samples
}

/// Pixels of the window along x and y.
fn window(by: &Filter) -> [u32; 2] {
    filter_apron(by).map(|apron| 2 * apron + 1)
}

/// Appends the filtering of samples, in the pixels `some` of those that the region delivers. The pixels of each record
/// come after those of the ones before.
pub fn record(
    recording: &mut Recording,
    frame: &FrameSlices,
    region: &ActiveRegion,
    records: &[FilteredRecord],
    some: &Range<u64>,
) {
    let mut filters: Vec<Filter> = Vec::new();
    for record in records {
        if !filters.contains(&record.filter) {
            filters.push(record.filter);
        }
    }
    for by in filters {
        let through: Vec<(u64, u64)> = (0..)
            .zip(records)
            .filter(|(_, record)| record.filter == by)
            .map(|(place, record)| (place, record.output))
            .collect();
        record_filter(recording, frame, region, &by, &through, some);
    }
}

/// Appends one filter of some records: the place of each among the finished ones, and what it filters.
fn record_filter(
    recording: &mut Recording,
    frame: &FrameSlices,
    region: &ActiveRegion,
    by: &Filter,
    records: &[(u64, u64)],
    some: &Range<u64>,
) {
    let ActiveRegion { pixels: region, slices, capacity } = region;
    let [region_width, region_height] = region.size();
    let [inside_width, inside_height] = region.inside_size();
    let [inside_x, inside_y] = region.inside_offset();
    let first_of_variables = capacity.resolved_records() - capacity.variables;
    let [window_x, window_y] = window(by);
    let inside = u64::from(inside_width) * u64::from(inside_height);
    let ([first, last], groups) = portion(some, inside, filter::LOCAL_SIZE);
    let part = SAMPLES_OF_A_PART.div_ceil(capacity.pixel_samples as u32).max(1);
    let first_place = records.first().map_or(0, |(place, _)| *place);
    let dispatches = |recording: &mut Recording, records: &[(u64, u64)], window_first: u32| {
        recording.unordered(|recording| {
            for &(place, output) in records {
                let bindings = filter::Bindings {
                    frame_buffer: frame.frame,
                    resolved: slices.resolved,
                    pixels: slices.pixels,
                    // Depths come after colours, so their memory is free until then.
                    totals: slices.depths,
                };
                let push = filter::Push {
                    region_x: region.sampled[0],
                    region_y: region.sampled[1],
                    region_width,
                    region_height,
                    inside_x,
                    inside_y,
                    inside_width,
                    resolved_records: capacity.resolved_records() as u32,
                    record: if output == 0 { 0 } else { first_of_variables + output - 1 } as u32,
                    keeps_totals: u32::from(place == first_place),
                    half_width_x: by.width[0] * 0.5,
                    half_width_y: by.width[1] * 0.5,
                    first_pixel: place as u32 * inside_width * inside_height,
                    window_first,
                    window_last: window_first + part,
                    first,
                    last,
                };
                recording.dispatch(filter::dispatch(variant(by.kind), groups, &bindings, &push));
            }
        });
    };
    let in_parts = window_x * window_y > part;
    for window_first in (0..window_x * window_y).step_by(part as usize) {
        if in_parts {
            // The first record replaces the totals that the others read.
            dispatches(recording, &records[1..], window_first);
            dispatches(recording, &records[..1], window_first);
        } else {
            dispatches(recording, records, window_first);
        }
    }
}

/// Appends the depth of the pixels `some` of those delivered, by the hider's depth filter.
pub fn record_depth(recording: &mut Recording, region: &ActiveRegion, by: DepthFilter, some: &Range<u64>) {
    let pixel_samples = region.pixel_samples();
    let ActiveRegion { pixels: region, slices, capacity } = region;
    let [inside_width, inside_height] = region.inside_size();
    let [inside_x, inside_y] = region.inside_offset();
    let bindings =
        depth::Bindings { keys: slices.keys, depths: slices.depths, resolved: slices.resolved, behind: slices.behind };
    let inside = u64::from(inside_width) * u64::from(inside_height);
    let ([first, last], groups) = portion(some, inside, depth::LOCAL_SIZE);
    let push = depth::Push {
        region_width: region.size()[0],
        inside_x,
        inside_y,
        inside_width,
        pixel_samples,
        depth_filter: match by {
            DepthFilter::Min => DEPTH_FILTER_NEAREST,
            DepthFilter::Max => DEPTH_FILTER_FARTHEST,
            DepthFilter::Average => DEPTH_FILTER_MEAN,
            DepthFilter::Midpoint => DEPTH_FILTER_MIDPOINT,
        },
        first_pixel: 0,
        resolved_records: capacity.resolved_records() as u32,
        translucent: u32::from(capacity.translucent()),
        first,
        last,
    };
    recording.dispatch(depth::dispatch(groups, &bindings, &push));
}

/// The kernels that filter colours and variables.
pub(super) fn kernels(kinds: &[FilterKind]) -> KernelList {
    kinds.iter().map(|&kind| filter::kernel(variant(kind))).collect()
}

/// The kernels that filter depths.
pub(super) fn depth_kernels() -> KernelList {
    vec![depth::kernel()]
}
