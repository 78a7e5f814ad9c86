//! The kernels of a program that is cut into passes, or of one that is not.

use super::error::EmitError;
use super::import::Library;
use super::options::{EmitOptions, LineCounters, StopRecord};
use super::spirv::Assembled;
use super::write::emit_forms;
use crate::ir::{Body, LineTable, SourceLine};
use crate::passes::{CutProgram, SavedLoops};
use rustc_hash::FxHashMap;

/// The passes of a program, and where they save their loops.
pub struct PassKernels<'a> {
    program: &'a CutProgram,
    carried: u32,
    /// For each pass its loops, in the channels behind those of earlier passes.
    loops: Vec<SavedLoops>,
    /// The first pass whose loops may stop, if others follow.
    stopping: Option<usize>,
    pass_channels: u32,
    counters: Option<LineCounters>,
    debug: bool,
}

impl<'a> PassKernels<'a> {
    /// Returns those of a program whose first outputs are `carried` ([`EmitOptions::carried`]) and whose passes may
    /// stop in `loops_of` their programs.
    pub fn new(program: &'a CutProgram, carried: u32, loops_of: impl Fn(&Body) -> SavedLoops) -> Self {
        let mut loops: Vec<SavedLoops> = program.passes.iter().map(|pass| loops_of(&pass.body)).collect();
        let stopping = loops.iter().position(|loops| !loops.is_empty()).filter(|pass| pass + 1 < loops.len());
        let pass_channels = program.channels + u32::from(stopping.is_some());
        let mut first = pass_channels;
        for saved in &mut loops {
            let records = saved.records();
            *saved = std::mem::take(saved).behind(first);
            first += records;
        }
        Self { program, carried, loops, stopping, pass_channels, counters: None, debug: false }
    }

    /// Returns kernels that count what lines cost.
    #[must_use]
    pub fn counting(self, counters: Option<LineCounters>) -> Self {
        Self { counters, ..self }
    }

    /// Returns kernels that also have forms for debuggers, if `debug`.
    #[must_use]
    pub fn for_debuggers(self, debug: bool) -> Self {
        Self { debug, ..self }
    }

    /// Returns the channels in which passes save values for each other.
    pub fn pass_channels(&self) -> u32 {
        self.pass_channels
    }

    /// Returns the channels that resumable kernels need.
    pub fn state_channels(&self) -> u32 {
        self.pass_channels + self.loops.iter().map(SavedLoops::records).sum::<u32>()
    }

    /// Returns where passes leave for each other that a vertex has stopped. Calls save no loops.
    fn stop(&self, pass: usize, together: bool) -> Option<StopRecord> {
        let first = self.stopping.filter(|_| self.program.passes[pass].form.is_none())?;
        let (reads, writes) = (pass > first, pass >= first && pass + 1 < self.loops.len());
        (reads || writes).then_some(StopRecord { channel: self.program.channels, reads, writes, together })
    }

    /// Returns the kernels, which save their loops if they are `resumable`: one for each pass, and one for all calls of
    /// a form.
    ///
    /// # Errors
    /// See [`super::emit`].
    pub fn emit(
        &self,
        library: &Library,
        tokens: &dyn Fn(&str) -> u32,
        resumable: bool,
    ) -> Result<PassRuns, EmitError> {
        let looks_up = self.program.passes.len() > 1 && self.program.passes.iter().any(|pass| looks_up(&pass.body));
        let mut runs = PassRuns::default();
        let mut answering: FxHashMap<usize, usize> = FxHashMap::default();
        for ((pass, loops), number) in self.program.passes.iter().zip(&self.loops).zip(0..) {
            let known = pass.form.and_then(|form| answering.get(&form).copied());
            let kernel = known.unwrap_or(runs.kernels.len());
            if known.is_none() {
                let options = EmitOptions {
                    carried: self.carried,
                    saved: if resumable { loops.clone() } else { SavedLoops::default() },
                    stored: Some(pass.stored.clone()),
                    stop: self.stop(number, resumable),
                    waits_for_tiles: looks_up,
                    lines: self.counters,
                    debug: self.debug,
                };
                let Assembled { words, debug } = emit_forms(&pass.body, library, tokens, &options)?;
                runs.kernels.push(words);
                runs.debug.push(debug);
            }
            pass.form.into_iter().for_each(|form| _ = answering.insert(form, kernel));
            runs.runs.push(PassRun { kernel, first_channel: pass.first_channel });
            if self.counters.is_some() {
                runs.lines.push(LineTable::of(&pass.body).lines().to_vec());
            }
        }
        Ok(runs)
    }
}

fn looks_up(body: &Body) -> bool {
    let mut found = false;
    body.walk(body.root(), &mut |inst| found |= body.inst(inst).op.looks_up());
    found
}

/// The kernels of a program, and how they run.
#[derive(Clone, Debug, Default)]
pub struct PassRuns {
    /// The kernels.
    pub kernels: Vec<Vec<u32>>,
    /// For each kernel its form for debuggers, if there is one: the same instructions, and others that say which lines
    /// of shaders they come from, and what variables are.
    pub debug: Vec<Option<Vec<u32>>>,
    /// The runs, one after the other on the same vertices.
    pub runs: Vec<PassRun>,
    /// For each run, the lines that it counts the cost of; empty if nothing is counted.
    pub lines: Vec<Vec<SourceLine>>,
}

/// A run of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassRun {
    /// The number of the kernel.
    pub kernel: usize,
    /// How many channels [`crate::abi::Push::state_base`] is further on.
    pub first_channel: u32,
}
