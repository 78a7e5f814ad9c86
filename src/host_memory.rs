//! The limit on host memory, and how much of it is in use for what.
//!
//! Code that allocates memory because of an input first charges it to a [`HostMemory`], through a [`Charge`] that frees
//! it when it is dropped. Charged are the texts of scenes and archives, geometry (as read and in the form that devices
//! take), films, lists of grids, points that shaders bake or look up, and pictures that textures are made of.
//!
//! A finished world is [lent](Charge::lend) to the renderer. While worlds are lent, what is read ahead may only use
//! [a share](HostMemory::ahead_bytes_max) of the limit, and a charge beyond it waits until they are returned. A charge
//! for what is read is refused only if nothing is left to be returned. Charges of the renderer, for lists of grids,
//! points and textures, never wait. They may use the limit without that share, or without what had been read when the
//! world that is drawn was lent, if that is more. So whether something fits does not depend on how far reading has got.

use crate::stats::human_bytes;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// The default limit is the machine's memory divided by this.
const MACHINE_PART: u64 = 2;
/// The memory assumed for a machine that does not report it.
const UNKNOWN_MACHINE_BYTES: u64 = 8 << 30;
/// Texts may use the limit divided by this, so that there is room for the scenes that they describe.
const TEXT_PART: u64 = 2;
/// Reading ahead of what is drawn may use the limit divided by this; the rest is for what is drawn.
const AHEAD_PART: u64 = 4;

/// What memory is charged for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChargeKind {
    /// Decompressed texts of scenes and archives.
    Text,
    /// Geometry, drawables, objects and their attribute states.
    Geometry,
    /// Pixels of films.
    Film,
    /// Lists of the grids of a picture.
    Grids,
    /// Points that shaders bake or look up.
    Points,
    /// Pictures that textures are made of.
    Textures,
}

/// Every kind, in the order of its number.
const CHARGE_KINDS: [ChargeKind; 6] = [
    ChargeKind::Text,
    ChargeKind::Geometry,
    ChargeKind::Film,
    ChargeKind::Grids,
    ChargeKind::Points,
    ChargeKind::Textures,
];

impl ChargeKind {
    /// Whether the renderer charges it, rather than who reads scenes.
    fn is_of_renderer(self) -> bool {
        matches!(self, Self::Grids | Self::Points | Self::Textures)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Geometry => "geometry",
            Self::Film => "film",
            Self::Grids => "grids",
            Self::Points => "points",
            Self::Textures => "pictures for textures",
        }
    }
}

/// A limit on host memory that all its charges share.
#[derive(Debug)]
pub struct HostMemory {
    limit_bytes: u64,
    state: Mutex<TakenMemory>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct TakenMemory {
    taken: [u64; CHARGE_KINDS.len()],
    /// Charges that will be returned independently of waiting threads, in the order in which they were lent.
    lent: Vec<LentCharge>,
    /// Number of charges that were lent so far.
    lent_count: u64,
    waits: bool,
}

#[derive(Debug)]
struct LentCharge {
    number: u64,
    /// What had been read when it was lent, in bytes.
    read_bytes: u64,
}

/// What becomes of a charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChargeFate {
    Fits,
    /// It may fit when lent charges are returned.
    Waits,
    Refused,
}

impl TakenMemory {
    /// Returns what the renderer has taken, or what who reads scenes has.
    fn bytes(&self, of_renderer: bool) -> u64 {
        let each = CHARGE_KINDS.into_iter().zip(self.taken);
        each.filter(|(kind, _)| kind.is_of_renderer() == of_renderer).map(|(_, bytes)| bytes).sum()
    }
}

impl HostMemory {
    /// Creates a limit of this many bytes.
    pub fn new(limit_bytes: u64) -> Arc<Self> {
        Arc::new(Self { limit_bytes, state: Mutex::default(), freed: Condvar::new() })
    }

    /// Creates the default limit: half of the machine's memory, or of its container's if that is limited.
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

    /// Returns the limit.
    pub fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    /// Returns the part of the limit that texts may use.
    pub fn text_bytes_max(&self) -> u64 {
        self.limit_bytes / TEXT_PART
    }

    /// Returns the part of the limit that everything may use that is read while worlds are drawn.
    pub fn ahead_bytes_max(&self) -> u64 {
        self.limit_bytes / AHEAD_PART
    }

    /// Whether a thread waits for lent charges to be returned.
    pub fn is_waited_for(&self) -> bool {
        self.state.lock().waits
    }

