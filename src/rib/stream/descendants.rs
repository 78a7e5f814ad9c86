//! Ends a program with all that it has started, in whatever process group or session that runs.
//!
//! What loses its parent becomes a child of this process, which is their "subreaper", instead of the system's first
//! one, so that it is found again: by a variable in its environment; where it has removed that, by the program's
//! process group or by the program's pipes, which it holds open; or because it was seen below the program before.
//! Others may have children that this process adopts, too: what is known by none of these is left alone.
//!
//! Of what ends after it was adopted, this process takes the status, as nobody else does.

use parking_lot::Mutex;
use rustc_hash::FxHashSet;
use rustix::fs::fstat;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid};
use std::fs;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The variable by which a program and what it starts are known.
const VARIABLE: &str = "ANTHILL_PROGRAM";

/// How often what is left is looked for: what is ended may start something before it ends.
const ROUNDS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(2);

/// Programs that run, or whose end was not waited for.
static RUNNING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// How often a program that runs is looked at for what has ended of it.
const REAP_PAUSE: Duration = Duration::from_secs(1);

/// What a program and its descendants are known by.
#[derive(Debug)]
pub(super) struct ProgramMark {
    variable: String,
    program: Option<Pid>,
    /// The pipes to it, as the system names them.
    pipes: Vec<String>,
    /// What was found at the last look.
    seen: FxHashSet<Pid>,
    looked: Instant,
}

impl ProgramMark {
    /// Marks a program that is about to be started.
    pub(super) fn on(command: &mut Command) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let value = format!("{}-{}", getpid(), NUMBER.fetch_add(1, Ordering::Relaxed));
        command.env(VARIABLE, &value);
        // Kernels before 3.4 cannot: then what leaves the process group stays.
        let _ = set_child_subreaper(Some(getpid()));
        let variable = format!("{VARIABLE}={value}");
        Self { variable, program: None, pipes: Vec::new(), seen: FxHashSet::default(), looked: Instant::now() }
    }

    /// Notes the process of the program, and the pipes to it.
    pub(super) fn started(&mut self, child: &Child) {
        self.program = Pid::from_raw(child.id().cast_signed());
        RUNNING.lock().extend(self.program);
        let (input, output, errors) = (child.stdin.as_ref(), child.stdout.as_ref(), child.stderr.as_ref());
        let ends = [input.map(AsFd::as_fd), output.map(AsFd::as_fd), errors.map(AsFd::as_fd)];
        let names = ends.into_iter().flatten().filter_map(|end| Some(format!("pipe:[{}]", fstat(end).ok()?.st_ino)));
        self.pipes = names.collect();
    }

    /// Takes the status of what has ended of what a program has started that runs, about once a second.
    pub(super) fn reap(&mut self) {
        if self.looked.elapsed() >= REAP_PAUSE {
            self.look(false);
            self.looked = Instant::now();
        }
    }

    /// Ends all that the program has started, and the program itself unless it `has_ended`.
    pub(super) fn kill_all(&mut self, has_ended: bool) {
        for _ in 0..ROUNDS {
            let alive = self.look(has_ended);
            if alive.is_empty() {
                return;
            }
            // They may just have ended by themselves.
            for id in alive {
                let _ = kill_process(id, Signal::KILL);
            }
            thread::sleep(PAUSE);
        }
    }

    /// Returns the program, unless it `has_ended`, and what it has started, as far as these run. Takes the status of
    /// what has ended after it was adopted.
    fn look(&mut self, has_ended: bool) -> Vec<Pid> {
        let all = processes();
        let found = self.descendants(&all, has_ended);
        let seen = found.iter().map(|one| one.id).collect();
        let (ended, alive): (Vec<&SystemProcess>, Vec<&SystemProcess>) =
            found.into_iter().partition(|one| one.is_zombie);
        // Who has started the program waits for that.
        let adopted = ended.iter().filter(|one| one.parent == getpid() && Some(one.id) != self.program);
        for one in adopted {
            let _ = waitpid(Some(one.id), WaitOptions::NOHANG);
        }
        self.seen = seen;
        alive.into_iter().map(|one| one.id).collect()
    }

    /// Returns the program, unless it `has_ended`, and what it has started.
    fn descendants<'a>(&self, all: &'a [SystemProcess], has_ended: bool) -> Vec<&'a SystemProcess> {
        let program = self.program.filter(|_| !has_ended);
        let is_first = |one: &&SystemProcess| Some(one.id) == program || self.is_orphan(one);
        let mut found: Vec<&SystemProcess> = all.iter().filter(is_first).collect();
        let mut next = 0;
        while let Some(parent) = found.get(next).map(|one| one.id) {
            found.extend(all.iter().filter(|one| one.parent == parent));
            next += 1;
        }
        found
    }

    /// Whether a process was adopted after what this program had started ended.
    fn is_orphan(&self, one: &SystemProcess) -> bool {
        if one.parent != getpid() || RUNNING.lock().contains(&one.id) {
            return false;
        }
        match one.mark() {
            Some(mark) => mark == self.variable,
            None => Some(one.group) == self.program || self.seen.contains(&one.id) || one.holds(&self.pipes),
        }
    }
}

