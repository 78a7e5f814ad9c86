//! The page of a render: one self-contained HTML file that shows where its time and memory went.

use super::colours;
use super::device_map::{self, picture_png};
use super::figures::{LegendEntry, StudyFigure};
use super::heat_map::{HeatMap, HeatPatch, short};
use super::page::{definitions, device_legend, figure, legend, picture, rows, shell};
use super::plots::{Bar, LinePlot, PlotAxis, stacked};
use super::render_tables::{pipelines, shaders, textures};
use super::tables::{DEVICE_STAGES, StudyTable, percent, seconds, title};
use super::timeline;
use crate::film::{PreviewImage, shown_image};
use crate::stats::{
    DeviceStats, Measured, MeasuredDevice, MeasuredWorld, RegionStats, Stage, Stats, WarningStats, WorldStats,
    human_bytes, square_values,
};
use maud::{Markup, PreEscaped, html};
use std::path::Path;

/// Worlds that are shown with pictures and maps; others are rows of a table.
const WORLDS_MAX: usize = 6;

/// Rows of a table of many things.
pub(super) const ROWS_MAX: usize = 12;

/// Side of the squares that micropolygons are counted in, in pixels.
const SQUARE_PX: i32 = 16;

/// Returns the page of a render. The pictures are read from the files of its displays.
pub fn page(stats: &Stats) -> String {
    // Plots are made of what a program reads of the statistics.
    let measured: Measured = serde_json::from_str(&stats.to_json()).unwrap_or_default();
    let pictures = pictures(stats);
    let shown = longest(&stats.worlds);
    let title = format!("Render: {}", stats.scene);
    let body = html! {
        h1 { (title) }
        p.finding { (stats.summary()) }
        @for output in stats.outputs.iter().filter(|output| output.state != "whole") {
            p.differ { (output.file) " is " (output.state) }
        }
        (warnings(&stats.warnings))
        @for (place, (world, of_world)) in stats.worlds.iter().zip(&measured.worlds).enumerate() {
            @if shown.contains(&place) {
                (world_section(world, of_world, &measured.devices, &stats.devices, pictures[place].as_ref()))
            }
        }
        @if stats.worlds.len() > 1 { h2 { "Frames" } (rows(&worlds_table(stats))) }
        @if !stats.devices.is_empty() {
            h2 { "Devices and stages" }
            (figure(&stages_figure(&measured.devices)))
            (rows(&stages_table(stats, &measured.devices)))
            (rows(&devices_table(stats, &measured.devices)))
        }
        (section(&pipelines(stats)))
        (section(&shaders(stats)))
        (section(&textures(stats)))
        h2 { "What was measured" }
        (definitions(&facts(stats)))
    };
    shell(&title, &body)
}

/// Returns the places of the worlds that took longest.
fn longest(worlds: &[WorldStats]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..worlds.len()).collect();
    order.sort_by_key(|&place| std::cmp::Reverse(worlds[place].draw));
    order.truncate(WORLDS_MAX);
    order
}

/// Returns the picture of each world: the first display of its size that no world before it has and that can be shown.
fn pictures(stats: &Stats) -> Vec<Option<PreviewImage>> {
    let mut free: Vec<PreviewImage> =
        stats.outputs.iter().filter_map(|output| shown_image(Path::new(&output.file))).collect();
    let picture = |world: &WorldStats| {
        let place = free.iter().position(|picture| picture.size == size_px(world))?;
        Some(free.remove(place))
    };
    stats.worlds.iter().map(picture).collect()
}

fn size_px(world: &WorldStats) -> [u32; 2] {
    let [x0, y0, x1, y1] = world.crop_px;
    [x1.abs_diff(x0), y1.abs_diff(y0)]
}

