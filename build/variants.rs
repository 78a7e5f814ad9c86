//! Several kernels from one source file: its variants, along axes that the source declares.
//!
//! The comment at the beginning of a kernel's source may hold lines of these two forms:
//!
//! ```glsl
//! // axes: EXPANDED REST=first|rest CLIPPED MOTION=(keyframed)|still|straight
//! // rules: REST ignores EXPANDED MOTION; CLIPPED excludes MOTION=straight
//! ```
//!
//! *Axes.* An axis is a macro and its values. `NAME` is a switch: 0 (off) or 1 (on). `NAME=off|on` is a switch whose
//! states have names. With more names it is a choice: the macro is the number of the name, from 0 on. `NAME=FAMILY_*`
//! is a choice among all constants that begin with `FAMILY_`, in order of their numbers: the macro is the constant, and
//! the constants' names without `FAMILY_` are the names.
//!
//! *Rules.* There is a variant for every combination of values that the rules admit. A rule is a condition, a verb and
//! what it is about; a condition is a switch that is on, or `NAME=value|value`.
//! - `A requires B C`: what has A has B and C.
//! - `A excludes B C`: what has A has neither B nor C.
//! - `A ignores B C`: to what has A the axes B and C make no difference, and their macros have their first values. Who
//!   asks for other values gets that variant.
//!
//! *Labels.* A variant is named after the file, followed by the names of its values in the order of the axes. Names in
//! brackets are left out, and so is a value that the axes before it determine; but where nothing is left, the value of
//! the last axis is named all the same. A switch that is off has no name, unless it is given one.

use super::constants::Constants;

/// What a source declares about its variants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declaration {
    /// In the order in which labels name them; none if there is one kernel.
    pub axes: Vec<Axis>,
    /// Every variant, the first values first.
    pub variants: Vec<Variant>,
}

/// A macro that differs between variants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    /// The macro.
    pub name: String,
    /// Its type for those who ask for a variant: `None` for switches, or the name of a choice, in upper case.
    pub choice: Option<String>,
    /// At least two.
    pub values: Vec<Value>,
}

/// What an axis may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    /// Its name; empty for what is off.
    pub name: String,
    /// Whether labels leave it out.
    pub is_silent: bool,
    /// What the macro is.
    pub text: String,
}

/// One kernel of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variant {
    /// The kernel's label.
    pub label: String,
    /// The index of each axis's value; `None` where it makes no difference.
    pub values: Vec<Option<usize>>,
}

/// An axis that has one of some values.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Condition {
    axis: usize,
    values: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Requires,
    Excludes,
    Ignores,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    condition: Condition,
    verb: Verb,
    about: Vec<Condition>,
}

impl Declaration {
    /// Reads the declaration of the source `stem`. Errors begin with the line.
    pub(crate) fn read(stem: &str, source: &str, constants: &Constants) -> Result<Self, String> {
        let mut axes: Vec<Axis> = Vec::new();
        for (line, list) in declared(source, "axes:") {
            for word in list.split_whitespace() {
                let axis = axis(word, constants).map_err(|e| format!("{line}: {e}"))?;
                if axes.iter().any(|known| known.name == axis.name) {
                    return Err(format!("{line}: axis `{}` is declared twice", axis.name));
                }
                axes.push(axis);
            }
        }
        let mut rules = Vec::new();
        for (line, list) in declared(source, "rules:") {
            for text in list.split(';').map(str::trim).filter(|text| !text.is_empty()) {
                rules.push(rule(text, &axes).map_err(|e| format!("{line}: {e}"))?);
            }
        }
        check_ignored(&axes, &rules).map_err(|e| format!("1: {e}"))?;
        let variants = variants(stem, &axes, &rules).map_err(|e| format!("1: {e}"))?;
        Ok(Self { axes, variants })
    }

    /// Names and values of the macros that a variant is compiled with.
    pub(crate) fn macros(&self, variant: &Variant) -> Vec<(String, String)> {
        let of_axis = |(axis, value): (&Axis, &Option<usize>)| {
            (axis.name.clone(), axis.values[value.unwrap_or_default()].text.clone())
        };
        self.axes.iter().zip(&variant.values).map(of_axis).collect()
    }
}