    /// Describes the memory in use for messages, as in `1.2 GiB of text, 3.4 GiB of geometry`.
    pub fn usage(&self) -> String {
        let taken = self.state.lock().taken;
        let each = CHARGE_KINDS.into_iter().zip(taken).filter(|(_, bytes)| *bytes > 0);
        let each: Vec<String> =
            each.map(|(kind, bytes)| format!("{} of {}", human_bytes(bytes), kind.name())).collect();
        if each.is_empty() { "nothing".to_string() } else { each.join(", ") }
    }

    /// Charges memory. If it does not fit, waits for lent charges to be returned, except for what the renderer charges.
    fn take(&self, kind: ChargeKind, bytes: u64) -> bool {
        let mut state = self.state.lock();
        let fits = self.wait_for(&mut state, kind, bytes);
        if fits {
            state.taken[kind as usize] += bytes;
        }
        fits
    }

    /// Waits as long as it may help, and says whether there is room.
    fn wait_for(&self, state: &mut MutexGuard<'_, TakenMemory>, kind: ChargeKind, bytes: u64) -> bool {
        loop {
            match self.fate(state, kind, bytes) {
                ChargeFate::Fits => return true,
                ChargeFate::Refused => return false,
                ChargeFate::Waits => {
                    state.waits = true;
                    self.freed.wait(state);
                }
            }
        }
    }

    fn fate(&self, state: &TakenMemory, kind: ChargeKind, bytes: u64) -> ChargeFate {
        let (read, drawn) = (state.bytes(false), state.bytes(true));
        if kind.is_of_renderer() {
            // The renderer would wait for the world that it is drawing, which is the first that was lent.
            let kept = state.lent.first().map_or(read, |lent| lent.read_bytes.max(self.ahead_bytes_max()));
            let fits = kept.saturating_add(drawn).saturating_add(bytes) <= self.limit_bytes;
            return if fits { ChargeFate::Fits } else { ChargeFate::Refused };
        }
        let text_fits =
            kind != ChargeKind::Text || state.taken[kind as usize].saturating_add(bytes) <= self.text_bytes_max();
        let read = read.saturating_add(bytes);
        let limit_fits = read.saturating_add(drawn) <= self.limit_bytes;
        let ahead_fits = state.lent.is_empty() || read <= self.ahead_bytes_max();
        match text_fits && limit_fits && ahead_fits {
            true => ChargeFate::Fits,
            // Texts are never lent, so that waiting does not make room for one.
            false if state.lent.is_empty() || !text_fits => ChargeFate::Refused,
            false => ChargeFate::Waits,
        }
    }

    /// Notes that a charge is lent, and returns its number.
    fn lend(&self) -> u64 {
        let mut state = self.state.lock();
        // If much has been read already, earlier ones are returned first: what is left for this one does not depend on
        // when that is.
        let _ = self.wait_for(&mut state, ChargeKind::Geometry, 0);
        let (number, read_bytes) = (state.lent_count, state.bytes(false));
        state.lent_count += 1;
        state.lent.push(LentCharge { number, read_bytes });
        number
    }
}

/// Memory in use; dropping the charge frees it.
#[derive(Debug)]
pub struct Charge {
    memory: Arc<HostMemory>,
    taken: [AtomicU64; CHARGE_KINDS.len()],
    /// Its number, once it is lent.
    lent: OnceLock<u64>,
    refused: OnceLock<ChargeKind>,
    /// A charge that this one depends on, which is freed later.
    _outer: Option<Arc<Charge>>,
}

impl Charge {
    /// Creates an empty charge.
    pub fn new(memory: &Arc<HostMemory>) -> Self {
        Self::on(memory, None)
    }

    fn on(memory: &Arc<HostMemory>, outer: Option<Arc<Self>>) -> Self {
        Self {
            memory: Arc::clone(memory),
            taken: Default::default(),
            lent: OnceLock::new(),
            refused: OnceLock::new(),
            _outer: outer,
        }
    }

    /// Creates an empty charge for something that uses, and keeps alive, what `outer` was charged for.
    pub fn inside(outer: &Arc<Self>) -> Self {
        Self::on(&outer.memory, Some(Arc::clone(outer)))
    }

    /// Returns the host memory that is charged.
    pub fn memory(&self) -> &Arc<HostMemory> {
        &self.memory
    }

    /// Charges memory; waits if it does not fit and lent charges may be returned. Returns false, with nothing charged,
    /// if it does not fit.
    ///
    /// After the first failure nothing more is charged, however small, so that everything that follows is left out.
    #[must_use]
    pub fn take(&self, kind: ChargeKind, bytes: u64) -> bool {
        if self.refused().is_some() {
            return false;
        }
        let fits = self.try_take(kind, bytes);
        if !fits {
            self.refused.get_or_init(|| kind);
        }
        fits
    }

