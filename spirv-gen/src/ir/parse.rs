//! Reads the text form of the IR (see [`super::print`]). Used by tests and tools; shaders come from the front end.

use super::arithmetic::{Binary, Compare, Unary};
use super::body::{Body, Inst, Output, Param, ParamDefault, Region, Shader, ShaderKind, Value};
use super::lookup::{Lookup, LookupKind, TextureFact};
use super::op::*;
use super::signature::result_types;
use super::types::{Const, MachineType, Rate, RslType};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ParseError {
    /// Line, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// Reads a shader.
///
/// # Errors
/// Returns the first thing that is wrong, with its line.
pub fn parse(text: &str) -> Result<Shader, ParseError> {
    let tokens = lex(text)?;
    let mut parser =
        IrParser { tokens, at: 0, body: Body::default(), params: Vec::new(), values: FxHashMap::default(), depth: 0 };
    parser.shader()
}

#[derive(Clone, Debug, PartialEq)]
enum TextToken {
    Word(String),
    Text(String),
    Value(u32),
    Sign(char),
    End,
}

fn lex(text: &str) -> Result<Vec<(usize, TextToken)>, ParseError> {
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+');
        let token = match c {
            '\n' => {
                line += 1;
                continue;
            }
            c if c.is_whitespace() => continue,
            ';' => {
                while rest.next_if(|&c| c != '\n').is_some() {}
                continue;
            }
            '"' => TextToken::Text(quoted(&mut rest).ok_or(ParseError { line, message: "unfinished string".into() })?),
            '%' => {
                let digits: String = std::iter::from_fn(|| rest.next_if(char::is_ascii_digit)).collect();
                let number = digits.parse().map_err(|_| ParseError { line, message: "a number follows %".into() })?;
                TextToken::Value(number)
            }
            c if word(c) => {
                let tail: String = std::iter::from_fn(|| rest.next_if(|&c| word(c))).collect();
                TextToken::Word(format!("{c}{tail}"))
            }
            c => TextToken::Sign(c),
        };
        tokens.push((line, token));
    }
    tokens.push((line, TextToken::End));
    Ok(tokens)
}

fn quoted(rest: &mut impl Iterator<Item = char>) -> Option<String> {
    let mut text = String::new();
    loop {
        match rest.next()? {
            '"' => return Some(text),
            '\\' => match rest.next()? {
                'n' => text.push('\n'),
                c => text.push(c),
            },
            c => text.push(c),
        }
    }
}

struct IrParser {
    tokens: Vec<(usize, TextToken)>,
    at: usize,
    body: Body,
    params: Vec<Param>,
    values: FxHashMap<u32, Value>,
    depth: u32,
}

/// Deepest nesting of regions that is read: the reader and the passes recurse.
const DEPTH_MAX: u32 = 100;

type ParseResult<T> = Result<T, ParseError>;

impl IrParser {
    fn fail<T>(&self, message: impl Into<String>) -> ParseResult<T> {
        let line = self.tokens[self.at.min(self.tokens.len() - 1)].0;
        Err(ParseError { line, message: message.into() })
    }

    fn peek(&self) -> &TextToken {
        &self.tokens[self.at].1
    }

