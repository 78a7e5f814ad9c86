//! Kernels that count what their lines cost: clocks of the device, or steps as an estimate of them.
//!
//! A kernel reads the clock where it goes from one line to another, and adds what has passed to the line that it
//! leaves. Where control flow joins, points that come from the one side have waited for the other: their time is that
//! of the line on which the other side spends most. Waiting at barriers counts for no line: a CPU driver computes
//! other points meanwhile. What it takes to read the clock is measured first, subtracted from the lines, and counted
//! by itself together with the storing of all counts, because an ordinary kernel does neither.

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

/// Clocks that reading the clock may take: more are an interruption.
const READING_MAX: u32 = 512;
/// How often it is read to measure that.
const CALIBRATION_READINGS: u32 = 3;
/// Clocks that code without a jump in it may take: so many for each of its steps, and so many at least (25 to 60 us).
/// More are an interruption: a system that gives a processor to another program does so for longer. On a GPU a step
/// takes as many clocks as there are other subgroups that take turns, and a few more.
const STEP_MAX: u32 = 1 << 10;
const CODE_MIN: u32 = 1 << 16;
/// Clocks of lookups, and of waiting for the other side of a branch or a loop, 1 to 4 ms.
const WAIT_MAX: u32 = 1 << 22;

/// Steps of straight code between two readings of the clock, at least: a reading takes as long as some of them. Lines
/// between the same readings share what has passed by their steps.
const STEPS_MIN: u32 = 16;

/// Lines whose code lies between two readings of the clock, with their steps.
type LineSteps = Vec<(u32, u32)>;

/// What a kernel has counted so far.
pub(super) struct Stopwatch {
    cost: LineCost,
    lines: LineTable,
    /// The line that runs.
    line: u32,
    /// Lines since the last reading of the clock.
    lately: LineSteps,
    /// Clocks that they may take.
    likely: u32,
    /// The variable for what some lines have cost together.
    sums: Vec<(LineSteps, Word)>,
    /// What the clock showed last.
    began: Word,
    /// How often it was read.
    readings: Word,
    /// Clocks that it takes to read the clock and to add what has passed.
    reading: Word,
    counters: StorageBuffer,
    /// The first counter of the kernel, and the first of lookups.
    first: Word,
    lookups: Word,
}

impl Stopwatch {
    /// Starts counting, in the first block of a kernel.
    pub(super) fn begin(s: &mut Spirv, interface: &Interface, body: &Body, wanted: LineCounters) -> Option<Self> {
        let counters = interface.counters()?;
        let lines = LineTable::of(body);
        let (u32, zero) = (s.type_u32(), s.u32(0));
        let [began, readings] = [(); 2].map(|()| s.local(u32, Some(zero)));
        let [first, lookups] =
            [abi::COUNTERS_PUSH_WORD, abi::LOOKUPS_PUSH_WORD].map(|word| interface.push_field(s, word));
        if wanted.cost == LineCost::Clocks {
            s.extension("SPV_KHR_shader_clock");
            s.capability(Capability::ShaderClockKHR);
        }
        let (cost, line, likely, reading, lately, sums) = (wanted.cost, NO_LINE, 0, zero, Vec::new(), Vec::new());
        let mut this =
            Self { cost, lines, line, lately, likely, sums, began, readings, reading, counters, first, lookups };
        this.calibrate(s);
        this.restart(s);
        Some(this)
    }

    /// Measures what measuring takes, with sums that are then as before.
    fn calibrate(&mut self, s: &mut Spirv) {
        if self.cost == LineCost::Steps {
            return;
        }
        let (u32, bool) = (s.type_u32(), s.type_bool());
        let (zero, most) = (s.u32(0), s.u32(READING_MAX));
        let sum = self.sum(s, vec![(NO_LINE, 1)]);
        self.restart(s);
        let read = [0; CALIBRATION_READINGS as usize].map(|_| {
            self.add_clocks(s, sum, CODE_MIN);
            s.load(u32, sum)
        });
        // The first one may wait for what was before.
        let [one, other] = [1, 2].map(|i| s.inst(Op::ISub, u32, &[read[i], read[i - 1]]));
        let is_less = s.inst(Op::ULessThan, bool, &[one, other]);
        let least = s.inst(Op::Select, u32, &[is_less, one, other]);
        let is_likely = s.inst(Op::ULessThan, bool, &[least, most]);
        self.reading = s.inst(Op::Select, u32, &[is_likely, least, zero]);
        s.effect(Op::Store, &[sum, zero]);
    }

