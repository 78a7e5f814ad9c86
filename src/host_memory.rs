//! The bound of host memory, and who has taken how much of it.
//!
//! Whoever fills memory at the wish of an input takes it from a [`HostMemory`] first, through a [`Charge`] that gives it back when it is
//! dropped. Counted are the texts of scenes and archives, geometry (as read and in the form that devices take), films, and lists of
//! grids.
//!
//! A finished world is [lent](Charge::lend) to whoever draws it. While worlds are lent, taking too much waits until they come back: reading
//! ahead never makes the bound fail, and whether something fits depends on no timing. Only with nothing left to come back it is refused.
//! For lists of grids nobody waits: what is free at the moment decides whether they are in memory or in a file.

use crate::stats::human_bytes;
use parking_lot::{Condvar, Mutex};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// The default bound, as part of the machine's memory: 1 / this.
const MACHINE_PART: u64 = 2;
/// Memory of a machine that does not say how much it has.
const UNKNOWN_MACHINE_BYTES: u64 = 8 << 30;
/// Texts may take this part of the bound, so that there is room for what they say: 1 / this.
const TEXT_PART: u64 = 2;

/// What memory is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChargeKind {
    /// Texts of scenes and archives, unpacked.
    Text,
    /// Geometry, drawables, objects and their attribute states.
    Geometry,
    /// Pixels.
    Film,
    /// Lists of a picture's grids.
    Grids,
}

/// Every taker, in order of its number.
const CHARGE_KINDS: [ChargeKind; 4] = [ChargeKind::Text, ChargeKind::Geometry, ChargeKind::Film, ChargeKind::Grids];

impl ChargeKind {
    fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Geometry => "geometry",
            Self::Film => "film",
            Self::Grids => "grids",
        }
    }
}

/// A bound that all charges on it share.
#[derive(Debug)]
pub struct HostMemory {
    limit_bytes: u64,
    state: Mutex<TakenMemory>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct TakenMemory {
    taken: [u64; CHARGE_KINDS.len()],
    /// Charges that will come back without whoever waits.
    lent: u64,
    waits: bool,
}

impl HostMemory {
    /// A bound of so many bytes.
    pub fn new(limit_bytes: u64) -> Arc<Self> {
        Arc::new(Self { limit_bytes, state: Mutex::default(), freed: Condvar::new() })
    }

    /// The default: half of the machine's memory, or of its container's where that has a limit.
    pub fn of_machine() -> Arc<Self> {
        let system = sysinfo::System::new().map(|mut system| {
            system.refresh_memory();
            system
        });
        let container = |system: &sysinfo::System| system.cgroup_limits().map(|limits| limits.total_memory);
        let known = system.iter().flat_map(|system| [Some(system.total_memory()), container(system)]);
        let bytes = known.flatten().filter(|&bytes| bytes > 0).min().unwrap_or(UNKNOWN_MACHINE_BYTES);
        Self::new(bytes / MACHINE_PART)
    }

    /// The bound.
    pub fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    /// What texts may take of it.
    pub fn text_bytes_max(&self) -> u64 {
        self.limit_bytes / TEXT_PART
    }

    /// Whether somebody waits for lent charges to come back.
    pub fn is_waited_for(&self) -> bool {
        self.state.lock().waits
    }

    /// For messages: what is taken now by whom, as in `1.2 GiB of text, 3.4 GiB of geometry`.
    pub fn usage(&self) -> String {
        let taken = self.state.lock().taken;
        let each = CHARGE_KINDS.into_iter().zip(taken).filter(|(_, bytes)| *bytes > 0);
        let each: Vec<String> =
            each.map(|(taker, bytes)| format!("{} of {}", human_bytes(bytes), taker.name())).collect();
        if each.is_empty() { "nothing".to_string() } else { each.join(", ") }
    }

    /// Takes memory, waiting for charges that are lent where it does not fit; for grids nobody waits.
    fn take(&self, taker: ChargeKind, bytes: u64) -> bool {
        let mut state = self.state.lock();
        loop {
            let taken = state.taken.iter().sum::<u64>().saturating_add(bytes);
            let text_fits =
                taker != ChargeKind::Text || state.taken[taker as usize].saturating_add(bytes) <= self.text_bytes_max();
            if taken <= self.limit_bytes && text_fits {
                state.taken[taker as usize] += bytes;
                return true;
            }
            // Texts are never lent: waiting does not make room for one. And who draws would wait for what is drawn.
            if state.lent == 0 || !text_fits || taker == ChargeKind::Grids {
                return false;
            }
            state.waits = true;
            self.freed.wait(&mut state);
            state.waits = false;
        }
    }
}

/// Memory that somebody has taken; it goes back when the charge is dropped.
#[derive(Debug)]
pub struct Charge {
    memory: Arc<HostMemory>,
    taken: [AtomicU64; CHARGE_KINDS.len()],
    lent: AtomicBool,
    refused: OnceLock<ChargeKind>,
    /// What this one stands on: it goes back later than this one.
    _outer: Option<Arc<Charge>>,
}

impl Charge {
    /// Nothing taken yet.
    pub fn new(memory: &Arc<HostMemory>) -> Self {
        Self::on(memory, None)
    }

