//! Timelines as Chrome trace-event JSON, which Perfetto opens (ui.perfetto.dev).
//!
//! A [`Trace`] is a file. A [`Track`] is a row in it, owned by one thread, with a buffer of its own, so that threads
//! contend for the file only once in tens of kilobytes. The file is valid JSON after every write: the closing brackets
//! are written each time and overwritten by the next events. It gets its name when it is finished; a program that is
//! killed leaves a trace that opens beside that name, hidden.

use crate::files::PendingFile;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::fmt::Write as _;
use std::io::{self, Seek, SeekFrom, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A trace file that tracks write to, or none.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    output: Option<Arc<OpenTrace>>,
}

/// The file of a trace, shared by its tracks.
#[derive(Debug)]
struct OpenTrace {
    /// Time 0 of the trace.
    origin: Instant,
    rows: Mutex<Rows>,
    file: Mutex<TraceFile>,
}

/// The rows of a trace so far.
#[derive(Debug, Default)]
struct Rows {
    /// Devices that have a name.
    devices: Vec<u32>,
    /// The number of each row, by process and name.
    tracks: FxHashMap<(u32, String), u32>,
}

#[derive(Debug)]
struct TraceFile {
    /// `None` once it has its name.
    file: Option<PendingFile>,
    /// Where the closing brackets begin.
    end: u64,
    /// The first error; nothing is written after it.
    error: Option<io::Error>,
}

/// The process of the host, whose name is in [`OPENING`].
const HOST: u32 = 1;
/// The process of the first device.
const FIRST_DEVICE: u32 = 2;

/// A device, which is a process of a trace.
#[derive(Clone, Debug, Default)]
pub struct TracedDevice {
    /// Its number among the opened devices.
    pub number: u32,
    /// Its name for people.
    pub title: String,
}

const OPENING: &str = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n\
    {\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"anthill\"}}";
const CLOSING: &str = "\n]}\n";

/// A track writes its buffer when it has this many bytes.
const BUFFER_BYTES: usize = 1 << 16;
/// A track writes its buffer when its oldest event is this old, so a killed program loses no more than that.
const BUFFER_AGE: Duration = Duration::from_secs(1);

impl Trace {
    /// Returns no trace, whose tracks cost nothing.
    pub fn off() -> Self {
        Self::default()
    }

    /// Creates a trace whose time begins now. An existing file is replaced when the trace is finished.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut file = PendingFile::create(path)?;
        file.write_all([OPENING, CLOSING].concat().as_bytes())?;
        let file = Mutex::new(TraceFile { file: Some(file), end: OPENING.len() as u64, error: None });
        let output = OpenTrace { origin: Instant::now(), rows: Mutex::default(), file };
        Ok(Self { output: Some(Arc::new(output)) })
    }

    /// Whether there is a file.
    pub fn is_on(&self) -> bool {
        self.output.is_some()
    }

    /// Returns a row of the host, which is added unless there is one of this name. Rows are shown in the order in which
    /// they are added.
    pub fn track(&self, name: &str) -> Track {
        self.track_of(HOST, None, name)
    }

    /// Returns a row of a device, as [`Self::track`] does for the host. Each device is a process of the trace.
    pub fn device_track(&self, device: &TracedDevice, name: &str) -> Track {
        self.track_of(FIRST_DEVICE + device.number, Some(device), name)
    }

    fn track_of(&self, process: u32, device: Option<&TracedDevice>, name: &str) -> Track {
        let (output, buffer) = (self.output.clone(), String::new());
        let mut track = Track { output, process, id: 0, buffer, oldest: None };
        let Some(output) = &self.output else { return track };
        let mut rows = output.rows.lock();
        let next = rows.tracks.len() as u32 + 1;
        track.id = *rows.tracks.entry((process, name.to_owned())).or_insert(next);
        let now = Instant::now();
        if let Some(device) = device.filter(|device| !rows.devices.contains(&device.number)) {
            rows.devices.push(device.number);
            track.metadata("process_name", now, |track| track.text("name", &device.title));
            track.metadata("process_sort_index", now, |track| track.number("sort_index", f64::from(process)));
        }
        if track.id == next {
            track.metadata("thread_name", now, |track| track.text("name", name));
            track.metadata("thread_sort_index", now, |track| track.number("sort_index", f64::from(next)));
        }
        // Before another track of the process writes anything.
        track.flush();
        track
    }

    /// Gives the file its name. What tracks that still exist write later is lost.
    ///
    /// # Errors
    /// The first error of writing, if there was one. An existing file stays then.
    pub fn finish(&self) -> io::Result<()> {
        let Some(output) = &self.output else { return Ok(()) };
        let mut trace = output.file.lock();
        let file = trace.file.take();
        trace.error.take().map_or(Ok(()), Err)?;
        file.map_or(Ok(()), PendingFile::finish)
    }

    /// Removes the file. An existing one of its name stays.
    pub fn discard(&self) {
        if let Some(output) = &self.output {
            output.file.lock().file = None;
        }
    }
}

