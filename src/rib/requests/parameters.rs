//! Parameter lists of requests, and the tokens in them that have no effect.

use crate::diagnostic::Severity;
use crate::rib::stream::fault::Parsed;
use crate::rib::stream::lexer::Lexer;
use crate::rib::stream::params::ParamSlice;
use crate::rib::stream::tokens::{FOREIGN, OTHER_RENDERERS, Support, TokenGroup, group};
use crate::rib::world::scene::SceneBuilder;
use Support::{Acts, FallsBack, Harmless};
use std::sync::Arc;

/// Reads the parameter list of the current request.
pub(super) fn read_params(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let SceneBuilder { params, dictionary, messages, options, .. } = scene;
    params.set_samples(Arc::clone(&options.rgb_from_samples));
    let mut resolve = |token: &[u8], _| dictionary.look_up(token);
    params.read(lexer, &mut resolve, &mut |lexer, fault| messages.report(lexer, fault))
}

/// Reads the parameter list of a shader, whose tokens need no declarations.
pub(super) fn read_shader_params(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let SceneBuilder { params, dictionary, messages, options, .. } = scene;
    params.set_samples(Arc::clone(&options.rgb_from_samples));
    let mut resolve = |token: &[u8], strings| dictionary.look_up_parameter(token, strings);
    params.read(lexer, &mut resolve, &mut |lexer, fault| messages.report(lexer, fault))
}

/// Reads the parameter list of a request with tokens of its own. Unknown ones only cause a warning, because
/// renderers differ in them, and none at all where the whole `group` is unknown.
pub(super) fn read_params_in(
    scene: &mut SceneBuilder<'_>,
    lexer: &mut Lexer<'_>,
    group: Option<&TokenGroup>,
) -> Parsed<()> {
    let SceneBuilder { params, dictionary, messages, .. } = scene;
    params.set_samples(Arc::default());
    let known = group.map_or(&[][..], |group| group.tokens);
    let mut resolve = |token: &[u8], strings| dictionary.look_up_in(known, token, strings);
    params.read(lexer, &mut resolve, &mut |lexer, mut fault| {
        if fault.code == "badtoken" {
            fault.severity = Severity::Warning;
        }
        let is_foreign = group.is_none_or(|group| OTHER_RENDERERS.contains(&group.name));
        if fault.code != "badtoken" || !is_foreign {
            messages.report(lexer, fault);
        }
    })
}

/// Reads the parameters of a category of `Option` or `Attribute`, and warns of what has no effect. Returns false
/// for categories that are skipped, because they belong to another renderer's own names.
pub(super) fn read_category(
    scene: &mut SceneBuilder<'_>,
    lexer: &mut Lexer<'_>,
    what: &str,
    category: &str,
) -> Parsed<bool> {
    if FOREIGN.contains(&category) {
        lexer.skip_to_request();
        return Ok(false);
    }
    let request = scene.messages.current.name;
    let group = group(request, category);
    read_params_in(scene, lexer, group)?;
    match group {
        Some(group) if is_of(scene, group) => warn_of_tokens(scene, group),
        _ if OTHER_RENDERERS.contains(&category) => warn_of_other_renderers(scene, category),
        Some(group) => warn_of_tokens(scene, group),
        None => {
            let message = format!("unknown {what} \"{category}\"; it is kept for shaders and has no other effect");
            scene.messages.warn_once(&format!("{request} {category}"), "badtoken", &message);
        }
    }
    Ok(true)
}

/// Whether the current parameters are all of a group.
fn is_of(scene: &SceneBuilder<'_>, group: &TokenGroup) -> bool {
    let mut names = scene.params.iter().map(|param| &*param.declaration.name).peekable();
    names.peek().is_some() && names.all(|name| group.tokens.iter().any(|token| token.name() == name))
}

/// Warns about the current parameters that are not supported or not known, once for each token.
pub(super) fn warn_of_tokens(scene: &mut SceneBuilder<'_>, group: &TokenGroup) {
    let mut found = Vec::new();
    for param in scene.params.iter() {
        let name = &*param.declaration.name;
        let known = group.tokens.iter().find(|token| token.name() == name);
        let title = match group.name {
            "" => format!("{} \"{name}\"", group.request),
            of => format!("{} \"{of}\" \"{name}\"", group.request),
        };
        match known.map(|token| token.support) {
            Some(support) => found.extend(shortfall(support, &title, &text(scene.params.values(param)))),
            None if group.name == "user" => {}
            None => {
                let message = format!("unknown {title}; it is kept for shaders and has no other effect");
                found.push((title, message));
            }
        }
    }
    for (key, message) in found {
        scene.messages.warn_once(&key, "badtoken", &message);
    }
}

/// Warns about a request with one number, if it is not supported.
pub(super) fn warn_of_number(scene: &mut SceneBuilder<'_>, token: &str, value: f64) {
    let Some(group) = group(scene.messages.current.name, "") else { return };
    let title = if token.is_empty() { group.request.to_owned() } else { format!("{} \"{token}\"", group.request) };
    let known = group.tokens.iter().find(|known| token.is_empty() || known.name() == token);
    if let Some((key, message)) = known.and_then(|known| shortfall(known.support, &title, &value.to_string())) {
        scene.messages.warn_once(&key, "incapable", &message);
    }
}

/// Warns once about all attributes and options of other renderers.
pub(super) fn warn_of_other_renderers(scene: &mut SceneBuilder<'_>, name: &str) {
    let request = scene.messages.current.name;
    let message = format!(
        "{request} \"{name}\" and its like belong to other renderers; they are kept for shaders and have no other effect"
    );
    if scene.messages.is_first("other renderers") {
        scene.messages.report_warning("badtoken", message);
    }
}

/// Returns the key and the text of the message about a token with this value, if it is not supported.
fn shortfall(support: Support, title: &str, value: &str) -> Option<(String, String)> {
    match support {
        FallsBack { unless, instead } if !unless.contains(&value) => {
            Some((title.to_owned(), format!("{title} is not supported: {instead}")))
        }
        Acts | Harmless | FallsBack { .. } => None,
    }
}

/// Values as the table writes them: separated by blanks.
fn text(values: ParamSlice<'_>) -> String {
    let texts: Vec<String> = match values {
        ParamSlice::Floats(values) => values.iter().map(ToString::to_string).collect(),
        ParamSlice::Ints(values) => values.iter().map(ToString::to_string).collect(),
        ParamSlice::Strings(values) => values.iter().map(ToString::to_string).collect(),
    };
    texts.join(" ")
}