    fn next(&mut self) -> TextToken {
        let token = self.tokens[self.at].1.clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn eat(&mut self, token: &TextToken) -> bool {
        let found = self.peek() == token;
        if found {
            self.next();
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        self.eat(&TextToken::Word(word.into()))
    }

    fn sign(&mut self, sign: char) -> ParseResult<()> {
        if self.eat(&TextToken::Sign(sign)) { Ok(()) } else { self.fail(format!("expected {sign}")) }
    }

    fn word(&mut self) -> ParseResult<String> {
        match self.next() {
            TextToken::Word(word) => Ok(word),
            _ => self.fail("expected a word"),
        }
    }

    fn named<T>(&mut self, from_name: impl Fn(&str) -> Option<T>, what: &str) -> ParseResult<T> {
        let word = self.word()?;
        from_name(&word).map_or_else(|| self.fail(format!("{word} is not {what}")), Ok)
    }

    fn text(&mut self) -> ParseResult<String> {
        match self.next() {
            TextToken::Text(text) => Ok(text),
            _ => self.fail("expected a string"),
        }
    }

    /// Reads strings, as many as there are.
    fn texts(&mut self) -> ParseResult<Vec<Arc<str>>> {
        let mut texts = Vec::new();
        while let TextToken::Text(_) = self.peek() {
            texts.push(self.text()?.into());
        }
        Ok(texts)
    }

    fn number<T: std::str::FromStr>(&mut self) -> ParseResult<T> {
        let word = self.word()?;
        word.parse().or_else(|_| self.fail(format!("{word} is not such a number")))
    }

    /// `[3]`, if it is there.
    fn array_length(&mut self) -> ParseResult<Option<u32>> {
        if !self.eat(&TextToken::Sign('[')) {
            return Ok(None);
        }
        let length = self.number()?;
        self.sign(']')?;
        Ok(Some(length))
    }

    /// Reads the constants of a table, each in brackets.
    fn table(&mut self, ty: Option<MachineType>) -> ParseResult<Op> {
        let Some(ty) = ty else { return self.fail("a table has a result") };
        let mut constants = Vec::new();
        while self.eat(&TextToken::Sign('[')) {
            constants.push(self.constant(ty)?);
            self.sign(']')?;
        }
        Ok(Op::Table(constants.into()))
    }

    fn float(&mut self) -> ParseResult<f32> {
        let word = self.word()?;
        let bits = word.strip_prefix("0x").and_then(|hex| u32::from_str_radix(hex, 16).ok()).map(f32::from_bits);
        bits.or_else(|| word.parse().ok()).map_or_else(|| self.fail(format!("{word} is not a float")), Ok)
    }

    fn ty(&mut self) -> ParseResult<MachineType> {
        self.named(MachineType::from_name, "a type")
    }

    fn constant(&mut self, ty: MachineType) -> ParseResult<Const> {
        Ok(match ty {
            MachineType::Bool => Const::Bool(self.number()?),
            MachineType::U32 => Const::U32(self.number()?),
            MachineType::F32 => Const::F32(self.float()?),
            MachineType::Vec3 => Const::Vec3([self.float()?, self.float()?, self.float()?]),
            MachineType::Mat4 => {
                let mut m = [0.0; 16];
                for x in &mut m {
                    *x = self.float()?;
                }
                Const::Mat4(Box::new(m))
            }
            MachineType::Str => Const::Str(self.text()?.into()),
        })
    }

    fn shader(&mut self) -> ParseResult<Shader> {
        if !self.eat_word("shader") {
            return self.fail("expected shader");
        }
        let kind = self.named(|n| ShaderKind::ALL.into_iter().find(|k| k.name() == n), "a kind of shader")?;
        let name = self.text()?;
        while self.eat_word("array") {
            let (ty, len) = (self.ty()?, self.number()?);
            self.body.add_slot(ty, len);
        }
        while self.eat_word("param") {
            let param = self.param()?;
            self.params.push(param);
        }
        if !self.eat_word("code") {
            return self.fail("expected code");
        }
        self.region(Some(self.body.root()))?;
        if !self.eat_word("output") {
            return self.fail("expected output");
        }
        let results = self.body.region(self.body.root()).results.clone();
        let mut outputs = Vec::new();
        while let TextToken::Text(name) = self.peek() {
            let Some(&value) = results.get(outputs.len()) else { return self.fail("more outputs than values") };
            outputs.push(Output { name: name.as_str().into(), ty: self.body.ty(value) });
            self.next();
        }
        if *self.peek() != TextToken::End || outputs.len() != results.len() {
            return self.fail("expected a name for each value that the code yields, and then the end");
        }
        let (params, body) = (std::mem::take(&mut self.params), std::mem::take(&mut self.body));
        Ok(Shader { name: name.into(), kind, params, outputs, body })
    }

    fn param(&mut self) -> ParseResult<Param> {
        let output = self.eat_word("output");
        let rate = if self.eat_word("varying") { Rate::Varying } else { Rate::Uniform };
        if rate == Rate::Uniform && !self.eat_word("uniform") {
            return self.fail("expected uniform or varying");
        }
        let ty = self.named(RslType::from_name, "a type of the language")?;
        let name = self.text()?.into();
        let array = self.array_length()?;
        let default = if self.eat(&TextToken::Sign('=')) {
            let mut values = vec![self.constant(ty.machine())?];
            while self.eat(&TextToken::Sign(',')) {
                values.push(self.constant(ty.machine())?);
            }
            ParamDefault::Values(values)
        } else {
            ParamDefault::Computed(self.region(None)?)
        };
        Ok(Param { name, ty, array, rate, output, default })
    }

    fn value(&mut self) -> ParseResult<Value> {
        let TextToken::Value(number) = self.next() else { return self.fail("expected a value") };
        self.values.get(&number).copied().map_or_else(|| self.fail(format!("%{number} is not defined")), Ok)
    }

    /// `%1: f32, %2: vec3`; the numbers and types.
    fn typed(&mut self) -> ParseResult<Vec<(u32, MachineType)>> {
        let mut list = Vec::new();
        while let TextToken::Value(number) = *self.peek() {
            self.next();
            self.sign(':')?;
            list.push((number, self.ty()?));
            if !self.eat(&TextToken::Sign(',')) {
                break;
            }
        }
        Ok(list)
    }

    fn region(&mut self, into: Option<Region>) -> ParseResult<Region> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return self.fail("regions are nested too deeply");
        }
        let region = into.unwrap_or_else(|| self.body.add_region());
        if self.eat(&TextToken::Sign('|')) {
            for (number, ty) in self.typed()? {
                let value = self.body.add_region_param(region, ty);
                self.values.insert(number, value);
            }
            self.sign('|')?;
        }
        self.sign('{')?;
        while !self.eat_word("yield") {
            let inst = self.inst()?;
            self.body.region_mut(region).insts.push(inst);
        }
        while matches!(self.peek(), TextToken::Value(_)) {
            let value = self.value()?;
            self.body.region_mut(region).results.push(value);
        }
        self.sign('}')?;
        self.depth -= 1;
        Ok(region)
    }

