//! Parameter lists: pairs of a token and a value, to the next request.

use super::declare::Declaration;
use super::fault::{Parsed, RequestFault};
use super::lexer::{Lexer, TokenKind, describe};
use crate::files::to_text;
use crate::scene::{ParamValue, ShaderParam, ValueType};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// One pair of a parameter list.
pub(crate) struct Param {
    /// What the token means.
    pub(crate) declaration: Rc<Declaration>,
    /// Offset of the token.
    pub(crate) offset: usize,
    /// Range of its values in the list's floats, integers or strings.
    values: Range<usize>,
}

/// A parameter list. All values of one kind share one vector that is reused from request to request.
#[derive(Default)]
pub(crate) struct ParamList {
    items: Vec<Param>,
    floats: Vec<f32>,
    ints: Vec<i32>,
    strings: Vec<Arc<str>>,
    rgb_from_samples: Arc<[[f32; 3]]>,
}

/// Returns the RGB of a colour given by samples.
pub(crate) fn rgb_of(samples: &[f32], rgb_from_samples: &[[f32; 3]]) -> [f32; 3] {
    [0, 1, 2].map(|i| samples.iter().zip(rgb_from_samples).map(|(sample, rgb)| sample * rgb[i]).sum())
}

/// Returns what a token means, or what is wrong with it. The second argument says whether its values are strings.
pub(crate) type Resolve<'r> = dyn FnMut(&[u8], bool) -> Result<Rc<Declaration>, String> + 'r;

/// The values of one pair.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ParamSlice<'p> {
    /// Of every numeric type but int.
    Floats(&'p [f32]),
    /// Of type int.
    Ints(&'p [i32]),
    /// Of type string.
    Strings(&'p [Arc<str>]),
}

impl ParamSlice<'_> {
    /// Returns the number of values.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Floats(values) => values.len(),
            Self::Ints(values) => values.len(),
            Self::Strings(values) => values.len(),
        }
    }

    /// Converts the first `count` values to a parameter of the scene.
    pub(crate) fn to_param(self, count: usize) -> ParamValue {
        match self {
            ParamSlice::Floats(values) => ParamValue::Floats(values[..count].to_vec()),
            ParamSlice::Ints(values) => ParamValue::Ints(values[..count].to_vec()),
            ParamSlice::Strings(values) => ParamValue::Strings(values[..count].to_vec()),
        }
    }
}

impl ParamList {
    /// Sets the RGB of each sample of the colours that are read from now on; none for colours that are RGB.
    pub(crate) fn set_samples(&mut self, rgb_from_samples: Arc<[[f32; 3]]>) {
        self.rgb_from_samples = rgb_from_samples;
    }

    /// Replaces colours from `start` on, given by samples, by their RGB.
    fn convert_colours(&mut self, start: usize, declaration: &Declaration, offset: usize) -> Parsed<()> {
        let count = self.rgb_from_samples.len();
        if count == 0 || declaration.ty != ValueType::Color || !declaration.is_typed() {
            return Ok(());
        }
        let samples = self.floats.split_off(start);
        if !samples.len().is_multiple_of(count) {
            let message = format!(
                "\"{}\" has {} numbers, which are not colours of {count} samples, as ColorSamples says",
                declaration.name,
                samples.len()
            );
            return Err(RequestFault::error("badcolor", offset, message));
        }
        let rgb_from_samples = &self.rgb_from_samples;
        self.floats.extend(samples.chunks_exact(count).flat_map(|colour| rgb_of(colour, rgb_from_samples)));
        Ok(())
    }

    /// Reads pairs up to the next request. `resolve` returns what a token means. Faults that affect only one pair are
    /// passed to `report`, and the pair is skipped.
    pub(crate) fn read(
        &mut self,
        lexer: &mut Lexer<'_>,
        resolve: &mut Resolve<'_>,
        report: &mut dyn FnMut(&Lexer<'_>, RequestFault),
    ) -> Parsed<()> {
        self.items.clear();
        self.floats.clear();
        self.ints.clear();
        self.strings.clear();
        loop {
            match lexer.peek() {
                TokenKind::Word | TokenKind::End | TokenKind::Binary => return Ok(()),
                TokenKind::String => {}
                other => {
                    let message = format!("expected a parameter name, found {}", describe(other));
                    return Err(RequestFault::error("badparamlist", lexer.position(), message));
                }
            }
            let offset = lexer.position();
            let token = lexer.string()?;
            if matches!(lexer.peek(), TokenKind::Word | TokenKind::End | TokenKind::Binary) {
                let message = format!("the parameter \"{}\" has no value", to_text(&token));
                return Err(RequestFault::error("badparamlist", offset, message));
            }
            let start = lexer.position();
            let strings = lexer.next_value_is_strings();
            let read = resolve(&token, strings)
                .map_err(|message| {
                    RequestFault::error("badtoken", offset, message)
                        .hint("declare it, or write its type before the name: \"uniform float name\"")
                })
                .and_then(|declaration| self.read_value(lexer, declaration, offset));
            if let Err(fault) = read {
                lexer.go_back(start);
                lexer.skip_value()?;
                report(lexer, fault);
            }
        }
    }

    fn read_value(&mut self, lexer: &mut Lexer<'_>, declaration: Rc<Declaration>, offset: usize) -> Parsed<()> {
        let array = lexer.peek() == TokenKind::Open;
        let wrong = |kind: TokenKind, wanted: &str| {
            let message = format!("\"{}\" takes {wanted}, not {}", declaration.name, describe(kind));
            Err(RequestFault::error("badargument", offset, message))
        };
        let values = match (declaration.ty, lexer.peek()) {
            (ValueType::String, _) if array => {
                let start = self.strings.len();
                let strings = &mut self.strings;
                lexer.string_array(&mut |text| strings.push(to_text(&text)))?;
                start..self.strings.len()
            }
            (ValueType::String, TokenKind::String) => {
                let text = lexer.string()?;
                self.strings.push(to_text(&text));
                self.strings.len() - 1..self.strings.len()
            }
            (ValueType::String, kind) => return wrong(kind, "strings"),
            (ValueType::Int, _) if array => {
                let start = self.ints.len();
                lexer.int_array(&mut self.ints)?;
                start..self.ints.len()
            }
            (ValueType::Int, TokenKind::Number) => {
                self.ints.push(lexer.int()?);
                self.ints.len() - 1..self.ints.len()
            }
            (ValueType::Int, kind) => return wrong(kind, "integers"),
            (_, _) if array => {
                let start = self.floats.len();
                lexer.float_array(&mut self.floats)?;
                self.convert_colours(start, &declaration, offset)?;
                start..self.floats.len()
            }
            (_, TokenKind::Number) => {
                let start = self.floats.len();
                self.floats.push(lexer.float32()?);
                self.convert_colours(start, &declaration, offset)?;
                start..self.floats.len()
            }
            (_, kind) => return wrong(kind, "numbers"),
        };
        self.items.push(Param { declaration, offset, values });
        Ok(())
    }

    /// Iterates over the pairs in the order given.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Param> {
        self.items.iter()
    }

