//! Shaders, functions, parameters and variables.

use super::{AlreadyReported, Parser, SyntaxResult};
use crate::diagnostic::Report;
use crate::syntax::ast::{ArrayLength, Class, Declaration, DeclaredKind, FunctionDecl, Init, ShaderDecl, Type};
use crate::syntax::token::{Name, Punct, TokenKind};

/// What is before the names of a declaration.
#[derive(Clone, Copy)]
struct Specifier {
    ty: Type,
    class: Option<Class>,
    output: bool,
    is_extern: bool,
}

impl Parser<'_> {
    /// Parses the rest of a shader, after the keyword of its kind.
    pub(super) fn shader(&mut self, kind: DeclaredKind) -> SyntaxResult<ShaderDecl> {
        let name = self.ident("the shader's name")?;
        let parameters = self.parameters()?;
        let body = self.body()?;
        Ok(ShaderDecl { kind, name, parameters, body, calls: self.calls_since(0) })
    }

    /// Parses a function. Without a type in front it has no result.
    pub(super) fn function(&mut self) -> SyntaxResult<FunctionDecl> {
        let first_call = self.calls.len();
        let class = self.word().and_then(|w| Class::from_keyword(&w));
        self.at += usize::from(class.is_some());
        let result = self.word().and_then(|w| Type::from_keyword(&w));
        self.at += usize::from(result.is_some());
        let name = self.ident("the function's name")?;
        let parameters = self.parameters()?;
        if self.punct() == Some(Punct::Semicolon) {
            let message = format!("`{}` has no body", name.name);
            let hint = "define the function before its first use; RSL has no prototypes";
            self.reports.push(Report::error(name.span, message).hint(hint));
            self.at += 1;
            return Err(AlreadyReported);
        }
        let body = self.body()?;
        let calls = self.calls_since(first_call);
        Ok(FunctionDecl { result: result.unwrap_or(Type::Void), class, name, parameters, body, calls })
    }

    /// Returns the names that were called since there were `first`, each once.
    fn calls_since(&self, first: usize) -> Vec<Name> {
        let mut calls = self.calls[first..].to_vec();
        calls.sort_unstable();
        calls.dedup();
        calls
    }

    /// Parses formal parameters in parentheses. Semicolons separate types; a comma before a type is taken as one.
    fn parameters(&mut self) -> SyntaxResult<Vec<Declaration>> {
        self.expect(Punct::OpenParen)?;
        let mut list = Vec::new();
        loop {
            while self.eat(Punct::Semicolon) {}
            if self.eat(Punct::CloseParen) {
                return Ok(list);
            }
            let specifier = self.specifier()?;
            loop {
                list.push(self.declared_name(specifier)?);
                if self.punct() != Some(Punct::Comma) {
                    break;
                }
                self.at += 1;
                if self.at_specifier() {
                    break;
                }
            }
            let closed = self.punct() == Some(Punct::CloseParen);
            let next = self.at_specifier() && self.tokens[self.at - 1].kind == TokenKind::Punct(Punct::Comma);
            if !closed && !next && self.punct() != Some(Punct::Semicolon) {
                return Err(self.expected("`;` or `)`"));
            }
        }
    }

    /// Parses statements in braces. An unclosed brace is reported where it opens.
    fn body(&mut self) -> SyntaxResult<Vec<crate::syntax::ast::AstStmt>> {
        let open = self.span();
        self.expect(Punct::OpenBrace)?;
        self.statements(open)
    }

    /// Returns whether a word comes next that can begin a declaration.
    pub(super) fn at_specifier(&self) -> bool {
        self.word().is_some_and(|word| {
            matches!(&*word, "uniform" | "varying" | "output" | "extern") || Type::from_keyword(&word).is_some()
        })
    }

    /// `[output] [extern] [uniform|varying] type`, the words in front in any order.
    fn specifier(&mut self) -> SyntaxResult<Specifier> {
        let mut specifier = Specifier { ty: Type::Void, class: None, output: false, is_extern: false };
        loop {
            let span = self.span();
            let Some(word) = self.word() else { return Err(self.expected("a type")) };
            match &*word {
                "output" => specifier.output = true,
                "extern" => specifier.is_extern = true,
                "uniform" => specifier.class = Some(Class::Uniform),
                "varying" => specifier.class = Some(Class::Varying),
                "shader" | "struct" | "class" | "public" => return Err(self.not_in_rsl_3_2(span, &word)),
                _ => break,
            }
            self.at += 1;
        }
        let Some(ty) = self.word().and_then(|w| Type::from_keyword(&w)) else {
            return Err(self.expected("a type"));
        };
        self.at += 1;
        // PRMan's own compiler takes `float output x` too.
        if self.eat_word("output") {
            specifier.output = true;
        }
        if let TokenKind::String(_) = self.kind_at(0) {
            let hint = "write it in front of the value: `point p = point \"world\" (0, 0, 0)`";
            self.reports.push(Report::error(self.span(), "a space belongs to a value, not to a type").hint(hint));
            self.at += 1;
        }
        Ok(Specifier { ty, ..specifier })
    }

    /// `name`, `name[length]`, and what it is set to.
    fn declared_name(&mut self, specifier: Specifier) -> SyntaxResult<Declaration> {
        let Specifier { ty, class, output, is_extern } = specifier;
        if ty == Type::Void {
            self.reports.push(Report::error(self.last_span(), "a variable cannot be void"));
            return Err(AlreadyReported);
        }
        if self.punct() == Some(Punct::OpenBracket) {
            let report = Report::error(self.span(), "the brackets of an array follow its name");
            self.reports.push(report.hint("write `float name[3]`"));
            return Err(AlreadyReported);
        }
        let name = self.ident("a name")?;
        let open = self.span();
        let array = if self.eat(Punct::OpenBracket) {
            if self.eat(Punct::CloseBracket) {
                Some(ArrayLength::Open(open.to(self.last_span())))
            } else {
                let length = self.expression()?;
                self.expect(Punct::CloseBracket)?;
                Some(ArrayLength::Fixed(Box::new(length)))
            }
        } else {
            None
        };
        if self.punct() == Some(Punct::OpenBracket) {
            let hint = "an array has one dimension";
            self.reports.push(Report::error(self.span(), "arrays of arrays are not RSL 3.2").hint(hint));
            return Err(AlreadyReported);
        }
        let init = if self.eat(Punct::Assign) { Some(self.initializer()?) } else { None };
        Ok(Declaration { name, ty, class, output, is_extern, array, init })
    }

    fn initializer(&mut self) -> SyntaxResult<Init> {
        let open = self.span();
        if !self.eat(Punct::OpenBrace) {
            return Ok(Init::Value(self.expression()?));
        }
        let mut values = Vec::new();
        while !self.eat(Punct::CloseBrace) {
            values.push(self.expression()?);
            if self.punct() != Some(Punct::CloseBrace) {
                self.expect(Punct::Comma)?;
            }
        }
        Ok(Init::List(values, open.to(self.last_span())))
    }

    /// Parses variables of one type, up to and with the semicolon.
    pub(super) fn declarations(&mut self) -> SyntaxResult<Vec<Declaration>> {
        let specifier = self.specifier()?;
        let mut list = vec![self.declared_name(specifier)?];
        while self.eat(Punct::Comma) {
            list.push(self.declared_name(specifier)?);
        }
        self.semicolon()?;
        Ok(list)
    }
}
