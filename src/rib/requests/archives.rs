//! Archives in files and inline, and requests about the stream itself.

use super::run_program::read_output_of;
use crate::files::FileRole;
use crate::rib::reader::Reader;
use crate::rib::stream::archive::{ArchiveIdentity, InlineArchive};
use crate::rib::stream::fault::Parsed;
use crate::rib::stream::lexer::Lexer;
use crate::rib::stream::messages::ErrorHandling;
use crate::rib::stream::search;
use crate::rib::stream::skip_block::skip_block;
use crate::rib::stream::source::{self, Source};
use crate::rib::world::scene::SceneBuilder;
use crate::scene::SearchPaths;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

pub(super) fn version(reader: &mut Reader<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let version = lexer.one_float()?;
    if !(3.0..3.205).contains(&version) {
        let message = format!("unknown RIB version {version}; the file is read as 3.2");
        reader.scene.messages.report_warning("badversion", message);
    }
    reader.begin_scene();
    Ok(())
}

pub(super) fn declare(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let name = lexer.text()?;
    let declaration = lexer.text()?;
    let is_new = scene
        .dictionary
        .declare(&name, &declaration)
        .map_err(|message| scene.messages.error("badargument", message).hint("expected \"class type[n]\""))?;
    scene.definitions += u64::from(is_new);
    Ok(())
}

pub(super) fn error_handler(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let handling = match &*lexer.text()? {
        "ignore" => ErrorHandling::Ignore,
        "print" => ErrorHandling::Print,
        "abort" => ErrorHandling::Abort,
        other => {
            let message = format!("there is no error handler \"{other}\"");
            return Err(scene.messages.error("badargument", message).hint("use ignore, print or abort"));
        }
    };
    scene.messages.handling = handling;
    Ok(())
}

pub(super) fn read_archive(reader: &mut Reader<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let name = lexer.text()?;
    // Later renderers allow a parameter list here; none of its pairs is known.
    lexer.skip_to_request();
    read_named_archive(reader, &name, lexer.source())
}

/// Reads an archive that the text `asking` names.
pub(super) fn read_named_archive(reader: &mut Reader<'_>, name: &str, asking: &Source) -> Parsed<()> {
    if let Some(command) = name.strip_prefix('|') {
        return read_output_of(reader, command);
    }
    reader.count_archive()?;
    let current = reader.scene.messages.current.clone();
    match reader.archives.inline.get(name).cloned() {
        Some(archive) => {
            let identity = ArchiveIdentity::Inline(Arc::as_ptr(&archive.source).addr(), archive.range.start);
            reader.archives.enter(identity, name, current.offset)?;
            let mut inner =
                Lexer::new(&archive.source, archive.range.clone(), archive.mark).with_codes(Rc::clone(&archive.codes));
            reader.read_requests(&mut inner);
        }
        None => {
            let loaded = load_archive(&reader.scene, name, asking);
            reader.scene.summary.incomplete |= loaded.is_err();
            let (path, source) = loaded?;
            reader.archives.enter(ArchiveIdentity::File(path), name, current.offset)?;
            reader.read_source(&Arc::new(source));
        }
    }
    reader.archives.leave();
    reader.scene.messages.current = current;
    Ok(())
}

fn load_archive(scene: &SceneBuilder<'_>, name: &str, asking: &Source) -> Parsed<(PathBuf, Source)> {
    // Other archives of the user's are searched after those beside the input.
    let (first, none) = (&scene.settings.search_first, SearchPaths::default());
    let search = &search::with_others(&scene.options.options.search, first, &none);
    let beside = [asking.directory.as_deref(), scene.directory.as_deref()];
    let last = scene.settings.search_last.archive.iter().map(Path::new);
    let folders = search.archive.iter().map(Path::new).chain(beside.into_iter().flatten()).chain(last);
    let files = &scene.settings.files;
    let Some(path) = source::find_archive(name, folders, files) else {
        let hint = match search.archive.as_slice() {
            [] => "no archive path is set (Option \"searchpath\" \"archive\", or --archives)".to_owned(),
            paths => format!("the archive path is {}", paths.join(":")),
        };
        return Err(scene.messages.error("nofile", format!("cannot find the archive \"{name}\"")).hint(hint));
    };
    if let Err(refused) = files.claim(&path, FileRole::Archive) {
        return Err(scene.messages.error("badfile", refused.to_string()).hint("it is not read"));
    }
    match Source::open(&path, &scene.settings.memory) {
        Ok(source) => Ok((path.canonicalize().unwrap_or(path), source)),
        Err(error) => Err(scene.messages.error("badfile", format!("cannot read the archive \"{name}\": {error}"))),
    }
}

/// Keeps the text up to the matching ArchiveEnd. It is read token by token, so that ArchiveEnd in a string or
/// comment does not count.
pub(super) fn archive_begin(reader: &mut Reader<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let name = lexer.text()?;
    lexer.skip_to_request();
    let start = lexer.position();
    let (mark, codes) = (lexer.mark_at(start), lexer.codes());
    let (_, end) = skip_block(lexer, "ArchiveBegin", &["ArchiveEnd"], &reader.scene.messages)?;
    let archive = InlineArchive { source: Arc::clone(lexer.source()), range: start..end, mark, codes };
    reader.archives.inline.insert(name, archive);
    reader.scene.definitions += 1;
    Ok(())
}

pub(super) fn archive_end(scene: &mut SceneBuilder<'_>, _: &mut Lexer<'_>) -> Parsed<()> {
    Err(scene.messages.error("nesting", "ArchiveEnd without ArchiveBegin"))
}
