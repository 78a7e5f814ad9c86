//! The kernels of a program that is cut into passes, or of one that is not.

use super::{EmitError, EmitOptions, Library, StopRecord, emit_with};
use crate::ir::Body;
use crate::passes::{CutProgram, SavedLoops};

/// The passes of a program, and where they save their loops.
pub struct PassKernels<'a> {
    program: &'a CutProgram,
    carried: u32,
    /// For each pass its loops, in the channels behind those of earlier passes.
    loops: Vec<SavedLoops>,
    /// The first pass whose loops may stop, if others follow.
    stopping: Option<usize>,
    pass_channels: u32,
}

impl<'a> PassKernels<'a> {
    /// Returns those of a program whose first outputs are `carried` ([`EmitOptions::carried`]) and whose passes may stop
    /// in `loops_of` their programs.
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
        Self { program, carried, loops, stopping, pass_channels }
    }

    /// Returns the channels in which passes save values for each other.
    pub fn pass_channels(&self) -> u32 {
        self.pass_channels
    }

    /// Returns the channels that resumable kernels need.
    pub fn state_channels(&self) -> u32 {
        self.pass_channels + self.loops.iter().map(SavedLoops::records).sum::<u32>()
    }

    /// Returns where passes leave for each other that a vertex has stopped.
    fn stop(&self, pass: usize, together: bool) -> Option<StopRecord> {
        let first = self.stopping?;
        let (reads, writes) = (pass > first, pass >= first && pass + 1 < self.loops.len());
        (reads || writes).then_some(StopRecord { channel: self.program.channels, reads, writes, together })
    }

    /// Returns the kernels, which save their loops if they are `resumable`.
    ///
    /// # Errors
    /// See [`super::emit`].
    pub fn emit(
        &self,
        library: &Library,
        tokens: &dyn Fn(&str) -> u32,
        resumable: bool,
    ) -> Result<Vec<Vec<u32>>, EmitError> {
        let passes = self.program.passes.iter().zip(&self.loops).zip(0..);
        let kernels = passes.map(|((pass, loops), number)| {
            let options = EmitOptions {
                carried: self.carried,
                saved: if resumable { loops.clone() } else { SavedLoops::default() },
                stored: Some(pass.stored.clone()),
                stop: self.stop(number, resumable),
            };
            emit_with(&pass.body, library, tokens, &options)
        });
        kernels.collect()
    }
}
