//! What a device keeps for the whole picture besides pages: instances, shader parameters, camera and sampling.

use crate::gpu::{Device, GpuError, Usage};
use crate::pipeline::buffers::FrameSlices;
use crate::pipeline::kernels::records::FrameBuffer;
use crate::pipeline::recording::{Arena, ArenaFull, Buffer};
use crate::render::device::picture::Picture;
use crate::stats::MemoryCategory;

/// Allocates and uploads the frame of a picture.
pub(super) fn upload(device: &mut Device, picture: &Picture) -> Result<(Buffer, FrameSlices), GpuError> {
    let bytes = Arena::measure(|arena| cut(arena, picture)).bytes;
    let buffer = device.allocate(MemoryCategory::Frame.name(), bytes, Usage::DeviceOnly)?;
    let frame = cut(&mut Arena::new(buffer), picture).expect("the buffer was made for it");
    upload_to(device, &frame, picture).inspect_err(|_| device.free(buffer))?;
    Ok((buffer, frame))
}

fn cut(arena: &mut Arena, picture: &Picture) -> Result<FrameSlices, ArenaFull> {
    let world = &picture.world;
    let instances = world.instances.len().max(1) as u64;
    Ok(FrameSlices {
        frame: arena.cut(1)?,
        instances: arena.cut(instances)?,
        params: arena.cut(picture.params.len().max(1) as u64)?,
        primvar_bindings: arena.cut(world.primvar_bindings.len().max(1) as u64)?,
        displaced_by: arena.cut(instances)?,
        clip_planes: arena.cut(world.clip_planes.len() as u64)?,
        solid_primitives: arena.cut(world.solids.primitives.len() as u64)?,
        solid_steps: arena.cut(world.solids.steps.len() as u64)?,
        motion: arena.cut(world.motion.len() as u64)?,
        lens: arena.cut(world.lens.len() as u64)?,
        space_table: picture.space_table,
        textures: None,
        counters: match picture.counters.len() as u64 {
            0 => None,
            count => Some(arena.cut(2 * count)?),
        },
        lookup_counters: picture.lookup_counters,
    })
}

fn upload_to(device: &mut Device, frame: &FrameSlices, picture: &Picture) -> Result<(), GpuError> {
    let world = &picture.world;
    device.upload(frame.frame, &[FrameBuffer { frame_record: world.frame }])?;
    device.upload(frame.instances.part(0..world.instances.len() as u64), &world.instances)?;
    device.upload(frame.params.part(0..picture.params.len() as u64), &picture.params)?;
    device.upload(frame.displaced_by, &vec![0; frame.displaced_by.count() as usize])?;
    device.upload(frame.clip_planes, &world.clip_planes)?;
    device.upload(frame.solid_primitives, &world.solids.primitives)?;
    device.upload(frame.solid_steps, &world.solids.steps)?;
    device.upload(frame.motion, &world.motion)?;
    device.upload(frame.lens, &world.lens)?;
    if let Some(counters) = frame.counters {
        device.upload(counters, &vec![0; counters.count() as usize])?;
    }
    let bindings = frame.primvar_bindings.part(0..world.primvar_bindings.len() as u64);
    device.upload(bindings, &world.primvar_bindings)
}
