//! Resources: attributes that are saved under a name and restored later (RenderMan Pro Server's `Resource`).

use super::parameters::read_shader_params;
use crate::rib::state::resources::{ResourceStep, ResourceSubset};
use crate::rib::stream::fault::Parsed;
use crate::rib::stream::lexer::Lexer;
use crate::rib::world::effect::RequestEffect;
use crate::rib::world::scene::SceneBuilder;

pub(super) fn resource(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let handle = lexer.handle()?;
    let kind = lexer.text()?;
    read_shader_params(scene, lexer)?;
    if *kind != *"attributes" {
        let message = format!("resources of type \"{kind}\" are not supported and have no effect");
        scene.messages.warn_once(&format!("Resource {kind}"), "unimplement", &message);
        return Ok(());
    }
    let fault = |message: String| scene.messages.error("badargument", message);
    let subset = scene.params.string("subset").unwrap_or_else(|| "all".into());
    let subset = ResourceSubset::named(&subset).ok_or_else(|| fault(format!("there is no subset \"{subset}\"")))?;
    let step = match scene.params.string("operation").as_deref() {
        Some("save") => ResourceStep::Save(handle),
        Some("restore") => ResourceStep::Restore(handle, subset),
        _ => return Err(fault("the \"operation\" of a resource is \"save\" or \"restore\"".to_owned())),
    };
    scene.perform(RequestEffect::Resource(step));
    Ok(())
}
