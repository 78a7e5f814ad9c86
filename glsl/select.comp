// Select, first pass: one invocation = one grid of a page; 1 where its bound meets the region's sampled pixels, else 0.
// Reads grid_bounds; writes chosen.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/records.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer GridBounds { GridBound grid_bounds[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Chosen { uint chosen[]; };
layout(push_constant) uniform Push {
    uint first; // grids [first, last) are this dispatch's
    uint last;
    int x0; // sampled pixels, half-open
    int y0;
    int x1;
    int y1;
};

void main() {
    uint grid = first + invocation();
    if (grid >= last) return;
    GridBound bound = grid_bounds[grid];
    ivec2 x = unpack_range(bound.x), y = unpack_range(bound.y);
    chosen[grid] = x.x < x1 && x.y >= x0 && y.x < y1 && y.y >= y0 ? 1u : 0u;
}