/// Returns what is shown of one world.
fn world_section(
    world: &WorldStats,
    measured: &MeasuredWorld,
    devices: &[MeasuredDevice],
    limits: &[DeviceStats],
    shown: Option<&PreviewImage>,
) -> Markup {
    let [width, height] = size_px(world);
    let frame = world.frame.map_or_else(String::new, |frame| format!("Frame {frame}, "));
    let maps = heat_maps(world);
    let timeline = StudyFigure::new(
        "timeline",
        "Regions that each device had in flight, in its colour; pale ones were stolen.",
        vec![LegendEntry::new("before regions: geometry uploaded, primitives counted", colours::GREY)],
        |width| timeline::draw_world(measured, devices.len(), width),
    );
    html! {
        h2 { (frame) (width) " x " (height) " pixels" }
        @match shown {
            Some(shown) => figure { (picture(&picture_png(shown), "The picture")) },
            None => p.note { "No display of this size can be shown: pages show OpenEXR and PNG." },
        }
        @if measured.regions.is_empty() {
            p.note { "No region was finished." }
        } @else {
            h3 { "Which device rendered what" }
            figure {
                (picture(&device_map::draw(shown, measured), "The picture, coloured by the device that rendered each region"))
                (legend(&device_legend(devices)))
            }
            @if measured.regions.len() == 1 {
                p.note { "The picture was drawn as a single region, so maps by region have one value. --regions 40 cuts it; the picture stays the same." }
            }
            h3 { "Heat maps" }
            div.maps { @for map in &maps { (heat_figure(map, world)) } }
            @let slowest = regions_table(world);
            h3 { (slowest.title) }
            (rows(&slowest))
            h3 { "Busy and idle" }
            (figure(&timeline))
            h3 { "Device memory" }
            (figure(&memory_figure(world, limits)))
        }
    }
}

fn heat_figure(map: &HeatMap, world: &WorldStats) -> Markup {
    html! {
        figure {
            strong { (map.title) }
            @if map.max() > 0.0 {
                (picture(&map.png(world.crop_px), map.title))
                div.scale { (PreEscaped(map.scale())) }
                figcaption { (map.about) }
            } @else {
                figcaption { "None. " (map.about) }
            }
        }
    }
}

/// Returns the maps of a world.
fn heat_maps(world: &WorldStats) -> Vec<HeatMap> {
    let of_regions = |title, unit, about, value: &dyn Fn(&RegionStats) -> f64| {
        let patches = world.regions.iter().map(|region| HeatPatch { px: region.px, value: value(region) }).collect();
        HeatMap { title, about, unit, patches, bordered: true }
    };
    let squares = HeatMap {
        title: "Micropolygons by tile",
        about: "Micropolygons of each square of 16 x 16 pixels, hidden ones too, as counted before drawing.",
        unit: "micropolygons a tile",
        patches: squares(world),
        bordered: false,
    };
    vec![
        of_regions(
            "Time",
            "microseconds a pixel",
            "Time of each region's submissions by its device's clock, divided by its pixels.",
            &|region| 1e6 * region.device_s / pixels(region),
        ),
        squares,
        of_regions(
            "Visible micropolygons",
            "micropolygons a pixel",
            "Micropolygons of each region that a sample saw, divided by its pixels.",
            &|region| region.visible_micropolygons as f64 / pixels(region),
        ),
        of_regions(
            "Samples",
            "samples a pixel",
            "Sample points of each region, those around it for the filter too, divided by its pixels.",
            &|region| region.subpixels as f64 / pixels(region),
        ),
        of_regions(
            "Translucent layers",
            "entries a pixel",
            "What translucent micropolygons left in cells of 32 samples, divided by the region's pixels.",
            &|region| region.entries as f64 / pixels(region),
        ),
        of_regions(
            "Texture misses",
            "tiles",
            "Tiles of textures that each region's submissions lacked; most of these submissions were made again.",
            &|region| region.missed_tiles as f64,
        ),
    ]
}

fn pixels(region: &RegionStats) -> f64 {
    let [x0, y0, x1, y1] = region.px;
    (f64::from(x1.abs_diff(x0)) * f64::from(y1.abs_diff(y0))).max(1.0)
}

