//! Programs that are kept between worlds, with their kernels.
//!
//! Kernels have the numbers of strings as constants, and each world numbers its strings by itself. So a program is kept
//! with the strings that it asked for while it was made, and serves another world only if that would give them the same
//! numbers in the same order: then it has the same words as a new one, and the world's other numbers are the same, too.

use super::OutputVariable;
use super::decisions::Decided;
use super::programs::{Signature, SignatureKey};
use super::tokens::{AskedText, Tokens};
use crate::pipeline::look::ShadingKernel;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use spirv_gen::compose::{BoundPipeline, Opacity, Reflection};
use spirv_gen::ir::Shader;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The worlds after which what none of them used is dropped. The maps of lights that cast shadows are worlds, too.
pub(super) const WORLDS_KEPT: u64 = 64;

/// Programs that are kept beside those of the last world, at most.
pub(super) const PROGRAMS_MAX: usize = 256;

/// Bytes of kernels and programs that are kept beside those of the last world, at most.
const BYTES_MAX: usize = 128 << 20;

/// Kernels of a program that are kept, at most: more than a world has of one.
const KERNELS_MAX: usize = 64;

/// Costs of a program that are kept, at most.
const COSTS_MAX: usize = 4096;

/// About the bytes of an operation of a program before it is compiled.
const OPERATION_BYTES: usize = 64;

/// What a program is made of: its signature and, if it has them, the outputs besides colour and alpha.
pub(super) type ProgramKey = (SignatureKey, Vec<OutputVariable>);

/// A program, and the kernels that were compiled of it.
#[derive(Debug)]
pub(super) struct KeptProgram {
    pub signature: Signature,
    pub pipeline: BoundPipeline,
    pub reflection: Arc<Reflection>,
    /// What it asked for when it was composed.
    texts: Arc<[AskedText]>,
    kernels: Mutex<Vec<KeptKernel>>,
    costs: Mutex<FxHashMap<Decided, usize>>,
    /// The last world that used it.
    used: AtomicU64,
}

/// A kernel for some decisions.
#[derive(Clone, Debug)]
pub(super) struct KeptKernel {
    pub decided: Decided,
    pub label: String,
    pub kernel: ShadingKernel,
    /// What it asked for when it was compiled.
    pub texts: Arc<[AskedText]>,
}

impl KeptProgram {
    /// A program that asked for `texts` when it was composed.
    pub(super) fn new(signature: Signature, pipeline: BoundPipeline, texts: Vec<AskedText>) -> Self {
        let reflection = Arc::new(pipeline.reflection().clone());
        let (kernels, costs) = (Mutex::default(), Mutex::default());
        Self { signature, pipeline, reflection, texts: texts.into(), kernels, costs, used: AtomicU64::new(0) }
    }

    /// Returns its kernel of this name for some decisions, if it is kept and has the numbers that `tokens` gives.
    pub(super) fn kernel(&self, decided: &Decided, label: &str, tokens: &Tokens) -> Option<KeptKernel> {
        let mut kernels = self.kernels.lock();
        let is_same = |known: &KeptKernel| known.decided == *decided && tokens.ask_again(&known.texts);
        let place = kernels.iter().position(is_same)?;
        let mut known = kernels.remove(place);
        if known.label != label {
            known.kernel = known.kernel.renamed(&known.label, label);
            known.label = label.to_owned();
        }
        kernels.push(known.clone());
        Some(known)
    }

    /// Keeps a kernel instead of the one that was used least recently, if there are too many.
    pub(super) fn keep(&self, kernel: KeptKernel) {
        let mut kernels = self.kernels.lock();
        if kernels.len() >= KERNELS_MAX {
            kernels.remove(0);
        }
        kernels.push(kernel);
    }

    /// Returns about how many operations its program for some decisions has.
    pub(super) fn cost(&self, decided: &[Option<bool>]) -> usize {
        if let Some(&known) = self.costs.lock().get(decided) {
            return known;
        }
        let cost = self.pipeline.cost(decided);
        let mut costs = self.costs.lock();
        if costs.len() >= COSTS_MAX {
            costs.clear();
        }
        costs.insert(decided.to_vec(), cost);
        cost
    }

    /// What it asked for when it was composed.
    pub(super) fn texts(&self) -> Arc<[AskedText]> {
        Arc::clone(&self.texts)
    }

