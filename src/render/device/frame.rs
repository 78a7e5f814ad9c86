//! What a device keeps for the whole picture besides pages: instances, shader parameters, camera and sampling.

use crate::gpu::{Device, GpuError, Usage};
use crate::pipeline::buffers::FrameSlices;
use crate::pipeline::kernels::records::{FrameBuffer, LensCell, MotionKey};
use crate::pipeline::recording::{Arena, Buffer};
use crate::render::device::picture::Picture;

/// The parts of the frame's buffer: records, and bytes of a record, in the order in which [`cut`] takes them.
fn parts(picture: &Picture) -> [(u64, u64); 10] {
    let world = &picture.world;
    [
        (1, size_of::<FrameBuffer>() as u64),
        (world.instances.len().max(1) as u64, 144),
        (picture.params.len().max(1) as u64, 16),
        (world.primvar_bindings.len().max(1) as u64, 16),
        (world.instances.len().max(1) as u64, 4),
        (world.clip_planes.len() as u64, 16),
        (world.solids.primitives.len() as u64, 16),
        (world.solids.steps.len() as u64, 4),
        (world.motion.len() as u64, size_of::<MotionKey>() as u64),
        (world.lens.len() as u64, size_of::<LensCell>() as u64),
    ]
}

/// Allocates and uploads the frame of a picture.
pub(super) fn upload(device: &mut Device, picture: &Picture) -> Result<(Buffer, FrameSlices), GpuError> {
    let buffer = device.allocate("frame", Arena::bytes_for(&parts(picture)), Usage::DeviceOnly)?;
    let frame = cut(buffer, picture);
    upload_to(device, &frame, picture).inspect_err(|_| device.free(buffer))?;
    Ok((buffer, frame))
}

fn cut(buffer: Buffer, picture: &Picture) -> FrameSlices {
    let fits = "the buffer was made for it";
    let mut arena = Arena::new(buffer);
    let [frames, instances, params, bindings, moved, clip_planes, primitives, steps, motion, lens] =
        parts(picture).map(|(count, _)| count);
    FrameSlices {
        frame: arena.cut(frames).expect(fits),
        instances: arena.cut(instances).expect(fits),
        params: arena.cut(params).expect(fits),
        primvar_bindings: arena.cut(bindings).expect(fits),
        moved: arena.cut(moved).expect(fits),
        clip_planes: arena.cut(clip_planes).expect(fits),
        solid_primitives: arena.cut(primitives).expect(fits),
        solid_steps: arena.cut(steps).expect(fits),
        motion: arena.cut(motion).expect(fits),
        lens: arena.cut(lens).expect(fits),
        space_table: picture.space_table,
        textures: None,
    }
}

fn upload_to(device: &mut Device, frame: &FrameSlices, picture: &Picture) -> Result<(), GpuError> {
    let world = &picture.world;
    device.upload(frame.frame, &[FrameBuffer { frame_record: world.frame }])?;
    device.upload(frame.instances.part(0..world.instances.len() as u64), &world.instances)?;
    device.upload(frame.params.part(0..picture.params.len() as u64), &picture.params)?;
    device.upload(frame.moved, &vec![0; frame.moved.count() as usize])?;
    device.upload(frame.clip_planes, &world.clip_planes)?;
    device.upload(frame.solid_primitives, &world.solids.primitives)?;
    device.upload(frame.solid_steps, &world.solids.steps)?;
    device.upload(frame.motion, &world.motion)?;
    device.upload(frame.lens, &world.lens)?;
    let bindings = frame.primvar_bindings.part(0..world.primvar_bindings.len() as u64);
    device.upload(bindings, &world.primvar_bindings)
}
