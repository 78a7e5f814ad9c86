//! Displace: the displacement program moves P and sets N, and the feeding of compiled programs in general.

use super::buffers::{FrameSlices, PageSlices, RegionSlices};
use super::dice::{Per, Piece};
use super::kernels::{displaced, primvar, work};
use super::look::ShadingKernel;
use super::recording::{Dispatch, Recording};
use std::sync::Arc;

/// Which of a drawable's programs runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slice {
    /// The displacement program.
    Position,
    /// The colour program.
    Colour,
}

/// Where a program's data stands in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramPlaces {
    /// Input channel 0.
    pub input_base: u32,
    /// Output channel 0.
    pub output_base: u32,
    /// Uniform inputs.
    pub uniform_base: u32,
}

/// Appends one run of a compiled program over a piece whose geometry channels are diced: its work records, the primvars it reads (if
/// any drawable of the bin has such), the program itself.
pub fn record_program(
    recording: &mut Recording,
    (frame, page): (&FrameSlices, PageSlices),
    slices: &RegionSlices,
    (slice, kernel, primvars): (Slice, &ShadingKernel, bool),
    piece: &Piece,
    places: ProgramPlaces,
) {
    record_inputs(recording, (frame, page), slices, (slice, kernel, primvars), piece, places);
    // The push constants of spirv-gen's abi.rs. Work records of this piece begin at 0.
    let push = [
        0,
        piece.slot_log2,
        piece.slot_count,
        places.input_base,
        places.output_base,
        piece.vertices(),
        frame.space_table,
        0,
    ];
    recording.dispatch(Dispatch {
        kernel: Arc::clone(&kernel.kernel),
        constants: Vec::new(),
        groups: piece.groups(slices, Per::Vertex),
        bindings: vec![slices.work.range(), slices.arena.range(), frame.params.range(), slices.status.range()],
        push: bytemuck::bytes_of(&push).to_vec(),
    });
}

/// Appends the measuring of how far a piece's vertices were moved, from `from_base` to `to_base` in the arena.
pub fn record_measure(
    recording: &mut Recording,
    frame: &FrameSlices,
    slices: &RegionSlices,
    piece: &Piece,
    (from_base, to_base): (u32, u32),
) {
    let bindings =
        displaced::Bindings { slots: slices.slots, pieces: slices.pieces, arena: slices.arena, moved: frame.moved };
    let push = displaced::Push { slot_base: piece.slot_base, piece: piece.number, from_base, to_base };
    recording.dispatch(displaced::dispatch(piece.groups(slices, Per::Slot), &bindings, &push));
}

fn record_inputs(
    recording: &mut Recording,
    (frame, page): (&FrameSlices, PageSlices),
    slices: &RegionSlices,
    (slice, kernel, primvars): (Slice, &ShadingKernel, bool),
    piece: &Piece,
    places: ProgramPlaces,
) {
    let form = match slice {
        Slice::Position => work::Variant::Displace,
        Slice::Colour => work::Variant::Shade,
    };
    let uniform_count = kernel.uniform_records;
    recording.concurrent(|recording| {
        let bindings = work::Bindings {
            instances: frame.instances,
            primitives: page.primitives,
            grids: slices.grids.grids,
            slots: slices.slots,
            work: slices.work,
            pieces: slices.pieces,
        };
        let push = work::Push {
            slot_base: piece.slot_base,
            piece: piece.number,
            uniform_base: places.uniform_base,
            uniform_count,
        };
        recording.dispatch(work::dispatch(form, piece.groups(slices, Per::Slot), &bindings, &push));
        if !primvars {
            return;
        }
        let bindings = primvar::Bindings {
            instances: frame.instances,
            primitives: page.primitives,
            values: page.data.cast(),
            grids: slices.grids.grids,
            slots: slices.slots,
            primvar_bindings: frame.primvar_bindings,
            arena: slices.arena,
            pieces: slices.pieces,
        };
        let push = primvar::Push {
            slot_base: piece.slot_base,
            piece: piece.number,
            vertex_base: places.input_base,
            channel_stride: piece.vertices(),
            uniform_base: places.uniform_base,
            uniform_count,
            displace: u32::from(slice == Slice::Position),
        };
        recording.dispatch(primvar::dispatch(piece.groups(slices, Per::Vertex), &bindings, &push));
    });
}
