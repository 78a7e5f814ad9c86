//! Conditional parts of a stream: `IfBegin`, `ElseIf`, `Else` and `IfEnd` (RIB 3.2 as RenderMan Pro Server extends it).

use super::condition::{ConditionValue, evaluate};
use super::fault::{Parsed, RequestFault};
use super::lexer::Lexer;
use super::reader::Reader;
use crate::scene::ParamValue;

/// What can end a branch; the last also ends the whole conditional.
const ENDS: [&str; 3] = ["ElseIf", "Else", "IfEnd"];

impl Reader<'_> {
    /// Reads the branch whose condition is the first to hold.
    pub(super) fn if_begin(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let mut condition = Some(lexer.text()?);
        self.definitions += 1;
        loop {
            if condition.is_none_or(|text| self.holds(&text)) {
                self.open_branches.push(self.current.location.clone());
                return Ok(());
            }
            condition = match self.skip_block(lexer, "IfBegin", &ENDS)?.0 {
                "ElseIf" => Some(lexer.text()?),
                "Else" => None,
                _ => return Ok(()),
            };
        }
    }

    /// Skips the other branches when the one that was read ends.
    pub(super) fn leave_branch(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        self.if_end(lexer)?;
        self.skip_block(lexer, "IfBegin", &["IfEnd"]).map(drop)
    }

    pub(super) fn if_end(&mut self, _: &mut Lexer<'_>) -> Parsed<()> {
        let stray = || format!("{} without IfBegin", self.current.name);
        self.open_branches.pop().map(drop).ok_or_else(|| RequestFault::error("nesting", self.current.offset, stray()))
    }

    /// Reports conditionals that were begun and not ended.
    pub(super) fn close_branches(&mut self) {
        for begin in std::mem::take(&mut self.open_branches) {
            self.summary.incomplete = true;
            let fault = RequestFault::error("nesting", 0, "IfBegin has no IfEnd");
            self.messages.report_at(begin, fault.hint("the file ends early; what was read is drawn"));
        }
    }

    /// Whether a condition holds. One that cannot be read is reported and does not.
    fn holds(&mut self, text: &str) -> bool {
        let mut unset = Vec::new();
        let value = evaluate(text, &mut |name| {
            let value = self.condition_variable(name);
            if value.is_none() {
                unset.push(name.to_owned());
            }
            value
        });
        match value {
            Ok(value) => {
                let asks = |name: &String| text.contains(&format!("defined({name})"));
                for name in unset.iter().filter(|name| !asks(name) && !text.contains(&format!("defined(${name})"))) {
                    let message = format!("\"{name}\" is not set; it counts as an empty text in conditions");
                    self.warn_once(&format!("IfBegin {name}"), "badtoken", &message);
                }
                value.is_true()
            }
            Err(problem) => {
                let fault = RequestFault::error("badargument", self.current.offset, problem);
                self.report_here(fault.hint("the condition counts as false"));
                false
            }
        }
    }

    /// The value of a name: the number of the frame, or an attribute or option as the scene has set it so far.
    fn condition_variable(&self, name: &str) -> Option<ConditionValue> {
        let options = &self.options.options;
        if matches!(name, "Frame" | "frame" | "Ri:Frame") {
            return self.options.frame.map(|frame| ConditionValue::Number(frame.into()));
        }
        let attribute = |name: &str| self.state.attributes.other.get(name).map(value_of);
        let option = |name: &str| options.other.get(name).map(value_of);
        match name.split_once(':') {
            Some(("Attribute", name)) => attribute(name),
            Some(("Option", name)) => option(name),
            _ => attribute(name).or_else(|| option(name)),
        }
    }
}

/// A single number stays one; several values are a text with blanks between them.
fn value_of(value: &ParamValue) -> ConditionValue {
    let joined = |texts: Vec<String>| ConditionValue::Text(texts.join(" "));
    match value {
        ParamValue::Floats(values) => match values[..] {
            [value] => ConditionValue::Number(value.into()),
            _ => joined(values.iter().map(f32::to_string).collect()),
        },
        ParamValue::Ints(values) => match values[..] {
            [value] => ConditionValue::Number(value.into()),
            _ => joined(values.iter().map(i32::to_string).collect()),
        },
        ParamValue::Strings(values) => joined(values.iter().map(ToString::to_string).collect()),
    }
}