/// What follows `keyword` in the comment at the beginning of a source, with the number of its line.
fn declared<'a>(source: &'a str, keyword: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    let comments = source.lines().map_while(|line| line.trim().strip_prefix("//"));
    (1..).zip(comments).filter_map(move |(line, text)| Some((line, text.trim().strip_prefix(keyword)?)))
}

fn axis(word: &str, constants: &Constants) -> Result<Axis, String> {
    let (name, list) = word.split_once('=').map_or((word, None), |(name, list)| (name, Some(list)));
    if !is_identifier(name, |c| c.is_ascii_uppercase()) {
        return Err(format!("`{word}` is not an axis: write NAME, NAME=one|other or NAME=FAMILY_*"));
    }
    let Some(list) = list else {
        let off = Value { name: String::new(), is_silent: true, text: "0".to_string() };
        let on = Value { name: name.to_lowercase(), is_silent: false, text: "1".to_string() };
        return Ok(Axis { name: name.to_string(), choice: None, values: vec![off, on] });
    };
    let (choice, values) = match list.strip_suffix('*') {
        Some(prefix) => (prefix.trim_end_matches('_'), family(prefix, constants)),
        None => {
            (name, list.split('|').enumerate().map(|(number, text)| value(number, text)).collect::<Result<_, _>>()?)
        }
    };
    if values.len() < 2 {
        return Err(format!("`{word}` is not an axis: it has fewer than two values"));
    }
    let is_switch = values.len() == 2 && !list.ends_with('*');
    Ok(Axis { name: name.to_string(), choice: (!is_switch).then(|| choice.to_string()), values })
}

/// The value with this number of a list of names.
fn value(number: usize, text: &str) -> Result<Value, String> {
    let inner = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let name = inner.unwrap_or(text);
    if !is_identifier(name, |c| c.is_ascii_lowercase()) {
        return Err(format!("`{text}` is not the name of a value: write name, or (name) to leave it out of labels"));
    }
    Ok(Value { name: name.to_string(), is_silent: inner.is_some(), text: number.to_string() })
}

/// The values of a choice among the constants that begin with `prefix`.
fn family(prefix: &str, constants: &Constants) -> Vec<Value> {
    let value = |constant: &str| {
        let name = constant.strip_prefix(prefix).unwrap_or(constant).to_lowercase();
        Value { name, is_silent: false, text: constant.to_string() }
    };
    constants.family(prefix).into_iter().map(value).collect()
}

fn rule(text: &str, axes: &[Axis]) -> Result<Rule, String> {
    let mut words = text.split_whitespace();
    let (Some(first), Some(verb)) = (words.next(), words.next()) else {
        return Err(format!("`{text}` is not a rule: write CONDITION requires, excludes or ignores what"));
    };
    let verb = match verb {
        "requires" => Verb::Requires,
        "excludes" => Verb::Excludes,
        "ignores" => Verb::Ignores,
        _ => return Err(format!("`{verb}` is not a verb of rules: requires, excludes or ignores")),
    };
    let about = |word: &str| match verb {
        Verb::Ignores => Ok(Condition { axis: axis_index(word, axes)?, values: Vec::new() }),
        _ => condition(word, axes),
    };
    let about = words.map(about).collect::<Result<Vec<_>, _>>()?;
    if about.is_empty() {
        return Err(format!("`{text}` is not a rule: it is about nothing"));
    }
    Ok(Rule { condition: condition(first, axes)?, verb, about })
}

fn condition(word: &str, axes: &[Axis]) -> Result<Condition, String> {
    let Some((name, list)) = word.split_once('=') else {
        let axis = axis_index(word, axes)?;
        let is_switch = axes[axis].choice.is_none();
        return if is_switch { Ok(Condition { axis, values: vec![1] }) } else { Err(format!("`{word}` is no switch")) };
    };
    let axis = axis_index(name, axes)?;
    let index = |name: &str| {
        let found = axes[axis].values.iter().position(|value| value.name == name);
        found.ok_or_else(|| format!("`{name}` is not a value of the axis `{}`", axes[axis].name))
    };
    Ok(Condition { axis, values: list.split('|').map(index).collect::<Result<_, _>>()? })
}

