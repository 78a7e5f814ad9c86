//! Random shaders as text, from a seed: what the language has and a device computes to the bit. Lookups find what
//! `textures::NAMES` has.

use crate::generate::Random;
use std::fmt::Write;

/// Types with three components.
const TRIPLES: [&str; 4] = ["color", "point", "vector", "normal"];
const TYPES: [&str; 7] = ["float", "color", "point", "vector", "normal", "matrix", "string"];
const TEXTS: [&str; 4] = ["\"\"", "\"a\"", "\"bc\"", "\"diffuse\""];

/// Something that has a name.
#[derive(Clone)]
struct Variable {
    name: String,
    ty: &'static str,
    length: Length,
    writable: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    Single,
    Fixed(usize),
    Resizable,
}

/// A function that later code may call.
#[derive(Clone)]
struct Function {
    name: String,
    result: &'static str,
    arguments: Vec<Variable>,
}

/// Writes the statements of a shader or function.
struct Writer<'r> {
    random: &'r mut Random,
    text: String,
    variables: Vec<Variable>,
    functions: Vec<Function>,
    names: usize,
    depth: usize,
    loops: usize,
    in_lights: bool,
    /// A surface's own code: it sees lights, and neighbouring points.
    is_surface: bool,
}

/// A surface with what `generate::scene` gives it: `k` and `tint`; and `extra`.
pub(crate) fn surface(random: &mut Random) -> String {
    let mut w = Writer::new(random);
    w.functions(3);
    w.is_surface = true;
    w.text += "surface generated(uniform float k = 0.75; varying color tint = color (0.5, 0.25, 1); output varying float extra = 0;)\n{\n";
    w.know("float", &["k", "u", "v", "s", "t"], false);
    w.know("color", &["tint", "Cs", "Os"], false);
    w.know("point", &["P"], false);
    w.know("normal", &["N"], false);
    w.know("float", &["extra"], true);
    w.know("color", &["Ci", "Oi"], true);
    let size = 6 + w.random.below(20);
    w.statements(size);
    for output in ["Ci", "Oi"] {
        let parts = [w.expression("color", 2), w.expression("color", 2)].join(" + ");
        _ = writeln!(w.text, "{output} += {parts};");
    }
    let extra = w.expression("float", 3);
    _ = writeln!(w.text, "extra += {extra};\n}}");
    w.text
}

/// A light with `k` and `tint`.
pub(crate) fn light(random: &mut Random, shines: bool) -> String {
    let mut w = Writer::new(random);
    w.functions(1);
    w.text += "light generated(uniform float k = 1; uniform color tint = 1;)\n{\n";
    w.know("float", &["k"], false);
    w.know("color", &["tint"], false);
    w.statements(3);
    let color = w.expression("color", 2);
    if shines {
        w.text += "illuminate (point \"shader\" (0.3, 2, -1)) {\n";
        w.know("point", &["Ps"], false);
        w.know("vector", &["L"], false);
        w.statements(3);
        let more = w.expression("color", 2);
        _ = writeln!(w.text, "Cl = {color} + {more};\n}}\n}}");
    } else {
        _ = writeln!(w.text, "Cl = {color};\n}}");
    }
    w.text
}

impl<'r> Writer<'r> {
    fn new(random: &'r mut Random) -> Self {
        Self {
            random,
            text: String::new(),
            variables: Vec::new(),
            functions: Vec::new(),
            names: 0,
            depth: 0,
            loops: 0,
            in_lights: false,
            is_surface: false,
        }
    }

    fn know(&mut self, ty: &'static str, names: &[&str], writable: bool) {
        let variable = |name: &&str| Variable { name: (*name).to_owned(), ty, length: Length::Single, writable };
        self.variables.extend(names.iter().map(variable));
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("x{}", self.names)
    }

