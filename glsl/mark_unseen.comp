// Mark unseen: one invocation = one selected grid. If its instance bakes what no sample sees, and nothing of the grid
// is seen, its first micropolygon counts as seen, so that the grid is shaded; no sample asks for the colour that it
// leaves. Translucent grids that were shaded in slabs are shaded once more: their points are kept once. Reads grids,
// instances; adds to visible.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/records.glsl"
#include "lib/colour/visible.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer Grids { Subpatch grids[]; };
layout(std430, set = 0, binding = 1) readonly buffer Instances { Instance instances[]; };
layout(std430, set = 0, binding = 2) buffer Visible { uint visible[]; };
layout(std430, set = 0, binding = 3) readonly buffer Total { uint total; }; // selected grids
layout(push_constant) uniform Push { uint capacity; };

void main() {
    uint rank = invocation();
    if (rank >= min(total, capacity)) return;
    if ((instances[grids[rank].instance].flags & INSTANCE_BAKES_UNSEEN) == 0u) return;
    uint seen = 0u;
    for (uint i = 0u; i < VISIBLE_WORDS; i++) seen |= visible[rank * VISIBLE_WORDS + i];
    if (seen == 0u) visible[rank * VISIBLE_WORDS] = 1u;
}