    fn inst(&mut self) -> ParseResult<Inst> {
        let results = self.typed()?;
        if !results.is_empty() {
            self.sign('=')?;
        }
        let types: Vec<_> = results.iter().map(|r| r.1).collect();
        let op = self.op(types.first().copied())?;
        let mut args = Vec::new();
        if self.eat(&TextToken::Sign('(')) {
            args.push(self.value()?);
            while self.eat(&TextToken::Sign(',')) {
                args.push(self.value()?);
            }
            self.sign(')')?;
        }
        if !op.has_regions() {
            let given: Vec<_> = args.iter().map(|&a| self.body.ty(a)).collect();
            match result_types(&op, &given, &self.params, &self.body) {
                Ok(expected) if expected == types => {}
                Ok(expected) => return self.fail(format!("{op} gives {expected:?}")),
                Err(why) => return self.fail(format!("{op} {why}")),
            }
        }
        let mut regions = Vec::new();
        while op.has_regions() && matches!(self.peek(), TextToken::Sign('{' | '|')) {
            regions.push(self.region(None)?);
        }
        let inst = self.body.add_inst(op, args, regions, &types);
        for (&(number, _), &value) in results.iter().zip(&self.body.inst(inst).results) {
            self.values.insert(number, value);
        }
        Ok(inst)
    }

    fn op(&mut self, ty: Option<MachineType>) -> ParseResult<Op> {
        let name = self.word()?;
        if let Some(op) = Unary::from_name(&name) {
            return Ok(Op::Unary(op));
        }
        if let Some(op) = Binary::from_name(&name) {
            return Ok(Op::Binary(op));
        }
        if let Some(op) = Compare::from_name(&name) {
            return Ok(Op::Compare(op));
        }
        let plain = match &*name {
            "select" => Some(Op::Select),
            "vec3" => Some(Op::Vec3),
            "comp_at" => Some(Op::CompAt),
            "set_comp_at" => Some(Op::SetCompAt),
            "mat4" => Some(Op::Mat4),
            "mat_comp" => Some(Op::MatComp),
            "set_mat_comp" => Some(Op::SetMatComp),
            "if" => Some(Op::If),
            "loop" => Some(Op::Loop),
            "switch" => Some(Op::Switch),
            "any" => Some(Op::Any),
            "category_matches" => Some(Op::CategoryMatches),
            _ => None,
        };
        plain.map_or_else(|| self.op_with_attributes(&name, ty), Ok)
    }

