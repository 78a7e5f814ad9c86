//! Runs a bound program on the device over arrays of inputs.

use crate::device::{DispatchArguments, device};
use crate::library::{library, validate};
use spirv_gen::abi::{LOOP_TRIPS_MAX, Push};
use spirv_gen::emit::emit;
use spirv_gen::ir::{Body, MachineType, verify_body};

/// Emits, validates and runs a program whose input channels are `inputs` (four words a point), over grids of 16 x 16
/// vertices; the words of each output channel, four for each point.
pub(crate) fn run_body(body: &Body, inputs: &[Vec<[u32; 4]>]) -> Vec<Vec<[u32; 4]>> {
    verify_body(body, &[]).expect("valid");
    let words = emit(body, library(), &|_| 0).expect("emits");
    validate(&words);
    let points = inputs.first().map_or(256, Vec::len);
    let slots = points.div_ceil(256);
    let stride = slots * 256;
    let root = body.region(body.root());
    let channels: usize = root.results.iter().map(|&r| if body.ty(r) == MachineType::Mat4 { 4 } else { 1 }).sum();
    let mut arena = vec![0u32; (inputs.len() + channels) * stride * 4];
    for (c, channel) in inputs.iter().enumerate() {
        for (i, words) in channel.iter().enumerate() {
            arena[(c * stride + i) * 4..][..4].copy_from_slice(words);
        }
    }
    let step = (1.0f32 / 15.0).to_bits();
    let work = (0..slots).flat_map(|s| [15 | 15 << 8, 0, s as u32, 0, step, step, 0, 0]).collect();
    let push = Push {
        work_base: 0,
        slot_log2: 8,
        slot_count: slots as u32,
        input_base: 0,
        output_base: (inputs.len() * stride) as u32,
        channel_stride: stride as u32,
        space_table: 0,
        trips: LOOP_TRIPS_MAX,
        state_base: 0,
        pass: 0,
        pass_word: 0,
    };
    let mut buffers = [work, arena, vec![0; 4], vec![0; 4]];
    let device = device();
    let kernel = device.kernel(&words, 4);
    let push = [
        push.work_base,
        push.slot_log2,
        push.slot_count,
        push.input_base,
        push.output_base,
        push.channel_stride,
        push.space_table,
        push.trips,
        push.state_base,
        push.pass,
        push.pass_word,
    ];
    device.run(&kernel, &mut buffers, DispatchArguments { push: &push, groups: slots as u32 });
    device.free(&kernel);
    let read = |c: usize| {
        let first = (inputs.len() + c) * stride;
        (0..points).map(|i| std::array::from_fn(|k| buffers[1][(first + i) * 4 + k])).collect()
    };
    (0..channels).map(read).collect()
}