    /// Finds the pair with this name; the last of several wins.
    pub(crate) fn find(&self, name: &str) -> Option<&Param> {
        self.items.iter().rev().find(|param| &*param.declaration.name == name)
    }

    /// Returns the values of a pair.
    pub(crate) fn values(&self, param: &Param) -> ParamSlice<'_> {
        let range = param.values.clone();
        match param.declaration.ty {
            ValueType::String => ParamSlice::Strings(&self.strings[range]),
            ValueType::Int => ParamSlice::Ints(&self.ints[range]),
            _ => ParamSlice::Floats(&self.floats[range]),
        }
    }

    /// Returns the first `count` numbers of the pair with this name, integers included, if there are that many.
    pub(crate) fn numbers(&self, name: &str, count: usize) -> Option<Vec<f32>> {
        match self.values(self.find(name)?) {
            ParamSlice::Floats(values) => values.get(..count).map(<[f32]>::to_vec),
            ParamSlice::Ints(values) => {
                values.get(..count).map(|values| values.iter().map(|&value| value as f32).collect())
            }
            ParamSlice::Strings(_) => None,
        }
    }

    /// Returns the first string of the pair with this name.
    pub(crate) fn string(&self, name: &str) -> Option<Arc<str>> {
        match self.values(self.find(name)?) {
            ParamSlice::Strings(values) => values.first().cloned(),
            ParamSlice::Floats(_) | ParamSlice::Ints(_) => None,
        }
    }

    /// Converts the pairs to shader parameters of one value each. A pair with too few values is dropped, surplus values
    /// are ignored.
    pub(crate) fn shader_params(&self, report: &mut dyn FnMut(RequestFault)) -> Vec<ShaderParam> {
        let mut params = Vec::with_capacity(self.items.len());
        for item in &self.items {
            let values = self.values(item);
            if let Some(count) = check_count(item, values.len(), 1, report) {
                let declaration = &item.declaration;
                let name = Arc::clone(&declaration.name);
                let ty = declaration.is_typed().then_some(declaration.ty);
                params.push(ShaderParam { name, ty, value: values.to_param(count) });
            }
        }
        params
    }
}

/// Checks that the `found` numbers or strings of a pair suffice for `count` values of its type, and returns how many to
/// use.
pub(crate) fn check_count(
    param: &Param,
    found: usize,
    count: u64,
    report: &mut dyn FnMut(RequestFault),
) -> Option<usize> {
    let declaration = &param.declaration;
    if !declaration.is_typed() {
        return untyped_count(param, found, report);
    }
    let wanted = count.saturating_mul(declaration.width());
    let what = if declaration.ty == ValueType::String { "strings" } else { "numbers" };
    let name = &declaration.name;
    if (found as u64) < wanted {
        let message = format!("\"{name}\" has {found} {what} and needs {wanted}");
        report(RequestFault::error("badarray", param.offset, message).hint("it is left out"));
        return None;
    }
    if (found as u64) > wanted {
        let message = format!("\"{name}\" has {found} {what}, only the first {wanted} are used");
        report(RequestFault::warning("badarray", param.offset, message));
    }
    Some(wanted as usize)
}

/// The most values of a shader's parameter that nothing declares.
const UNTYPED_VALUES_MAX: usize = 1 << 14;

/// Returns the count of values whose type the shader's parameter has: all of them, because the shader is not known
/// here.
fn untyped_count(param: &Param, found: usize, report: &mut dyn FnMut(RequestFault)) -> Option<usize> {
    if found <= UNTYPED_VALUES_MAX {
        return Some(found);
    }
    let name = &param.declaration.name;
    let message = format!("\"{name}\" has {found} values without a declaration, more than {UNTYPED_VALUES_MAX}");
    report(RequestFault::error("badarray", param.offset, message).hint("it is left out; declare its type"));
    None
}
