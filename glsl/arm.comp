// Arm: one invocation = one piece of a load; from the slots that culling left, and what it listed, the workgroups of
// what follows. Reads and writes pieces.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/grid/piece.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) buffer Pieces { Piece pieces[]; };
layout(push_constant) uniform Push { uint piece_count; };

uint groups(uint count, uint log2_each, uint size) { return ((count << log2_each) + size - 1u) / size; }

void main() {
    uint index = invocation();
    if (index >= piece_count) return;
    Piece piece = pieces[index];
    // Work records are padded to the compiled kernel's last workgroup.
    uint in_group = GROUP_VERTICES >> piece.slot_log2;
    piece.slot_groups = uint[](piece.count == 0u ? 0u : groups(piece.count + in_group, 0u, GROUP_SLOTS), 1u, 1u);
    piece.row_groups = uint[](groups(piece.rows.pairs, 1u, GROUP_ROWS), 1u, 1u);
    piece.slot_row_groups = uint[](groups(piece.count, slot_rows_log2(piece.slot_log2), GROUP_ROWS), 1u, 1u);
    piece.vertex_groups = uint[](groups(piece.count, piece.slot_log2, GROUP_VERTICES), 1u, 1u);
    piece.mp_groups = uint[](groups(piece.mps.pairs, 1u, GROUP_MICROPOLYGONS), 1u, 1u);
    pieces[index] = piece;
}
