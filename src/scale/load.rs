//! How busy the machine is with other programs while runs are measured.

use serde::Serialize;

/// The processor's time up to a moment, by what spent it.
#[derive(Clone, Copy, Debug)]
pub(super) struct CpuTimes {
    /// Time in which a core was idle, of all cores.
    idle: u64,
    /// Time in which a core was busy, of all cores.
    busy: u64,
    /// The part of it that ended children of this program took.
    children: u64,
}

impl CpuTimes {
    /// Returns the times up to now; `None` where the system does not say.
    pub(super) fn now() -> Option<Self> {
        let system = std::fs::read_to_string("/proc/stat").ok()?;
        let own = std::fs::read_to_string("/proc/self/stat").ok()?;
        Self::parse(&system, &own)
    }

    /// Reads `/proc/stat` and `/proc/self/stat`; both count in ticks of equal length.
    fn parse(system: &str, own: &str) -> Option<Self> {
        let line = system.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> = line.split_ascii_whitespace().map_while(|word| word.parse().ok()).collect();
        // user, nice, system, idle, waiting for disks, interrupts, soft interrupts, taken by the host of this machine.
        let &[user, nice, kernel, idle, waiting, hard, soft, stolen, ..] = &ticks[..] else { return None };
        // The name of the program may contain blanks and brackets, but no field after it does.
        let (_, fields) = own.rsplit_once(')')?;
        let mut fields = fields.split_ascii_whitespace().skip(13);
        let mut children = || fields.next()?.parse::<u64>().ok();
        Some(Self {
            idle: idle + waiting,
            busy: user + nice + kernel + hard + soft + stolen,
            children: children()? + children()?,
        })
    }

    /// Returns the share of the machine's cores that other programs kept busy since `begin`, from 0 to 1; `None` if too
    /// little time has passed to know.
    pub(super) fn others_since(self, begin: Self) -> Option<f64> {
        let busy = self.busy.saturating_sub(begin.busy);
        let all = busy + self.idle.saturating_sub(begin.idle);
        // A tick is a hundredth of a second, and a few of them may be counted late.
        const TICKS_MIN: u64 = 40;
        let others = busy.saturating_sub(self.children.saturating_sub(begin.children));
        (all >= TICKS_MIN).then(|| others as f64 / all as f64)
    }
}

/// The load of the system: the mean number of threads that want a core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LoadAverage {
    /// Over the last minute.
    pub minute: f64,
    /// Over the last five minutes.
    pub five_minutes: f64,
}

impl LoadAverage {
    /// Returns the load now; `None` where the system does not say.
    pub fn now() -> Option<Self> {
        let load = sysinfo::System::load_average().ok()?;
        Some(Self { minute: load.one, five_minutes: load.five })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_programs_are_what_children_are_not() {
        let at = |user: u64, idle: u64, children: u64| {
            let system = format!("cpu  {user} 0 100 {idle} 0 0 0 0 0 0\ncpu0 1 2 3 4\n");
            let own = format!("42 (a b) c) S 1 1 1 0 -1 0 0 0 0 0 7 8 {children} 10 20 0 1 0 9");
            CpuTimes::parse(&system, &own).expect("both are as Linux writes them")
        };
        let begin = at(1000, 5000, 40);
        assert_eq!(at(1100, 5100, 90).others_since(begin), Some(0.25));
        assert_eq!(at(1100, 5100, 140).others_since(begin), Some(0.0));
        assert_eq!(at(1001, 5001, 40).others_since(begin), None, "too short");
        assert!(CpuTimes::parse("cpu  1 2 3", "1 (a) S").is_none() && CpuTimes::parse("", "").is_none());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_system_says_how_busy_it_is() {
        assert!(CpuTimes::now().is_some() && LoadAverage::now().is_some());
    }
}
