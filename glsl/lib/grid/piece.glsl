// A piece: slots of one sublist and size at work, and the workgroups that its remaining slots need.

#ifndef PIECE_GLSL
#define PIECE_GLSL

// Workgroups of the kernels that run over a piece: that many slots, rows of vertices, vertices or micropolygons each.
// Compiled kernels take GROUP_VERTICES too.
const uint GROUP_SLOTS = 64u;
const uint GROUP_ROWS = 64u;
const uint GROUP_VERTICES = 256u;
const uint GROUP_MICROPOLYGONS = 256u;

// log2 of the most rows of vertices that a grid has.
const uint GRID_ROWS_LOG2 = 4u;

// log2 of the rows of vertices of a slot, empty ones included: a row has two vertices or more.
uint slot_rows_log2(uint slot_log2) { return min(slot_log2 - 1u, GRID_ROWS_LOG2); }

// What cull listed, two at a time (lib/grid/pairs.glsl).
struct PairList {
    uint pairs;
    uint first; // word of the arena
};

struct Piece {
    uint count;     // slots that culling left
    uint slot_log2; // log2 of the vertices of a slot
    PairList rows;  // of vertices
    PairList mps;   // micropolygons
    uint slot_groups[3];   // indirect dispatch: GROUP_SLOTS slots a workgroup
    uint row_groups[3];    // GROUP_ROWS listed rows a workgroup
    uint slot_row_groups[3]; // GROUP_ROWS rows of slots a workgroup, empty ones included
    uint vertex_groups[3]; // GROUP_VERTICES vertices a workgroup
    uint mp_groups[3];     // GROUP_MICROPOLYGONS listed micropolygons a workgroup
};

#endif
