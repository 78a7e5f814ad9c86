//! Requests that begin and end blocks (RISpec 2.2).

use crate::rib::reader::Reader;
use crate::rib::stream::fault::Parsed;
use crate::rib::stream::lexer::Lexer;
use crate::rib::world::block::BlockKind;
use crate::rib::world::effect::RequestEffect;
use crate::rib::world::motion_block::MovingBlock;
use crate::rib::world::scene::SceneBuilder;
use crate::scene::SolidOperation;

pub(super) fn frame_begin(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let number = lexer.one_int()?;
    if scene.blocks.iter().any(|block| block.kind == BlockKind::Frame) {
        return Err(scene.messages.error("nesting", "frames cannot be nested"));
    }
    scene.open(BlockKind::Frame)?;
    scene.options.frame = Some(number);
    Ok(())
}

pub(super) fn frame_end(scene: &mut SceneBuilder<'_>, _: &mut Lexer<'_>) -> Parsed<()> {
    scene.close(BlockKind::Frame)
}

pub(super) fn world_begin(reader: &mut Reader<'_>, _: &mut Lexer<'_>) -> Parsed<()> {
    reader.scene.open(BlockKind::World)?;
    reader.read_option_edits();
    reader.scene.begin_world();
    Ok(())
}

pub(super) fn world_end(scene: &mut SceneBuilder<'_>, _: &mut Lexer<'_>) -> Parsed<()> {
    scene.close(BlockKind::World)
}

pub(super) fn attribute_begin(scene: &mut SceneBuilder<'_>, _: &mut Lexer<'_>) -> Parsed<()> {
    scene.open(BlockKind::Attribute)
}

pub(super) fn attribute_end(scene: &mut SceneBuilder<'_>, _: &mut Lexer<'_>) -> Parsed<()> {
    scene.close(BlockKind::Attribute)
}

pub(super) fn transform_begin(scene: &mut SceneBuilder<'_>, _: &mut Lexer<'_>) -> Parsed<()> {
    scene.open(BlockKind::Transform)
}

pub(super) fn transform_end(scene: &mut SceneBuilder<'_>, _: &mut Lexer<'_>) -> Parsed<()> {
    scene.close(BlockKind::Transform)
}

pub(super) fn resource_begin(scene: &mut SceneBuilder<'_>, _: &mut Lexer<'_>) -> Parsed<()> {
    scene.open(BlockKind::Resource)
}

pub(super) fn resource_end(scene: &mut SceneBuilder<'_>, _: &mut Lexer<'_>) -> Parsed<()> {
    scene.close(BlockKind::Resource)
}

pub(super) fn solid_begin(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let name = lexer.text()?;
    let operation = match &*name {
        "primitive" => SolidOperation::Primitive,
        "union" => SolidOperation::Union,
        "intersection" => SolidOperation::Intersection,
        "difference" => SolidOperation::Difference,
        _ => {
            let message = format!("\"{name}\" is not a solid operation; the parts are united");
            let fault = scene.messages.error("badsolid", message);
            scene
                .messages
                .report_here(fault.hint("there are \"primitive\", \"union\", \"intersection\" and \"difference\""));
            SolidOperation::Union
        }
    };
    scene.open(BlockKind::Solid)?;
    scene.perform(RequestEffect::Solid(operation, scene.messages.current.location.clone()));
    Ok(())
}

pub(super) fn solid_end(scene: &mut SceneBuilder<'_>, _: &mut Lexer<'_>) -> Parsed<()> {
    scene.close(BlockKind::Solid)
}

pub(super) fn motion_begin(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let mut times = lexer.float_list()?;
    scene.notes.depends_on_shutter = true;
    let offset = scene.options.options.shutter_offset;
    for time in &mut times {
        *time += offset;
    }
    let increasing = times.windows(2).all(|pair| pair[0] < pair[1]) && times.iter().all(|time| time.is_finite());
    if times.is_empty() {
        return Err(scene.messages.error("badmotion", "a motion block needs times"));
    }
    if !increasing {
        let message = "the times of a motion block must increase; only the first is used";
        scene.messages.report_error("badmotion", message);
        times.truncate(1);
        times[0] = if times[0].is_finite() { times[0] } else { 0.0 };
    }
    scene.open(BlockKind::Motion)?;
    let location = scene.messages.current.location.clone();
    scene.moving = Some(MovingBlock::new(times, location));
    Ok(())
}

pub(super) fn motion_end(scene: &mut SceneBuilder<'_>, _: &mut Lexer<'_>) -> Parsed<()> {
    scene.close(BlockKind::Motion)
}
