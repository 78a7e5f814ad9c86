//! What is uniform and what varies.
//!
//! A graph has a node for every variable and for every value that matters, and an edge from a to b when b varies if a
//! does: through an expression, or because a variable is assigned under a condition. What can be reached from the node
//! of varying things varies. Functions may be called with uniform and with varying arguments, and their results differ
//! accordingly: a call gets edges of its own between arguments and results, from a summary of the function.

use super::hir::{
    Argument, CheckedShader, Class, Default, Expr, ExprKind, FuncId, LValue, Parameter, ShadeopCall, Stmt, StmtKind,
    Storage, Type, VarId,
};
use super::visit;
use crate::diagnostic::{Report, Reports};
use crate::shadeops::{ArrayOp, LightingOp, Opcode};
use crate::span::Span;
use rustc_hash::FxHashSet;

type Node = u32;

/// Everything that varies can be reached from here.
const VARYING: Node = 0;

/// Sets [`super::hir::Variable::inferred`], and reports varying values that are given to uniform variables.
pub(super) fn infer(shader: &mut CheckedShader, reports: &mut Reports) {
    let mut inference = Inference::new(shader);
    for function in 0..shader.functions.len() {
        inference.function(FuncId(function as u32));
    }
    for parameter in &shader.parameters {
        inference.default(parameter);
    }
    inference.statements(&shader.body);
    let Inference { edges, node_count, checks, declared_in_body, .. } = inference;
    let variables = || (0..).map(VarId).zip(&shader.variables);
    let mut seeds = vec![VARYING];
    seeds.extend(variables().filter(|(_, v)| v.class == Some(Class::Varying)).map(|(id, _)| node(id)));
    let varies = reach(&edges, node_count, &seeds);
    // By the letter of the language, variables that are not declared uniform are varying, whatever they hold.
    let by_letter = |id: &VarId| shader.variable(*id).class.is_none() && shader.variable(*id).ty != Type::String;
    seeds.extend(declared_in_body.iter().copied().filter(by_letter).map(node));
    let counts_as_varying = reach(&edges, node_count, &seeds);
    for check in checks {
        let name = &shader.variable(check.variable).name;
        if varies[check.value as usize] {
            let report =
                Report::error(check.span, format!("cannot assign a varying value to the uniform variable `{name}`"));
            reports.push(report.also(shader.variable(check.variable).span, "declared here").hint(hint(shader, &check)));
        } else if counts_as_varying[check.value as usize] {
            let message =
                format!("the uniform variable `{name}` is assigned from a variable that is varying by default");
            let report = Report::warning(check.span, message);
            reports.push(report.hint("declare that variable `uniform` too: other compilers reject this"));
        }
    }
    for (variable, varies) in shader.variables.iter_mut().zip(&varies[1..]) {
        variable.inferred = if *varies { Class::Varying } else { Class::Uniform };
    }
}

fn hint(shader: &CheckedShader, check: &Check) -> String {
    let variable = shader.variable(check.variable);
    match variable.storage {
        Storage::Parameter { output } => {
            let output = if output { "output " } else { "" };
            format!("declare it `{output}varying {} {}`", variable.ty, variable.name)
        }
        _ => "declare it `varying`, or omit the class".to_owned(),
    }
}

fn node(variable: VarId) -> Node {
    variable.0 + 1
}

/// Returns which nodes can be reached from `seeds`.
fn reach(edges: &[(Node, Node)], node_count: u32, seeds: &[Node]) -> Vec<bool> {
    let (starts, targets) = successors(edges, node_count);
    let mut reached = vec![false; node_count as usize];
    let mut todo = seeds.to_vec();
    while let Some(at) = todo.pop() {
        if !std::mem::replace(&mut reached[at as usize], true) {
            todo.extend(&targets[starts[at as usize] as usize..starts[at as usize + 1] as usize]);
        }
    }
    reached
}

