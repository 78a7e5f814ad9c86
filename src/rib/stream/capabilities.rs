//! What the renderer can do, as the Renderer Resource File of the RISpec's appendix D; and what of it scenes ask for in
//! vain (`##CapabilitiesNeeded`).

use super::fault::RequestFault;
use super::lexer::LineMark;
use super::messages::Messages;
use super::source::Source;
use super::tokens::{self, Support};
use crate::diagnostic::SourceLocation;
use memchr::memmem;
use std::fmt::Write as _;

/// The optional capabilities that the RISpec names, and whether scenes that need them are drawn as they mean.
const CAPABILITIES: [(&str, bool); 18] = [
    ("Solid Modeling", true),
    ("Trim Curves", true),
    ("Level Of Detail", true),
    ("Motion Blur", true),
    ("Depth Of Field", true),
    ("Programmable Shading", true),
    ("Special Camera Projections", false),
    ("Deformations", false),
    ("Displacements", true),
    ("Spectral Colors", false),
    ("Texture Mapping", true),
    ("Environment Mapping", true),
    ("Bump Mapping", true),
    ("Shadow Depth Mapping", true),
    ("Volume Shading", true),
    ("Ray Tracing", false),
    ("Radiosity", false),
    ("Area Light Sources", false),
];

/// Returns the Renderer Resource File.
pub fn renderer_resource() -> String {
    let available: Vec<&str> = CAPABILITIES.iter().filter(|(_, has)| *has).map(|(name, _)| *name).collect();
    let mut text = format!(
        "##RenderMan Resource-1.0\n##Renderer anthill {}\n##RenderManCapabilitiesAvailable {}\n",
        env!("CARGO_PKG_VERSION"),
        available.join(", ")
    );
    for (request, title) in [("Attribute", "##RendererSpecificAttributes"), ("Option", "##RendererSpecificOptions")] {
        for group in tokens::GROUPS.iter().filter(|group| group.request == request) {
            for token in group.tokens.iter().filter(|token| token.support == Support::Acts) {
                let _ = writeln!(text, "{title} \"{}\" \"{}\"", group.name, token.declaration);
            }
        }
    }
    text
}

impl Messages<'_> {
    /// Warns about capabilities that the hints of an input ask for and that are missing, in one message a hint.
    pub(crate) fn check_capabilities(&self, source: &Source) {
        const HINT: &[u8] = b"##CapabilitiesNeeded";
        let mut mark = LineMark::START;
        for at in memmem::find_iter(&source.bytes, HINT) {
            let ends_line = |byte: &u8| matches!(byte, b'\n' | b'\r');
            if at > 0 && !ends_line(&source.bytes[at - 1]) {
                continue;
            }
            mark = mark.advanced(&source.bytes, at);
            let rest = &source.bytes[at + HINT.len()..];
            let needed = &rest[..rest.iter().position(ends_line).unwrap_or(rest.len())];
            let needed = String::from_utf8_lossy(needed).to_lowercase();
            let lacking = CAPABILITIES.iter().filter(|(name, has)| !has && needed.contains(&name.to_lowercase()));
            let names: Vec<&str> = lacking.map(|(name, _)| *name).collect();
            if !names.is_empty() {
                let location = SourceLocation { file: source.name.clone(), line: mark.line, column: 1 };
                let message = format!("the scene needs what is not supported: {}", names.join(", "));
                self.report_at(location, RequestFault::warning("incapable", at, message));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_resource_file_lists_capabilities_and_tokens() {
        let text = renderer_resource();
        assert!(text.starts_with("##RenderMan Resource-1.0\n##Renderer anthill "), "{text}");
        let available = text.lines().find(|line| line.starts_with("##RenderManCapabilitiesAvailable"));
        assert!(available.is_some_and(|line| line.contains("Displacements") && !line.contains("Radiosity")), "{text}");
        assert!(text.contains("##RendererSpecificOptions \"limits\" \"int eyesplits\"\n"), "{text}");
    }

    #[test]
    fn each_name_is_there_once() {
        for (index, (name, _)) in CAPABILITIES.iter().enumerate() {
            assert!(CAPABILITIES[..index].iter().all(|(other, _)| !name.contains(other) && !other.contains(name)));
        }
    }
}