    /// Some functions, each of which may call those before it.
    fn functions(&mut self, most: usize) {
        for _ in 0..self.random.below(most + 1) {
            let name = format!("f{}", self.functions.len());
            let result = self.random.pick(&["void", "float", "color", "vector", "matrix", "string"]);
            let count = 1 + self.random.below(4);
            let arguments: Vec<_> = (0..count).map(|_| self.argument()).collect();
            let declared: Vec<_> = arguments.iter().map(declaration).collect();
            _ = writeln!(self.text, "{result} {name}({})\n{{", declared.join("; "));
            if self.random.chance(50) {
                self.text += "extern point P; extern normal N;\n";
            }
            self.variables.clone_from(&arguments);
            let size = 1 + self.random.below(5);
            self.statements(size);
            if result != "void" {
                if self.random.chance(40) {
                    let (condition, value) = (self.condition(1), self.expression(result, 1));
                    _ = writeln!(self.text, "if ({condition}) return {value};");
                }
                let value = self.expression(result, 2);
                _ = writeln!(self.text, "return {value};");
            }
            self.text += "}\n";
            self.variables.clear();
            self.functions.push(Function { name, result, arguments });
        }
    }

    fn argument(&mut self) -> Variable {
        let (name, ty) = (self.name(), self.random.pick(&TYPES));
        let length = match self.random.below(6) {
            0 => Length::Fixed(3),
            1 => Length::Resizable,
            _ => Length::Single,
        };
        Variable { name, ty, length, writable: self.random.chance(50) }
    }

    // -- statements

    fn statements(&mut self, size: usize) {
        for _ in 0..size {
            self.statement();
        }
    }

    fn block(&mut self, size: usize) {
        let known = self.variables.len();
        self.depth += 1;
        self.text += "{\n";
        self.statements(size);
        self.text += "}\n";
        self.depth -= 1;
        self.variables.truncate(known);
    }

    fn statement(&mut self) {
        let nests = self.depth < 3;
        match self.random.below(16) {
            0..=2 => self.declare(),
            3 => self.declare_array(),
            4 if nests => self.branch(),
            5 if nests && self.loops < 2 => self.repeat(),
            6 if nests && self.loops < 2 => self.repeat_while(),
            7 if nests && self.is_surface && !self.in_lights => self.illuminance(),
            8 => self.call_statement(),
            9 => self.set_component(),
            10 => self.resize(),
            11 if self.loops > 0 && !self.in_lights => self.jump(),
            _ => self.assign(),
        }
    }

    fn declare(&mut self) {
        let (name, ty) = (self.name(), self.random.pick(&TYPES));
        let value = self.expression(ty, 3);
        _ = writeln!(self.text, "{ty} {name} = {value};");
        self.variables.push(Variable { name, ty, length: Length::Single, writable: true });
    }

    fn declare_array(&mut self) {
        let (name, ty) = (self.name(), self.random.pick(&TYPES));
        let count = 1 + self.random.below(4);
        let values: Vec<_> = (0..count).map(|_| self.expression(ty, 1)).collect();
        let length = match self.random.below(4) {
            0 => Length::Resizable,
            1 => Length::Fixed(3),
            2 => Length::Fixed(12),
            _ => Length::Fixed(count),
        };
        _ = match length {
            Length::Fixed(length) if length != count => writeln!(self.text, "{ty} {name}[{length}];"),
            Length::Fixed(_) => writeln!(self.text, "{ty} {name}[{count}] = {{{}}};", values.join(", ")),
            _ => writeln!(self.text, "{ty} {name}[] = {{{}}}; reserve({name}, 5);", values.join(", ")),
        };
        self.variables.push(Variable { name, ty, length, writable: true });
    }

    /// Something that can be assigned, of a type.
    fn place(&mut self, ty: Option<&str>) -> Option<(String, &'static str)> {
        let fits = |v: &&Variable| v.writable && ty.is_none_or(|ty| v.ty == ty);
        let fitting: Vec<_> = self.variables.iter().filter(fits).cloned().collect();
        if fitting.is_empty() {
            return None;
        }
        let variable = fitting[self.random.below(fitting.len())].clone();
        Some((self.part_of(&variable), variable.ty))
    }

    /// A variable, or an element of an array.
    fn part_of(&mut self, variable: &Variable) -> String {
        if variable.length == Length::Single {
            return variable.name.clone();
        }
        let index = match variable.length {
            Length::Fixed(length) if self.random.chance(50) => self.random.below(length).to_string(),
            _ => format!("0 + {}", self.expression("float", 1)),
        };
        format!("{}[{index}]", variable.name)
    }

    fn assign(&mut self) {
        let Some((place, ty)) = self.place(None) else { return self.declare() };
        let operator = match ty {
            "float" | "color" => self.random.pick(&["=", "=", "+=", "-=", "*="]),
            _ => "=",
        };
        let value = self.expression(ty, 3);
        _ = writeln!(self.text, "{place} {operator} {value};");
    }

