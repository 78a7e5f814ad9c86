//! Conditional parts of a stream: `IfBegin`, `ElseIf`, `Else` and `IfEnd` (RIB 3.2 as RenderMan Pro Server extends it).

use crate::rib::reader::Reader;
use crate::rib::stream::condition::{ConditionValue, evaluate};
use crate::rib::stream::fault::Parsed;
use crate::rib::stream::lexer::Lexer;
use crate::rib::stream::skip_block::skip_block;
use crate::rib::world::scene::SceneBuilder;
use crate::scene::ParamValue;

/// What can end a branch; the last also ends the whole conditional.
const ENDS: [&str; 3] = ["ElseIf", "Else", "IfEnd"];

/// Reads the branch whose condition is the first to hold.
pub(super) fn if_begin(reader: &mut Reader<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let mut condition = Some(lexer.text()?);
    reader.scene.definitions += 1;
    loop {
        if condition.is_none_or(|text| holds(&mut reader.scene, &text)) {
            reader.open_branches.push(reader.scene.messages.current.location.clone());
            return Ok(());
        }
        condition = match skip_block(lexer, "IfBegin", &ENDS, &reader.scene.messages)?.0 {
            "ElseIf" => Some(lexer.text()?),
            "Else" => None,
            _ => return Ok(()),
        };
    }
}

/// Skips the other branches when the one that was read ends.
pub(super) fn leave_branch(reader: &mut Reader<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    if_end(reader, lexer)?;
    skip_block(lexer, "IfBegin", &["IfEnd"], &reader.scene.messages).map(drop)
}

pub(super) fn if_end(reader: &mut Reader<'_>, _: &mut Lexer<'_>) -> Parsed<()> {
    let messages = &reader.scene.messages;
    let stray = || messages.error("nesting", format!("{} without IfBegin", messages.current.name));
    reader.open_branches.pop().map(drop).ok_or_else(stray)
}

/// Whether a condition holds. One that cannot be read is reported and does not.
fn holds(scene: &mut SceneBuilder<'_>, text: &str) -> bool {
    scene.notes.has_conditions = true;
    let mut unset = Vec::new();
    let value = evaluate(text, &mut |name| {
        let value = condition_variable(scene, name);
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
                scene.messages.warn_once(&format!("IfBegin {name}"), "badtoken", &message);
            }
            value.is_true()
        }
        Err(problem) => {
            let fault = scene.messages.error("badargument", problem);
            scene.messages.report_here(fault.hint("the condition counts as false"));
            false
        }
    }
}

/// Returns the value of a name: the number of the frame, or an attribute or option as the scene has set it so far.
fn condition_variable(scene: &SceneBuilder<'_>, name: &str) -> Option<ConditionValue> {
    let options = &scene.options.options;
    if matches!(name, "Frame" | "frame" | "Ri:Frame") {
        return scene.options.frame.map(|frame| ConditionValue::Number(frame.into()));
    }
    let attribute = |name: &str| scene.state.attributes.other.get(name).map(value_of);
    let option = |name: &str| options.other.get(name).map(value_of);
    match name.split_once(':') {
        Some(("Attribute", name)) => attribute(name),
        Some(("Option", name)) => option(name),
        _ => attribute(name).or_else(|| option(name)),
    }
}

/// Converts an attribute or an option: a single number stays one, several values become a text with blanks between
/// them.
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
