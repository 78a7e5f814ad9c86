// axes: SERIAL=parallel|serial
//
// Select, first pass: one invocation (serial) or one workgroup (parallel) = one cluster of a page. A bit is set for
// each grid whose bound meets the region's sampled pixels, in authored order, which is not the order in the page. Reads
// clusters, grid_bounds, order; adds to chosen.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/lists/clusters.glsl"

layout(std430, set = 0, binding = 1) readonly buffer GridBounds { GridBound grid_bounds[]; };
layout(std430, set = 0, binding = 2) readonly buffer Order { uint order[]; };
layout(std430, set = 0, binding = 3) buffer Chosen { uint chosen[]; };
layout(push_constant) uniform Push {
    uint first; // clusters [first, last) are this dispatch's
    uint last;
    uint count; // grids of the page
    int x0; // sampled pixels, half-open
    int y0;
    int x1;
    int y1;
};

void visit(uint grid) {
    if (!ranges_meet(grid_bounds[grid].x, grid_bounds[grid].y, ivec4(x0, y0, x1, y1))) return;
    uint place = order[grid];
    atomicOr(chosen[place >> 5], 1u << (place & 31u));
}

void main() { visit_clusters(first, last, count, ivec4(x0, y0, x1, y1)); }
