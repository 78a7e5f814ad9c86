// Translucent entries: what one micropolygon covers of one cell (32 samples of a pixel).

#ifndef ENTRY_GLSL
#define ENTRY_GLSL

#include "lib/math/quotient.glsl"

const int CELL_LOG2 = 5;
// Samples of a cell.
const uint CELL_SAMPLES = 1u << CELL_LOG2;

// Its members in order are also in lib/composite/entry_append.glsl.
struct Entry {
    uint number; // of the micropolygon; of a primitive solid where the entry is a state
    float zmin;  // beside the number: lists are sorted by both
    uint mask; // covered samples of the cell
    uint cell; // pixel * cells of a pixel + cell; later the place of its colour
    float f0;  // depth plane relative to the pixel's corner, see Micropolygon
    float fx;
    float fy;
    float zmax;
};

// The entry's depth at a point given relative to the pixel's corner, 1/1024 pixel.
float entry_z(Frame frame, Entry e, ivec2 at) {
    float f = e.f0 + (e.fx * float(at.x) + e.fy * float(at.y));
    float z = frame_perspective(frame) ? reciprocal(f) : f;
    return !(z > e.zmin) ? e.zmin : min(z, e.zmax);
}

// Both depths of an entry that stands for the state in which a slab begins: its samples lie inside of a primitive
// solid.
const float STATE_Z = -1e38;

bool entry_is_state(Entry e) { return e.zmax == STATE_Z; }

#endif