impl TraceFile {
    /// Overwrites the closing brackets with events and new brackets, in one write.
    fn append(&mut self, events: &str) {
        let (None, Some(file)) = (&self.error, &mut self.file) else { return };
        let written =
            file.seek(SeekFrom::Start(self.end)).and_then(|_| file.write_all([events, CLOSING].concat().as_bytes()));
        match written {
            Ok(()) => self.end += events.len() as u64,
            Err(error) => self.error = Some(error),
        }
    }
}

/// A row of a trace. Slices in a row are nested by their times.
#[derive(Debug)]
pub struct Track {
    output: Option<Arc<OpenTrace>>,
    process: u32,
    id: u32,
    /// Buffered events, each preceded by a comma and a line end.
    buffer: String,
    /// The time of the oldest event in the buffer.
    oldest: Option<Instant>,
}

impl Track {
    /// Adds something that took time: a region, a stage, a file.
    pub fn slice(&mut self, name: &str, start: Instant, end: Instant, args: &[(&str, f64)]) {
        let duration = end.saturating_duration_since(start);
        self.event('X', name, start, |track| {
            track.number("dur", micros(duration));
            track.numbers(args);
        });
        self.flush_when_due(end);
    }

    /// Adds something that happened at one moment: a device was lost, a batch was repeated.
    pub fn mark(&mut self, name: &str, at: Instant, args: &[(&str, f64)]) {
        self.event('i', name, at, |track| {
            track.text("s", "t");
            track.numbers(args);
        });
        self.flush_when_due(at);
    }

    /// Adds values that change with time, which are shown as a stacked graph.
    pub fn counter(&mut self, name: &str, at: Instant, values: &[(&str, f64)]) {
        self.event('C', name, at, |track| track.numbers(values));
        self.flush_when_due(at);
    }

    /// Writes the buffered events.
    pub fn flush(&mut self) {
        if let (Some(output), false) = (&self.output, self.buffer.is_empty()) {
            output.file.lock().append(&self.buffer);
            self.buffer.clear();
            self.oldest = None;
        }
    }

    fn flush_when_due(&mut self, now: Instant) {
        let is_old = self.oldest.is_some_and(|oldest| now.saturating_duration_since(oldest) > BUFFER_AGE);
        if is_old || self.buffer.len() >= BUFFER_BYTES {
            self.flush();
        }
    }

    /// Appends a fact about the row or its process.
    fn metadata(&mut self, name: &str, now: Instant, args: impl FnOnce(&mut Self)) {
        self.event('M', name, now, |track| track.args(args));
    }

    /// Appends an event. `rest` adds fields to it.
    fn event(&mut self, phase: char, name: &str, at: Instant, rest: impl FnOnce(&mut Self)) {
        let Some(output) = &self.output else { return };
        let since = at.saturating_duration_since(output.origin);
        self.oldest.get_or_insert(at);
        let start = format_args!(",\n{{\"ph\":\"{phase}\",\"pid\":{},\"tid\":{}", self.process, self.id).to_string();
        self.buffer.push_str(&start);
        self.number("ts", micros(since));
        self.text("name", name);
        rest(self);
        self.buffer.push('}');
    }

    /// Adds the field `args` with the fields that `rest` adds.
    fn args(&mut self, rest: impl FnOnce(&mut Self)) {
        self.buffer.push_str(",\"args\":{");
        rest(self);
        self.buffer.push('}');
    }

    fn numbers(&mut self, values: &[(&str, f64)]) {
        if !values.is_empty() {
            self.args(|track| values.iter().for_each(|(name, value)| track.number(name, *value)));
        }
    }

    fn key(&mut self, name: &str) {
        if !self.buffer.ends_with('{') {
            self.buffer.push(',');
        }
        push_json_string(&mut self.buffer, name);
        self.buffer.push(':');
    }

    fn text(&mut self, name: &str, value: &str) {
        self.key(name);
        push_json_string(&mut self.buffer, value);
    }

    /// Adds a number. JSON has no infinities, so a number that is not finite becomes 0.
    fn number(&mut self, name: &str, value: f64) {
        self.key(name);
        let value = if value.is_finite() { value } else { 0.0 };
        // Writing to a String cannot fail.
        let _ = write!(self.buffer, "{value}");
    }
}

