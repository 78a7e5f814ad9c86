//! Textures that a scene requests: made between its worlds.

use crate::diagnostic::{Diagnostic, Severity};
use crate::files::{FileRefused, FileRole, spellings};
use crate::film::{DisplayOutcome, DisplayState};
use crate::outcome::Ending;
use crate::progress::Activity;
use crate::render::session::draw::{Session, WorldOutcome};
use crate::render::session::tiling_watch::{show, take_memory};
use crate::rib::RequestedTexture;
use crate::texture::{
    MakeKind, MakeLimits, MakeRequest, ReadLimits, TextureError, is_depth_file, make_bytes, make_within,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Session<'_> {
    /// Makes a texture. `drawn` are the files that were written so far.
    pub(super) fn make_texture(&mut self, texture: RequestedTexture, drawn: &[DisplayOutcome]) -> WorldOutcome {
        let RequestedTexture { make, request, folders, location, .. } = texture;
        let path = make.output.clone();
        let made = match self.depth_file_itself(&make) {
            Ok(Some(input)) => {
                // Nothing is written over what a display wrote.
                self.textures.expect_depth_file(&input);
                return WorldOutcome { displays: Vec::new(), ending: None };
            }
            Ok(None) => self.make_with_room(&make, &folders, drawn),
            Err(error) => Err(error),
        };
        self.ticker.tally.begin(Activity::Reading);
        let Err(error) = made else {
            return WorldOutcome { displays: vec![DisplayOutcome { path, state: DisplayState::Whole }], ending: None };
        };
        let is_stopped = matches!(error, TextureError::Stopped);
        if !is_stopped {
            let (code, hint) = advice(&error, &folders);
            let message = format!("{request}: {error}");
            self.reporter.report(Diagnostic::new(Severity::Severe, code, location, message).hint(hint));
        }
        let displays = vec![DisplayOutcome { path, state: DisplayState::Missing }];
        WorldOutcome { displays, ending: is_stopped.then_some(Ending::Interrupted) }
    }

    /// Makes a texture; where there is too little memory, without the points in it that pictures looked up.
    fn make_with_room(
        &self,
        request: &MakeRequest,
        folders: &[String],
        drawn: &[DisplayOutcome],
    ) -> Result<(), TextureError> {
        let made = || self.make_of_files(request.clone(), folders, drawn);
        made().or_else(|error| if error.is_for_memory() && self.textures.free_points() { made() } else { Err(error) })
    }

    fn make_of_files(
        &self,
        mut request: MakeRequest,
        folders: &[String],
        drawn: &[DisplayOutcome],
    ) -> Result<(), TextureError> {
        let files = &self.options.files;
        for input in &mut request.inputs {
            *input = found(input, folders);
            let last = drawn.iter().rev().find(|display| display.path == *input);
            if last.is_some_and(|display| display.state != DisplayState::Whole) {
                return Err(TextureError::NotWhole(input.clone()));
            }
            files.claim(input, FileRole::MakeInput)?;
        }
        files.claim(&request.output, FileRole::MadeTexture)?;
        let picture = request.inputs.first().cloned().unwrap_or_default();
        let no_memory = |reason| TextureError::NoMemory { path: picture, reason };
        let _charge = take_memory(&self.memory, make_bytes(&request)?).map_err(no_memory)?;
        let ticker = self.ticker;
        let read = ReadLimits { memory: Arc::clone(&self.memory), interrupt: ticker.interrupt.clone() };
        let limits = MakeLimits { read: &read, output: files.budget() };
        let show = |fraction| show(&ticker.tally, &ticker.interrupt, &request.output, fraction);
        make_within(&request, limits, &show).map(drop)
    }

    /// Returns the depth file that a shadow map is to be made of in its place, as other renderers' depth files are
    /// shadow maps. It is read only if it may be.
    fn depth_file_itself(&self, request: &MakeRequest) -> Result<Option<PathBuf>, TextureError> {
        let [input] = &request.inputs[..] else { return Ok(None) };
        let is_same = request.kind == MakeKind::Shadow
            && input
                .canonicalize()
                .is_ok_and(|input| request.output.canonicalize().is_ok_and(|output| input == output));
        if !is_same || self.options.files.claim(input, FileRole::MakeInput).is_err() {
            return Ok(None);
        }
        Ok(is_depth_file(input)?.then(|| input.clone()))
    }
}

/// Returns a picture as it is named, or in the first folder that has it.
fn found(picture: &Path, folders: &[String]) -> PathBuf {
    let there = spellings(picture.to_owned()).find(|path| path.exists());
    let inside = |folder: &String| spellings(Path::new(folder).join(picture)).find(|path| path.is_file());
    there.or_else(|| folders.iter().find_map(inside)).unwrap_or_else(|| picture.to_owned())
}

/// Returns the code of an error, and what to do about it.
fn advice(error: &TextureError, folders: &[String]) -> (&'static str, String) {
    match error {
        TextureError::Missing(_) if folders.is_empty() => {
            ("nofile", "Option \"searchpath\" \"texture\" sets where else to look for pictures".into())
        }
        TextureError::Missing(_) => ("nofile", format!("the texture path is {}", folders.join(":"))),
        TextureError::Refused(FileRefused::Clash { .. }) => {
            ("badfile", "the texture is not made; name another file".into())
        }
        _ => ("badfile", "the texture is not made; the rest is rendered".into()),
    }
}
