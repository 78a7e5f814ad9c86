//! Requests that are known but have no effect yet: each causes one warning, and its arguments are skipped.

use crate::rib::stream::fault::Parsed;
use crate::rib::stream::lexer::Lexer;
use crate::rib::world::scene::SceneBuilder;

/// The warning for each request.
const MESSAGES: &[(&str, &str)] = &[
    ("Volume", "volume primitives are not supported and are left out"),
    ("Procedural2", "procedurals of this kind are not supported and are left out"),
    ("Interior", "interior volume shaders are not supported yet and have no effect"),
    ("Exterior", "exterior volume shaders are not supported yet and have no effect"),
    ("Deformation", "deformation shaders are not supported and have no effect"),
    ("ShaderLayer", LAYERS),
    ("ConnectShaderLayers", LAYERS),
    ("Shader", "coshaders are not supported and have no effect"),
    ("Camera", "named cameras are not supported and have no effect"),
];

/// What to do instead of layers.
const LAYERS: &str = "layered shaders are not supported and have no effect: write one shader that does what the layers \
                      do, each as a function";

/// Warns about the current request and skips its arguments.
pub(super) fn unsupported(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    lexer.skip_to_request();
    scene.mark_inert();
    let name = scene.messages.current.name;
    scene.note_left_out();
    let message =
        MESSAGES.iter().find(|(request, _)| *request == name).map_or("it has no effect", |(_, message)| message);
    scene.messages.warn_once(name, "unimplement", &format!("{name}: {message}"));
    Ok(())
}
