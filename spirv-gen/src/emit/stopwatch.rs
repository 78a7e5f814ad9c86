//! Kernels that count what their lines cost: clocks of the device, or steps as an estimate of them.
//!
//! A kernel reads the clock where it goes from one line to another, and adds what has passed to the line that it
//! leaves. Where control flow joins, points that come from the one side have waited for the other: their time is that
//! of the line on which the other side spends most. Waiting at barriers counts for no line: a CPU driver computes other
//! points meanwhile. What it takes to read the clock is measured first, and subtracted.

use super::exchange::when;
use super::kernel::{Interface, StorageBuffer, relaxed_on_device};
use super::options::{LineCost, LineCounters};
use super::spirv::Spirv;
use crate::abi;
use crate::ir::{Body, Inst, LineTable, Region};
use crate::partition::steps_of;
use rspirv::spirv::{Capability, Op, Scope, Word};
use rustc_hash::FxHashMap;

/// The number of the counter of what comes from no line: inputs are read, results are stored.
pub(super) const NO_LINE: u32 = 0;

/// Clocks that reading the clock may take, and code without a jump in it, 1 to 4 ms: more are an interruption. A system
/// that gives a processor to another program does so for longer.
const READING_MAX: u32 = 512;
const CODE_MAX: u32 = 1 << 22;

/// What a kernel has counted so far.
pub(super) struct Stopwatch {
    cost: LineCost,
    lines: LineTable,
    /// The line that runs.
    line: u32,
    /// Steps since the line began, where steps are counted.
    steps: u32,
    /// For each line, what it has cost.
    sums: Vec<Word>,
    /// What the clock showed when the line began.
    began: Word,
    /// Clocks that it takes to read the clock and to add what has passed.
    reading: Option<Word>,
    counters: StorageBuffer,
    /// The first counter of the kernel.
    first: Word,
}

impl Stopwatch {
    /// Starts counting, in the first block of a kernel.
    pub(super) fn begin(s: &mut Spirv, interface: &Interface, body: &Body, wanted: LineCounters) -> Option<Self> {
        let counters = interface.counters()?;
        let lines = LineTable::of(body);
        let (u32, zero) = (s.type_u32(), s.u32(0));
        let sums = (0..=lines.lines().len()).map(|_| s.local(u32, Some(zero))).collect();
        let began = s.local(u32, Some(zero));
        let first = interface.push_field(s, abi::COUNTERS_PUSH_WORD);
        if wanted.cost == LineCost::Clocks {
            s.extension("SPV_KHR_shader_clock");
            s.capability(Capability::ShaderClockKHR);
        }
        let (cost, line, reading) = (wanted.cost, NO_LINE, None);
        let mut this = Self { cost, lines, line, steps: 0, sums, began, reading, counters, first };
        this.calibrate(s);
        this.restart(s);
        Some(this)
    }

    /// Measures what measuring takes, with a counter that is then as before.
    fn calibrate(&mut self, s: &mut Spirv) {
        if self.cost == LineCost::Steps {
            return;
        }
        let (u32, bool) = (s.type_u32(), s.type_bool());
        let (zero, most) = (s.u32(0), s.u32(READING_MAX));
        self.restart(s);
        let read = [0; 2].map(|_| {
            self.add(s, NO_LINE);
            s.load(u32, self.sums[NO_LINE as usize])
        });
        let reading = s.inst(Op::ISub, u32, &[read[1], read[0]]);
        let is_likely = s.inst(Op::ULessThan, bool, &[reading, most]);
        self.reading = Some(s.inst(Op::Select, u32, &[is_likely, reading, zero]));
        s.effect(Op::Store, &[self.sums[NO_LINE as usize], zero]);
    }

    /// Returns the lower word of the clock.
    fn clock(s: &mut Spirv) -> Word {
        let (u32, scope) = (s.type_u32(), s.u32(Scope::Subgroup as u32));
        let uvec2 = s.type_vector(u32, 2);
        let clock = s.inst(Op::ReadClockKHR, uvec2, &[scope]);
        s.extract(u32, clock, 0)
    }

    /// Forgets the time since the line began.
    pub(super) fn restart(&self, s: &mut Spirv) {
        if self.cost == LineCost::Clocks {
            let now = Self::clock(s);
            s.effect(Op::Store, &[self.began, now]);
        }
    }

