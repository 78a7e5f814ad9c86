//! Expressions. From loose to tight: `=`, `?:`, `||`, `&&`, comparisons, `+ -`, `^`, `* /`, `.`, unary operators and
//! casts.

use super::{AlreadyReported, DEPTH_MAX, Parser, SyntaxResult};
use crate::diagnostic::Report;
use crate::span::Span;
use crate::syntax::ast::{AstExpr, AstExprKind, AstLink, BinaryOp, Ident, Type, UnaryOp};
use crate::syntax::token::{Punct, TokenKind};

impl AstExpr {
    /// Returns the number of levels below the root.
    fn depth_below(kind: &AstExprKind) -> u16 {
        let tallest = |list: &[Self]| list.iter().map(|e| e.height).max().unwrap_or(0);
        match kind {
            AstExprKind::Error | AstExprKind::Number(_) | AstExprKind::String(_) | AstExprKind::Name(_) => 0,
            AstExprKind::Index { base: a, index: b } | AstExprKind::Assign { target: a, value: b, .. } => {
                a.height.max(b.height)
            }
            AstExprKind::Chain { first, links } => links.iter().fold(first.height, |h, link| h.max(link.value.height)),
            AstExprKind::Call { arguments: list, .. } | AstExprKind::Tuple(list) => tallest(list),
            AstExprKind::Cast { space, value, .. } => value.height.max(space.as_ref().map_or(0, |s| s.height)),
            AstExprKind::Unary { value, .. } => value.height,
            AstExprKind::Conditional { condition, yes, no } => condition.height.max(yes.height).max(no.height),
        }
    }
}

