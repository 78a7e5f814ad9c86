//! The text form of the IR: what `anthill shader compile --ir` shows, and what test cases are written in
//! ([`super::parse`]).

use super::body::{Body, Inst, ParamDefault, Region, Shader, Value};
use super::op::Op;
use super::types::{Const, Rate};
use std::fmt::{self, Display, Formatter, Write};
use std::sync::Arc;

/// Returns a shader as text.
pub fn print(shader: &Shader) -> String {
    let mut p = Printer { body: &shader.body, out: String::new() };
    p.shader(shader).expect("writing to a string does not fail");
    p.out
}

/// Returns a region as text, for messages about programs that are not shaders any more.
pub fn print_region(body: &Body, region: Region) -> String {
    let mut p = Printer { body, out: String::new() };
    p.region(region, 0).expect("writing to a string does not fail");
    p.out
}

/// A float that reads back as the same bits.
struct Float(f32);

impl Display for Float {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.is_finite() { write!(f, "{:?}", self.0) } else { write!(f, "{:#010x}", self.0.to_bits()) }
    }
}

/// A string in double quotes.
struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

/// Writes names after an operation's other attributes.
fn names(f: &mut Formatter<'_>, names: &[Arc<str>]) -> fmt::Result {
    names.iter().try_for_each(|name| write!(f, " {}", Quoted(name)))
}

impl Display for Const {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let floats = |f: &mut Formatter<'_>, xs: &[f32]| {
            xs.iter().enumerate().try_for_each(|(i, &x)| write!(f, "{}{}", if i == 0 { "" } else { " " }, Float(x)))
        };
        match self {
            Const::Bool(x) => write!(f, "{x}"),
            Const::U32(x) => write!(f, "{x}"),
            Const::F32(x) => write!(f, "{}", Float(*x)),
            Const::Vec3(x) => floats(f, x),
            Const::Mat4(x) => floats(f, &x[..]),
            Const::Str(x) => write!(f, "{}", Quoted(x)),
        }
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

impl Display for Rate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rate::Constant => "constant",
            Rate::Uniform => "uniform",
            Rate::Varying => "varying",
        })
    }
}

/// An operation's name and attributes.
impl Display for Op {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Op::Const(c) => write!(f, "const {c}"),
            Op::Global(g) => write!(f, "global {}", g.name()),
            Op::Param(p) => write!(f, "param {}", p.0),
            Op::ParamElement(p) => write!(f, "param_element {}", p.0),
            Op::Space(name, d) => write!(f, "space {} {}", Quoted(name), d.name()),
            Op::SpaceOf(d) => write!(f, "space_of {}", d.name()),
            Op::Query { source, name, ty, count } => {
                write!(f, "query {} {} {ty} {count}", source.name(), Quoted(name))
            }
            Op::QueryBy { source, ty, count } => write!(f, "query_by {} {ty} {count}", source.name()),
            Op::TextureInfo { name, ty, count } => write!(f, "texture_info {} {ty} {count}", Quoted(name)),
            Op::Format(format) => write!(f, "format {}", Quoted(format)),
            Op::FormatBy => f.write_str("format_by"),
            Op::Match => f.write_str("match"),
            Op::LookupFilter => f.write_str("lookup_filter"),
            Op::Message { target, name, ty, count } => {
                write!(f, "message {} {} {ty}", target.name(), Quoted(name))?;
                if *count == 1 { Ok(()) } else { write!(f, " [{count}]") }
            }
            Op::Unary(op) => f.write_str(op.name()),
            Op::Binary(op) => f.write_str(op.name()),
            Op::Compare(op) => f.write_str(op.name()),
            Op::Select => f.write_str("select"),
            Op::Vec3 => f.write_str("vec3"),
            Op::Comp(i) => write!(f, "comp {i}"),
            Op::CompAt => f.write_str("comp_at"),
            Op::SetComp(i) => write!(f, "set_comp {i}"),
            Op::SetCompAt => f.write_str("set_comp_at"),
            Op::Mat4 => f.write_str("mat4"),
            Op::MatComp => f.write_str("mat_comp"),
            Op::SetMatComp => f.write_str("set_mat_comp"),
            Op::Noise { kind, dimension, ty } => write!(f, "noise {} {dimension} {ty}", kind.name()),
            Op::Random { site, ty } => write!(f, "random {site} {ty}"),
            Op::Spline { basis, solve } => write!(f, "spline {}{}", basis.name(), if *solve { " solve" } else { "" }),
            Op::ColorTransform(from, to) => write!(f, "color_transform {} {}", from.name(), to.name()),
            Op::Derivative(axis) => write!(f, "derivative {}", axis.name()),
            Op::Lookup(l) => write!(f, "lookup {} {}", l.kind.name(), l.ty),
            Op::Points(ty) => write!(f, "points {ty}"),
            Op::TextureFact(fact, number) => write!(f, "texture_fact {} {number}", fact.name()),
            Op::Table(constants) => {
                f.write_str("table")?;
                constants.iter().try_for_each(|constant| write!(f, " [{constant}]"))
            }
            Op::SlotLoad(s) => write!(f, "slot_load {}", s.0),
            Op::SlotStore(s) => write!(f, "slot_store {}", s.0),
            Op::Printf(format) => write!(f, "printf {}", Quoted(format)),
            Op::Bake(names) => write!(f, "bake {}", Quoted(names)),
            Op::If => f.write_str("if"),
            Op::Loop => f.write_str("loop"),
            Op::Illuminance { cone, shown } => {
                f.write_str(if *cone { "illuminance cone" } else { "illuminance" })?;
                names(f, shown)
            }
            Op::Ambient(shown) => {
                f.write_str("ambient")?;
                names(f, shown)
            }
            Op::Load { buffer, record, lane, ty } => write!(f, "load {} {record} {lane} {ty}", buffer.name()),
            Op::Channel { channel, lane, ty } => write!(f, "channel {channel} {lane} {ty}"),
            Op::Restore { channel, lane, ty } => write!(f, "restore {channel} {lane} {ty}"),
            Op::Builtin(b) => write!(f, "builtin {}", b.name()),
            Op::Switch => f.write_str("switch"),
            Op::LightLoop { local, ambient, shown } => {
                let (l, a) = (if *local { " local" } else { "" }, if *ambient { " ambient" } else { "" });
                write!(f, "light_loop{l}{a}")?;
                names(f, shown)
            }
            Op::Derivatives(items) => {
                f.write_str("derivatives")?;
                items.iter().try_for_each(|(i, axis)| write!(f, " {i} {}", axis.name()))
            }
            Op::Any => f.write_str("any"),
            Op::CategoryMatches => f.write_str("category_matches"),
        }
    }
}