    /// Returns the variable for what some lines cost together.
    fn sum(&mut self, s: &mut Spirv, lines: LineSteps) -> Word {
        if let Some((_, sum)) = self.sums.iter().find(|(known, _)| *known == lines) {
            return *sum;
        }
        let (u32, zero) = (s.type_u32(), s.u32(0));
        let sum = s.local(u32, Some(zero));
        self.sums.push((lines, sum));
        sum
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

    /// Adds what has passed in the code since the last reading to its lines.
    fn add(&mut self, s: &mut Spirv) {
        let (lately, likely) = (std::mem::take(&mut self.lately), std::mem::take(&mut self.likely));
        match self.cost {
            LineCost::Clocks => {
                let lines = if lately.is_empty() { vec![(self.line, 1)] } else { lately };
                let lines = if let [(line, _)] = lines[..] { vec![(line, 1)] } else { lines };
                let sum = self.sum(s, lines);
                self.add_clocks(s, sum, likely.clamp(CODE_MIN, WAIT_MAX));
            }
            LineCost::Steps => {
                for (line, steps) in lately {
                    let (sum, steps) = (self.sum(s, vec![(line, 1)]), s.u32(steps));
                    add_to(s, sum, steps);
                }
            }
        }
    }

    /// Adds the clocks that have passed without those that reading them takes, unless they are too many.
    fn add_clocks(&self, s: &mut Spirv, sum: Word, most: u32) {
        let (u32, bool, zero, one, most) = (s.type_u32(), s.type_bool(), s.u32(0), s.u32(1), s.u32(most));
        let (now, began) = (Self::clock(s), s.load(u32, self.began));
        s.effect(Op::Store, &[self.began, now]);
        let passed = s.inst(Op::ISub, u32, &[now, began]);
        let is_code = s.inst(Op::ULessThan, bool, &[passed, most]);
        let rest = s.inst(Op::ISub, u32, &[passed, self.reading]);
        let rest = s.inst(Op::Select, u32, &[is_code, rest, zero]);
        add_to(s, sum, rest);
        add_to(s, self.readings, one);
    }

    /// Returns the line that runs.
    pub(super) fn line(&self) -> u32 {
        self.line
    }

    /// Says that the code of an instruction follows.
    pub(super) fn begin_inst(&mut self, s: &mut Spirv, body: &Body, inst: Inst) {
        let line = self.lines.number(body, inst);
        if line != self.line {
            if self.lately_steps() >= STEPS_MIN {
                self.add(s);
            }
            self.line = line;
        }
        let steps = steps_of(body, inst);
        match self.lately.iter_mut().find(|(known, _)| *known == line) {
            Some((_, known)) => *known += steps,
            None if steps > 0 => self.lately.push((line, steps)),
            None => {}
        }
        let likely = if body.inst(inst).op.looks_up() { WAIT_MAX } else { steps.saturating_mul(STEP_MAX) };
        self.likely = self.likely.saturating_add(likely);
    }

    /// Adds what has passed to the line that runs; `line` runs from now on.
    pub(super) fn jump(&mut self, s: &mut Spirv, line: u32) {
        self.add(s);
        self.line = line;
    }

    /// Says that a trip of a loop ends; `line` runs from now on. What little has passed since the last reading counts
    /// for what the next trip does first, or for the loop where it ends.
    pub(super) fn end_trip(&mut self, s: &mut Spirv, line: u32) {
        if self.cost == LineCost::Steps || self.lately_steps() >= STEPS_MIN {
            self.add(s);
        }
        self.lately.clear();
        self.line = line;
    }

    fn lately_steps(&self) -> u32 {
        self.lately.iter().map(|(_, steps)| steps).sum()
    }

    /// Says that points that have jumped over a region have waited for others until here.
    pub(super) fn wait(&mut self, s: &mut Spirv, body: &Body, region: Region) {
        if self.cost == LineCost::Clocks {
            let line = self.heaviest(body, region);
            let sum = self.sum(s, vec![(line, 1)]);
            self.add_clocks(s, sum, WAIT_MAX);
        }
    }

    /// Counts a lookup of a texture by the points for which `real` holds. No line pays for that.
    pub(super) fn count_lookup(&mut self, s: &mut Spirv, token: Word, real: Word) {
        // Several lookups may share a loop, before which their steps are added.
        if self.cost == LineCost::Clocks {
            self.add(s);
        }
        let (u32, one) = (s.type_u32(), s.u32(1));
        when(s, real, |s| {
            let counter = s.inst(Op::IAdd, u32, &[self.lookups, token]);
            self.count(s, counter, one);
        });
        self.restart(s);
        self.likely = WAIT_MAX;
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
        let (zero, one, most) = (s.u32(0), s.u32(1), s.u32(WAIT_MAX));
        let points = s.inst(Op::Select, u32, &[real, one, zero]);
        let begin = (self.cost == LineCost::Clocks).then(|| Self::clock(s));
        self.store_one(s, abi::counters::POINTS, points);
        for (line, number) in (NO_LINE..=self.lines.lines().len() as u32).zip(abi::counters::LINES..) {
            if let Some(cost) = self.cost_of(s, line) {
                self.store_one(s, number, cost);
            }
        }
        if let Some(begin) = begin {
            let readings = s.load(u32, self.readings);
            let reading = s.inst(Op::IMul, u32, &[readings, self.reading]);
            let end = Self::clock(s);
            let storing = s.inst(Op::ISub, u32, &[end, begin]);
            let is_code = s.inst(Op::ULessThan, bool, &[storing, most]);
            let storing = s.inst(Op::Select, u32, &[is_code, storing, zero]);
            let counting = s.inst(Op::IAdd, u32, &[reading, storing]);
            self.store_one(s, abi::counters::COUNTING, counting);
        }
    }

    /// Returns what a line has cost: its parts of all sums that it is in.
    fn cost_of(&self, s: &mut Spirv, line: u32) -> Option<Word> {
        let (u32, f32, bool) = (s.type_u32(), s.type_f32(), s.type_bool());
        let (zero, negative) = (s.u32(0), s.u32(1 << 31));
        let mut cost: Option<Word> = None;
        for (lines, sum) in &self.sums {
            let Some(steps) = lines.iter().find_map(|&(known, steps)| (known == line).then_some(steps)) else {
                continue;
            };
            let all: u32 = lines.iter().map(|(_, steps)| steps).sum();
            let mut part = s.load(u32, *sum);
            if self.cost == LineCost::Clocks {
                // Less than 0 where reading the clock took less than was measured.
                let is_more = s.inst(Op::ULessThan, bool, &[part, negative]);
                let share = s.f32(steps as f32 / all as f32);
                let clocks = s.inst(Op::ConvertUToF, f32, &[part]);
                let clocks = s.inst(Op::FMul, f32, &[clocks, share]);
                let clocks = s.inst(Op::ConvertFToU, u32, &[clocks]);
                part = s.inst(Op::Select, u32, &[is_more, clocks, zero]);
            }
            cost = Some(cost.map_or(part, |cost| s.inst(Op::IAdd, u32, &[cost, part])));
        }
        cost
    }

    /// Adds to a counter of the kernel.
    fn store_one(&self, s: &mut Spirv, number: u32, more: Word) {
        let (u32, bool, zero, number) = (s.type_u32(), s.type_bool(), s.u32(0), s.u32(number));
        let is_some = s.inst(Op::INotEqual, bool, &[more, zero]);
        when(s, is_some, |s| {
            let counter = s.inst(Op::IAdd, u32, &[self.first, number]);
            self.count(s, counter, more);
        });
    }

    /// Adds to a counter.
    fn count(&self, s: &mut Spirv, counter: Word, more: Word) {
        let (u32, bool, one) = (s.type_u32(), s.type_bool(), s.u32(1));
        let low = s.inst(Op::ShiftLeftLogical, u32, &[counter, one]);
        let high = s.inst(Op::IAdd, u32, &[low, one]);
        let [device, relaxed] = relaxed_on_device(s);
        let pointer = self.counters.at(s, low);
        let before = s.inst(Op::AtomicIAdd, u32, &[pointer, device, relaxed, more]);
        let after = s.inst(Op::IAdd, u32, &[before, more]);
        let carries = s.inst(Op::ULessThan, bool, &[after, before]);
        when(s, carries, |s| {
            let pointer = self.counters.at(s, high);
            s.inst(Op::AtomicIAdd, u32, &[pointer, device, relaxed, one]);
        });
    }
}

/// Adds to a variable.
fn add_to(s: &mut Spirv, variable: Word, more: Word) {
    let u32 = s.type_u32();
    let before = s.load(u32, variable);
    let after = s.inst(Op::IAdd, u32, &[before, more]);
    s.effect(Op::Store, &[variable, after]);
}
