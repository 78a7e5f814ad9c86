// A piece: slots of one bin and size at work, and the workgroups that its remaining slots need.

#ifndef PIECE_GLSL
#define PIECE_GLSL

struct Piece {
    uint count;     // slots that culling left
    uint slot_log2; // log2 of the vertices of a slot
    uint mp_log2;   // log2 of the micropolygons of a slot, empty ones included
    uint spare0;
    uint slot_groups[3];   // indirect dispatch: 64 slots a workgroup
    uint row_groups[3];    // 4 slots a workgroup, 16 rows each
    uint vertex_groups[3]; // 256 vertices a workgroup
    uint mp_groups[3];     // 256 micropolygons a workgroup
};

#endif