    fn on(memory: &Arc<HostMemory>, outer: Option<Arc<Self>>) -> Self {
        Self {
            memory: Arc::clone(memory),
            taken: Default::default(),
            lent: AtomicBool::new(false),
            refused: OnceLock::new(),
            _outer: outer,
        }
    }

    /// Nothing taken yet, for what uses things that `outer` was charged for, and keeps them.
    pub fn inside(outer: &Arc<Self>) -> Self {
        Self::on(&outer.memory, Some(Arc::clone(outer)))
    }

    /// What it is taken from.
    pub fn memory(&self) -> &Arc<HostMemory> {
        &self.memory
    }

    /// Takes memory; waits where it does not fit and lent charges may come back. False where it does not fit: nothing is taken.
    ///
    /// After it did not fit once nothing more is taken, however small: what is left out is all that follows.
    #[must_use]
    pub fn take(&self, taker: ChargeKind, bytes: u64) -> bool {
        if self.refused().is_some() {
            return false;
        }
        let fits = self.try_take(taker, bytes);
        if !fits {
            self.refused.get_or_init(|| taker);
        }
        fits
    }

    /// The same, and where it does not fit a smaller amount may be tried.
    #[must_use]
    pub fn try_take(&self, taker: ChargeKind, bytes: u64) -> bool {
        let fits = self.memory.take(taker, bytes);
        if fits {
            self.taken[taker as usize].fetch_add(bytes, Relaxed);
        }
        fits
    }

    /// For what something did not fit, the first time: nothing more is taken after that.
    pub fn refused(&self) -> Option<ChargeKind> {
        self.refused.get().copied()
    }

    /// From now on it comes back without whoever took it.
    pub fn lend(&self) {
        if !self.lent.swap(true, Relaxed) {
            self.memory.state.lock().lent += 1;
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        let mut state = self.memory.state.lock();
        for (all, own) in state.taken.iter_mut().zip(&mut self.taken) {
            *all -= *own.get_mut();
        }
        state.lent -= u64::from(*self.lent.get_mut());
        drop(state);
        self.memory.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn what_does_not_fit_is_refused_and_what_is_dropped_comes_back() {
        let memory = HostMemory::new(100);
        let charge = Charge::new(&memory);
        assert!(charge.take(ChargeKind::Geometry, 70) && charge.take(ChargeKind::Film, 30));
        assert!(!charge.try_take(ChargeKind::Geometry, u64::MAX) && charge.refused().is_none());
        assert!(!charge.take(ChargeKind::Geometry, 1) && !charge.take(ChargeKind::Geometry, 0));
        assert_eq!(charge.refused(), Some(ChargeKind::Geometry));
        assert_eq!(memory.usage(), "70 B of geometry, 30 B of film");
        drop(charge);
        assert_eq!(memory.usage(), "nothing");
        assert!(Charge::new(&memory).take(ChargeKind::Geometry, 100));
    }

    #[test]
    fn texts_leave_room_for_what_they_say() {
        let memory = HostMemory::new(100);
        let charge = Charge::new(&memory);
        assert!(
            charge.take(ChargeKind::Text, 50)
                && !charge.try_take(ChargeKind::Text, 1)
                && charge.take(ChargeKind::Geometry, 50)
        );
    }

    #[test]
    fn what_is_lent_is_waited_for() {
        let memory = HostMemory::new(100);
        let lent = Charge::new(&memory);
        assert!(lent.take(ChargeKind::Geometry, 60));
        lent.lend();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| Charge::new(&memory).take(ChargeKind::Geometry, 50));
            while !memory.is_waited_for() {
                thread::yield_now();
            }
            assert!(!waiting.is_finished());
            drop(lent);
            assert!(waiting.join().expect("it ends"));
        });
        assert!(!memory.is_waited_for());
        // What can never fit is refused when all has come back.
        assert!(!Charge::new(&memory).take(ChargeKind::Geometry, 101));
    }

    #[test]
    fn what_stands_on_a_charge_keeps_it() {
        let memory = HostMemory::new(100);
        let outer = Arc::new(Charge::new(&memory));
        assert!(outer.take(ChargeKind::Geometry, 60));
        let inner = Charge::inside(&outer);
        drop(outer);
        assert!(!inner.take(ChargeKind::Geometry, 50));
        drop(inner);
        assert!(Charge::new(&memory).take(ChargeKind::Geometry, 100));
    }

    #[test]
    fn a_machine_has_memory() {
        assert!(HostMemory::of_machine().limit_bytes() > 64 << 20);
    }
}
