//! Failures on demand, so that tests can prove what becomes of a picture when a device fails.

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::fmt;
use std::str::FromStr;

/// How a device fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// It is lost from then on, until it is opened anew.
    Lost,
    /// The driver has no memory for the submission.
    OutOfMemory,
    /// The queue stands still from then on, until the device is opened anew.
    Hang,
    /// It does not open.
    Unopened,
}

/// The kinds by name.
const KINDS: [(&str, FaultKind); 4] = [
    ("lost", FaultKind::Lost),
    ("oom", FaultKind::OutOfMemory),
    ("hang", FaultKind::Hang),
    ("unopened", FaultKind::Unopened),
];

/// A failure that is wanted: it happens once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// How.
    pub kind: FaultKind,
    /// Number among the devices that are to be opened, from 0.
    pub device: u32,
    /// The submission that fails, of those that this device made since it was first opened, from 0. Those by which opening tries the
    /// queue and compiling tries kernels do not count. Of [`FaultKind::Unopened`], which opening fails, from 0.
    pub submission: u64,
}

impl Fault {
    /// What is trigger until it happens.
    fn trigger(&self) -> FaultTrigger {
        if self.kind == FaultKind::Unopened { FaultTrigger::Opening } else { FaultTrigger::Submission }
    }
}

/// What a device does that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum FaultTrigger {
    Submission,
    Opening,
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
        let wrong =
            || format!("{text:?} is not lost, oom, hang or unopened with a device and a number, such as lost:0:3");
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

/// The failures that are wanted, and how far each device is. It outlives devices: one that is opened anew counts on.
#[derive(Debug, Default)]
pub struct Faults(Mutex<FaultProgress>);

#[derive(Debug, Default)]
struct FaultProgress {
    pending: Vec<Fault>,
    counts: FxHashMap<(u32, FaultTrigger), u64>,
}

impl Faults {
    /// Nothing has happened yet.
    pub fn new(wanted: impl IntoIterator<Item = Fault>) -> Self {
        let pending = wanted.into_iter().collect();
        Self(Mutex::new(FaultProgress { pending, counts: FxHashMap::default() }))
    }

    /// A device is about to submit: how that fails, if it shall.
    pub(super) fn next(&self, device: u32) -> Option<FaultKind> {
        self.count(device, FaultTrigger::Submission)
    }

    /// A device is about to be opened: whether that fails.
    pub(super) fn fails_to_open(&self, device: u32) -> bool {
        self.count(device, FaultTrigger::Opening).is_some()
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

    /// What has not happened, each with what its device did meanwhile.
    pub fn pending(&self) -> Vec<(Fault, String)> {
        let progress = self.0.lock();
        let reached = |fault: &Fault| {
            let count = progress.counts.get(&(fault.device, fault.trigger())).copied().unwrap_or_default();
            match fault.trigger() {
                FaultTrigger::Submission => format!("made {count} submissions"),
                FaultTrigger::Opening => format!("was opened {count} times"),
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
        for text in ["lost:0:3", "oom:12:0", "hang:1:18446744073709551615", "unopened:1:0"] {
            assert_eq!(text.parse::<Fault>().map(|fault| fault.to_string()), Ok(text.to_string()));
        }
        for text in ["", "lost", "lost:0", "lost:0:", "lost:0:1:2", "gone:0:1", "lost:-1:1", "lost:0:x", ":0:1"] {
            let error = text.parse::<Fault>().expect_err(text);
            assert!(error.starts_with(&format!("{text:?} is not lost, oom, hang or unopened")), "{error}");
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
