//! Geometry "teapot": Newell's teapot as 32 bicubic patches, upright along z, on the plane z = 0.

use super::fault::Parsed;
use super::lexer::Lexer;
use super::objects::Object;
use super::reader::Reader;
use super::source::Input;
use super::source::Source;
use std::sync::Arc;

/// The patches, upright along y.
const PATCHES: &str = include_str!("../../scenes/archives/teapot.rib");

impl Reader<'_> {
    pub(super) fn geometry(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let name = lexer.text()?;
        // Its parameters are those of implementations.
        lexer.skip_to_request();
        if *name != *"teapot" {
            self.mark_inert();
            self.note_left_out(true);
            let message = format!("Geometry \"{name}\" is not supported and is left out; there is \"teapot\"");
            self.warn_once(&message, "unimplement", &message);
            return Ok(());
        }
        let object = self.teapot()?;
        self.apply(super::effect::RequestEffect::Instance(object));
        Ok(())
    }

    /// The teapot as an object, which a world reads once.
    fn teapot(&mut self) -> Parsed<Arc<Object>> {
        if let Some(object) = self.world.as_ref().and_then(|world| world.teapot.clone()) {
            return Ok(object);
        }
        self.flush();
        // Neither an object nor a motion block around it is its own.
        let around = (self.moving.take(), self.recording.take());
        let text = format!("Rotate 90 1 0 0\n{PATCHES}").into_bytes();
        let source = Source::load(&Input::Memory { name: "teapot".into(), bytes: text }, &self.settings.memory);
        let source = Arc::new(source.expect("memory can be read"));
        let object = self.recorded(|reader| {
            reader.in_procedural(|reader| {
                reader.read_source(&source);
                Ok(())
            })
        });
        (self.moving, self.recording) = around;
        let object = object?;
        if let Some(world) = &mut self.world {
            world.teapot = Some(Arc::clone(&object));
        }
        Ok(object)
    }
}
