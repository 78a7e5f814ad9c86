//! Edits of a scene: EditBegin and EditEnd, as in the re-rendering of RenderMan Pro Server (docs/edits.md).

mod made;
mod scope;

pub(crate) use scope::{RequestGroup, check_edit_scope};

use super::parameters::read_shader_params;
use crate::rib::stream::fault::{Parsed, RequestFault};
use crate::rib::stream::lexer::Lexer;
use crate::rib::stream::params::ParamSlice;
use crate::rib::stream::skip_block::skip_block;
use crate::rib::world::editing::{EditBatch, EditKind, OpenEdit};
use crate::rib::world::scene::SceneBuilder;
use crate::scene::{Edit, NamePattern, PictureEdit};
use std::path::PathBuf;
use std::sync::Arc;

/// How many of the nearest names a message lists.
const NEAREST_MAX: usize = 3;

/// Begins or ends the edits of a scene, which is the one that is rendered, whatever the request names.
pub(super) fn edit_world(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    lexer.skip_to_request();
    only_in_fragments(scene)
}

/// Refuses edits in a scene.
fn only_in_fragments(scene: &SceneBuilder<'_>) -> Parsed<()> {
    if scene.editing.is_some() {
        return Ok(());
    }
    let name = scene.messages.current.name;
    let fault = scene.messages.error("illstate", format!("{name} belongs in a fragment of edits, not in a scene"));
    Err(fault.hint("give the fragment to anthill render --edits"))
}

/// Opens a block of edits. A block that cannot be opened is skipped.
pub(super) fn edit_begin(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    if let Err(fault) = only_in_fragments(scene) {
        skip_edit(scene, lexer);
        return Err(fault);
    }
    scene.drop_open_edit();
    let result = read_begin(scene, lexer);
    let is_skipped = matches!(&result, Ok(open) if is_elsewhere(scene, open.kind));
    match result {
        Ok(open) if !is_skipped => {
            scene.open_edit(open);
            Ok(())
        }
        other => {
            skip_edit(scene, lexer);
            other.map(drop)
        }
    }
}

/// Whether blocks of a kind are read at another place of the scene.
fn is_elsewhere(scene: &SceneBuilder<'_>, kind: EditKind) -> bool {
    scene.editing.as_ref().is_some_and(|editing| !editing.blocks.has(kind))
}

/// Skips the rest of a block of edits.
fn skip_edit(scene: &SceneBuilder<'_>, lexer: &mut Lexer<'_>) {
    // What lacks an end is skipped to the end of the text.
    let _ = skip_block(lexer, "EditBegin", &["EditEnd"], &scene.messages);
}