    /// Adds what has passed to a line.
    fn add(&mut self, s: &mut Spirv, line: u32) {
        let u32 = s.type_u32();
        let passed = match self.cost {
            LineCost::Clocks => {
                let (now, began) = (Self::clock(s), s.load(u32, self.began));
                s.effect(Op::Store, &[self.began, now]);
                let passed = s.inst(Op::ISub, u32, &[now, began]);
                self.without_reading(s, passed)
            }
            LineCost::Steps => match std::mem::take(&mut self.steps) {
                0 => return,
                steps => s.u32(steps),
            },
        };
        let sum = self.sums[line as usize];
        let before = s.load(u32, sum);
        let after = s.inst(Op::IAdd, u32, &[before, passed]);
        s.effect(Op::Store, &[sum, after]);
    }

    /// Returns the line that runs.
    pub(super) fn line(&self) -> u32 {
        self.line
    }

    /// Says that the code of an instruction follows.
    pub(super) fn begin_inst(&mut self, s: &mut Spirv, body: &Body, inst: Inst) {
        let line = self.lines.number(body, inst);
        if line != self.line {
            self.jump(s, line);
        }
        self.steps += steps_of(body, inst);
    }

    /// Adds what has passed to the line that runs; `line` runs from now on.
    pub(super) fn jump(&mut self, s: &mut Spirv, line: u32) {
        self.add(s, self.line);
        self.line = line;
    }

    /// Says that points that have jumped over a region have waited for others until here.
    pub(super) fn wait(&mut self, s: &mut Spirv, body: &Body, region: Region) {
        if self.cost == LineCost::Clocks {
            let line = self.heaviest(body, region);
            self.add(s, line);
        }
    }

    /// Returns clocks without those that reading the clock took, once that is known; none where the device has done
    /// something else meanwhile.
    fn without_reading(&self, s: &mut Spirv, passed: Word) -> Word {
        let Some(reading) = self.reading else { return passed };
        let (u32, bool, zero) = (s.type_u32(), s.type_bool(), s.u32(0));
        let most = s.u32(CODE_MAX);
        let is_longer = s.inst(Op::ULessThan, bool, &[reading, passed]);
        let is_likely = s.inst(Op::ULessThan, bool, &[passed, most]);
        let is_code = s.inst(Op::LogicalAnd, bool, &[is_longer, is_likely]);
        let rest = s.inst(Op::ISub, u32, &[passed, reading]);
        s.inst(Op::Select, u32, &[is_code, rest, zero])
    }

    /// Returns the line on which a region spends most, or the one that runs where there is nothing in it.
    fn heaviest(&self, body: &Body, region: Region) -> u32 {
        let mut costs: FxHashMap<u32, u64> = FxHashMap::default();
        body.walk(region, &mut |inst| {
            *costs.entry(self.lines.number(body, inst)).or_default() += u64::from(steps_of(body, inst));
        });
        let heaviest = costs.into_iter().max_by_key(|&(line, cost)| (cost, std::cmp::Reverse(line)));
        heaviest.map_or(self.line, |(line, _)| line)
    }

    /// Adds the sums to the counters, and counts the points that are `real`.
    pub(super) fn store(&self, s: &mut Spirv, real: Word) {
        let (u32, bool) = (s.type_u32(), s.type_bool());
        let (zero, one) = (s.u32(0), s.u32(1));
        let points = s.inst(Op::Select, u32, &[real, one, zero]);
        let sums: Vec<Word> = self.sums.iter().map(|&sum| s.load(u32, sum)).collect();
        for (sum, number) in std::iter::once(points).chain(sums).zip(0..) {
            let is_some = s.inst(Op::INotEqual, bool, &[sum, zero]);
            when(s, is_some, |s| {
                let number = s.u32(number);
                let counter = s.inst(Op::IAdd, u32, &[self.first, number]);
                let low = s.inst(Op::ShiftLeftLogical, u32, &[counter, one]);
                let high = s.inst(Op::IAdd, u32, &[low, one]);
                let [device, relaxed] = relaxed_on_device(s);
                let pointer = self.counters.at(s, low);
                let before = s.inst(Op::AtomicIAdd, u32, &[pointer, device, relaxed, sum]);
                let after = s.inst(Op::IAdd, u32, &[before, sum]);
                let carries = s.inst(Op::ULessThan, bool, &[after, before]);
                when(s, carries, |s| {
                    let pointer = self.counters.at(s, high);
                    s.inst(Op::AtomicIAdd, u32, &[pointer, device, relaxed, one]);
                });
            });
        }
    }
}
