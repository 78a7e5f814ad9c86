//! What the types do not say of `bake3d`.

use super::checker::Checker;
use super::hir::{Expr, ExprKind, ShadeopCall, Shape, Type};
use crate::bake::{CHANNELS_MAX, PARAMETERS, is_channel_name, listed};
use crate::diagnostic::Report;

impl Checker<'_> {
    /// Compares the values of `bake3d` with its list of channels, as far as that is known now.
    pub(super) fn check_bake(&mut self, call: &ShadeopCall) {
        let mut baked = Vec::new();
        for (name, value) in &call.named {
            let ExprKind::String(word) = &name.kind else {
                let report = Report::error(name.span, "the name of a parameter or a channel must be a literal");
                return self.error(report);
            };
            match PARAMETERS.iter().find(|(known, _)| *known == &**word) {
                Some((_, is_text)) => self.check_bake_parameter(word, value, *is_text),
                None => {
                    self.check_channel(name, word, value);
                    baked.push((word.to_string(), name.span));
                }
            }
        }
        if let Some((_, span)) = baked.get(CHANNELS_MAX) {
            let message = format!("`{}` bakes at most {CHANNELS_MAX} channels", call.name);
            self.error(Report::error(*span, message).hint("bake the others to another file"));
        }
        let channels = &call.arguments[1];
        let ExprKind::String(list) = &channels.kind else { return };
        let names: Vec<String> = listed(list).map(str::to_owned).collect();
        if let Some(missing) = names.iter().find(|name| baked.iter().all(|(known, _)| known != *name)) {
            let message = format!("the channel `{missing}` gets no value");
            self.error(Report::error(channels.span, message).hint(format!("add `\"{missing}\", value` to the call")));
        }
        let unlisted = |(name, _): &&(String, _)| !names.is_empty() && !names.contains(name);
        if let Some((name, span)) = baked.iter().find(unlisted) {
            let report = Report::error(*span, format!("`{name}` is not in the list of channels"));
            self.error(report.hint(format!("`{}` has no parameter of this name either", call.name)));
        }
    }

    fn check_bake_parameter(&mut self, word: &str, value: &Expr, is_text: bool) {
        let wanted = if is_text { Type::String } else { Type::Float };
        if value.ty != wanted || value.shape != Shape::Single {
            let message = format!("the parameter `{word}` is a `{wanted}`, not {}", value.describe());
            self.error(Report::error(value.span, message));
        }
    }

    fn check_channel(&mut self, name: &Expr, word: &str, value: &Expr) {
        if !is_channel_name(word) {
            let report = Report::error(name.span, format!("`{word}` cannot be the name of a channel"));
            self.error(report.hint("names have letters, digits and underscores, and no digit first"));
        }
        let fits = value.ty == Type::Float || value.ty.is_triple();
        if !fits || value.shape != Shape::Single {
            let message =
                format!("a channel is a float, a color, a point, a vector or a normal, not {}", value.describe());
            self.error(Report::error(value.span, message));
        }
    }
}
