//! The timeline of which device was busy when, as SVG: a row for each device, a rectangle for each region.

use super::colours::{self, FAINT, GREY};
use super::plots::{DrawResult, Plane, PlotWidth, rows};
use crate::stats::{Measured, MeasuredRegion, MeasuredWorld};
use plotters::style::{Color as _, RGBColor};

/// Height of a device's row, and of the gap between two rows.
const ROW: i32 = 56;
const GAP: i32 = 16;

/// Returns the regions of a device in lanes. Regions in one lane do not overlap in time, so there are as many lanes as
/// the device had regions in flight.
pub fn lanes(regions: &[MeasuredRegion], device: usize) -> Vec<Vec<&MeasuredRegion>> {
    let mut lanes: Vec<Vec<&MeasuredRegion>> = Vec::new();
    let mut own: Vec<&MeasuredRegion> = regions.iter().filter(|region| region.device == device).collect();
    own.sort_by(|a, b| a.begin_s.total_cmp(&b.begin_s));
    for region in own {
        let is_free = |lane: &&mut Vec<&MeasuredRegion>| lane.last().is_none_or(|last| last.end_s <= region.begin_s);
        match lanes.iter_mut().find(is_free) {
            Some(lane) => lane.push(region),
            None => lanes.push(vec![region]),
        }
    }
    lanes
}

/// Returns the timeline of a run's longest world. The time before regions is grey, and stolen regions are filled in a
/// paler colour.
pub fn draw(stats: &Measured, width: PlotWidth) -> String {
    let Some((_, world)) = stats.longest_world() else { return String::new() };
    draw_world(world, stats.devices.len(), width)
}

/// Returns the timeline of a world that was drawn on this many devices.
pub fn draw_world(world: &MeasuredWorld, devices: usize, width: PlotWidth) -> String {
    let names: Vec<String> = (1..=devices).map(|place| format!("#{place}")).collect();
    let whole = world.regions.iter().map(|region| region.end_s).fold(world.count_s + world.draw_s, f64::max).max(1e-6);
    rows(width, names.iter().map(String::as_str), ROW + GAP, whole, "seconds since the first submission", |plane| {
        for device in 0..devices {
            let top = plane.row(device) + GAP / 2;
            plane.rectangle((0.0, whole), (top, top + ROW), FAINT.mix(0.15).filled())?;
            plane.rectangle((0.0, world.count_s), (top, top + ROW), GREY.mix(0.7).filled())?;
            let lanes = lanes(&world.regions, device);
            let height = ROW / (lanes.len() as i32).clamp(1, ROW / 8);
            for (lane, regions) in lanes.iter().enumerate() {
                let top = top + (lane as i32 * height).min(ROW - height);
                for region in regions {
                    draw_region(plane, region, (top, top + height), colours::device(device))?;
                }
            }
        }
        Ok(())
    })
}

fn draw_region(
    plane: &Plane<'_, '_>,
    region: &MeasuredRegion,
    (top, bottom): (i32, i32),
    colour: RGBColor,
) -> DrawResult {
    let (begin, end) = (region.begin_s, region.end_s);
    let fill = if region.stolen { colour.mix(0.45) } else { colour.mix(0.85) };
    plane.rectangle((begin, end), (top + 1, bottom - 1), fill.filled())?;
    plane.rectangle((begin, end), (top + 1, bottom - 1), colour.stroke_width(2))
}
