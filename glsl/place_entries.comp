// Place entries: one invocation = one entry; notes where its micropolygon's colour is kept, once for all samples that
// will ask. Reads visible, visible_before, colour_base; writes the entry's cell, which is no longer needed.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/frame.glsl"
#include "lib/records.glsl"
#include "lib/colour/visible.glsl"
#include "lib/composite/entry.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) buffer Entries { Entry entries[]; };
layout(std430, set = 0, binding = 1) readonly buffer Visible { uint visible[]; };
layout(std430, set = 0, binding = 2) readonly buffer VisibleBefore { uint visible_before[]; };
layout(std430, set = 0, binding = 3) readonly buffer ColourBase { uint colour_base[]; };
layout(push_constant) uniform Push {
    uint first; // entries [first, last) are this dispatch's
    uint last;
};

COLOUR_PLACE_FUNCTION

void main() {
    uint index = first + invocation();
    // Those that solids have cut away have none.
    if (index < last && entries[index].mask != 0u) entries[index].cell = colour_place(entries[index].number);
}