/// Returns the edges by the node that they leave: those of node n are at `starts[n]..starts[n + 1]` of the targets.
fn successors(edges: &[(Node, Node)], node_count: u32) -> (Vec<u32>, Vec<Node>) {
    let mut starts = vec![0u32; node_count as usize + 2];
    for &(from, _) in edges {
        starts[from as usize + 2] += 1;
    }
    for i in 1..starts.len() {
        starts[i] += starts[i - 1];
    }
    let mut targets = vec![0; starts[starts.len() - 1] as usize];
    for &(from, to) in edges {
        let place = &mut starts[from as usize + 1];
        targets[*place as usize] = to;
        *place += 1;
    }
    (starts, targets)
}

/// A uniform variable was given a value.
struct Check {
    value: Node,
    variable: VarId,
    span: Span,
}

/// On what the results of a function depend.
struct FunctionSummary {
    result: Vec<Dependency>,
    /// For each argument that the function may assign.
    outputs: Vec<Vec<Dependency>>,
    /// Variables outside the function that it, or what it calls, assigns.
    assigned: Vec<VarId>,
}

enum Dependency {
    Argument(usize),
    /// A variable outside the function, or [`VARYING`].
    Outside(Node),
}

struct Inference<'a> {
    shader: &'a CheckedShader,
    edges: Vec<(Node, Node)>,
    node_count: u32,
    /// What the conditions around depend on, a node for each, the innermost last.
    conditions: Vec<Node>,
    /// Variables that have edges from the conditions around, by the innermost of them.
    conditional: FxHashSet<(VarId, Node)>,
    /// Conditions around the declaration of each variable.
    depths: Vec<usize>,
    summaries: Vec<FunctionSummary>,
    /// The result of the function that is being read.
    result: Node,
    in_function: bool,
    /// Variables that this function assigns.
    assigned: FxHashSet<VarId>,
    declared_in_body: Vec<VarId>,
    checks: Vec<Check>,
}

impl<'a> Inference<'a> {
    fn new(shader: &'a CheckedShader) -> Self {
        let count = shader.variables.len();
        Self {
            shader,
            edges: Vec::new(),
            // One for each variable, and one for the length of each.
            node_count: 2 * count as u32 + 1,
            conditions: Vec::new(),
            conditional: FxHashSet::default(),
            depths: vec![0; count],
            summaries: Vec::new(),
            result: VARYING,
            in_function: false,
            assigned: FxHashSet::default(),
            declared_in_body: Vec::new(),
            checks: Vec::new(),
        }
    }

    fn fresh(&mut self) -> Node {
        self.node_count += 1;
        self.node_count - 1
    }

    fn edge(&mut self, from: Node, to: Node) {
        self.edges.push((from, to));
    }

    /// Reads a function and sums it up.
    fn function(&mut self, id: FuncId) {
        let function = self.shader.function(id);
        let first = self.edges.len();
        self.in_function = true;
        self.result = self.fresh();
        self.statements(&function.body);
        self.in_function = false;
        // Sorted, and not by node as those of the shader are: a file may have very many functions.
        let mut own: Vec<_> = self.edges[first..].iter().map(|&(from, to)| (to, from)).collect();
        own.sort_unstable();
        let before = |n: Node| {
            let start = own.partition_point(|(to, _)| *to < n);
            own[start..].iter().take_while(move |(to, _)| *to == n).map(|(_, from)| *from)
        };
        let mut own_variables = FxHashSet::default();
        visit::statements(&function.body, &mut |statement| {
            if let StmtKind::Declare(variable, _) = &statement.kind {
                own_variables.insert(*variable);
            }
        });
        let last_variable = self.shader.variables.len() as u32;
        let summarize = |output: Node| {
            let (mut found, mut seen, mut todo) = (Vec::new(), FxHashSet::default(), vec![output]);
            while let Some(at) = todo.pop() {
                if !seen.insert(at) {
                    continue;
                }
                let variable = (at != VARYING && at <= last_variable).then(|| VarId(at - 1));
                let is_length = at > last_variable && at <= 2 * last_variable;
                let argument = variable.and_then(|v| function.arguments.iter().position(|a| *a == v));
                let outside = at == VARYING
                    || is_length
                    || variable.is_some_and(|v| argument.is_none() && !own_variables.contains(&v));
                if outside {
                    found.push(Dependency::Outside(at));
                    continue;
                }
                found.extend(argument.map(Dependency::Argument));
                todo.extend(before(at));
            }
            found
        };
        let result = summarize(self.result);
        let outputs =
            function.arguments.iter().map(|&a| if self.is_output(a) { summarize(node(a)) } else { Vec::new() });
        let outputs = outputs.collect();
        let is_own = |v: &VarId| own_variables.contains(v) || function.arguments.contains(v);
        let mut assigned: Vec<_> = self.assigned.drain().filter(|v| !is_own(v)).collect();
        assigned.sort_unstable();
        self.summaries.push(FunctionSummary { result, outputs, assigned });
    }

