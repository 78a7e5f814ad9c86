//! Ends a program with all that it has started, in whatever process group or session that runs.
//!
//! What loses its parent becomes a child of this process, which is their "subreaper", instead of the system's first one,
//! so that it is found again: by a variable in its environment, or, where it has removed that, by its group or session, which are
//! not this process's.

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, WaitOptions, getpid, getsid, kill_process, set_child_subreaper, waitpid};
use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// The variable by which a program and what it starts are known.
const VARIABLE: &str = "ANTHILL_PROGRAM";

/// How often what is left is looked for: what is ended may start something before it ends.
const ROUNDS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(2);

/// Programs that run, or whose end was not waited for.
static RUNNING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// What a program and its descendants are known by.
#[derive(Debug)]
pub(super) struct ProgramMark {
    variable: String,
    program: Option<Pid>,
}

impl ProgramMark {
    /// Marks a program that is about to be started.
    pub(super) fn on(command: &mut Command) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let value = format!("{}-{}", getpid(), NUMBER.fetch_add(1, Ordering::Relaxed));
        command.env(VARIABLE, &value);
        // Kernels before 3.4 cannot: then what leaves the process group stays.
        let _ = set_child_subreaper(Some(getpid()));
        Self { variable: format!("{VARIABLE}={value}"), program: None }
    }

    /// Notes the process of the program.
    pub(super) fn started(&mut self, id: u32) {
        self.program = Pid::from_raw(id.cast_signed());
        RUNNING.lock().extend(self.program);
    }

    /// Ends all that the program has started, and the program itself unless it `has_ended`.
    pub(super) fn kill_all(&self, has_ended: bool) {
        let mut killed: Vec<Pid> = Vec::new();
        for _ in 0..ROUNDS {
            let all = processes();
            let alive: Vec<Pid> = self.descendants(&all, has_ended).into_iter().map(|one| one.id).collect();
            // Of what was adopted nobody else takes the status.
            let adopted = killed.iter().filter(|id| Some(**id) != self.program);
            for id in adopted {
                let _ = waitpid(Some(*id), WaitOptions::NOHANG);
            }
            if alive.is_empty() {
                return;
            }
            // They may just have ended by themselves.
            for id in &alive {
                let _ = kill_process(*id, Signal::KILL);
            }
            killed.extend(alive);
            thread::sleep(PAUSE);
        }
    }

    /// Returns the program and what it has started, as far as these run.
    fn descendants<'a>(&self, all: &'a [Process], has_ended: bool) -> Vec<&'a Process> {
        let program = self.program.filter(|_| !has_ended);
        let is_first = |one: &&Process| Some(one.id) == program || self.is_orphan(one);
        let mut found: Vec<&Process> = all.iter().filter(is_first).collect();
        let mut next = 0;
        while let Some(parent) = found.get(next).map(|one| one.id) {
            found.extend(all.iter().filter(|one| one.parent == parent));
            next += 1;
        }
        found.retain(|one| !one.is_zombie);
        found
    }

    /// Whether a process was adopted after what this program had started ended.
    fn is_orphan(&self, one: &Process) -> bool {
        if one.parent != getpid() || RUNNING.lock().contains(&one.id) {
            return false;
        }
        match one.mark() {
            Some(mark) => mark == self.variable,
            None => Some(one.group) == self.program || getsid(None).is_ok_and(|own| own != one.session),
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
struct Process {
    id: Pid,
    parent: Pid,
    group: Pid,
    session: Pid,
    /// Whether it has ended, and its parent does not know yet.
    is_zombie: bool,
}

impl Process {
    /// Reads a line of /proc/ID/stat: ID (name) state parent group session ...
    fn of_line(line: &str) -> Option<Self> {
        let (before, after) = line.rsplit_once(')')?;
        let mut words = after.split_ascii_whitespace();
        let is_zombie = matches!(words.next()?, "Z" | "X");
        let id = |text: &str| Pid::from_raw(text.parse().ok()?);
        let (parent, group, session) = (id(words.next()?)?, id(words.next()?)?, id(words.next()?)?);
        Some(Self { id: id(before.split(' ').next()?)?, parent, group, session, is_zombie })
    }

    /// Returns the variable that marks it, if it has one.
    fn mark(&self) -> Option<String> {
        let bytes = fs::read(format!("/proc/{}/environ", self.id)).ok()?;
        let begin = format!("{VARIABLE}=");
        let mut variables = bytes.split(|byte| *byte == 0);
        let found = variables.find(|variable| variable.starts_with(begin.as_bytes()))?;
        Some(String::from_utf8_lossy(found).into_owned())
    }
}

/// Returns all processes that have a parent.
fn processes() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let read = |entry: fs::DirEntry| {
        entry.file_name().to_str()?.parse::<u32>().ok()?;
        Process::of_line(&fs::read_to_string(entry.path().join("stat")).ok()?)
    };
    entries.filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let id = |number| Pid::from_raw(number).expect("not 0");
        let [id, parent, group, session] = [id(12), id(7), id(8), id(9)];
        let line = "12 (a) Z (b) S 7 8 9 0 -1 4194304";
        assert_eq!(Process::of_line(line), Some(Process { id, parent, group, session, is_zombie: false }));
        let line = "12 (sh) Z 7 8 9 0";
        assert_eq!(Process::of_line(line), Some(Process { id, parent, group, session, is_zombie: true }));
        assert_eq!(Process::of_line("12 (kthreadd) S 0 0 0 0"), None);
        assert_eq!(Process::of_line(""), None);
    }
}