    fn query(&mut self, word: &str) -> ParseResult<Op> {
        let source = self.named(QuerySource::from_name, "a source")?;
        let name = if word == "query" { Some(self.text()?) } else { None };
        let ty = self.named(RslType::from_name, "a type of the language")?;
        let count = self.number()?;
        Ok(match name {
            Some(name) => Op::Query { source, name: name.into(), ty, count },
            None => Op::QueryBy { source, ty, count },
        })
    }

    fn op_with_attributes(&mut self, name: &str, ty: Option<MachineType>) -> ParseResult<Op> {
        Ok(match name {
            "const" => match ty {
                Some(ty) => Op::Const(self.constant(ty)?),
                None => return self.fail("a constant has a result"),
            },
            "global" => Op::Global(self.named(Global::from_name, "a global")?),
            "param" => Op::Param(ParamId(self.number()?)),
            "param_element" => Op::ParamElement(ParamId(self.number()?)),
            "space" => Op::Space(self.text()?.into(), self.named(Direction::from_name, "a direction")?),
            "space_of" => Op::SpaceOf(self.named(Direction::from_name, "a direction")?),
            "query" | "query_by" => self.query(name)?,
            "texture_info" => Op::TextureInfo {
                name: self.text()?.into(),
                ty: self.named(RslType::from_name, "a type of the language")?,
                count: self.number()?,
            },
            "format" => Op::Format(self.text()?.into()),
            "format_by" => Op::FormatBy,
            "match" => Op::Match,
            "lookup_filter" => Op::LookupFilter,
            "message" => Op::Message {
                target: self.named(MessageTarget::from_name, "a target")?,
                name: self.text()?.into(),
                ty: self.named(RslType::from_name, "a type of the language")?,
                count: self.array_length()?.unwrap_or(1),
            },
            "comp" => Op::Comp(self.number()?),
            "set_comp" => Op::SetComp(self.number()?),
            "noise" => Op::Noise {
                kind: self.named(NoiseKind::from_name, "a kind of noise")?,
                dimension: self.number()?,
                ty: self.ty()?,
            },
            "random" => Op::Random { site: self.number()?, ty: self.ty()? },
            "spline" => Op::Spline { basis: self.named(Basis::from_name, "a basis")?, solve: self.eat_word("solve") },
            "color_transform" => {
                let mut space = || self.named(ColorSpace::from_name, "a colour space");
                Op::ColorTransform(space()?, space()?)
            }
            "derivative" => Op::Derivative(self.named(Axis::from_name, "an axis")?),
            "lookup" => {
                let (kind, ty) = (self.named(LookupKind::from_name, "a lookup")?, self.ty()?);
                Op::Lookup(Lookup { kind, ty })
            }
            "points" => Op::Points(self.ty()?),
            "texture_fact" => {
                Op::TextureFact(self.named(TextureFact::from_name, "a fact of a texture")?, self.number()?)
            }
            "table" => self.table(ty)?,
            "slot_load" => Op::SlotLoad(Slot(self.number()?)),
            "slot_store" => Op::SlotStore(Slot(self.number()?)),
            "printf" => Op::Printf(self.text()?.into()),
            "bake" => Op::Bake(self.text()?.into()),
            "illuminance" => Op::Illuminance { cone: self.eat_word("cone"), shown: self.texts()?.into() },
            "ambient" => Op::Ambient(self.texts()?.into()),
            "load" => Op::Load {
                buffer: self.named(Buffer::from_name, "a buffer")?,
                record: self.number()?,
                lane: self.number()?,
                ty: self.ty()?,
            },
            "channel" => Op::Channel { channel: self.number()?, lane: self.number()?, ty: self.ty()? },
            "restore" => Op::Restore { channel: self.number()?, lane: self.number()?, ty: self.ty()? },
            "builtin" => Op::Builtin(self.named(Builtin::from_name, "known to the kernel")?),
            "light_loop" => {
                let (local, ambient) = (self.eat_word("local"), self.eat_word("ambient"));
                Op::LightLoop { local, ambient, shown: self.texts()?.into() }
            }
            "derivatives" => {
                let mut items = Vec::new();
                while let TextToken::Word(_) = self.peek() {
                    items.push((self.number()?, self.named(Axis::from_name, "an axis")?));
                }
                Op::Derivatives(items)
            }
            _ => return self.fail(format!("{name} is not an operation")),
        })
    }
}
