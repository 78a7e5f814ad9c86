//! What a device keeps for the whole picture besides pages: instances, shader parameters, camera and sampling.

use crate::gpu::{Device, GpuError, Usage};
use crate::pipeline::buffers::FrameSlices;
use crate::pipeline::kernels::records::FrameBuffer;
use crate::pipeline::recording::{Arena, ArenaFull, Buffer, Slice};
use crate::render::device::kept::KeptFrame;
use crate::render::device::picture::Picture;
use crate::stats::MemoryCategory;
use bytemuck::{Pod, cast_slice};

/// Returns the frame of a picture on a device. `last` is the one that was kept: where it has the same size, its buffer
/// is used again, and what is the same in it is not uploaded.
pub(super) fn begin(
    device: &mut Device,
    last: Option<KeptFrame>,
    picture: &Picture,
) -> Result<(Buffer, FrameSlices), GpuError> {
    let bytes = Arena::measure(|arena| cut(arena, picture)).bytes;
    let Some(last) = last else { return upload(device, picture, bytes) };
    let buffer = last.buffer;
    if buffer.bytes() != bytes {
        device.free(buffer);
        return upload(device, picture, bytes);
    }
    let frame = cut(&mut Arena::new(buffer), picture).expect("the buffer was made for as much");
    upload_to(device, &frame, picture, Some(&last)).inspect_err(|_| device.free(buffer))?;
    Ok((buffer, frame))
}

/// Allocates and uploads the frame of a picture.
fn upload(device: &mut Device, picture: &Picture, bytes: u64) -> Result<(Buffer, FrameSlices), GpuError> {
    let buffer = device.allocate(MemoryCategory::Frame.name(), bytes, Usage::DeviceOnly)?;
    let frame = cut(&mut Arena::new(buffer), picture).expect("the buffer was made for it");
    upload_to(device, &frame, picture, None).inspect_err(|_| device.free(buffer))?;
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

fn upload_to(
    device: &mut Device,
    frame: &FrameSlices,
    picture: &Picture,
    last: Option<&KeptFrame>,
) -> Result<(), GpuError> {
    let world = &picture.world;
    device.upload(frame.frame, &[FrameBuffer { frame_record: world.frame }])?;
    device.upload(frame.displaced_by, &vec![0; frame.displaced_by.count() as usize])?;
    if let Some(counters) = frame.counters {
        device.upload(counters, &vec![0; counters.count() as usize])?;
    }
    let old = last.map(|last| (&last.slices, &*last.picture));
    // Measured bounds were written over those of instances.
    let countable = old.filter(|(_, old)| old.world.unbounded.is_empty());
    let instances = countable.map(|(slices, old)| (slices.instances, &old.world.instances[..]));
    renew(device, frame.instances, &world.instances, instances)?;
    renew(device, frame.params, &picture.params, old.map(|(slices, old)| (slices.params, &old.params[..])))?;
    let bindings = old.map(|(slices, old)| (slices.primvar_bindings, &old.world.primvar_bindings[..]));
    renew(device, frame.primvar_bindings, &world.primvar_bindings, bindings)?;
    let motion = old.map(|(slices, old)| (slices.motion, &old.world.motion[..]));
    renew(device, frame.motion, &world.motion, motion)?;
    device.upload(frame.clip_planes, &world.clip_planes)?;
    device.upload(frame.solid_primitives, &world.solids.primitives)?;
    device.upload(frame.solid_steps, &world.solids.steps)?;
    device.upload(frame.lens, &world.lens)
}

/// Uploads records unless they are what is there: `old` is where the last ones are, and what they were.
fn renew<T: Pod>(device: &mut Device, to: Slice<T>, data: &[T], old: Option<(Slice<T>, &[T])>) -> Result<(), GpuError> {
    let is_there =
        |(at, old): (Slice<T>, &[T])| at.range() == to.range() && cast_slice::<_, u8>(old) == cast_slice::<_, u8>(data);
    if old.is_some_and(is_there) {
        return Ok(());
    }
    device.upload(to.part(0..data.len() as u64), data)
}
