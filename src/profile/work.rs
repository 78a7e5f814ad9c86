//! What regions, textures and memory took.

use super::section::{Section, TableValue};
use crate::stats::{RegionStats, Stats};

/// Regions of text, at most.
const REGIONS_SHOWN: usize = 10;

/// Regions, those that took longest first.
pub(super) fn regions(stats: &Stats) -> Section {
    let columns = [
        ("world", "world"),
        ("device", "device"),
        ("px", "pixels"),
        ("device_s", "time"),
        ("share", "of all regions"),
        ("grids", "grids"),
        ("visible_micropolygons", "visible micropolygons"),
        ("shaded_vertices", "shaded vertices"),
        ("entries", "translucent entries"),
        ("submissions", "submissions"),
    ];
    let note = "By the devices' clocks: what a region's submissions took, those that were repeated included.";
    let mut section = Section::new("regions", "Regions", note, &columns);
    let all = stats.worlds.iter().enumerate().flat_map(|(world, of)| of.regions.iter().map(move |row| (world, row)));
    let mut all: Vec<(usize, &RegionStats)> = all.collect();
    all.sort_by(|a, b| b.1.device_s.total_cmp(&a.1.device_s));
    let whole = all.iter().map(|(_, region)| region.device_s).sum::<f64>().max(f64::MIN_POSITIVE);
    let row = |(world, region): (usize, &RegionStats)| {
        let [x0, y0, x1, y1] = region.px;
        vec![
            TableValue::Count(world as u64),
            TableValue::Count(region.device as u64),
            TableValue::Text(format!("{}x{} at {x0},{y0}", x1 - x0, y1 - y0)),
            TableValue::Seconds(region.device_s),
            TableValue::Share(region.device_s / whole),
            TableValue::Count(region.grids),
            TableValue::Count(region.visible_micropolygons),
            TableValue::Count(region.shaded_vertices),
            TableValue::Count(region.entries),
            TableValue::Count(region.submissions),
        ]
    };
    section.rows = all.into_iter().map(row).collect();
    section.shown = REGIONS_SHOWN;
    section.without_constant("world").without_constant("device").without_constant("entries")
}

/// Textures, those that missed most tiles first.
pub(super) fn textures(stats: &Stats) -> Section {
    let columns = [
        ("file", "file"),
        ("lookups", "lookups"),
        ("tiles_used", "tiles used"),
        ("misses", "missed"),
        ("missed_share", "of those used"),
        ("reruns", "submissions that missed"),
        ("tiles_read", "tiles read"),
        ("read_again", "read again"),
        ("bytes_read", "bytes read"),
        ("read_s", "reading"),
    ];
    let note = "Lookups are counted with the lines of shaders: times that a shader reads the file at a point, once for each \
                channel group that it asks for; those of repeated submissions count again. A tile that a submission uses \
                counts once, however many lookups find it there.";
    let mut section = Section::new("textures", "Textures", note, &columns);
    let mut all: Vec<_> = stats.textures.iter().collect();
    all.sort_by_key(|texture| std::cmp::Reverse(texture.reads.misses));
    section.rows.extend(all.iter().map(|texture| {
        let reads = &texture.reads;
        let used = (reads.requests + reads.misses).max(1);
        vec![
            TableValue::Text(texture.file.clone()),
            reads.lookups.map_or(TableValue::Nothing, TableValue::Count),
            TableValue::Count(reads.requests),
            TableValue::Count(reads.misses),
            TableValue::Share(reads.misses as f64 / used as f64),
            TableValue::Count(reads.reruns),
            TableValue::Count(reads.tiles_read),
            TableValue::Count(reads.redundant_reads),
            TableValue::Bytes(reads.bytes_read),
            TableValue::Seconds(reads.read.as_secs_f64()),
        ]
    }));
    section.without_empty("lookups")
}

/// Device memory by category.
pub(super) fn memory(stats: &Stats) -> Section {
    let columns =
        [("device", "device"), ("category", "category"), ("peak_bytes", "at most"), ("share", "of the limit")];
    let note = "The most of each category, which need not have been in use at the same time.";
    let mut section = Section::new("memory", "Device memory", note, &columns);
    for (number, device) in stats.devices.iter().enumerate() {
        let limit = device.limit_bytes.max(1) as f64;
        let all = device.categories_peak.iter().map(|(category, bytes)| (category.name(), bytes));
        for (category, bytes) in all.chain([("all at once", device.peak_bytes)]).filter(|(_, bytes)| *bytes > 0) {
            section.rows.push(vec![
                TableValue::Count(number as u64),
                TableValue::Text(category.into()),
                TableValue::Bytes(bytes),
                TableValue::Share(bytes as f64 / limit),
            ]);
        }
    }
    section.without_constant("device")
}