/// Returns the micropolygons of each square of pixels: square (i, j) begins at pixel (16 i, 16 j), and squares at the
/// border of the picture are cut.
fn squares(world: &WorldStats) -> Vec<HeatPatch> {
    let Some(cost) = &world.cost else { return Vec::new() };
    let [left, top, right, bottom] = world.crop_px;
    let first = [left, top].map(|at| at.div_euclid(SQUARE_PX) * SQUARE_PX);
    let mut patches = Vec::new();
    for (line, row) in (0..).zip(&cost.micropolygons) {
        let values = square_values(std::slice::from_ref(row)).unwrap_or_default();
        patches.extend((0..).zip(values).map(|(column, value): (i32, u64)| {
            let [x, y] = [first[0] + column * SQUARE_PX, first[1] + line * SQUARE_PX];
            let px = [x.max(left), y.max(top), (x + SQUARE_PX).min(right), (y + SQUARE_PX).min(bottom)];
            HeatPatch { px, value: value as f64 }
        }));
    }
    patches
}

/// Returns the memory of each device over time, with its limit.
fn memory_figure(world: &WorldStats, devices: &[DeviceStats]) -> StudyFigure {
    const MIB: f64 = 1024.0 * 1024.0;
    let end = world.regions.iter().map(|region| region.end.as_secs_f64()).fold(1e-3, f64::max);
    let (mut plain, mut legend) = (Vec::new(), Vec::new());
    for (place, device) in devices.iter().enumerate() {
        let of_device = world.regions.iter().filter(|region| region.device == place);
        let mut points: Vec<(f64, f64)> =
            of_device.map(|region| (region.end.as_secs_f64(), region.memory_bytes as f64 / MIB)).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        // The parts for regions are allotted before the first of them begins.
        let begins = world.regions.iter().filter(|region| region.device == place);
        let begin = begins.map(|region| region.begin.as_secs_f64()).fold(end, f64::min);
        if let Some(&(_, bytes)) = points.first() {
            points.insert(0, (begin, bytes));
        }
        points.extend(points.last().map(|(_, bytes)| (end, *bytes)));
        // Memory changes in steps; it is known when a region ends, and shown until the next one does.
        let steps = points.windows(2).flat_map(|pair| [pair[0], (pair[1].0, pair[0].1)]).collect::<Vec<_>>();
        plain.push((steps, colours::device(place)));
        let [peak, limit] = [device.peak_bytes, device.limit_bytes].map(human_bytes);
        legend.push(LegendEntry::new(format!("#{}: at most {peak}, limit {limit}", place + 1), colours::device(place)));
    }
    let peak = devices.iter().map(|device| device.peak_bytes as f64 / MIB).fold(1.0, f64::max);
    let limits: Vec<f64> = devices.iter().map(|device| device.limit_bytes as f64 / MIB).collect();
    // A limit far above would press the curves against the axis; the legend names it in any case.
    let near: Vec<f64> = limits.into_iter().filter(|limit| *limit < 4.0 * peak).collect();
    let top = near.iter().copied().fold(peak, f64::max);
    let plot = LinePlot {
        x: PlotAxis {
            title: "seconds since the first submission",
            range: (0.0, end * 1.02),
            labels: 8,
            label: |value| format!("{}", (value * 1e4).round() / 1e4),
        },
        y: PlotAxis { title: "MiB", range: (0.0, top * 1.08), labels: 8, label: |value| format!("{value:.0}") },
        ideal: near.into_iter().map(|limit| vec![(0.0, limit), (end, limit)]).collect(),
        curves: Vec::new(),
        plain,
    };
    let caption = "Device memory in use when each region ended, and the limit (dashed, where it is near).";
    StudyFigure::new("memory", caption, legend, |width| plot.draw(width))
}