    fn branch(&mut self) {
        let condition = self.condition(2);
        _ = write!(self.text, "if ({condition}) ");
        let size = 1 + self.random.below(3);
        self.block(size);
        if self.random.chance(50) {
            self.text += "else ";
            self.block(size);
        }
    }

    /// A loop whose number of trips is constant, uniform or varying, and at most 6.
    fn repeat(&mut self) {
        let (name, end) = (self.name(), self.expression("float", 1));
        let count = self.random.below(6);
        let end = if self.random.chance(50) { count.to_string() } else { format!("clamp({end}, 0, 6)") };
        _ = write!(self.text, "float {name}; for ({name} = 0; {name} < {end}; {name} += 1) ");
        self.variables.push(Variable { name, ty: "float", length: Length::Single, writable: false });
        self.loop_body();
    }

    fn repeat_while(&mut self) {
        let (name, condition) = (self.name(), self.condition(1));
        _ = write!(self.text, "float {name} = 0; while (({name} += 1) < 5 && {condition}) ");
        self.variables.push(Variable { name, ty: "float", length: Length::Single, writable: false });
        self.loop_body();
    }

    fn loop_body(&mut self) {
        self.loops += 1;
        let size = 1 + self.random.below(3);
        self.block(size);
        self.loops -= 1;
    }

    fn jump(&mut self) {
        let (condition, levels) = (self.condition(1), 1 + self.random.below(self.loops));
        let word = self.random.pick(&["break", "continue"]);
        _ = writeln!(self.text, "if ({condition}) {word} {levels};");
    }

    fn illuminance(&mut self) {
        let category = self.random.pick(&["", "\"diffuse\", ", "\"-specular\", ", "\"specular,key\", "]);
        let mut head = format!("{category}P");
        if self.random.chance(40) {
            let axis = self.expression("vector", 1);
            head += &format!(", {axis}, PI / 2");
        }
        let (float, color) = (self.name(), self.name());
        _ = writeln!(self.text, "float {float} = 0; color {color} = 0;");
        if self.random.chance(40) {
            let sent = self.expression("float", 1);
            head += &format!(", \"send:light:k\", {sent}, \"light:tint\", {color}");
        }
        _ = writeln!(self.text, "illuminance ({head}) {{\nlightsource(\"k\", {float});");
        let known = self.variables.len();
        self.know("color", &["Cl", "Ol"], false);
        self.know("vector", &["L"], false);
        self.know("float", &[float.as_str()], true);
        self.know("color", &[color.as_str()], true);
        (self.in_lights, self.depth) = (true, self.depth + 1);
        let size = 1 + self.random.below(4);
        self.statements(size);
        (self.in_lights, self.depth) = (false, self.depth - 1);
        self.variables.truncate(known);
        self.know("float", &[float.as_str()], true);
        self.know("color", &[color.as_str()], true);
        self.text += "}\n";
    }

    fn call_statement(&mut self) {
        match self.call(None) {
            Some(call) => _ = writeln!(self.text, "{call};"),
            None => self.assign(),
        }
    }

    fn set_component(&mut self) {
        let ty = self.random.pick(&["color", "matrix", "point", "vector"]);
        let Some((place, _)) = self.place(Some(ty)) else { return self.assign() };
        let (i, j, x) = (self.expression("float", 1), self.random.below(4), self.expression("float", 1));
        _ = match ty {
            "color" => writeln!(self.text, "setcomp({place}, {i}, {x});"),
            "matrix" => writeln!(self.text, "setcomp({place}, {i}, {j}, {x});"),
            _ => writeln!(self.text, "set{}comp({place}, {x});", ["x", "y", "z"][j % 3]),
        };
    }

    fn resize(&mut self) {
        let fits = |v: &&Variable| v.writable && v.length == Length::Resizable;
        let fitting: Vec<_> = self.variables.iter().filter(fits).cloned().collect();
        if fitting.is_empty() {
            return self.declare_array();
        }
        let Variable { name, ty, .. } = fitting[self.random.below(fitting.len())].clone();
        let (value, count) = (self.expression(ty, 2), self.expression("float", 1));
        _ = match self.random.below(4) {
            0 => writeln!(self.text, "resize({name}, {count});"),
            1 => writeln!(self.text, "pop({name});"),
            _ => writeln!(self.text, "push({name}, {value});"),
        };
    }