    fn is_output(&self, argument: VarId) -> bool {
        matches!(self.shader.variable(argument).storage, Storage::Argument { output: true })
    }

    fn statements(&mut self, statements: &[Stmt]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Expr(value) => {
                let unused = self.fresh();
                self.expr(value, unused);
            }
            StmtKind::Declare(variable, values) => self.declare(*variable, values),
            StmtKind::Block(body) => self.statements(body),
            StmtKind::If { condition, yes, no } => {
                self.under(&[condition], |this| this.statements(yes));
                self.under(&[condition], |this| this.statements(no));
            }
            StmtKind::Loop { condition, step, body } => {
                let conditions: Vec<_> = condition.iter().collect();
                self.under(&conditions, |this| {
                    this.statements(body);
                    if let Some(step) = step {
                        let unused = this.fresh();
                        this.expr(step, unused);
                    }
                });
            }
            StmtKind::Break(_) | StmtKind::Continue(_) | StmtKind::Return(None) => {}
            StmtKind::Return(Some(value)) => {
                let result = self.result;
                self.expr(value, result);
                for i in 0..self.conditions.len() {
                    self.edge(self.conditions[i], result);
                }
            }
            StmtKind::Illuminance { body, .. } | StmtKind::Illuminate { body, .. } | StmtKind::Solar { body, .. } => {
                self.under_lights(visit::own_expressions(statement).into_iter(), body);
            }
        }
    }

    fn declare(&mut self, variable: VarId, values: &[Expr]) {
        self.depths[variable.0 as usize] = self.conditions.len();
        if !self.in_function {
            self.declared_in_body.push(variable);
        }
        for value in values {
            let source = self.fresh();
            self.expr(value, source);
            self.give(variable, source, value.span);
        }
    }

    /// The default of a shader's parameter.
    fn default(&mut self, parameter: &Parameter) {
        if let Default::Computed(values) = &parameter.default {
            for value in values {
                let source = self.fresh();
                self.expr(value, source);
                self.give(parameter.variable, source, value.span);
            }
        }
    }

    /// What runs where conditions hold.
    fn under(&mut self, conditions: &[&Expr], inside: impl FnOnce(&mut Self)) {
        let condition = self.fresh();
        for expr in conditions {
            self.expr(expr, condition);
        }
        self.conditions.push(condition);
        inside(self);
        self.conditions.pop();
    }

    /// Statements that run where there is light, which varies.
    fn under_lights<'e>(&mut self, head: impl Iterator<Item = &'e Expr>, body: &[Stmt]) {
        let condition = self.fresh();
        for expr in head {
            self.expr(expr, condition);
        }
        self.edge(VARYING, condition);
        self.conditions.push(condition);
        self.statements(body);
        self.conditions.pop();
    }

    /// `source` becomes part of a variable's value.
    fn give(&mut self, variable: VarId, source: Node, span: Span) {
        if self.shader.variable(variable).class == Some(Class::Uniform) {
            return self.checks.push(Check { value: source, variable, span });
        }
        self.edge(source, node(variable));
        self.assigned_here(variable);
    }

    /// A variable is assigned under the conditions around.
    fn assigned_here(&mut self, variable: VarId) {
        if self.in_function {
            self.assigned.insert(variable);
        }
        // What is assigned again under the same conditions gains nothing.
        let innermost = self.conditions.last().copied().unwrap_or(VARYING);
        if !self.conditional.insert((variable, innermost)) {
            return;
        }
        for i in self.depths[variable.0 as usize]..self.conditions.len() {
            self.edge(self.conditions[i], node(variable));
        }
    }

    fn assign(&mut self, place: &LValue, source: Node, span: Span) {
        if let Some(index) = &place.index {
            self.expr(index, source);
        }
        self.give(place.variable, source, span);
    }

    /// `sink` varies if `expr` does.
    fn expr(&mut self, expr: &Expr, sink: Node) {
        match &expr.kind {
            ExprKind::Float(_) | ExprKind::String(_) => {}
            ExprKind::Variable(variable) => self.edge(node(*variable), sink),
            ExprKind::Element(variable, index) => {
                self.edge(node(*variable), sink);
                self.expr(index, sink);
            }
            ExprKind::Triple(parts) => self.exprs(parts.iter(), sink),
            ExprKind::Matrix(parts) => self.exprs(parts.iter(), sink),
            ExprKind::Convert(_, value) | ExprKind::Negate(value) | ExprKind::Not(value) => self.expr(value, sink),
            ExprKind::FromSpace { space, value } => self.exprs([&**space, value].into_iter(), sink),
            ExprKind::Chain(first, links) => {
                let operands = links.iter().filter_map(|link| link.step.operand());
                self.exprs(std::iter::once(&**first).chain(operands), sink);
            }
            ExprKind::Conditional(a, b, c) => self.exprs([&**a, b, c].into_iter(), sink),
            ExprKind::Assign(place, value) => {
                let source = self.fresh();
                self.expr(value, source);
                self.assign(place, source, expr.span);
                self.edge(source, sink);
            }
            ExprKind::Update(place, _, value) => {
                let source = self.fresh();
                self.expr(value, source);
                self.assign(place, source, expr.span);
                self.edge(source, sink);
                self.edge(node(place.variable), sink);
            }
            ExprKind::AssignArray(to, from) => {
                self.give(*to, node(*from), expr.span);
                self.edge(self.length(*from), self.length(*to));
                self.resized_here(*to);
            }
            ExprKind::Call(function, arguments) => self.call(*function, arguments, expr.span, sink),
            ExprKind::Shadeop(call) => self.shadeop(call, expr.span, sink),
        }
    }

    fn exprs<'e>(&mut self, exprs: impl Iterator<Item = &'e Expr>, sink: Node) {
        for expr in exprs {
            self.expr(expr, sink);
        }
    }

    fn call(&mut self, id: FuncId, arguments: &[Argument], span: Span, sink: Node) {
        let function = self.shader.function(id);
        let mut given = Vec::with_capacity(arguments.len());
        for (argument, &formal) in arguments.iter().zip(&function.arguments) {
            let source = self.fresh();
            match argument {
                Argument::Value(value) => self.expr(value, source),
                Argument::Output(place) => self.edge(node(place.variable), source),
                Argument::Array(array) => {
                    self.edge(node(*array), source);
                    self.edge(self.length(*array), self.length(formal));
                }
            }
            if self.shader.variable(formal).class == Some(Class::Uniform) {
                let span = if let Argument::Value(value) = argument { value.span } else { span };
                self.checks.push(Check { value: source, variable: formal, span });
            } else {
                self.edge(source, node(formal));
            }
            given.push(source);
        }
        let follow = |this: &mut Self, sources: &dyn Fn(&FunctionSummary) -> &Vec<Dependency>, to: Node| {
            let summary = &this.summaries[id.0 as usize];
            let new: Vec<_> = sources(summary)
                .iter()
                .map(|source| match source {
                    Dependency::Argument(i) => (given[*i], to),
                    Dependency::Outside(at) => (*at, to),
                })
                .collect();
            this.edges.extend(new);
        };
        follow(self, &|s| &s.result, sink);
        for i in 0..self.summaries[id.0 as usize].assigned.len() {
            self.assigned_here(self.summaries[id.0 as usize].assigned[i]);
        }
        for (i, (argument, &formal)) in arguments.iter().zip(&function.arguments).enumerate() {
            if !self.is_output(formal) {
                continue;
            }
            let output = self.fresh();
            follow(self, &|s| &s.outputs[i], output);
            match argument {
                Argument::Output(place) => self.assign(place, output, span),
                Argument::Array(array) => {
                    self.give(*array, output, span);
                    self.edge(self.length(formal), self.length(*array));
                    self.resized_here(*array);
                }
                Argument::Value(_) => {}
            }
        }
    }

    fn shadeop(&mut self, call: &ShadeopCall, span: Span, sink: Node) {
        let value = self.fresh();
        let named = call.named.iter().flat_map(|(name, value)| [name, value]);
        // All elements may vary, their number is another thing.
        let asks_length = matches!(call.opcode, Opcode::Array(ArrayOp::Length | ArrayOp::Capacity));
        let arguments: &[Expr] = if asks_length { &[] } else { &call.arguments };
        self.exprs(arguments.iter().chain(&call.channel).chain(named), value);
        if let Opcode::Array(op) = call.opcode {
            self.array_op(op, call, value, sink);
        }
        let asks_shader = matches!(call.opcode, Opcode::Message(_));
        if always_varies(call.opcode) || asks_shader {
            self.edge(VARYING, value);
        }
        for place in &call.outputs {
            // A shader that asks another shader for a uniform variable knows what it is.
            let trusted = asks_shader && self.shader.variable(place.variable).class == Some(Class::Uniform);
            if !trusted {
                self.assign(place, value, span);
            }
        }
        self.edge(value, sink);
    }
}

