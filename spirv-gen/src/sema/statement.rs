//! Statements.

use super::checker::{Checker, lights_report};
use super::hir::{ChainStep, Class, DeclaredKind, Expr, ExprKind, LEVELS_MAX, ShadeopCall, Stmt, StmtKind, Type};
use super::operator::single;
use super::scope::Scope;
use crate::diagnostic::Report;
use crate::ir::{MessageTarget, SENT_TO_LIGHT};
use crate::shadeops::Opcode;
use crate::span::Span;
use crate::syntax::ast::{AstExpr, AstExprKind, AstStmt, AstStmtKind, LightStatement};
use crate::syntax::token::Name;

/// What stands in the parentheses of an illuminance.
struct IlluminanceHead {
    category: Option<Expr>,
    position: Expr,
    /// Axis and angle.
    cone: Option<(Expr, Expr)>,
    pairs: IlluminancePairs,
}

/// The pairs of names and values of an illuminance (PRMan).
#[derive(Default)]
struct IlluminancePairs {
    /// What lights are given: `"send:light:name", value`.
    sent: Vec<(Name, Expr)>,
    /// Questions to each light: `"light:name", variable`.
    asked: Vec<Stmt>,
}

impl Checker<'_> {
    /// Checks the statements of one block in the scope that the caller opened.
    pub(super) fn statements(&mut self, statements: &[AstStmt]) -> Vec<Stmt> {
        let mut list = Vec::new();
        let mut ended: Option<Span> = None;
        for statement in statements {
            let declares = matches!(statement.kind, AstStmtKind::Function(_) | AstStmtKind::Empty);
            if let Some(end) = ended.take_if(|_| !declares) {
                let report = Report::warning(statement.span, "this statement is unreachable");
                self.reports.push(report.also(end, "control flow leaves here"));
            }
            self.statement(statement, &mut list);
            if let Some(StmtKind::Return(_) | StmtKind::Break(_) | StmtKind::Continue(_)) = list.last().map(|s| &s.kind)
            {
                ended = Some(statement.span);
            }
            if self.reports.is_full() {
                break;
            }
        }
        list
    }

    /// Checks statements in a scope of their own.
    fn block(&mut self, statement: &AstStmt) -> Vec<Stmt> {
        self.scopes.push(Scope::block());
        let list = match &statement.kind {
            AstStmtKind::Block(inner) => self.statements(inner),
            _ => self.statements(std::slice::from_ref(statement)),
        };
        self.scopes.pop();
        list
    }

    fn statement(&mut self, statement: &AstStmt, list: &mut Vec<Stmt>) {
        self.level(|this| this.statement_kind(statement, list));
    }

    fn statement_kind(&mut self, statement: &AstStmt, list: &mut Vec<Stmt>) {
        let span = statement.span;
        let kind = match &statement.kind {
            AstStmtKind::Empty => None,
            AstStmtKind::Declare(declarations) => {
                for declaration in declarations {
                    list.extend(self.local(declaration));
                }
                None
            }
            AstStmtKind::Function(function) => {
                self.function(function);
                None
            }
            AstStmtKind::Expr(value) => self.expression_statement(value),
            AstStmtKind::Block(_) => Some(StmtKind::Block(self.block(statement))),
            AstStmtKind::If { condition, yes, no } => {
                let condition = self.condition(condition);
                let yes = self.block(yes);
                let no = no.as_ref().map_or_else(Vec::new, |no| self.block(no));
                condition.map(|condition| StmtKind::If { condition, yes, no })
            }
            AstStmtKind::While { condition, body } => self.while_loop(condition, body),
            AstStmtKind::For { init, condition, step, body } => {
                self.for_loop([init.as_deref(), Some(body)], condition.as_ref(), step.as_ref(), span)
            }
            AstStmtKind::Break(levels) => self.jump(*levels, "break", span).then_some(StmtKind::Break(*levels)),
            AstStmtKind::Continue(levels) => {
                self.jump(*levels, "continue", span).then_some(StmtKind::Continue(*levels))
            }
            AstStmtKind::Return(value) => self.return_statement(value.as_ref(), span),
            AstStmtKind::Lights { kind, arguments, body, otherwise } => {
                self.lights(*kind, arguments, body, otherwise.as_deref(), span)
            }
        };
        list.extend(kind.map(|kind| Stmt { kind, span }));
    }

    fn expression_statement(&mut self, value: &AstExpr) -> Option<StmtKind> {
        let value = self.expr(value, None)?;
        if !has_effect(&value) {
            let report = Report::warning(value.span, "this has no effect");
            let compares = matches!(&value.kind, ExprKind::Chain(_, links)
                if links.last().is_some_and(|link| matches!(link.step, ChainStep::Compare(..))));
            self.reports.push(if compares { report.hint("write `=` to assign") } else { report });
        }
        Some(StmtKind::Expr(value))
    }

    fn while_loop(&mut self, condition: &AstExpr, body: &AstStmt) -> Option<StmtKind> {
        let condition = self.condition(condition);
        let body = self.loop_body(body);
        Some(StmtKind::Loop { condition: Some(condition?), step: None, body })
    }

    fn for_loop(
        &mut self,
        [init, body]: [Option<&AstStmt>; 2],
        condition: Option<&AstExpr>,
        step: Option<&AstExpr>,
        span: Span,
    ) -> Option<StmtKind> {
        self.scopes.push(Scope::block());
        let mut list = Vec::new();
        if let Some(init) = init {
            self.statement(init, &mut list);
        }
        let condition = condition.map(|c| self.condition(c));
        let step = step.map(|s| self.expr(s, None));
        let body = body.map_or_else(Vec::new, |b| self.loop_body(b));
        self.scopes.pop();
        // An absent part is fine, one with a fault is not.
        let (condition, step) =
            (condition.map_or(Some(None), |c| c.map(Some)), step.map_or(Some(None), |s| s.map(Some)));
        list.push(Stmt { kind: StmtKind::Loop { condition: condition?, step: step?, body }, span });
        Some(StmtKind::Block(list))
    }

    fn loop_body(&mut self, body: &AstStmt) -> Vec<Stmt> {
        self.enclosing.loops += 1;
        let body = self.block(body);
        self.enclosing.loops -= 1;
        body
    }

    /// Returns whether a `break` or `continue` counts no more loops than surround it, and reports an error otherwise.
    fn jump(&mut self, levels: u32, word: &str, span: Span) -> bool {
        let loops = self.enclosing.loops;
        if levels > LEVELS_MAX && levels <= loops {
            self.error(Report::error(span, format!("`{word}` leaves more than {LEVELS_MAX} loops")));
            return false;
        }
        if levels <= loops {
            return true;
        }
        let message = match loops {
            0 => format!("`{word}` outside a loop"),
            1 => format!("`{word} {levels}` inside only one loop"),
            _ => format!("`{word} {levels}` inside only {loops} loops"),
        };
        self.error(Report::error(span, message));
        false
    }

    fn return_statement(&mut self, value: Option<&AstExpr>, span: Span) -> Option<StmtKind> {
        self.enclosing.has_return = true;
        match (self.enclosing.result, value) {
            (None | Some(Type::Void), None) => Some(StmtKind::Return(None)),
            (None, Some(value)) => {
                self.error(Report::error(value.span, "a shader cannot return a value"));
                None
            }
            (Some(Type::Void), Some(value)) => {
                let report = Report::error(value.span, "this function returns no value");
                self.error(report.hint("declare its return type in front of its name"));
                None
            }
            (Some(ty), Some(value)) => {
                let class = self.enclosing.returns_uniform.then_some(Class::Uniform);
                let value = self.meant_for(class, |this| this.value_of(value, ty));
                Some(StmtKind::Return(Some(value?)))
            }
            (Some(ty), None) => {
                self.error(Report::error(span, format!("this function returns a `{ty}`")));
                None
            }
        }
    }

    fn lights(
        &mut self,
        kind: LightStatement,
        arguments: &[AstExpr],
        body: &AstStmt,
        otherwise: Option<&AstStmt>,
        span: Span,
    ) -> Option<StmtKind> {
        match kind {
            LightStatement::Illuminance => self.illuminance(arguments, body, span),
            LightStatement::Illuminate => self.illuminate(arguments, body, span),
            LightStatement::Solar => self.solar(arguments, body, span),
            LightStatement::Gather => {
                for argument in arguments {
                    self.expr(argument, None);
                }
                let report = Report::warning(span, "`gather` needs ray tracing, which this renderer does not support");
                self.warn_once("gather", report.hint("only its `else` branch is executed"));
                Some(StmtKind::Block(otherwise.map_or_else(Vec::new, |o| self.block(o))))
            }
        }
    }

    fn illuminance(&mut self, arguments: &[AstExpr], body: &AstStmt, span: Span) -> Option<StmtKind> {
        if let Some(kind) = self.kind.filter(|&k| !crate::shadeops::KindSet::LIT.contains(k)) {
            let report = Report::error(span, format!("`illuminance` is not allowed in {kind} shaders"));
            self.kind_error(report.hint("only surface and volume shaders see lights"));
        }
        if self.enclosing.in_illuminance {
            self.error(lights_report(span, false));
        }
        self.enclosing.facts.lights.get_or_insert(span);
        let head = self.illuminance_head(arguments, span);
        let outer = std::mem::replace(&mut self.enclosing.in_illuminance, true);
        let body = self.loop_body(body);
        self.enclosing.in_illuminance = outer;
        let IlluminanceHead { category, position, cone, pairs: IlluminancePairs { sent, asked } } = head?;
        Some(StmtKind::Illuminance { category, position, cone, sent, body: [asked, body].concat() })
    }

    /// `[category,] position [, axis, angle] [, name, value ...]`
    fn illuminance_head(&mut self, arguments: &[AstExpr], span: Span) -> Option<IlluminanceHead> {
        let mut rest = arguments;
        let mut category = None;
        let first = arguments.first().and_then(|a| self.value(a, Some(Type::Point)));
        if let Some(first) = first.as_ref().filter(|f| f.ty == Type::String) {
            category = Some(first.clone());
            rest = &rest[1..];
        }
        let position = match (&category, rest.first()) {
            (None, Some(_)) => first.and_then(|f| self.convert(f, Type::Point)),
            (Some(_), Some(position)) => self.value_of(position, Type::Point),
            (_, None) => {
                let hint = "write `illuminance(P)`, `illuminance(P, N, angle)` or `illuminance(category, P, ...)`";
                self.error(Report::error(span, "`illuminance` needs a position").hint(hint));
                None
            }
        };
        rest = rest.get(1..).unwrap_or_default();
        let mut cone = None;
        if !self.begins_pairs(rest) {
            cone = Some(self.cone(rest, "illuminance", span));
            rest = rest.get(2..).unwrap_or_default();
        }
        let pairs = self.illuminance_pairs(rest);
        let cone = cone.map_or(Some(None), |cone| cone.map(Some));
        Some(IlluminanceHead { category, position: position?, cone: cone?, pairs: pairs? })
    }

    /// Returns whether nothing or a string literal comes next.
    fn begins_pairs(&self, rest: &[AstExpr]) -> bool {
        rest.first().is_none_or(|e| matches!(e.kind, AstExprKind::String(_)))
    }

    /// Returns axis and angle, or `None`, with an error, if they are not there.
    fn cone(&mut self, arguments: &[AstExpr], what: &str, span: Span) -> Option<(Expr, Expr)> {
        let axis = arguments.first().map(|a| self.value_of(a, Type::Vector));
        let angle = arguments.get(1).map(|a| self.value_of(a, Type::Float));
        if angle.is_none() {
            let report = Report::error(span, format!("`{what}` takes an axis and an angle, or neither"));
            self.error(report);
        }
        Some((axis??, angle??))
    }

    /// The pairs at the end of an illuminance's arguments.
    fn illuminance_pairs(&mut self, arguments: &[AstExpr]) -> Option<IlluminancePairs> {
        let mut pairs = IlluminancePairs::default();
        for pair in arguments.chunks(2) {
            let name = self.value_of(&pair[0], Type::String)?;
            let Some(value) = pair.get(1) else {
                self.error(Report::error(pair[0].span, "this name has no value"));
                return None;
            };
            let ExprKind::String(word) = &name.kind else {
                self.error(Report::error(name.span, "the name of a parameter must be a literal"));
                return None;
            };
            if let Some(param) = word.strip_prefix(SENT_TO_LIGHT) {
                pairs.sent.push((param.into(), self.value(value, None)?));
            } else if let Some(variable) = word.strip_prefix("light:") {
                pairs.asked.push(self.asked_of_light(variable.into(), name.span, value)?);
            } else {
                self.expr(value, None);
                // Lights are run for every illuminance, so nothing is ever out of date.
                if &**word != "lightcache" {
                    let report = Report::warning(name.span, format!("`illuminance` has no parameter `{word}`"));
                    self.reports
                        .push(report.hint("it is ignored; lights take `send:light:name` and give `light:name`"));
                }
            }
        }
        Some(pairs)
    }

    /// Returns `lightsource(name, variable)` as a statement.
    fn asked_of_light(&mut self, name: Name, span: Span, variable: &AstExpr) -> Option<Stmt> {
        let place = self.expr(variable, None)?;
        let call = ShadeopCall {
            opcode: Opcode::Message(MessageTarget::Light),
            name: "lightsource".into(),
            span,
            arguments: vec![single(ExprKind::String(name), Type::String, span)],
            outputs: vec![self.assignable(place)?],
            channel: None,
            named: Vec::new(),
        };
        let answer = single(ExprKind::Shadeop(Box::new(call)), Type::Float, span);
        Some(Stmt { kind: StmtKind::Expr(answer), span })
    }

    /// A statement of a light shader.
    fn light_only(&mut self, what: &str, span: Span) {
        if let Some(kind) = self.kind.filter(|&k| k != DeclaredKind::Light) {
            let report = Report::error(span, format!("`{what}` is not allowed in {kind} shaders"));
            self.kind_error(report.hint("it is a statement of light shaders"));
        }
        if self.enclosing.in_light_statement {
            self.error(Report::error(span, format!("`{what}` cannot be inside `illuminate` or `solar`")));
        }
    }

    fn light_body(&mut self, body: &AstStmt) -> Vec<Stmt> {
        let outer = std::mem::replace(&mut self.enclosing.in_light_statement, true);
        let body = self.block(body);
        self.enclosing.in_light_statement = outer;
        body
    }

    fn illuminate(&mut self, arguments: &[AstExpr], body: &AstStmt, span: Span) -> Option<StmtKind> {
        self.light_only("illuminate", span);
        let position = arguments.first().map(|a| self.value_of(a, Type::Point));
        if position.is_none() || arguments.len() > 3 {
            let message = "`illuminate` takes a position, or a position, an axis and an angle";
            self.error(Report::error(span, message));
        }
        let cone = (arguments.len() > 1).then(|| self.cone(&arguments[1..], "illuminate", span));
        let body = self.light_body(body);
        let cone = cone.map_or(Some(None), |c| c.map(Some));
        Some(StmtKind::Illuminate { position: position??, cone: cone?, body })
    }

    fn solar(&mut self, arguments: &[AstExpr], body: &AstStmt, span: Span) -> Option<StmtKind> {
        self.light_only("solar", span);
        if arguments.len() > 2 {
            self.error(Report::error(span, "`solar` takes an axis and an angle, or nothing"));
        }
        let cone = (!arguments.is_empty()).then(|| self.cone(arguments, "solar", span));
        let body = self.light_body(body);
        Some(StmtKind::Solar { cone: cone.map_or(Some(None), |c| c.map(Some))?, body })
    }
}

/// Returns whether evaluating an expression changes anything.
fn has_effect(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Assign(..) | ExprKind::Update(..) | ExprKind::AssignArray(..) | ExprKind::Call(..) => true,
        ExprKind::Shadeop(call) => {
            call.opcode.has_effect() || !call.outputs.is_empty() || matches!(call.opcode, Opcode::Absent(_))
        }
        ExprKind::Conditional(_, yes, no) => has_effect(yes) || has_effect(no),
        ExprKind::Convert(_, value) => has_effect(value),
        _ => false,
    }
}
