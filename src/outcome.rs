//! How a render ended, and its exit code.

use crate::film::{DisplayOutcome, DisplayState};
use crate::stats::Stats;

/// The exit codes of the program, of all its commands.
pub mod exit_code {
    /// Everything was done.
    pub const DONE: u8 = 0;
    /// Something is missing or partial, or has errors.
    pub const INCOMPLETE: u8 = 1;
    /// The command line is wrong, or one file has two roles.
    pub const WRONG_USAGE: u8 = 2;
    /// There is no usable device.
    pub const NO_USABLE_DEVICE: u8 = 3;
    /// A limit that the user set was reached.
    pub const LIMIT_REACHED: u8 = 4;
    /// The user interrupted the program.
    pub const INTERRUPTED: u8 = 130;
}

/// Why a render ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every world was rendered as far as possible.
    Finished,
    /// No world could be read from the scenes, or a scene could not be read whole (it is damaged, or there is too
    /// little memory for it). The worlds that were read were rendered.
    Unreadable,
    /// The user stopped the render; finished pixels were written.
    Interrupted,
    /// A limit that the user set was reached; finished pixels were written.
    LimitReached,
    /// Every world was rendered as far as possible, but a file was refused because it has another role.
    Clashing,
    /// The command line does not fit the scene (as with `-o` for several pictures); nothing was rendered.
    WrongUsage,
    /// There is no usable device; nothing was rendered.
    NoDevice,
    /// Every world was rendered as far as possible, but a device failure that a test asked for never happened.
    FaultNotReached,
}

/// The result of a render. If anything is missing, the reason was reported.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Why the render ended.
    pub ending: Ending,
    /// The state of each display of each world and of each texture that the scene requests, in order.
    pub displays: Vec<DisplayOutcome>,
    /// Times and counts.
    pub stats: Stats,
}

impl Outcome {
    /// Returns the program's exit code: [`exit_code::DONE`] if every display is whole, [`exit_code::INCOMPLETE`] if one
    /// is missing or partial, or a file that shaders read or bake is (with `strict`, also if an error was survived or
    /// geometry was left out), or the code of the ending.
    pub fn exit_code(&self, strict: bool) -> u8 {
        let is_whole = |display: &DisplayOutcome| display.state == DisplayState::Whole;
        match self.ending {
            Ending::WrongUsage | Ending::Clashing => exit_code::WRONG_USAGE,
            Ending::NoDevice => exit_code::NO_USABLE_DEVICE,
            Ending::Interrupted => exit_code::INTERRUPTED,
            Ending::LimitReached => exit_code::LIMIT_REACHED,
            Ending::Unreadable | Ending::FaultNotReached => exit_code::INCOMPLETE,
            Ending::Finished if !self.displays.iter().all(is_whole) => exit_code::INCOMPLETE,
            Ending::Finished if self.stats.lost_files > 0 => exit_code::INCOMPLETE,
            Ending::Finished if strict && self.stats.errors_survived + self.stats.left_out > 0 => exit_code::INCOMPLETE,
            Ending::Finished => exit_code::DONE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_follow_the_ending_and_the_displays() {
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
            (Ending::LimitReached, vec![Partial { missing: 1 }], 0, false, 4),
            (Ending::LimitReached, vec![Whole, Missing], 1, true, 4),
            (Ending::WrongUsage, vec![], 1, true, 2),
            (Ending::Clashing, vec![Whole, Missing], 1, false, 2),
            (Ending::NoDevice, vec![], 1, false, 3),
            (Ending::FaultNotReached, vec![Whole], 1, false, 1),
        ];
        let lost = Outcome {
            ending: Ending::Finished,
            displays: vec![DisplayOutcome { path: "a.exr".into(), state: Whole }],
            stats: Stats { lost_files: 1, ..Stats::default() },
        };
        assert_eq!(lost.exit_code(false), 1, "a texture is missing");
        for (ending, states, errors_survived, strict, expected) in table {
            let displays = states.iter().map(|&state| DisplayOutcome { path: "a.exr".into(), state }).collect();
            let outcome = Outcome { ending, displays, stats: Stats { errors_survived, ..Stats::default() } };
            assert_eq!(outcome.exit_code(strict), expected, "{ending:?} {states:?} {errors_survived} {strict}");
        }
    }
}