/// Reads the arguments of EditBegin.
fn read_begin(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<OpenEdit> {
    let name = lexer.text()?;
    let kind = EditKind::named(&name).ok_or_else(|| {
        let fault = scene.messages.error("badtoken", format!("EditBegin: there are no edits of kind \"{name}\""));
        fault.hint("use \"option\", \"attribute\", \"instance\" or \"file\"")
    })?;
    read_shader_params(scene, lexer)?;
    let is_skipped = is_elsewhere(scene, kind);
    let known: &[&str] = match kind {
        EditKind::Options => &[],
        EditKind::Attributes => &["scopename", "editlights"],
        EditKind::Instances => &["scopename"],
        EditKind::Files => &["name"],
    };
    if let Some(param) = scene.params.iter().find(|param| !known.contains(&&*param.declaration.name)) {
        let message = format!("EditBegin \"{name}\" has no parameter \"{}\"", param.declaration.name);
        let list = if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
        return Err(RequestFault::error("badtoken", param.offset, message).hint(list));
    }
    let scope = texts(scene, "scopename");
    let names = match scope.first().filter(|_| !is_skipped) {
        Some(pattern) => pattern_of_names(scene, pattern)?,
        None if kind == EditKind::Instances && !is_skipped => {
            let fault = scene.messages.error("badargument", "EditBegin \"instance\" needs a \"string scopename\"");
            return Err(fault.hint("it is a pattern of names that Attribute \"identifier\" \"name\" sets"));
        }
        None => NamePattern::all(),
    };
    let lights = texts(scene, "editlights");
    let lights = if lights.is_empty() || is_skipped { None } else { Some(pattern_of_lights(scene, &lights)?) };
    if lights.is_some() && !scope.is_empty() {
        let fault =
            scene.messages.error("badargument", "EditBegin: \"editlights\" and \"scopename\" exclude each other");
        return Err(fault.hint("a light is edited for all objects; Illuminate in another block switches it for some"));
    }
    let files = texts(scene, "name");
    if kind == EditKind::Files && files.is_empty() {
        return Err(scene.messages.error("badargument", "EditBegin \"file\" needs a \"string name\""));
    }
    let location = scene.messages.current.location.clone();
    Ok(OpenEdit { kind, names, lights, location, effects: Vec::new(), files, options: None })
}

/// Returns the strings of a parameter.
fn texts(scene: &SceneBuilder<'_>, name: &str) -> Vec<Arc<str>> {
    match scene.params.find(name).map(|param| scene.params.values(param)) {
        Some(ParamSlice::Strings(texts)) => texts.to_vec(),
        _ => Vec::new(),
    }
}

/// Returns the pattern of names, which must match an object.
fn pattern_of_names(scene: &SceneBuilder<'_>, text: &str) -> Parsed<NamePattern> {
    let error = |code, message: String| scene.messages.error(code, message);
    let pattern = NamePattern::new(text).map_err(|message| error("badargument", message))?;
    let names = scene.editing.as_ref().map_or(&[][..], |editing| &editing.names);
    if names.iter().any(|name| pattern.matches(name)) {
        return Ok(pattern);
    }
    let fault = error("badhandle", format!("no object's name matches \"{text}\", so this edit is left out"));
    Err(fault.hint(nearest(text, names.iter().map(|name| &**name).filter(|name| !name.is_empty()), "objects")))
}

/// Returns the pattern of handles from lists of them between commas, each of which must be the handle of a light, or a
/// pattern of whole handles that matches one.
fn pattern_of_lights(scene: &SceneBuilder<'_>, lists: &[Arc<str>]) -> Parsed<NamePattern> {
    let parts: Vec<&str> = lists.iter().flat_map(|list| list.split(',')).map(str::trim).collect();
    let handles: Vec<Arc<str>> = scene.lights.list.iter().map(|light| Arc::clone(&light.handle)).collect();
    let mut whole = Vec::new();
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        let error = |code, message: String| scene.messages.error(code, message);
        let pattern = NamePattern::new(&format!("^(?:{part})$")).map_err(|message| error("badargument", message))?;
        if !handles.iter().any(|handle| !handle.is_empty() && pattern.matches(handle)) {
            let fault = error("badhandle", format!("there is no light \"{part}\", so this edit is left out"));
            let handles = handles.iter().map(|handle| &**handle).filter(|handle| !handle.is_empty());
            return Err(fault.hint(nearest(part, handles, "lights")));
        }
        whole.push(part);
    }
    let text = format!("^(?:{})$", whole.join("|"));
    NamePattern::new(&text).map_err(|message| scene.messages.error("badargument", message))
}

/// Returns a hint that lists the names nearest to a pattern.
fn nearest<'n>(pattern: &str, names: impl Iterator<Item = &'n str>, what: &str) -> String {
    let plain = pattern.trim_start_matches('^').trim_end_matches('$');
    let mut names: Vec<(f64, &str)> =
        names.map(|name| (strsim::normalized_damerau_levenshtein(plain, name), name)).collect();
    names.sort_by(|a, b| b.0.total_cmp(&a.0));
    names.dedup_by_key(|(_, name)| *name);
    let names: Vec<String> = names.iter().take(NEAREST_MAX).map(|(_, name)| format!("\"{name}\"")).collect();
    match names.is_empty() {
        true if what == "objects" => {
            "the scene has no object with a name: Attribute \"identifier\" \"string name\" gives one".to_owned()
        }
        true => format!("the scene has no {what}"),
        false => format!("the nearest names of {what} are {}", names.join(", ")),
    }
}

/// Ends a block of edits.
pub(super) fn edit_end(scene: &mut SceneBuilder<'_>, _: &mut Lexer<'_>) -> Parsed<()> {
    only_in_fragments(scene)?;
    scene.flush();
    let Some(open) = scene.editing.as_mut().and_then(|editing| editing.open.take()) else {
        return Err(scene.messages.error("nesting", "EditEnd without EditBegin"));
    };
    let location = open.location.clone();
    let edits = match open.kind {
        EditKind::Options => option_edits(scene),
        EditKind::Files => vec![Edit::Files(open.files.iter().map(|name| PathBuf::from(&**name)).collect())],
        EditKind::Attributes | EditKind::Instances => made::edits_of(scene, open),
    };
    if let Some(editing) = &mut scene.editing {
        editing.batches.push(EditBatch { edits, location });
    }
    Ok(())
}

/// Returns the edits that a block of options makes.
fn option_edits(scene: &mut SceneBuilder<'_>) -> Vec<Edit> {
    let before = scene.editing.as_mut().and_then(|editing| {
        editing.camera = Arc::clone(&scene.state.transform);
        editing.frozen.take()
    });
    let Some(before) = before else { return Vec::new() };
    let after = scene.frozen_here();
    let edits = PictureEdit::between((&before.0, &before.1), (&after.0, &after.1));
    edits.into_iter().map(Edit::Picture).collect()
}