/// Returns the stages of each device as a bar.
fn stages_figure(devices: &[MeasuredDevice]) -> StudyFigure {
    let time = |device: &MeasuredDevice, stage: Stage| device.stages_s.get(stage.name()).copied().unwrap_or(0.0);
    let bar = |(place, device): (usize, &MeasuredDevice)| {
        let parts = DEVICE_STAGES.iter().map(|&stage| time(device, stage)).collect();
        Bar { label: title(place, device), parts }
    };
    let bars: Vec<Bar> = devices.iter().enumerate().map(bar).collect();
    let is_used = |stage: Stage| devices.iter().any(|device| time(device, stage) > 0.0);
    let shown = DEVICE_STAGES.into_iter().zip(colours::STAGES).filter(|(stage, _)| is_used(*stage));
    let legend = shown.map(|(stage, colour)| LegendEntry::new(stage.name(), colour)).collect();
    StudyFigure::new("stages", "Time in each stage, by the devices' own clocks.", legend, |width| {
        stacked(width, &bars, &colours::STAGES, "seconds", seconds)
    })
}

fn stages_table(stats: &Stats, devices: &[MeasuredDevice]) -> StudyTable {
    let is_used = |stage: &Stage| !stats.stages.get(*stage).is_zero();
    let shown: Vec<Stage> = Stage::ALL.into_iter().filter(is_used).collect();
    let mut header = vec!["stage".to_string()];
    header.extend(devices.iter().enumerate().map(|(place, device)| format!("{}, s", title(place, device))));
    header.extend(["all, s", "share"].map(String::from));
    let sum: f64 = shown.iter().map(|&stage| stats.stages.get(stage).as_secs_f64()).sum();
    let row = |stage: &Stage| {
        let all = stats.stages.get(*stage).as_secs_f64();
        let of_device = |device: &MeasuredDevice| device.stages_s.get(stage.name()).copied().unwrap_or(0.0);
        let mut row = vec![stage.name().to_string()];
        row.extend(devices.iter().map(|device| seconds(of_device(device))));
        row.extend([seconds(all), percent(all / sum.max(1e-9))]);
        row
    };
    let note =
        "\"All\" also has what the host did (parse, compile, write), which overlaps with the devices' work.".into();
    StudyTable { title: "Stages", note, header, rows: shown.iter().map(row).collect() }
}

fn devices_table(stats: &Stats, devices: &[MeasuredDevice]) -> StudyTable {
    let header =
        ["device", "pipeline", "busy, s", "idle, s", "regions", "stolen", "cut", "repeated", "memory, peak", "limit"];
    let row = |((place, measured), device): ((usize, &MeasuredDevice), &DeviceStats)| {
        vec![
            title(place, measured),
            device.pipeline.to_string(),
            seconds(device.busy.as_secs_f64()),
            seconds(device.idle.as_secs_f64()),
            device.regions.to_string(),
            device.stolen.to_string(),
            device.splits.to_string(),
            device.retries.to_string(),
            human_bytes(device.peak_bytes),
            human_bytes(device.limit_bytes),
        ]
    };
    let rows = devices.iter().enumerate().zip(&stats.devices).map(row).collect();
    let note = "A device is busy while it has regions in flight.".into();
    StudyTable { title: "Devices", note, header: header.map(String::from).into(), rows }
}

