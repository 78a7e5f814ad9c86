//! Where the data of a piece is in the arena: vertices, inputs and outputs of programs, positions at keyframes.

use super::hidden::KeyframedPositions;
use super::look::{HideSublist, ShadeSublist, ShadingKernel};
use super::piece::Piece;

/// First records in the arena when a piece is hidden or sampled: inputs and outputs of the displacement program (if
/// any), positions at keyframes, then its uniform inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HideLayout {
    /// Displacement inputs; positions, where nothing is displaced.
    pub input: u32,
    /// Displacement outputs.
    pub output: u32,
    /// The positions that are hidden: of displaced ones that move, behind the program's outputs.
    pub positions: KeyframedPositions,
    /// Displacement's uniform inputs.
    pub uniform: u32,
    /// Where the displacement program saves its loops.
    pub state: u32,
}

impl HideLayout {
    /// Records that one vertex and one slot of a sublist take up with its displacement program, saved loops aside.
    pub fn cost(displace: Option<&ShadingKernel>, sublist: &HideSublist) -> (u32, u32) {
        let (vertex, slot) =
            displace.map_or((0, 0), |kernel| (kernel.input_channels + kernel.output_channels, kernel.uniform_records));
        (vertex + sublist.keyframe_channels(), slot)
    }

    /// The layout of a piece of a sublist.
    pub fn new(piece: &Piece, displace: Option<&ShadingKernel>, sublist: &HideSublist) -> Self {
        let vertices = piece.vertices();
        let [inputs, outputs] = displace.map_or([0, 0], |kernel| [kernel.input_channels, kernel.output_channels]);
        let output = piece.base + inputs * vertices;
        let base = if sublist.keyframes > 1 { output + outputs * vertices } else { output };
        let uniform = output + (outputs + sublist.keyframe_channels()) * vertices;
        Self {
            input: piece.base,
            output,
            positions: KeyframedPositions { base, keyframes: sublist.keyframes, trimmed: sublist.trimmed },
            uniform,
            state: uniform + displace.map_or(0, |kernel| kernel.uniform_records) * piece.slot_count,
        }
    }
}

/// First records in the arena when a piece is shaded: channels of the displacement program (if any), then inputs and
/// outputs of the colour program, what thin curves cover, positions at keyframes, then uniform inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShadeLayout {
    /// Displacement inputs.
    pub displace_input: u32,
    /// Displacement's uniform inputs.
    pub displace_uniform: u32,
    /// Colour inputs; the displacement's outputs are among its channels.
    pub input: u32,
    /// Colour outputs.
    pub output: u32,
    /// What the vertices of thin curves cover.
    pub coverage: Option<u32>,
    /// Positions at the first of the keyframes that are kept.
    pub keyframes: u32,
    /// Colour's uniform inputs.
    pub uniform: u32,
    /// Records in all.
    pub records: u32,
}

/// Channels of the colour inputs: those of the program, and all that the displacement program stores there.
fn input_channels(displace: Option<&ShadingKernel>, shade: Option<&ShadingKernel>) -> u32 {
    shade.map_or(4, |k| k.input_channels).max(displace.map_or(0, |k| k.output_channels))
}

impl ShadeLayout {
    /// Records that one vertex and one slot of a sublist take up with its programs.
    pub fn cost(displace: Option<&ShadingKernel>, shade: Option<&ShadingKernel>, sublist: &ShadeSublist) -> (u32, u32) {
        let input = input_channels(displace, shade);
        let output = shade.map_or(0, |k| k.output_channels);
        let vertex = displace.map_or(0, |k| k.input_channels)
            + input
            + output
            + u32::from(sublist.thin)
            + sublist.keyframe_channels();
        let slot = displace.map_or(0, |k| k.uniform_records) + shade.map_or(0, |k| k.uniform_records);
        (vertex, slot)
    }

    /// The layout of a piece of a sublist.
    pub fn new(
        piece: &Piece,
        displace: Option<&ShadingKernel>,
        shade: Option<&ShadingKernel>,
        sublist: &ShadeSublist,
    ) -> Self {
        let vertices = piece.vertices();
        let input = piece.base + displace.map_or(0, |k| k.input_channels) * vertices;
        let output = input + input_channels(displace, shade) * vertices;
        let covered = output + shade.map_or(0, |k| k.output_channels) * vertices;
        let keyframes = covered + u32::from(sublist.thin) * vertices;
        let displace_uniform = keyframes + sublist.keyframe_channels() * vertices;
        let uniform = displace_uniform + displace.map_or(0, |k| k.uniform_records) * piece.slot_count;
        let end = uniform + shade.map_or(0, |k| k.uniform_records) * piece.slot_count;
        Self {
            displace_input: piece.base,
            displace_uniform,
            input,
            output,
            coverage: sublist.thin.then_some(covered),
            keyframes,
            uniform,
            records: end - piece.base,
        }
    }
}