fn axis_index(name: &str, axes: &[Axis]) -> Result<usize, String> {
    axes.iter().position(|axis| axis.name == name).ok_or_else(|| format!("`{name}` is not an axis"))
}

/// Refuses rules by which an axis that is ignored decides whether another one is.
fn check_ignored(axes: &[Axis], rules: &[Rule]) -> Result<(), String> {
    let ignoring = || rules.iter().filter(|rule| rule.verb == Verb::Ignores);
    let deciding = |axis| ignoring().any(|rule| rule.condition.axis == axis);
    match ignoring().flat_map(|rule| &rule.about).find(|ignored| deciding(ignored.axis)) {
        Some(ignored) => Err(format!("`{}` is ignored, so no axis can be ignored for it", axes[ignored.axis].name)),
        None => Ok(()),
    }
}

/// All variants of the source `stem`.
fn variants(stem: &str, axes: &[Axis], rules: &[Rule]) -> Result<Vec<Variant>, String> {
    let combinations: Vec<_> = combinations(axes).into_iter().filter_map(|values| admitted(values, rules)).collect();
    let mut variants: Vec<Variant> = Vec::new();
    for values in &combinations {
        let label = label(stem, axes, &combinations, values);
        if variants.iter().any(|known| known.label == label) {
            return Err(format!("two variants would have the label `{label}`: name more values"));
        }
        variants.push(Variant { label, values: values.clone() });
    }
    Ok(variants)
}

/// All combinations of values, those of the last axis next to each other.
fn combinations(axes: &[Axis]) -> Vec<Vec<usize>> {
    axes.iter().fold(vec![Vec::new()], |all, axis| {
        let extended = |values: &Vec<usize>| {
            let values = values.clone();
            (0..axis.values.len()).map(move |value| values.iter().copied().chain([value]).collect())
        };
        all.iter().flat_map(extended).collect()
    })
}

/// A combination of values in which those that make no difference are `None`; `None` if there is no such variant, or
/// it is that of another combination.
fn admitted(values: Vec<usize>, rules: &[Rule]) -> Option<Vec<Option<usize>>> {
    let holds = |condition: &Condition| condition.values.contains(&values[condition.axis]);
    let (mut result, mut is_admitted): (Vec<_>, _) = (values.iter().copied().map(Some).collect(), true);
    for rule in rules.iter().filter(|rule| holds(&rule.condition)) {
        match rule.verb {
            Verb::Requires => is_admitted &= rule.about.iter().all(holds),
            Verb::Excludes => is_admitted &= !rule.about.iter().any(holds),
            Verb::Ignores => {
                is_admitted &= rule.about.iter().all(|ignored| values[ignored.axis] == 0);
                rule.about.iter().for_each(|ignored| result[ignored.axis] = None);
            }
        }
    }
    is_admitted.then_some(result)
}

fn label(stem: &str, axes: &[Axis], all: &[Vec<Option<usize>>], values: &[Option<usize>]) -> String {
    let value = |axis: usize| &axes[axis].values[values[axis].unwrap_or_default()];
    let effective = |values: &[Option<usize>]| values.iter().map(|value| value.unwrap_or_default()).collect::<Vec<_>>();
    let own = effective(values);
    let is_open = |axis: usize| {
        let differs = |other: &Vec<usize>| other[..axis] == own[..axis] && other[axis] != own[axis];
        all.iter().map(|other| effective(other)).any(|other| differs(&other))
    };
    let named: Vec<usize> = (0..axes.len()).filter(|&axis| !value(axis).is_silent && is_open(axis)).collect();
    let named = if named.is_empty() { axes.len().checked_sub(1).into_iter().collect() } else { named };
    let names = named.into_iter().map(|axis| value(axis).name.as_str()).filter(|name| !name.is_empty());
    names.fold(stem.to_string(), |label, name| format!("{label}_{name}"))
}

fn is_identifier(text: &str, is_letter: impl Fn(char) -> bool) -> bool {
    text.starts_with(&is_letter) && text.chars().all(|c| is_letter(c) || c.is_ascii_digit() || c == '_')
}
