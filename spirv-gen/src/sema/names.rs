//! The lookup of names.

use super::checker::Checker;
use super::globals;
use super::hir::{DeclaredKind, FuncId, Predefined, Shape, Storage, VarId, Variable};
use crate::diagnostic::Report;
use crate::ir::Global;
use crate::shadeops;
use crate::span::Span;
use crate::syntax::token::Name;

/// Edits between a misspelt name and the one that a hint proposes.
const EDITS_MAX: usize = 2;

/// What a name turned out to be.
enum NameLookup {
    Variable(VarId),
    /// Declared, with a fault.
    Poisoned,
    /// A variable of the shader around the function.
    BehindFunction,
    Nothing,
}

impl Checker<'_> {
    /// Declares a variable in the innermost scope.
    pub(super) fn declare(&mut self, variable: Variable) -> VarId {
        let (name, span) = (variable.name.clone(), variable.span);
        let id = self.add_variable(variable);
        self.bind(&name, Some(id), span);
        id
    }

    /// Gives a name a meaning in the innermost scope; an error if it has one there.
    pub(super) fn bind(&mut self, name: &Name, id: Option<VarId>, span: Span) {
        let scope = self.scopes.last_mut().expect("the outermost scope is never left");
        if let Some(Some(before)) = scope.variables.insert(name.clone(), id)
            && Some(before) != id
        {
            let before = self.variable(before).span;
            let report = Report::error(span, format!("`{name}` is declared twice"));
            self.error(report.also(before, "previously declared here"));
        }
    }

    /// Makes a function known in the innermost scope.
    pub(super) fn bind_function(&mut self, name: &Name, id: FuncId) {
        let scope = self.scopes.last_mut().expect("the outermost scope is never left");
        scope.functions.entry(name.clone()).or_default().push(id);
    }

    /// Returns the variable of this name, or `None`, with an error, if there is none.
    pub(super) fn resolve(&mut self, name: &Name, span: Span) -> Option<VarId> {
        match self.find(name) {
            NameLookup::Variable(id) => Some(id),
            NameLookup::Poisoned => None,
            NameLookup::BehindFunction => {
                let report = Report::error(span, format!("the variable `{name}` is not visible in this function"));
                self.error(report.hint(format!("declare it in the function: `extern <type> {name};`")));
                None
            }
            NameLookup::Nothing => self.predefined(name, span),
        }
    }

    /// Returns the variable of this name that an `extern` declaration means.
    pub(super) fn resolve_extern(&mut self, name: &Name, span: Span) -> Option<VarId> {
        let around = self.scopes.iter().rposition(|s| s.is_function).unwrap_or(self.scopes.len());
        let found = self.scopes[..around].iter().rev().find_map(|s| s.variables.get(name)).copied();
        if let Some(id) = found {
            return id;
        }
        if globals::find(name).is_some() {
            return self.predefined(name, span);
        }
        let message = format!("the shader has no variable `{name}` for this function");
        self.kind_error(Report::error(span, message));
        None
    }

    /// Returns whether the name is a variable here, and reports nothing.
    pub(super) fn is_variable(&self, name: &Name) -> bool {
        !matches!(self.find(name), NameLookup::Nothing)
    }

    fn find(&self, name: &Name) -> NameLookup {
        let mut behind_function = false;
        for scope in self.scopes.iter().rev() {
            match scope.variables.get(name) {
                Some(_) if behind_function && globals::find(name).is_none() => return NameLookup::BehindFunction,
                Some(_) if behind_function => return NameLookup::Nothing,
                Some(Some(id)) => return NameLookup::Variable(*id),
                Some(None) => return NameLookup::Poisoned,
                None => behind_function |= scope.is_function,
            }
        }
        NameLookup::Nothing
    }

    /// Returns the predefined variable of this name. Reports an error if there is none, or if this kind of shader does
    /// not know it.
    fn predefined(&mut self, name: &Name, span: Span) -> Option<VarId> {
        let Some(entry) = globals::find(name) else {
            let report = Report::error(span, format!("unknown variable `{name}`")).label("not found");
            let hint = self.variable_hint(name);
            self.error(if hint.is_empty() { report } else { report.hint(hint) });
            return None;
        };
        if let Some(kind) = self.kind.filter(|&k| !entry.known.contains(k)) {
            if entry.tolerated.contains(kind) {
                self.warn_of_tolerated(entry, kind, span);
            } else {
                let report = Report::error(span, format!("`{name}` does not exist in {kind} shaders"));
                self.kind_error(report.hint(format!("it exists in {} shaders", entry.known.words())));
            }
        }
        if let Some(&id) = self.predefined.get(entry.name) {
            return Some(id);
        }
        let id = self.add_variable(Variable {
            name: name.clone(),
            ty: entry.ty,
            shape: Shape::Single,
            class: Some(entry.class),
            inferred: entry.class,
            storage: Storage::Predefined(entry.variable),
            span: Span::default(),
        });
        self.predefined.insert(entry.name, id);
        Some(id)
    }

    /// Warns of a predefined variable that the standard does not give to this kind of shader.
    fn warn_of_tolerated(&mut self, entry: &globals::PredefinedEntry, kind: DeclaredKind, span: Span) {
        let name = entry.name;
        let meaning = match entry.variable {
            Predefined::Global(Global::Ps) => "here it is `P`",
            Predefined::Global(Global::Ns) => "here it is `N`",
            _ => "here it is the place in the picture, from 0 to 1 (`P` is the one in pixels)",
        };
        let report = Report::warning(span, format!("`{name}` is not a variable of {kind} shaders: {meaning}"));
        self.warn_once(name, report);
    }

    /// Returns the functions of this name, those of inner scopes first, later ones of a scope first.
    pub(super) fn functions_named(&self, name: &Name) -> Vec<FuncId> {
        let lists = self.scopes.iter().rev().filter_map(|s| s.functions.get(name));
        lists.flat_map(|list| list.iter().rev().copied()).collect()
    }

    /// Returns the functions of this name that the innermost scope declares.
    pub(super) fn functions_declared_here(&self, name: &Name) -> &[FuncId] {
        self.scopes.last().and_then(|s| s.functions.get(name)).map_or(&[], Vec::as_slice)
    }

    /// Returns a hint for a variable that does not exist.
    fn variable_hint(&self, name: &Name) -> String {
        if &**name == "true" || &**name == "false" {
            return "RSL has no boolean values: use 1 or 0".to_owned();
        }
        let mut names: Vec<&str> = self.kind.into_iter().flat_map(globals::names).collect();
        names.push("PI");
        names.extend(self.scopes.iter().flat_map(|s| s.variables.keys()).map(AsRef::<str>::as_ref));
        similar(name, names)
    }

    /// Returns a hint for a function that does not exist.
    pub(super) fn function_hint(&self, name: &Name) -> String {
        let mut names: Vec<&str> = shadeops::names().collect();
        names.extend(self.scopes.iter().flat_map(|s| s.functions.keys()).map(AsRef::<str>::as_ref));
        similar(name, names)
    }
}

/// Returns "did you mean" with the nearest of `names`, or nothing if none is near.
fn similar(name: &str, names: Vec<&str>) -> String {
    let edits = |other: &str| strsim::damerau_levenshtein(name, other);
    // A name of two letters is two edits from every other.
    let limit = EDITS_MAX.min(name.chars().count() / 2);
    // Very long names are never near, and slow to compare.
    let near = names.into_iter().filter(|n| n.len() < 64 && name.len() < 64 && *n != name);
    let best = near.map(|n| (edits(n), n)).filter(|(e, _)| *e <= limit).min();
    best.map_or_else(String::new, |(_, n)| format!("did you mean `{n}`?"))
}