    // -- expressions

    /// A call of a function with such a result, or any.
    fn call(&mut self, result: Option<&str>) -> Option<String> {
        let fits = |f: &&Function| result.is_none_or(|ty| f.result == ty);
        let fitting: Vec<_> = self.functions.iter().filter(fits).cloned().collect();
        if fitting.is_empty() {
            return None;
        }
        let function = fitting[self.random.below(fitting.len())].clone();
        let mut given = Vec::new();
        for argument in &function.arguments {
            given.push(if argument.length != Length::Single {
                let fits = |v: &&Variable| {
                    let kind = v.length == argument.length
                        || argument.length == Length::Resizable && v.length != Length::Single && !argument.writable;
                    v.ty == argument.ty && kind && (v.writable || !argument.writable)
                };
                self.variables.iter().filter(fits).map(|v| v.name.clone()).next()?
            } else if argument.writable {
                self.place(Some(argument.ty))?.0
            } else {
                self.expression(argument.ty, 1)
            });
        }
        Some(format!("{}({})", function.name, given.join(", ")))
    }

    fn condition(&mut self, depth: usize) -> String {
        if depth > 0 && self.random.chance(30) {
            let (a, b) = (self.condition(depth - 1), self.condition(depth - 1));
            let operator = self.random.pick(&["&&", "||"]);
            return format!("({a} {operator} !{b})");
        }
        let ty = self.random.pick(&["float", "float", "float", "color", "string", "vector"]);
        let operators: &[&str] = if ty == "float" { &["<", "<=", ">", ">=", "==", "!="] } else { &["==", "!="] };
        let operator = self.random.pick(operators);
        let (a, b) = (self.expression(ty, depth.min(1)), self.expression(ty, depth.min(1)));
        format!("({a} {operator} {b})")
    }

    fn expression(&mut self, ty: &'static str, depth: usize) -> String {
        if depth == 0 || self.random.chance(15) {
            return self.leaf(ty);
        }
        if self.random.chance(12)
            && let Some(call) = self.call(Some(ty))
        {
            return call;
        }
        if self.random.chance(8) {
            let condition = self.condition(depth - 1);
            let (a, b) = (self.expression(ty, depth - 1), self.expression(ty, depth - 1));
            return format!("({condition} ? {a} : {b})");
        }
        match ty {
            "float" => self.float(depth - 1),
            "matrix" => self.matrix(depth - 1),
            "string" => self.leaf("string"),
            _ => self.triple(ty, depth - 1),
        }
    }

    fn leaf(&mut self, ty: &'static str) -> String {
        let fitting: Vec<_> = self.variables.iter().filter(|v| v.ty == ty).cloned().collect();
        if !fitting.is_empty() && self.random.chance(75) {
            let last = if self.random.chance(60) { fitting.len().saturating_sub(4) } else { 0 };
            let variable = fitting[last + self.random.below(fitting.len() - last)].clone();
            if variable.length == Length::Single {
                return variable.name;
            }
            let length = if let Length::Fixed(length) = variable.length { length } else { 5 };
            return format!("{}[{}]", variable.name, self.random.below(length));
        }
        let number = (self.random.float(-3.0, 3.0) * 8.0).round() / 8.0;
        match ty {
            "string" => self.random.pick(&TEXTS).to_owned(),
            "matrix" => format!("(matrix ({number}))"),
            "float" => format!("({number})"),
            _ => format!("({ty} ({number}, 0.5, 1))"),
        }
    }

