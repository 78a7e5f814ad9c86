//! Statements.

use super::{AlreadyReported, Parser, SyntaxResult};
use crate::diagnostic::Report;
use crate::span::Span;
use crate::syntax::ast::{AstExpr, AstStmt, AstStmtKind, Class, LightStatement, Type};
use crate::syntax::token::{Punct, TokenKind};

impl Parser<'_> {
    /// Parses statements up to and with the closing brace. Faults stay inside.
    pub(super) fn statements(&mut self, open: Span) -> SyntaxResult<Vec<AstStmt>> {
        let mut list = Vec::new();
        loop {
            if self.eat(Punct::CloseBrace) {
                return Ok(list);
            }
            if self.at_end() || self.at_shader() {
                let report = Report::error(open, "this `{` is not closed").also(self.span(), "the file ends here");
                self.reports.push(report);
                return Err(AlreadyReported);
            }
            let before = self.at;
            match self.nested(Self::statement) {
                Ok(statement) => list.push(statement),
                Err(AlreadyReported) => self.skip_statement(before),
            }
        }
    }

    /// Advances past the statement that began at token `before`: after its semicolon or braces, or before the brace
    /// that ends the block around.
    fn skip_statement(&mut self, before: usize) {
        let (fault_at, mut depth) = (self.at, 0usize);
        // What was read of the statement may have opened braces.
        for token in &self.tokens[before..self.at.min(self.tokens.len())] {
            match token.kind {
                TokenKind::Punct(Punct::OpenBrace) => depth += 1,
                TokenKind::Punct(Punct::CloseBrace) => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        let read = &self.tokens[before..self.at];
        if depth == 0 && read.last().is_some_and(|t| t.kind == TokenKind::Punct(Punct::Semicolon)) {
            return;
        }
        while !self.at_end() && !self.at_shader() {
            match self.punct() {
                Some(Punct::OpenBrace) => depth += 1,
                Some(Punct::CloseBrace) if depth == 0 => return,
                Some(Punct::CloseBrace) => {
                    depth -= 1;
                    // The `else` of an `if` that had a fault belongs to it.
                    let else_follows = matches!(self.kind_at(1), TokenKind::Ident(word) if &**word == "else");
                    if depth == 0 && !else_follows {
                        self.at += 1;
                        return;
                    }
                }
                Some(Punct::Semicolon) if depth == 0 => {
                    self.at += 1;
                    return;
                }
                _ if depth == 0 && self.at > fault_at && self.at_statement_keyword() && !self.at_word("else") => return,
                _ => {}
            }
            self.at += 1;
        }
    }

    fn statement(&mut self) -> SyntaxResult<AstStmt> {
        let span = self.span();
        let kind = self.statement_kind()?;
        Ok(AstStmt { kind, span: span.to(self.last_span()) })
    }

    fn statement_kind(&mut self) -> SyntaxResult<AstStmtKind> {
        let span = self.span();
        if self.eat(Punct::Semicolon) {
            return Ok(AstStmtKind::Empty);
        }
        if self.eat(Punct::OpenBrace) {
            return Ok(AstStmtKind::Block(self.statements(span)?));
        }
        let Some(word) = self.word() else { return self.expression_statement() };
        if let Some(kind) = LightStatement::from_keyword(&word) {
            self.at += 1;
            return self.light_statement(kind);
        }
        match &*word {
            "if" => self.if_statement(),
            "while" => self.while_statement(),
            "for" => self.for_statement(),
            "break" => Ok(AstStmtKind::Break(self.jump()?)),
            "continue" => Ok(AstStmtKind::Continue(self.jump()?)),
            "return" => self.return_statement(),
            "else" => {
                self.reports.push(Report::error(span, "`else` without `if`"));
                self.at += 1;
                self.statement_kind()
            }
            "struct" | "class" | "public" | "shader" if self.ident_at(1).is_some() => {
                Err(self.not_in_rsl_3_2(span, &word))
            }
            _ if self.at_function() => Ok(AstStmtKind::Function(Box::new(self.function()?))),
            _ if self.at_declaration() => Ok(AstStmtKind::Declare(self.declarations()?)),
            _ => self.expression_statement(),
        }
    }

    /// Returns whether `[class] [type] name (` comes next, before a parameter, or before `)` and a body.
    fn at_function(&self) -> bool {
        let classed = usize::from(self.word().is_some_and(|w| Class::from_keyword(&w).is_some()));
        let typed = classed + usize::from(self.word_at(classed).is_some_and(|w| Type::from_keyword(&w).is_some()));
        if self.ident_at(typed).is_none() || self.punct_at(typed + 1) != Some(Punct::OpenParen) {
            return false;
        }
        match self.kind_at(typed + 2) {
            TokenKind::Punct(Punct::CloseParen) => self.punct_at(typed + 3) == Some(Punct::OpenBrace),
            TokenKind::Ident(word) => {
                let qualified = matches!(&**word, "uniform" | "varying" | "output");
                let named = Type::from_keyword(word).is_some() && self.ident_at(typed + 3).is_some();
                qualified || (named && self.punct_at(typed + 4) != Some(Punct::OpenParen))
            }
            _ => false,
        }
    }

    /// Returns whether the words before a variable's name come next; a type before anything else is a cast.
    fn at_declaration(&self) -> bool {
        let Some(word) = self.word() else { return false };
        if Type::from_keyword(&word).is_none() {
            return self.at_specifier();
        }
        match self.kind_at(1) {
            TokenKind::Ident(_) => self.punct_at(2) != Some(Punct::OpenParen),
            TokenKind::String(_) => matches!(self.kind_at(2), TokenKind::Ident(_)),
            TokenKind::Punct(Punct::OpenBracket) => true,
            _ => false,
        }
    }

    fn expression_statement(&mut self) -> SyntaxResult<AstStmtKind> {
        let value = self.expression()?;
        self.semicolon()?;
        Ok(AstStmtKind::Expr(value))
    }

    /// Parses a statement in a place that has no scope of its own in the tree.
    fn substatement(&mut self) -> SyntaxResult<Box<AstStmt>> {
        Ok(Box::new(self.nested(Self::statement)?))
    }

    fn condition(&mut self) -> SyntaxResult<AstExpr> {
        self.at += 1;
        self.expect(Punct::OpenParen)?;
        let condition = self.expression()?;
        self.expect(Punct::CloseParen)?;
        Ok(condition)
    }

    fn if_statement(&mut self) -> SyntaxResult<AstStmtKind> {
        let condition = self.condition()?;
        let yes = self.substatement()?;
        let no = if self.eat_word("else") { Some(self.substatement()?) } else { None };
        Ok(AstStmtKind::If { condition, yes, no })
    }

    fn while_statement(&mut self) -> SyntaxResult<AstStmtKind> {
        let condition = self.condition()?;
        Ok(AstStmtKind::While { condition, body: self.substatement()? })
    }

    fn for_statement(&mut self) -> SyntaxResult<AstStmtKind> {
        self.at += 1;
        self.expect(Punct::OpenParen)?;
        let span = self.span();
        let init = if self.eat(Punct::Semicolon) {
            None
        } else {
            let kind = if self.at_declaration() {
                AstStmtKind::Declare(self.declarations()?)
            } else {
                let value = self.expression()?;
                self.expect(Punct::Semicolon)?;
                AstStmtKind::Expr(value)
            };
            Some(Box::new(AstStmt { kind, span: span.to(self.last_span()) }))
        };
        let condition = if self.punct() == Some(Punct::Semicolon) { None } else { Some(self.expression()?) };
        self.expect(Punct::Semicolon)?;
        let step = if self.punct() == Some(Punct::CloseParen) { None } else { Some(self.expression()?) };
        self.expect(Punct::CloseParen)?;
        Ok(AstStmtKind::For { init, condition, step, body: self.substatement()? })
    }

    /// Parses the levels after `break` or `continue`.
    fn jump(&mut self) -> SyntaxResult<u32> {
        self.at += 1;
        let mut levels = 1;
        if let TokenKind::Number(number) = *self.kind_at(0) {
            if number >= 1.0 && number.fract() == 0.0 {
                levels = number as u32;
            } else {
                self.reports.push(Report::error(self.span(), "the number of loops must be 1, 2, 3, ..."));
            }
            self.at += 1;
        }
        self.semicolon()?;
        Ok(levels)
    }

    fn return_statement(&mut self) -> SyntaxResult<AstStmtKind> {
        self.at += 1;
        if self.eat(Punct::Semicolon) {
            return Ok(AstStmtKind::Return(None));
        }
        let value = self.expression()?;
        self.semicolon()?;
        Ok(AstStmtKind::Return(Some(value)))
    }

    fn light_statement(&mut self, kind: LightStatement) -> SyntaxResult<AstStmtKind> {
        self.expect(Punct::OpenParen)?;
        let arguments = self.arguments()?;
        let body = self.substatement()?;
        let otherwise =
            if kind == LightStatement::Gather && self.eat_word("else") { Some(self.substatement()?) } else { None };
        Ok(AstStmtKind::Lights { kind, arguments, body, otherwise })
    }
}