impl Parser<'_> {
    /// Parses an expression of any kind, assignments included.
    pub(super) fn expression(&mut self) -> SyntaxResult<AstExpr> {
        self.nested(Self::assignment)
    }

    /// Returns a node of the tree, or a fault if the tree grows too tall.
    fn node(&mut self, kind: AstExprKind, span: Span) -> SyntaxResult<AstExpr> {
        let height = AstExpr::depth_below(&kind) + 1;
        if height > DEPTH_MAX {
            return Err(self.too_deep(span));
        }
        Ok(AstExpr { kind, span, height })
    }

    fn assignment(&mut self) -> SyntaxResult<AstExpr> {
        let target = self.conditional()?;
        let operator = match self.punct() {
            Some(Punct::Assign) => None,
            Some(Punct::AddAssign) => Some(BinaryOp::Add),
            Some(Punct::SubAssign) => Some(BinaryOp::Subtract),
            Some(Punct::MulAssign) => Some(BinaryOp::Multiply),
            Some(Punct::DivAssign) => Some(BinaryOp::Divide),
            _ => return Ok(target),
        };
        self.at += 1;
        let value = self.nested(Self::assignment)?;
        let span = target.span.to(value.span);
        self.node(AstExprKind::Assign { operator, target: Box::new(target), value: Box::new(value) }, span)
    }

    fn conditional(&mut self) -> SyntaxResult<AstExpr> {
        let condition = self.binary(0)?;
        if !self.eat(Punct::Question) {
            return Ok(condition);
        }
        let yes = self.expression()?;
        self.expect(Punct::Colon)?;
        let no = self.nested(Self::conditional)?;
        let span = condition.span.to(no.span);
        let kind = AstExprKind::Conditional { condition: Box::new(condition), yes: Box::new(yes), no: Box::new(no) };
        self.node(kind, span)
    }

    /// Parses operators with two operands that bind at least as tightly as `level`; all group from the left.
    fn binary(&mut self, level: u8) -> SyntaxResult<AstExpr> {
        let first = self.unary()?;
        let (mut span, mut links) = (first.span, Vec::new());
        while let Some((operator, binds)) = self.punct().and_then(binary_operator).filter(|(_, b)| *b >= level) {
            self.at += 1;
            self.no_doubled_sign()?;
            let value = self.binary(binds + 1)?;
            span = span.to(value.span);
            links.push(AstLink { operator, value });
        }
        if links.is_empty() {
            return Ok(first);
        }
        self.node(AstExprKind::Chain { first: Box::new(first), links }, span)
    }

    /// Explains `x++`, which other languages have.
    fn no_doubled_sign(&mut self) -> SyntaxResult<()> {
        let (first, second) = (self.last_span(), self.span());
        let arrow = self.punct() == Some(Punct::Greater) && first.end == second.start;
        if arrow && self.tokens[self.at - 1].kind == TokenKind::Punct(Punct::Minus) {
            return Err(self.not_in_rsl_3_2(first.to(second), "->"));
        }
        let doubled = |p| self.punct() == Some(p) && self.tokens[self.at - 1].kind == TokenKind::Punct(p);
        let sign = match (doubled(Punct::Plus), doubled(Punct::Minus)) {
            (true, _) => "+",
            (_, true) if !self.begins_operand(1) => "-",
            _ => return Ok(()),
        };
        let hint = format!("write `x {sign}= 1`");
        let span = first.to(second);
        self.reports.push(Report::error(span, format!("there is no operator `{sign}{sign}`")).hint(hint));
        Err(AlreadyReported)
    }

    /// Returns whether an operand can begin with the token there.
    fn begins_operand(&self, ahead: usize) -> bool {
        match self.kind_at(ahead) {
            TokenKind::Ident(_) | TokenKind::Number(_) | TokenKind::String(_) => true,
            TokenKind::Punct(punct) => matches!(punct, Punct::OpenParen | Punct::Minus | Punct::Not),
            TokenKind::End => false,
        }
    }

    fn unary(&mut self) -> SyntaxResult<AstExpr> {
        let span = self.span();
        let operator = match self.punct() {
            Some(Punct::Minus) => UnaryOp::Negate,
            Some(Punct::Not) => UnaryOp::Not,
            Some(Punct::OpenParen) if self.at_parenthesized_type() => {
                let ty = self.word_at(1).and_then(|w| Type::from_keyword(&w)).unwrap_or(Type::Void);
                self.at += 3;
                return self.cast(ty, None, span);
            }
            _ => return self.postfix(),
        };
        self.at += 1;
        let value = self.nested(Self::unary)?;
        let whole = span.to(value.span);
        self.node(AstExprKind::Unary { operator, value: Box::new(value) }, whole)
    }

    /// Returns whether `(type)` comes next, a cast in the manner of C.
    fn at_parenthesized_type(&self) -> bool {
        self.word_at(1).is_some_and(|w| Type::from_keyword(&w).is_some()) && self.punct_at(2) == Some(Punct::CloseParen)
    }

    /// Parses the value that a type precedes. `start` is where the type begins.
    fn cast(&mut self, ty: Type, space: Option<Box<AstExpr>>, start: Span) -> SyntaxResult<AstExpr> {
        if ty == Type::Void {
            self.reports.push(Report::error(start, "a value cannot be void"));
            return Err(AlreadyReported);
        }
        let value = self.nested(Self::unary)?;
        let span = start.to(value.span);
        self.node(AstExprKind::Cast { ty, space, value: Box::new(value) }, span)
    }

    /// Parses a primary expression and the brackets after it.
    fn postfix(&mut self) -> SyntaxResult<AstExpr> {
        let mut value = self.primary()?;
        while self.eat(Punct::OpenBracket) {
            let index = self.expression()?;
            self.expect(Punct::CloseBracket)?;
            let span = value.span.to(self.last_span());
            value = self.node(AstExprKind::Index { base: Box::new(value), index: Box::new(index) }, span)?;
        }
        Ok(value)
    }

    fn primary(&mut self) -> SyntaxResult<AstExpr> {
        let span = self.span();
        let kind = match self.kind_at(0).clone() {
            TokenKind::Number(number) => AstExprKind::Number(number),
            TokenKind::String(text) => AstExprKind::String(text),
            TokenKind::Punct(Punct::OpenParen) => return self.parenthesized(),
            TokenKind::Ident(word) => {
                if let Some(ty) = Type::from_keyword(&word) {
                    self.at += 1;
                    let space = self.cast_space()?;
                    return self.cast(ty, space, span);
                }
                if self.ident_at(0).is_none() {
                    return Err(self.expected("a value"));
                }
                if self.punct_at(1) == Some(Punct::OpenParen) {
                    self.at += 2;
                    self.calls.push(word.clone());
                    let name = Ident { name: word, span };
                    let arguments = self.arguments()?;
                    let whole = span.to(self.last_span());
                    return self.node(AstExprKind::Call { name, arguments }, whole);
                }
                AstExprKind::Name(word)
            }
            _ => return Err(self.expected("a value")),
        };
        self.at += 1;
        self.node(kind, span)
    }

    /// Parses the space between a type and a value: a string, or a name before a value.
    fn cast_space(&mut self) -> SyntaxResult<Option<Box<AstExpr>>> {
        let span = self.span();
        let kind = match self.kind_at(0).clone() {
            TokenKind::String(text) => AstExprKind::String(text),
            // `point space (x, y, z)` reads like a call; the checker knows which names are variables.
            TokenKind::Ident(word) if self.ident_at(0).is_some() && self.ident_at(1).is_some() => {
                AstExprKind::Name(word)
            }
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(Box::new(self.node(kind, span)?)))
    }

    /// `(value)`, or a tuple.
    fn parenthesized(&mut self) -> SyntaxResult<AstExpr> {
        let span = self.span();
        self.at += 1;
        let first = self.expression()?;
        if self.eat(Punct::CloseParen) {
            return Ok(AstExpr { span: span.to(self.last_span()), ..first });
        }
        let mut values = vec![first];
        while self.eat(Punct::Comma) {
            values.push(self.expression()?);
        }
        if self.punct() != Some(Punct::CloseParen) {
            return Err(self.expected(if values.len() == 1 { "`)`" } else { "`,` or `)`" }));
        }
        self.at += 1;
        let whole = span.to(self.last_span());
        if values.len() != 3 && values.len() != 16 {
            let message = format!("a triple needs 3 components and a matrix 16, got {}", values.len());
            self.reports.push(Report::error(whole, message));
            return self.node(AstExprKind::Error, whole);
        }
        self.node(AstExprKind::Tuple(values), whole)
    }

    /// Parses values with commas between, up to and with the closing parenthesis.
    pub(super) fn arguments(&mut self) -> SyntaxResult<Vec<AstExpr>> {
        let mut list = Vec::new();
        if self.eat(Punct::CloseParen) {
            return Ok(list);
        }
        loop {
            list.push(self.expression()?);
            if self.eat(Punct::CloseParen) {
                return Ok(list);
            }
            if !self.eat(Punct::Comma) {
                return Err(self.expected("`,` or `)`"));
            }
        }
    }
}

/// Returns the operator that a mark stands for, and how tightly it binds.
fn binary_operator(punct: Punct) -> Option<(BinaryOp, u8)> {
    Some(match punct {
        Punct::OrOr => (BinaryOp::Or, 0),
        Punct::AndAnd => (BinaryOp::And, 1),
        Punct::Equal => (BinaryOp::Equal, 2),
        Punct::NotEqual => (BinaryOp::NotEqual, 2),
        Punct::Less => (BinaryOp::Less, 2),
        Punct::LessEqual => (BinaryOp::LessEqual, 2),
        Punct::Greater => (BinaryOp::Greater, 2),
        Punct::GreaterEqual => (BinaryOp::GreaterEqual, 2),
        Punct::Plus => (BinaryOp::Add, 3),
        Punct::Minus => (BinaryOp::Subtract, 3),
        Punct::Caret => (BinaryOp::Cross, 4),
        Punct::Star => (BinaryOp::Multiply, 5),
        Punct::Slash => (BinaryOp::Divide, 5),
        Punct::Dot => (BinaryOp::Dot, 6),
        _ => return None,
    })
}
