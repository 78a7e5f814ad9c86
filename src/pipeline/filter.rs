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

/// Samples of the window that a pixel's filter goes through.
pub fn window_samples(pixel_samples: u64, by: &Filter) -> u64 {
    window(by).map(u64::from).iter().product::<u64>() * pixel_samples
}

/// Pixels of the window along x and y.
fn window(by: &Filter) -> [u32; 2] {
    filter_apron(by).map(|apron| 2 * apron + 1)
}

/// Appends the filtering of colour and every variable, in the pixels `some` of those that the region delivers.
/// Pixels of colour come first, then those of each variable.
pub fn record(recording: &mut Recording, frame: &FrameSlices, region: &ActiveRegion, by: &Filter, some: &Range<u64>) {
    let ActiveRegion { pixels: region, slices, capacity } = region;
    let [region_width, region_height] = region.size();
    let [inside_width, inside_height] = region.inside_size();
    let [inside_x, inside_y] = region.inside_offset();
    let first_of_variables = capacity.resolved_records() - capacity.variables;
    let [window_x, window_y] = window(by);
    let inside = u64::from(inside_width) * u64::from(inside_height);
    let ([first, last], groups) = portion(some, inside, filter::LOCAL_SIZE);
    let part = SAMPLES_OF_A_PART.div_ceil(capacity.pixel_samples as u32).max(1);
    for window_first in (0..window_x * window_y).step_by(part as usize) {
        recording.unordered(|recording| {
            for group in 0..=capacity.variables {
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
                    record: if group == 0 { 0 } else { first_of_variables + group - 1 } as u32,
                    half_width_x: by.width[0] * 0.5,
                    half_width_y: by.width[1] * 0.5,
                    first_pixel: group as u32 * inside_width * inside_height,
                    window_first,
                    window_last: window_first + part,
                    first,
                    last,
                };
                recording.dispatch(filter::dispatch(variant(by.kind), groups, &bindings, &push));
            }
        });
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
pub(super) fn kernels(kind: FilterKind) -> KernelList {
    vec![filter::kernel(variant(kind))]
}

/// The kernels that filter depths.
pub(super) fn depth_kernels() -> KernelList {
    vec![depth::kernel()]
}