struct Printer<'a> {
    body: &'a Body,
    out: String,
}

impl Printer<'_> {
    fn shader(&mut self, shader: &Shader) -> fmt::Result {
        writeln!(self.out, "shader {} {}", shader.kind.name(), Quoted(&shader.name))?;
        for slot in self.body.slots() {
            writeln!(self.out, "array {} {}", slot.ty, slot.len)?;
        }
        for param in &shader.params {
            let output = if param.output { "output " } else { "" };
            write!(self.out, "param {output}{} {} {}", param.rate, param.ty, Quoted(&param.name))?;
            if let Some(len) = param.array {
                write!(self.out, " [{len}]")?;
            }
            match &param.default {
                ParamDefault::Values(values) => {
                    let values: Vec<_> = values.iter().map(Const::to_string).collect();
                    writeln!(self.out, " = {}", values.join(", "))?;
                }
                ParamDefault::Computed(region) => {
                    self.region(*region, 0)?;
                    self.out.push('\n');
                }
            }
        }
        self.out.push_str("code");
        self.region(self.body.root(), 0)?;
        self.out.push_str("\noutput");
        for output in &shader.outputs {
            write!(self.out, " {}", Quoted(&output.name))?;
        }
        self.out.push('\n');
        Ok(())
    }

    fn typed(&mut self, values: &[Value]) -> fmt::Result {
        for (i, &v) in values.iter().enumerate() {
            write!(self.out, "{}{v}: {}", if i == 0 { "" } else { ", " }, self.body.ty(v))?;
        }
        Ok(())
    }

    fn region(&mut self, region: Region, depth: usize) -> fmt::Result {
        let body = self.body;
        let data = body.region(region);
        if !data.params.is_empty() {
            self.out.push_str(" |");
            self.typed(&data.params)?;
            self.out.push('|');
        }
        self.out.push_str(" {\n");
        let indent = "  ".repeat(depth + 1);
        for &inst in &data.insts {
            self.out.push_str(&indent);
            self.inst(inst, depth)?;
        }
        write!(self.out, "{indent}yield")?;
        for v in &data.results {
            write!(self.out, " {v}")?;
        }
        write!(self.out, "\n{}}}", "  ".repeat(depth))
    }

    fn inst(&mut self, inst: Inst, depth: usize) -> fmt::Result {
        let body = self.body;
        let data = body.inst(inst);
        if !data.results.is_empty() {
            self.typed(&data.results)?;
            self.out.push_str(" = ");
        }
        write!(self.out, "{}", data.op)?;
        if !data.args.is_empty() {
            let args: Vec<_> = data.args.iter().map(Value::to_string).collect();
            write!(self.out, "({})", args.join(", "))?;
        }
        for &region in &data.regions {
            self.region(region, depth + 1)?;
        }
        self.out.push('\n');
        Ok(())
    }
}
