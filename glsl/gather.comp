// Select, second pass: one invocation = one grid of the frame. A chosen one takes its rank (stable: the scan of `chosen`), and its
// vertices are counted in the histogram of depth buckets. Reads chosen, ranks, grids, grid_bounds; writes selected, histogram.
// Overflows nothing: the host has checked the total against the capacity.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/records.glsl"
#include "lib/selection.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer Chosen { uint chosen[]; };
layout(std430, set = 0, binding = 1) readonly buffer Ranks { uint ranks[]; };
layout(std430, set = 0, binding = 2) readonly buffer Grids { Subpatch grids[]; };
layout(std430, set = 0, binding = 3) readonly buffer GridBounds { GridBound grid_bounds[]; };
layout(std430, set = 0, binding = 4) writeonly buffer Selected { uint selected[]; };
layout(std430, set = 0, binding = 5) buffer Histogram { uint histogram[]; };
layout(push_constant) uniform Push {
    uint grid_count;
    uint capacity;
    uint depth_base;
    uint depth_shift;
};

void main() {
    uint grid = invocation();
    if (grid >= grid_count || chosen[grid] == 0u) return;
    uint rank = ranks[grid];
    if (rank >= capacity) return;
    selected[rank] = grid;
    atomicAdd(histogram[depth_bucket(grid_bounds[grid].zmin, depth_base, depth_shift)], 1u << slot_log2_of(grids[grid].shape));
}
