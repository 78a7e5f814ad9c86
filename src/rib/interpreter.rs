//! Reads requests one after the other: each is found in the table, is checked to be allowed where it is, and reads its
//! own arguments.

use super::reader::Reader;
use super::requests::{self, InMotion, Request, Scope};
use super::stream::fault::{Parsed, RequestFault};
use super::stream::lexer::{Lexer, TokenKind, describe};
use super::stream::messages::CurrentRequest;
use super::stream::windows_path::meaning;
use super::world::scene::SceneBuilder;

/// Reads requests to the end of the lexer's range.
pub(crate) fn read_to_end(reader: &mut Reader<'_>, lexer: &mut Lexer<'_>) {
    while !reader.scene.is_stopped() {
        reader.scene.messages.named = "";
        let kind = lexer.peek();
        let offset = lexer.position();
        match kind {
            TokenKind::End => return,
            TokenKind::Word => read_request(reader, lexer, offset),
            TokenKind::Binary => refuse_binary(&mut reader.scene, lexer, offset),
            other => {
                let message = format!("expected a request, found {}", describe(other));
                reader.scene.messages.report(lexer, RequestFault::error("syntaxerror", offset, message));
                lexer.skip_to_request();
            }
        }
    }
}

fn read_request(reader: &mut Reader<'_>, lexer: &mut Lexer<'_>, offset: usize) {
    let Some(word) = lexer.word() else { return };
    let Some(request) = requests::find(word) else {
        let suggest = reader.may_suggest();
        reader.scene.messages.report(lexer, requests::unknown(word, offset, suggest));
        lexer.skip_to_request();
        return;
    };
    let is_primitive = request.scope == Scope::Primitive;
    let location = lexer.request_location(offset);
    reader.scene.summary.requests += 1;
    reader.scene.messages.named = request.name;
    reader.scene.messages.current = CurrentRequest { name: request.name, is_primitive, location, offset };
    let result = check_scope(&mut reader.scene, request).and_then(|()| (request.read)(reader, lexer));
    let scene = &mut reader.scene;
    hint_at_back_slashes(scene, lexer);
    match result {
        // An archive or a refused request may have stopped the reading.
        Ok(()) if scene.is_stopped() => {}
        Ok(()) => check_end(scene, lexer, request.name),
        // The request continues beyond the cut, which is reported.
        Err(_) if lexer.source().is_cut() && lexer.peek() == TokenKind::End => {}
        Err(mut fault) => {
            scene.add_left_out(u64::from(is_primitive));
            if fault.lacks_arguments {
                fault.offset = offset;
            }
            // The text may have been cut off here.
            let is_cut = fault.lacks_arguments || fault.code == "syntaxerror";
            scene.summary.incomplete |= is_cut && lexer.peek() == TokenKind::End;
            scene.messages.named = request.name;
            scene.messages.report(lexer, fault);
            lexer.skip_to_request();
        }
    }
}

/// Warns once of a path whose back slashes are not doubled.
fn hint_at_back_slashes(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) {
    if let Some((offset, letter)) = lexer.take_windows_path()
        && scene.messages.is_first("back slashes")
    {
        let message = format!("\"\\{}\" in this string is {}", char::from(letter), meaning(letter));
        let fault = RequestFault::warning("badargument", offset, message);
        scene.messages.report(lexer, fault.hint("in paths, write / or \\\\ between folders"));
    }
}

/// Rejects requests where they have no meaning.
fn check_scope(scene: &mut SceneBuilder<'_>, request: &Request) -> Parsed<()> {
    leave_motion_for(scene, request)?;
    if scene.editing.is_some() {
        return requests::check_in_edits(scene, request);
    }
    let name = request.name;
    let error = |code, message: String| Err(scene.messages.error(code, message));
    match request.scope {
        Scope::Option if scene.world.is_some() => {
            error("illstate", format!("{name} is an option and cannot change inside the world"))
                .map_err(|fault| fault.hint("move it before WorldBegin"))
        }
        Scope::Option | Scope::Outside if scene.recording.is_some() => {
            error("illstate", format!("{name} is not allowed between ObjectBegin and ObjectEnd"))
        }
        Scope::Outside if scene.world.is_some() => error("nesting", format!("{name} is not allowed inside the world")),
        Scope::Primitive if scene.world.is_none() && scene.recording.is_none() => {
            error("illstate", format!("{name} is outside of any world"))
                .map_err(|fault| fault.hint("primitives belong between WorldBegin and WorldEnd"))
        }
        Scope::Anywhere | Scope::Option | Scope::Outside | Scope::Primitive => Ok(()),
    }
}

/// Checks a request against the open motion block; a request that cannot move ends the block.
fn leave_motion_for(scene: &mut SceneBuilder<'_>, request: &Request) -> Parsed<()> {
    let Some(block) = &mut scene.moving else { return Ok(()) };
    let name = request.name;
    match request.in_motion {
        InMotion::Passes => Ok(()),
        InMotion::Ends => {
            let message = format!("{name} is not allowed in the motion block that begins at {}", block.location());
            let fault = scene.messages.error("badmotion", message).hint("the block is closed here");
            scene.messages.report_here(fault);
            scene.close_innermost();
            Ok(())
        }
        InMotion::Moves => block.begin(name).map_err(|first| {
            let message = format!("{name} in a motion block of {first}: a motion block holds one kind of request");
            scene.messages.error("badmotion", message)
        }),
    }
}

/// Reports surplus arguments of a request.
fn check_end(scene: &SceneBuilder<'_>, lexer: &mut Lexer<'_>, name: &str) {
    let kind = lexer.peek();
    if !matches!(kind, TokenKind::Word | TokenKind::End | TokenKind::Binary) {
        let message = format!("found {} after the arguments of {name}", describe(kind));
        scene.messages.report(lexer, RequestFault::error("syntaxerror", lexer.position(), message));
        lexer.skip_to_request();
    }
}

/// Reports a byte that begins no token, and continues at the next request.
fn refuse_binary(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>, offset: usize) {
    let fault = RequestFault::error("syntaxerror", offset, lexer.binary_problem());
    scene.messages.report(lexer, fault.hint("reading goes on at the next request"));
    scene.summary.incomplete = true;
    lexer.skip_byte();
    lexer.skip_to_request();
}