    /// Charges memory like [`Self::take`], but after a failure a smaller amount may be tried.
    #[must_use]
    pub fn try_take(&self, kind: ChargeKind, bytes: u64) -> bool {
        let fits = self.memory.take(kind, bytes);
        if fits {
            self.taken[kind as usize].fetch_add(bytes, Relaxed);
        }
        fits
    }

    /// Returns the kind of the first charge that did not fit; nothing more is charged after it.
    pub fn refused(&self) -> Option<ChargeKind> {
        self.refused.get().copied()
    }

    /// Marks the charge as lent: it will be returned independently of the code that made it, and before those that are
    /// lent later. Waits for earlier ones if more than [the share](HostMemory::ahead_bytes_max) has been read.
    pub fn lend(&self) {
        self.lent.get_or_init(|| self.memory.lend());
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        let mut state = self.memory.state.lock();
        for (all, own) in state.taken.iter_mut().zip(&mut self.taken) {
            *all -= *own.get_mut();
        }
        if let Some(number) = self.lent.get() {
            state.lent.retain(|lent| lent.number != *number);
        }
        // Who waits looks again.
        state.waits = false;
        drop(state);
        self.memory.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn charges_that_do_not_fit_are_refused_and_dropped_ones_are_freed() {
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
    fn texts_leave_room_for_geometry() {
        let memory = HostMemory::new(100);
        let charge = Charge::new(&memory);
        assert!(
            charge.take(ChargeKind::Text, 50)
                && !charge.try_take(ChargeKind::Text, 1)
                && charge.take(ChargeKind::Geometry, 50)
        );
    }

    #[test]
    fn charges_wait_for_lent_ones() {
        let memory = HostMemory::new(100);
        let lent = Charge::new(&memory);
        assert!(lent.take(ChargeKind::Geometry, 60));
        lent.lend();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| Charge::new(&memory).take(ChargeKind::Geometry, 50));
            await_waiting(&memory);
            assert!(!waiting.is_finished());
            drop(lent);
            assert!(waiting.join().expect("it ends"));
        });
        assert!(!memory.is_waited_for());
        // A charge that can never fit is refused when everything was returned.
        assert!(!Charge::new(&memory).take(ChargeKind::Geometry, 101));
    }

    /// Waits until a thread waits for lent charges.
    fn await_waiting(memory: &HostMemory) {
        while !memory.is_waited_for() {
            thread::yield_now();
        }
    }

    #[test]
    fn what_the_renderer_may_use_does_not_depend_on_how_far_reading_has_got() {
        let memory = HostMemory::new(100);
        let textures_fit = |bytes| Charge::new(&memory).take(ChargeKind::Textures, bytes);
        let [first, ahead] = [10, 15].map(|bytes| (Charge::new(&memory), bytes));
        assert!(first.0.take(ChargeKind::Geometry, first.1));
        first.0.lend();
        assert!(textures_fit(75) && !textures_fit(76));
        assert!(ahead.0.take(ChargeKind::Geometry, ahead.1));
        assert!(textures_fit(75) && !textures_fit(76));
        ahead.0.lend();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| Charge::new(&memory).take(ChargeKind::Geometry, 85));
            await_waiting(&memory);
            assert!(textures_fit(75) && !textures_fit(76));
            drop(first);
            assert!(textures_fit(75) && !textures_fit(76));
            drop(ahead);
            // Nothing is drawn.
            assert!(waiting.join().expect("it ends"));
        });
    }

    #[test]
    fn what_is_left_for_a_large_world_stays() {
        let memory = HostMemory::new(100);
        let points_fit = |bytes| Charge::new(&memory).take(ChargeKind::Points, bytes);
        let [world, text] = [(); 2].map(|()| Charge::new(&memory));
        assert!(text.take(ChargeKind::Text, 20) && world.take(ChargeKind::Geometry, 40));
        world.lend();
        assert!(points_fit(40) && !points_fit(41));
        drop(text);
        assert!(points_fit(40) && !points_fit(41), "when its text is read to the end does not matter");
        // Neither does it matter whether something is lent before the world is drawn.
        thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let texture = Charge::new(&memory);
                texture.lend();
                texture
            });
            await_waiting(&memory);
            drop(world);
            let texture = waiting.join().expect("it ends");
            assert!(points_fit(75) && !points_fit(76));
            drop(texture);
            assert!(points_fit(100), "nothing is read ahead");
        });
    }

    #[test]
    fn an_inner_charge_keeps_its_outer_one() {
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