    fn float(&mut self, depth: usize) -> String {
        let (a, b) = (self.expression("float", depth), self.expression("float", depth));
        match self.random.below(if self.is_surface { 20 } else { 15 }) {
            0..=3 => {
                let operator = self.random.pick(&["+", "-", "*", "/"]);
                format!("({a} {operator} {b})")
            }
            4 => {
                let f = self.random.pick(&["min", "max", "mod", "step"]);
                format!("{f}({a}, {b})")
            }
            5 => {
                let f = self.random.pick(&["abs", "floor", "ceil", "sign", "round", "sqrt"]);
                format!("{f}({a})")
            }
            6 => format!("smoothstep({a}, {b}, {a} + 1)"),
            7 => format!("clamp({a}, -2, {b})"),
            8 => {
                let (c, point) = (self.expression("color", depth), self.expression("point", depth));
                self.random.pick(&[format!("comp({c}, {a})"), format!("ycomp({point})")].each_ref()).clone()
            }
            9 => {
                let m = self.expression("matrix", depth);
                format!("comp({m}, {a}, {b})")
            }
            10 => {
                let (v, w) = (self.expression("vector", depth), self.expression("vector", depth));
                format!("({v} . {w})")
            }
            11 => {
                let (p, f) = (self.expression("point", depth), self.random.pick(&["noise", "cellnoise"]));
                self.random.pick(&[format!("(float {f}({p}))"), format!("(float {f}({a}, {b}))")].each_ref()).clone()
            }
            12 => {
                let s = self.expression("string", depth);
                format!("({s} == {})", self.random.pick(&TEXTS))
            }
            13 => self.array_number().unwrap_or(a),
            14 => format!("mix({a}, {b}, 0.25)"),
            15 => format!("Du({a})"),
            16 => format!("Dv({b})"),
            17 => {
                let texture = self.random.pick(&["\"plain.tx\"", "\"wide.tx\"[3]", "\"plain.tx\"[1]"]);
                format!("(float texture({texture}, clamp({a}, -4, 4), clamp({b}, -4, 4)))")
            }
            18 => {
                let p = self.expression("point", depth);
                format!("(float shadow(\"depth.tx\", {p}, \"samples\", 4))")
            }
            _ => "(float random())".to_owned(),
        }
    }

    /// The length of an array, or an element that is taken off it.
    fn array_number(&mut self) -> Option<String> {
        let arrays: Vec<_> = self.variables.iter().filter(|v| v.length != Length::Single).cloned().collect();
        let array = arrays.get(self.random.below(arrays.len().max(1)))?.clone();
        if array.length == Length::Resizable && array.writable && array.ty == "float" && self.random.chance(50) {
            return Some(format!("pop({})", array.name));
        }
        Some(format!("arraylength({})", array.name))
    }

    fn triple(&mut self, ty: &'static str, depth: usize) -> String {
        let (a, b) = (self.expression("float", depth), self.expression("float", depth));
        let other = self.random.pick(&TRIPLES);
        let (v, w) = (self.expression(other, depth), self.expression(ty, depth));
        match self.random.below(if self.is_surface { 11 } else { 10 }) {
            0..=2 => {
                let operator = self.random.pick(&["+", "-", "*"]);
                format!("({ty} (({ty} {v}) {operator} {w}))")
            }
            3 => format!("({ty} ({a}, {b}, {a}))"),
            4 => format!("({ty} ({a} * vector {v}))"),
            5 => format!("({ty} (vector {v} ^ vector {w}))"),
            6 => format!("mix({w}, {ty} {v}, {a})"),
            7 => {
                let f = self.random.pick(&["min", "max"]);
                format!("{f}({w}, {ty} {v})")
            }
            8 => {
                let space = self.random.pick(&["\"world\"", "\"shader\"", "\"camera\""]);
                let f = self.random.pick(&["transform", "vtransform", "ntransform"]);
                let inner = match f {
                    "transform" => "point",
                    "vtransform" => "vector",
                    _ => "normal",
                };
                format!("({ty} {f}({space}, {inner} {v}))")
            }
            9 => format!("({ty} noise(point {v}))"),
            _ => format!("({ty} Du(vector {v}))"),
        }
    }

    fn matrix(&mut self, depth: usize) -> String {
        let (m, v) = (self.expression("matrix", depth), self.expression("vector", depth));
        match self.random.below(4) {
            0 => {
                let n = self.expression("matrix", depth);
                format!("({m} * {n})")
            }
            1 => format!("translate({m}, {v})"),
            2 => format!("scale({m}, point {v})"),
            _ => {
                let rows: Vec<_> = (0..16).map(|_| self.leaf("float")).collect();
                format!("(matrix ({}))", rows.join(", "))
            }
        }
    }
}

/// How an argument of a function is declared.
fn declaration(argument: &Variable) -> String {
    let output = if argument.writable { "output " } else { "" };
    let brackets = match argument.length {
        Length::Single => String::new(),
        Length::Fixed(length) => format!("[{length}]"),
        Length::Resizable => "[]".to_owned(),
    };
    format!("{output}{} {}{brackets}", argument.ty, argument.name)
}