/// Returns the regions that took longest.
fn regions_table(world: &WorldStats) -> StudyTable {
    let header =
        ["region", "device", "time, s", "share", "micropolygons", "visible", "vertices shaded", "samples", "misses"];
    let mut order: Vec<&RegionStats> = world.regions.iter().collect();
    order.sort_by(|a, b| b.device_s.total_cmp(&a.device_s));
    let sum: f64 = order.iter().map(|region| region.device_s).sum();
    let row = |region: &&RegionStats| {
        let [x0, y0, x1, y1] = region.px;
        vec![
            format!("{x0}, {y0} to {x1}, {y1}"),
            format!("#{}", region.device + 1),
            seconds(region.device_s),
            percent(region.device_s / sum.max(1e-9)),
            short(region.work as f64),
            short(region.visible_micropolygons as f64),
            short(region.shaded_vertices as f64),
            short(region.subpixels as f64),
            region.missed_tiles.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = order.iter().take(ROWS_MAX).map(row).collect();
    let note = format!(
        "{} of {} regions, those that took longest by their devices' clocks. --crop draws one of them by itself.",
        rows.len(),
        order.len()
    );
    StudyTable { title: "Slowest regions", note, header: header.map(String::from).into(), rows }
}

fn worlds_table(stats: &Stats) -> StudyTable {
    let header = ["frame", "pixels", "prepared, s", "counted, s", "drawn, s", "written, s", "regions"];
    let row = |(place, world): (usize, &WorldStats)| {
        let [width, height] = size_px(world);
        let mut row = vec![world.frame.map_or_else(|| format!("world {}", place + 1), |frame| frame.to_string())];
        row.push(format!("{width} x {height}"));
        row.extend([world.prepare, world.count, world.draw, world.write].map(|time| seconds(time.as_secs_f64())));
        row.push(world.regions.len().to_string());
        row
    };
    let rows = stats.worlds.iter().enumerate().map(row).collect();
    let note = format!("Pictures and maps are shown of the {WORLDS_MAX} worlds that took longest to draw.");
    StudyTable { title: "Frames", note, header: header.map(String::from).into(), rows }
}

/// Returns a table under a title of its own, unless it is empty.
fn section(table: &StudyTable) -> Markup {
    html! {
        @if !table.rows.is_empty() {
            h2 { (table.title) }
            (rows(table))
        }
    }
}

/// Returns every warning and error, with its places.
fn warnings(warnings: &[WarningStats]) -> Markup {
    let places = |warning: &WarningStats| {
        let all = std::iter::once(&warning.place).chain(&warning.more_places).filter(|place| !place.is_empty());
        all.cloned().collect::<Vec<_>>().join(", ")
    };
    html! {
        @if !warnings.is_empty() {
            section.doubts {
                strong { "Warnings and errors" }
                ul {
                    @for warning in warnings {
                        li {
                            @if !places(warning).is_empty() { code { (places(warning)) } ": " }
                            (warning.severity) ": " (warning.message)
                            @if warning.count > 1 { " (" (warning.count) " times)" }
                        }
                    }
                }
            }
        }
    }
}

/// Returns what was rendered, by which program, on which devices.
fn facts(stats: &Stats) -> Vec<(&'static str, String)> {
    let mut facts = vec![("program", format!("anthill {}", stats.version)), ("scene", stats.scene.clone())];
    facts.extend(stats.outputs.iter().map(|output| ("display", format!("{} ({})", output.file, output.state))));
    let counts = &stats.counts;
    facts.extend([
        ("whole process", format!("{} s", seconds(stats.wall.as_secs_f64()))),
        ("devices opened in", format!("{} s", seconds(stats.open.as_secs_f64()))),
        ("grids", short(counts.grids as f64)),
        ("micropolygons", short(counts.micropolygons as f64)),
        ("vertices shaded", short(counts.shaded_vertices as f64)),
        ("sample points", short(counts.sample_points as f64)),
    ]);
    for (place, device) in stats.devices.iter().enumerate() {
        facts.push(("device", format!("#{}: {}: {}, {}", place + 1, device.index, device.name, device.driver)));
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{CommandStats, CommandTimeStats, CostStats, KernelStats, OutputStats, TextureStats};
    use std::time::Duration;

    /// Returns a render on two devices of 40 x 32 pixels that begin at (-8, 16).
    fn stats() -> Stats {
        let region = |device: usize, px: [i32; 4], device_s: f64| RegionStats {
            device,
            px,
            device_s,
            begin: Duration::from_millis(100),
            end: Duration::from_millis(400),
            memory_bytes: 5 << 20,
            missed_tiles: device as u64 * 3,
            ..RegionStats::default()
        };
        let cost = CostStats { micropolygons: vec!["1 2 3".into(), "4 5 60".into()], ..CostStats::default() };
        let world = WorldStats {
            frame: Some(7),
            crop_px: [-8, 16, 32, 48],
            draw: Duration::from_millis(500),
            regions: vec![region(0, [-8, 16, 16, 48], 0.25), region(1, [16, 16, 32, 48], 0.5)],
            cost: Some(cost),
            ..WorldStats::default()
        };
        let device = |index| DeviceStats {
            index,
            name: "a <fast> & \"new\" one".into(),
            peak_bytes: 6 << 20,
            limit_bytes: 8 << 20,
            ..DeviceStats::default()
        };
        let warning = WarningStats {
            severity: "warning",
            code: "range",
            place: "a.rib:3:4".into(),
            more_places: vec!["b.rib:5:6".into()],
            message: "odd <thing>".into(),
            count: 9,
        };
        let reads = TextureStats { lookups: Some(7_654), requests: 20_000, misses: 3, ..TextureStats::default() };
        let mut stats = Stats { version: "1", scene: "a&b.rib".into(), worlds: vec![world], ..Stats::default() };
        stats.add_texture("wood.tx".into(), reads);
        let command = CommandStats {
            pipeline: Some("shade oak".into()),
            items: 50_000,
            device_s: 0.25,
            ..CommandStats::default()
        };
        let command_times = Some(CommandTimeStats { commands: vec![command], ..CommandTimeStats::default() });
        stats.devices = vec![device(0), DeviceStats { command_times, ..device(1) }];
        stats.warnings = vec![warning];
        stats.kernels = vec![KernelStats { kernel: "plastic".into(), compile_s: 0.5, ..KernelStats::default() }];
        stats.outputs = vec![OutputStats { file: "no.exr".into(), state: "partial".into(), missing_pixels: 1 }];
        stats
    }

    #[test]
    fn the_page_is_self_contained_and_says_what_was_measured() {
        let html = page(&stats());
        let is_open = |part: &str| ["meta ", "img "].iter().any(|name| part.starts_with(name));
        let body = html.trim_start_matches("<!DOCTYPE html>");
        let parts = body.split('<').map(|part| if is_open(part) { part.replacen('>', "/>", 1) } else { part.into() });
        let xml = parts.collect::<Vec<_>>().join("<");
        let document = roxmltree::Document::parse(&xml).unwrap_or_else(|error| panic!("{error}"));
        let images = document.descendants().filter(|node| node.has_tag_name("img"));
        let images: Vec<&str> = images.filter_map(|image| image.attribute("alt")).collect();
        assert_eq!(
            images[1..],
            ["Time", "Micropolygons by tile", "Texture misses"],
            "the others have no value above 0"
        );
        let outside = html.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        assert!(!outside.contains("http") && !outside.contains("url("));
        for text in [
            "<code>a.rib:3:4, b.rib:5:6</code>: warning: odd &lt;thing&gt; (9 times)",
            "no.exr is partial",
            "Frame 7, 40 x 32 pixels",
            "No display of this size can be shown",
            "wood.tx",
            "7654",
            "shade oak",
            "5000",
            "plastic",
            "16, 16 to 32, 48",
            "#1: at most 6.0 MiB, limit 8.0 MiB",
        ] {
            assert!(html.contains(text), "{text}: {html}");
        }
        let nothing = page(&Stats::default());
        assert!(nothing.contains("What was measured"));
    }

    #[test]
    fn squares_are_those_that_the_picture_overlaps() {
        let world = &stats().worlds[0];
        let squares = squares(world);
        let (first, last) = (squares[0], squares[5]);
        assert_eq!((first.px, first.value), ([-8, 16, 0, 32], 1.0));
        assert_eq!((last.px, last.value), ([16, 32, 32, 48], 60.0));
        let maps = heat_maps(world);
        // 0.5 s for 16 x 32 pixels.
        assert!((maps[0].max() - 0.5e6 / 512.0).abs() < 1e-9 && maps[5].max() == 3.0);
    }
}