    fn bytes(&self) -> usize {
        let words: usize = self.kernels.lock().iter().map(|kept| kept.kernel.word_count()).sum();
        4 * words + OPERATION_BYTES * self.cost(&vec![None; self.reflection.decisions.len()])
    }

    fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }
}

/// What was made of shaders, and what was there from earlier worlds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramCounts {
    /// Programs that were composed of shaders.
    pub composed: u32,
    /// Kernels that were compiled of programs.
    pub compiled: u32,
    /// Kernels that were there.
    pub kept: u32,
}

/// The programs that are kept.
#[derive(Default)]
pub(super) struct ProgramStore {
    state: Mutex<StoreState>,
}

#[derive(Default)]
struct StoreState {
    /// The number of the world that is shaded.
    world: u64,
    /// Of each signature several, which have other numbers of strings.
    programs: FxHashMap<ProgramKey, Vec<Arc<KeptProgram>>>,
    opacities: FxHashMap<SignatureKey, (Opacity, u64)>,
    counts: ProgramCounts,
}

impl ProgramStore {
    /// Returns a program that asks for the numbers that `tokens` gives.
    pub(super) fn find(&self, key: &ProgramKey, tokens: &Tokens) -> Option<Arc<KeptProgram>> {
        let state = self.state.lock();
        let found = state.programs.get(key)?.iter().find(|program| tokens.ask_again(&program.texts))?;
        found.used.store(state.world, Ordering::Relaxed);
        Some(Arc::clone(found))
    }

    pub(super) fn keep(&self, key: ProgramKey, program: &Arc<KeptProgram>) {
        let mut state = self.state.lock();
        program.used.store(state.world, Ordering::Relaxed);
        state.programs.entry(key).or_default().push(Arc::clone(program));
    }

    /// Returns the opacity of a signature, which `find` finds if it is not known.
    pub(super) fn opacity(&self, key: &SignatureKey, find: impl FnOnce() -> Opacity) -> Opacity {
        let mut state = self.state.lock();
        let world = state.world;
        if let Some((known, used)) = state.opacities.get_mut(key) {
            *used = world;
            return known.clone();
        }
        let opacity = find();
        state.opacities.insert(key.clone(), (opacity.clone(), world));
        opacity
    }

    /// Adds to what was made.
    pub(super) fn count(&self, add: impl FnOnce(&mut ProgramCounts)) {
        add(&mut self.state.lock().counts);
    }

    /// Returns what was made since this was last called.
    pub(super) fn take_counts(&self) -> ProgramCounts {
        std::mem::take(&mut self.state.lock().counts)
    }

    /// Begins the next world, and drops what the last ones did not use, and what is too much.
    pub(super) fn end_world(&self) {
        let mut state = self.state.lock();
        let world = state.world;
        let mut older: Vec<(u64, usize)> = Vec::new();
        for program in state.programs.values().flatten().filter(|program| program.used() < world) {
            older.push((program.used(), program.bytes()));
        }
        // The least recently used of them go first.
        older.sort_unstable_by_key(|(used, _)| std::cmp::Reverse(*used));
        let mut bytes = 0;
        let too_many = older.iter().enumerate().find_map(|(number, (used, each))| {
            bytes += each;
            (number >= PROGRAMS_MAX || bytes > BYTES_MAX).then_some(*used + 1)
        });
        let oldest = too_many.unwrap_or(0).max((world + 1).saturating_sub(WORLDS_KEPT)).min(world);
        state.retain(|_, used| used >= oldest);
        state.world += 1;
    }

    /// Drops the programs that have one of these shaders.
    pub(super) fn forget(&self, shaders: &dyn Fn(&Arc<Shader>) -> bool) {
        self.state.lock().retain(|key, _| !key.shaders().any(shaders));
    }

    /// Drops everything.
    pub(super) fn clear(&self) {
        *self.state.lock() = StoreState::default();
    }

    /// Returns how many programs and opacities are kept.
    pub(super) fn counts(&self) -> [usize; 2] {
        let state = self.state.lock();
        [state.programs.values().map(Vec::len).sum(), state.opacities.len()]
    }
}

impl StoreState {
    /// Keeps what this says of a signature and the last world that used it.
    fn retain(&mut self, keep: impl Fn(&SignatureKey, u64) -> bool) {
        self.programs.retain(|(key, _), programs| {
            programs.retain(|program| keep(key, program.used()));
            !programs.is_empty()
        });
        self.opacities.retain(|key, (_, used)| keep(key, *used));
    }
}