impl Drop for ProgramMark {
    fn drop(&mut self) {
        RUNNING.lock().retain(|program| Some(*program) != self.program);
    }
}

/// What the system says of a process.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SystemProcess {
    id: Pid,
    parent: Pid,
    group: Pid,
    /// Whether it has ended, and its parent does not know yet.
    is_zombie: bool,
}

impl SystemProcess {
    /// Reads a line of /proc/ID/stat: ID (name) state parent group ...
    fn of_line(line: &str) -> Option<Self> {
        let (before, after) = line.rsplit_once(')')?;
        let mut words = after.split_ascii_whitespace();
        let is_zombie = matches!(words.next()?, "Z" | "X");
        let id = |text: &str| Pid::from_raw(text.parse().ok()?);
        let (parent, group) = (id(words.next()?)?, id(words.next()?)?);
        Some(Self { id: id(before.split(' ').next()?)?, parent, group, is_zombie })
    }

    /// Returns the variable that marks it, if it has one.
    fn mark(&self) -> Option<String> {
        let bytes = fs::read(format!("/proc/{}/environ", self.id)).ok()?;
        let begin = format!("{VARIABLE}=");
        let mut variables = bytes.split(|byte| *byte == 0);
        let found = variables.find(|variable| variable.starts_with(begin.as_bytes()))?;
        Some(String::from_utf8_lossy(found).into_owned())
    }

    /// Whether it has one of these pipes open.
    fn holds(&self, pipes: &[String]) -> bool {
        let open = fs::read_dir(format!("/proc/{}/fd", self.id)).into_iter().flatten().filter_map(Result::ok);
        let mut names = open.filter_map(|entry| fs::read_link(entry.path()).ok());
        names.any(|name| pipes.iter().any(|pipe| name == Path::new(pipe)))
    }
}

/// Returns all processes that have a parent.
fn processes() -> Vec<SystemProcess> {
    let entries = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let read = |entry: fs::DirEntry| {
        entry.file_name().to_str()?.parse::<u32>().ok()?;
        SystemProcess::of_line(&fs::read_to_string(entry.path().join("stat")).ok()?)
    };
    entries.filter_map(read).collect()
}

/// Returns how many processes of a group have ended without anybody knowing yet.
#[cfg(test)]
pub(super) fn zombie_count(group: u32) -> usize {
    let group = Pid::from_raw(group.cast_signed());
    processes().iter().filter(|one| one.is_zombie && Some(one.group) == group).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let id = |number| Pid::from_raw(number).expect("not 0");
        let [id, parent, group] = [id(12), id(7), id(8)];
        let line = "12 (a) Z (b) S 7 8 9 0 -1 4194304";
        assert_eq!(SystemProcess::of_line(line), Some(SystemProcess { id, parent, group, is_zombie: false }));
        let line = "12 (sh) Z 7 8 9 0";
        assert_eq!(SystemProcess::of_line(line), Some(SystemProcess { id, parent, group, is_zombie: true }));
        assert_eq!(SystemProcess::of_line("12 (kthreadd) S 0 0 0 0"), None);
        assert_eq!(SystemProcess::of_line(""), None);
    }
}
