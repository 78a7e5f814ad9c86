//! Fault injection, so that tests can show what happens to a picture when a device fails.

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// How a device fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The device is lost until it is opened again.
    Lost,
    /// The driver has no memory for the submission.
    OutOfMemory,
    /// The queue makes no progress until the device is opened again.
    Hang,
    /// The device does not open.
    Unopened,
    /// A kernel takes [`SLOW_COMPILE`] longer to compile.
    SlowCompile,
}

/// What a slow compiler adds to the time of a kernel.
pub(super) const SLOW_COMPILE: Duration = Duration::from_secs(4);

/// The names of the kinds.
const KINDS: [(&str, FaultKind); 5] = [
    ("lost", FaultKind::Lost),
    ("oom", FaultKind::OutOfMemory),
    ("hang", FaultKind::Hang),
    ("unopened", FaultKind::Unopened),
    ("slow", FaultKind::SlowCompile),
];

/// A fault to inject, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// How the device fails.
    pub kind: FaultKind,
    /// Number of the device among those to be opened, from 0.
    pub device: u32,
    /// Number of the submission that fails, from 0, counted since the device was first opened. Submissions that opening
    /// and compiling make, and those that copy staged data, do not count. For [`FaultKind::Unopened`], the number of
    /// the opening that fails, and for [`FaultKind::SlowCompile`] of the kernel that is compiled, from 0.
    pub submission: u64,
}

impl Fault {
    /// Returns what is counted until the fault is due.
    fn trigger(&self) -> FaultTrigger {
        match self.kind {
            FaultKind::Unopened => FaultTrigger::Opening,
            FaultKind::SlowCompile => FaultTrigger::Compiling,
            FaultKind::Lost | FaultKind::OutOfMemory | FaultKind::Hang => FaultTrigger::Submission,
        }
    }
}

/// What a device does that can be made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum FaultTrigger {
    Submission,
    Opening,
    Compiling,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = KINDS.iter().find(|(_, kind)| *kind == self.kind).map_or("", |(name, _)| name);
        write!(f, "{name}:{}:{}", self.device, self.submission)
    }
}

impl FromStr for Fault {
    type Err = String;

    /// Reads `KIND:DEVICE:SUBMISSION`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("{text:?} is not lost, oom, hang, unopened or slow with a device and a number, such as lost:0:3")
        };
        let mut parts = text.trim().split(':');
        let (Some(kind), Some(device), Some(submission), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(wrong());
        };
        let kind = KINDS.iter().find(|(name, _)| *name == kind).ok_or_else(wrong)?.1;
        let (device, submission) = (device.parse().map_err(|_| wrong())?, submission.parse().map_err(|_| wrong())?);
        Ok(Self { kind, device, submission })
    }
}

/// The faults to inject, and the counts of each device, which continue when a device is opened again.
#[derive(Debug, Default)]
pub struct Faults(Mutex<FaultProgress>);

#[derive(Debug, Default)]
struct FaultProgress {
    pending: Vec<Fault>,
    counts: FxHashMap<(u32, FaultTrigger), u64>,
}

impl Faults {
    /// Faults none of which has happened yet.
    pub fn new(wanted: impl IntoIterator<Item = Fault>) -> Self {
        let pending = wanted.into_iter().collect();
        Self(Mutex::new(FaultProgress { pending, counts: FxHashMap::default() }))
    }

    /// Counts a submission of a device, and returns the fault that is due, if any.
    pub(super) fn next(&self, device: u32) -> Option<FaultKind> {
        self.count(device, FaultTrigger::Submission)
    }

    /// Counts an opening of a device, and returns whether it should fail.
    pub(super) fn fails_to_open(&self, device: u32) -> bool {
        self.count(device, FaultTrigger::Opening).is_some()
    }

    /// Counts a kernel that a device compiles, and returns whether it should take long.
    pub(super) fn compiles_slowly(&self, device: u32) -> bool {
        self.count(device, FaultTrigger::Compiling).is_some()
    }

    fn count(&self, device: u32, what: FaultTrigger) -> Option<FaultKind> {
        let mut progress = self.0.lock();
        let count = progress.counts.entry((device, what)).or_default();
        let number = *count;
        *count += 1;
        let due = |fault: &Fault| (fault.device, fault.trigger(), fault.submission) == (device, what, number);
        let place = progress.pending.iter().position(due)?;
        Some(progress.pending.remove(place).kind)
    }

    /// Returns the faults that have not happened, each with what its device has done.
    pub fn pending(&self) -> Vec<(Fault, String)> {
        let progress = self.0.lock();
        let reached = |fault: &Fault| {
            let count = progress.counts.get(&(fault.device, fault.trigger())).copied().unwrap_or_default();
            match fault.trigger() {
                FaultTrigger::Submission => format!("made {count} submissions"),
                FaultTrigger::Opening => format!("was opened {count} times"),
                FaultTrigger::Compiling => format!("compiled {count} kernels"),
            }
        };
        progress.pending.iter().map(|fault| (*fault, reached(fault))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_and_written() {
        for text in ["lost:0:3", "oom:12:0", "hang:1:18446744073709551615", "unopened:1:0", "slow:0:7"] {
            assert_eq!(text.parse::<Fault>().map(|fault| fault.to_string()), Ok(text.to_string()));
        }
        for text in ["", "lost", "lost:0", "lost:0:", "lost:0:1:2", "gone:0:1", "lost:-1:1", "lost:0:x", ":0:1"] {
            let error = text.parse::<Fault>().expect_err(text);
            assert!(error.starts_with(&format!("{text:?} is not lost, oom, hang, unopened or slow")), "{error}");
        }
    }

    #[test]
    fn each_happens_once_at_its_submission() {
        let fault = |kind, device, submission| Fault { kind, device, submission };
        let never = fault(FaultKind::Hang, 2, 0);
        let unopened = fault(FaultKind::Unopened, 0, 1);
        let faults = Faults::new([fault(FaultKind::Lost, 0, 1), fault(FaultKind::OutOfMemory, 1, 0), unopened, never]);
        let fired: Vec<_> = [0, 0, 1, 0, 1].map(|device| faults.next(device)).into();
        assert_eq!(fired, [None, Some(FaultKind::Lost), Some(FaultKind::OutOfMemory), None, None]);
        assert_eq!(
            [0, 1].map(|device| faults.fails_to_open(device)),
            [false, false],
            "submissions count for themselves"
        );
        let left = [(unopened, "was opened 1 times".to_string()), (never, "made 0 submissions".to_string())];
        assert_eq!(faults.pending(), left);
        assert!(faults.fails_to_open(0) && !faults.fails_to_open(0));
    }
}