impl Inference<'_> {
    /// The node of the number of elements of an array.
    fn length(&self, array: VarId) -> Node {
        self.shader.variables.len() as Node + node(array)
    }

    /// What a call of a shadeop does with the length of an array; `value` are its other arguments.
    fn array_op(&mut self, op: ArrayOp, call: &ShadeopCall, value: Node, sink: Node) {
        let array = call.outputs.first().map(|place| place.variable);
        let asked =
            call.arguments.first().and_then(|a| if let ExprKind::Variable(id) = a.kind { Some(id) } else { None });
        match (op, array) {
            (ArrayOp::Length, _) => asked.into_iter().for_each(|id| self.edge(self.length(id), sink)),
            (ArrayOp::Push | ArrayOp::Pop | ArrayOp::Resize, Some(array)) => {
                self.resized_here(array);
                if op == ArrayOp::Resize {
                    self.edge(value, self.length(array));
                }
                for source in [node(array), self.length(array)] {
                    self.edge(source, sink);
                }
            }
            _ => {}
        }
    }

    /// The length of an array changes under the conditions around.
    fn resized_here(&mut self, array: VarId) {
        for i in self.depths[array.0 as usize]..self.conditions.len() {
            self.edge(self.conditions[i], self.length(array));
        }
    }
}

/// Returns whether the result differs from point to point even if all arguments are equal.
fn always_varies(opcode: Opcode) -> bool {
    match opcode {
        Opcode::Random
        | Opcode::Lighting(LightingOp::Ambient | LightingOp::Diffuse | LightingOp::Specular | LightingOp::Phong)
        | Opcode::Trace
        | Opcode::Lookup(_)
        | Opcode::Points
        | Opcode::Bump => true,
        opcode => opcode.needs_neighbours(),
    }
}