impl Drop for Track {
    fn drop(&mut self) {
        self.flush();
    }
}

fn push_json_string(buffer: &mut String, text: &str) {
    buffer.push_str(&serde_json::Value::from(text).to_string());
}

/// Microseconds with three decimals, the unit of trace events.
fn micros(time: Duration) -> f64 {
    (time.as_nanos() as f64) / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn events(path: &Path) -> Vec<Value> {
        let text = std::fs::read_to_string(path).expect("the trace is there");
        let value: Value = serde_json::from_str(&text).expect("valid JSON");
        value["traceEvents"].as_array().expect("a list").clone()
    }

    #[test]
    fn slices_marks_and_counters_are_trace_events() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("trace.json");
        let trace = Trace::create(&path).expect("writable");
        let origin = trace.output.as_ref().expect("on").origin;
        let at = |us: u64| origin + Duration::from_micros(us);
        let mut track = trace.track("device 0: \"llvmpipe\"\n");
        track.slice("region", at(10), at(30), &[("x0", 0.0), ("pixels", 1024.0), ("bad", f64::NAN)]);
        track.mark("overflow", at(12), &[]);
        track.counter("memory", at(20), &[("bytes", 1.5e9)]);
        drop(track);
        trace.finish().expect("no error");
        let events = events(&path);
        assert_eq!(events[1]["args"]["name"], "device 0: \"llvmpipe\"\n");
        let slice = json!({"ph": "X", "pid": 1, "tid": 1, "ts": 10, "name": "region", "dur": 20,
                           "args": {"x0": 0, "pixels": 1024, "bad": 0}});
        assert_eq!(events[3], slice);
        assert_eq!(events[4], json!({"ph": "i", "pid": 1, "tid": 1, "ts": 12, "name": "overflow", "s": "t"}));
        assert_eq!(events[5]["args"]["bytes"], 1_500_000_000);
    }

    #[test]
    fn a_trace_is_valid_at_any_moment() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let trace = Trace::create(&directory.path().join("trace.json")).expect("writable");
        let mut entries = std::fs::read_dir(directory.path()).expect("readable");
        let path = entries.next().expect("a hidden file").expect("readable").path();
        assert_eq!(events(&path).len(), 1);
        let mut track = trace.track("host");
        track.flush();
        assert_eq!(events(&path).len(), 3);
        let now = Instant::now();
        track.slice("parse", now, now + Duration::from_secs(5), &[]);
        assert_eq!(events(&path).len(), 4, "an old event is written at once");
    }

    #[test]
    fn many_threads_write_one_file() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("trace.json");
        let trace = Trace::create(&path).expect("writable");
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let mut track = trace.track(&format!("device {thread}"));
                scope.spawn(move || {
                    for _ in 0..3000 {
                        let now = Instant::now();
                        track.slice("dice", now, Instant::now(), &[("thread", f64::from(thread))]);
                    }
                });
            }
        });
        trace.finish().expect("no error");
        let events = events(&path);
        assert_eq!(events.len(), 1 + 4 * 3002);
        let of = |thread: i32| events.iter().filter(|e| e["ph"] == "X" && e["args"]["thread"] == thread).count();
        assert_eq!([0, 1, 2, 3].map(of), [3000; 4]);
    }

    #[test]
    fn a_trace_replaces_an_older_file_when_it_is_finished() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("trace.json");
        std::fs::write(&path, "old").expect("writable");
        let trace = Trace::create(&path).expect("writable");
        trace.track("host").flush();
        trace.discard();
        trace.finish().expect("nothing to do");
        assert_eq!(std::fs::read_to_string(&path).expect("there"), "old");
        let full = Trace::create(&path).expect("writable");
        full.output.as_ref().expect("a file").file.lock().error = Some(io::ErrorKind::StorageFull.into());
        assert_eq!(full.finish().map_err(|error| error.kind()), Err(io::ErrorKind::StorageFull));
        assert_eq!(std::fs::read_to_string(&path).expect("there"), "old");
        Trace::create(&path).expect("writable").finish().expect("writable");
        assert_eq!(events(&path).len(), 1);
        assert_eq!(std::fs::read_dir(directory.path()).expect("readable").count(), 1);
    }

    #[test]
    fn no_trace_costs_nothing() {
        let mut track = Trace::off().track("host");
        track.slice("parse", Instant::now(), Instant::now(), &[("x", 1.0)]);
        assert!(track.buffer.is_empty());
        Trace::off().finish().expect("nothing to fail");
        assert!(Trace::create(Path::new("/no/such/directory/trace.json")).is_err());
    }
}
