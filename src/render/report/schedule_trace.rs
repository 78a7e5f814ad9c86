//! Traces the scheduler's decisions: a row for each device, a mark for each decision, with the numbers that led to it.

use crate::schedule::{Balance, CutReason, Region, Resource, ScheduleEvent, ScheduleEventKind, SummedArea};
use crate::trace::{Trace, TracedDevice, Track};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Instant;

/// The trace of the scheduler: one row for each device.
pub(crate) struct ScheduleTrace {
    table: Arc<SummedArea>,
    tracks: Vec<Mutex<Track>>,
}

impl ScheduleTrace {
    /// Creates rows for devices that draw the picture of `table`.
    pub(crate) fn new(trace: &Trace, table: Arc<SummedArea>, devices: &[TracedDevice]) -> Self {
        let track = |device| Mutex::new(trace.device_track(device, "decisions"));
        Self { table, tracks: devices.iter().map(track).collect() }
    }

    /// Marks an event, on the thread on which it happens.
    pub(crate) fn mark_event(&self, event: &ScheduleEvent) {
        let (what, numbers) = self.mark(&event.kind);
        self.tracks[event.device].lock().mark(&what, Instant::now(), &numbers);
    }

    fn mark(&self, what: &ScheduleEventKind) -> (String, Vec<(&'static str, f64)>) {
        match what {
            ScheduleEventKind::Opened { depth } => ("opened".into(), vec![("regions in flight", *depth as f64)]),
            ScheduleEventKind::Stolen { region, from } => {
                (format!("steals {region} from device {from}"), self.estimate(*region))
            }
            ScheduleEventKind::Adopted { region } => (format!("takes {region}"), self.estimate(*region)),
            ScheduleEventKind::Cut { region, kept, left, why } => {
                let mut numbers = cut_numbers(why);
                numbers.extend([("kept", self.table.work(*kept) as f64), ("left", self.table.work(*left) as f64)]);
                (format!("cuts {region} {}: goes on with {kept}, leaves {left}", reason(why)), numbers)
            }
            ScheduleEventKind::Begun { region, in_flight, balance, .. } => {
                let mut numbers = self.estimate(*region);
                numbers.push(("in flight", *in_flight as f64));
                numbers.extend(balance_numbers(balance));
                (format!("begins {region}"), numbers)
            }
            ScheduleEventKind::Finished { region } => (format!("finishes {region}"), Vec::new()),
            ScheduleEventKind::HandedOver { region } => (format!("hands {region} over"), Vec::new()),
            ScheduleEventKind::Refused { region } => (format!("cannot draw {region}"), self.estimate(*region)),
            ScheduleEventKind::Failed { failure, returned, .. } => {
                (format!("fails: {failure}"), vec![("regions returned", returned.len() as f64)])
            }
        }
    }

    /// Returns what the table estimates of a region. What the region took is in its own slice of the trace.
    fn estimate(&self, region: Region) -> Vec<(&'static str, f64)> {
        let estimate = self.table.estimate(region);
        vec![("estimated grids", self.table.grids(region)), ("estimated micropolygons", estimate.micropolygons)]
    }
}

fn reason(why: &CutReason) -> &'static str {
    match why {
        CutReason::Memory { of: Resource::Subpixels, .. } => "for its subpixels",
        CutReason::Memory { of: Resource::Bytes, .. } => "for its grids",
        CutReason::TooLarge => "because it came to more than fits",
        CutReason::Balance(_) => "for balance",
        CutReason::Time { .. } => "to be saved in time",
        CutReason::Forced => "by force",
    }
}

fn cut_numbers(why: &CutReason) -> Vec<(&'static str, f64)> {
    match why {
        CutReason::Memory { needed, available, .. } => {
            vec![("needed", *needed as f64), ("available", *available as f64)]
        }
        CutReason::Balance(balance) => balance_numbers(balance),
        CutReason::Time { work_max } => vec![("work at most", *work_max as f64)],
        CutReason::TooLarge | CutReason::Forced => Vec::new(),
    }
}

fn balance_numbers(balance: &Balance) -> Vec<(&'static str, f64)> {
    vec![
        ("work", balance.work as f64),
        ("unbegun", balance.unbegun as f64),
        ("share", balance.share as f64),
        ("in flight", balance.ahead as f64),
        ("speed, thousandths of the mean", balance.speed_permille as f64),
        ("hungry devices", balance.waiting_devices as f64),
        ("queued regions", balance.queued as f64),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{Rates, SquareCounts, SquareGrids};
    use std::time::Duration;

    #[test]
    fn decisions_come_with_their_numbers() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let path = folder.path().join("trace.json");
        let trace = Trace::create(&path).expect("writable");
        let region = |x0, x1| Region::new([x0, 0, x1, 16]).expect("not empty");
        let counts = SquareCounts { grids: SquareGrids::inside(3), micropolygons: 100, ..SquareCounts::default() };
        let table = Arc::new(SummedArea::new(region(0, 32), &[counts; 2], Rates::default()));
        let decisions =
            ScheduleTrace::new(&trace, table, &[0, 1].map(|number| TracedDevice { number, title: String::new() }));
        let mark = |device, what| decisions.mark_event(&ScheduleEvent { at: Duration::ZERO, device, kind: what });
        let why = CutReason::Memory { of: Resource::Subpixels, needed: 900, available: 500 };
        mark(1, ScheduleEventKind::Cut { region: region(0, 32), kept: region(0, 16), left: region(16, 32), why });
        mark(0, ScheduleEventKind::Stolen { region: region(16, 32), from: 1 });
        drop(decisions);
        trace.finish().expect("writable");
        let text = std::fs::read_to_string(path).expect("the trace");
        let events = serde_json::from_str::<serde_json::Value>(&text).expect("JSON")["traceEvents"].take();
        let marks = events.as_array().expect("a list").iter().filter(|event| event["ph"] == "i");
        let marks: Vec<_> = marks.map(|event| (event["name"].as_str().unwrap_or(""), &event["args"])).collect();
        assert_eq!(marks.len(), 2);
        let cut = marks.iter().find(|(name, _)| name.starts_with("cuts")).expect("the cut");
        assert!(cut.0.contains("for its subpixels"), "{}", cut.0);
        assert_eq!((&cut.1["needed"], &cut.1["available"]), (&900.into(), &500.into()));
        let theft = marks.iter().find(|(name, _)| name.starts_with("steals")).expect("the theft");
        assert!(theft.0.ends_with("from device 1"), "{}", theft.0);
        assert_eq!((&theft.1["estimated grids"], &theft.1["estimated micropolygons"]), (&3.into(), &100.into()));
    }
}
