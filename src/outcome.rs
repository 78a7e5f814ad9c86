//! How a render ended, and the exit code that says so.

use crate::film::{DisplayOutcome, DisplayState};
use crate::stats::Stats;

/// Why a render came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every world was drawn, as far as it could be.
    Finished,
    /// No world could be read from the scenes, or not all of a scene (it is damaged, or there is no memory for it); what was read was drawn.
    Unreadable,
    /// The user stopped it; what was finished is written.
    Interrupted,
    /// The command line does not fit the scene (as with `-o` for several pictures); nothing was drawn.
    WrongUsage,
    /// There is no device that could draw; nothing was drawn.
    NoDevice,
    /// All was drawn as far as it could be, but a failure that a test asked for never happened.
    Undisturbed,
}

/// What a render leaves behind. Why anything is missing was reported.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Why it ended.
    pub ending: Ending,
    /// What became of each display of each world, in order.
    pub displays: Vec<DisplayOutcome>,
    /// Times and counts.
    pub stats: Stats,
}

impl Outcome {
    /// The program's exit code: 0 every display is whole, 1 one is missing or partial (`strict`: or an error was survived), 2 wrong usage,
    /// 3 no usable device, 130 interrupted.
    pub fn exit_code(&self, strict: bool) -> u8 {
        let is_whole = |display: &DisplayOutcome| display.state == DisplayState::Whole;
        match self.ending {
            Ending::WrongUsage => 2,
            Ending::NoDevice => 3,
            Ending::Interrupted => 130,
            Ending::Unreadable | Ending::Undisturbed => 1,
            Ending::Finished if !self.displays.iter().all(is_whole) => 1,
            Ending::Finished => u8::from(strict && self.stats.errors_survived > 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_say_how_it_ended() {
        use DisplayState::{Missing, Partial, Whole};
        let table = [
            (Ending::Finished, vec![], 0, false, 0),
            (Ending::Finished, vec![Whole, Whole], 0, true, 0),
            (Ending::Finished, vec![Whole], 3, false, 0),
            (Ending::Finished, vec![Whole], 3, true, 1),
            (Ending::Finished, vec![Whole, Missing], 0, false, 1),
            (Ending::Finished, vec![Partial { missing: 1 }], 0, false, 1),
            (Ending::Interrupted, vec![Partial { missing: 1 }], 0, false, 130),
            (Ending::Interrupted, vec![Whole], 0, true, 130),
            (Ending::WrongUsage, vec![], 1, true, 2),
            (Ending::NoDevice, vec![], 1, false, 3),
            (Ending::Undisturbed, vec![Whole], 1, false, 1),
        ];
        for (ending, states, errors_survived, strict, expected) in table {
            let displays = states.iter().map(|&state| DisplayOutcome { path: "a.exr".into(), state }).collect();
            let outcome = Outcome { ending, displays, stats: Stats { errors_survived, ..Stats::default() } };
            assert_eq!(outcome.exit_code(strict), expected, "{ending:?} {states:?} {errors_survived} {strict}");
        }
    }
}
