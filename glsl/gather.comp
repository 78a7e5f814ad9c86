// Select, second pass: one invocation = one grid of a page. A chosen one takes its rank (stable: the scan of `chosen`, after what pages
// before chose), goes to the region's list, and its vertices are counted in the histogram of depth buckets. Reads chosen, ranks,
// page_grids, page_bounds, page_total; writes grids, grid_bounds, total, histogram. What is more than the capacity is counted only.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/records.glsl"
#include "lib/selection.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer Chosen { uint chosen[]; };
layout(std430, set = 0, binding = 1) readonly buffer Ranks { uint ranks[]; };
layout(std430, set = 0, binding = 2) readonly buffer PageGrids { Subpatch page_grids[]; };
layout(std430, set = 0, binding = 3) readonly buffer PageBounds { GridBound page_bounds[]; };
layout(std430, set = 0, binding = 4) readonly buffer PageTotal { uint page_total; };
layout(std430, set = 0, binding = 5) writeonly buffer Grids { Subpatch grids[]; };
layout(std430, set = 0, binding = 6) writeonly buffer GridBounds { GridBound grid_bounds[]; };
layout(std430, set = 0, binding = 7) writeonly buffer Total { uint total; }; // selected so far
layout(std430, set = 0, binding = 8) buffer Histogram { uint histogram[]; };
layout(push_constant) uniform Push {
    uint first; // grids [first, last) are this dispatch's
    uint last;
    uint first_rank; // grids that pages before have given
    uint capacity;
    uint depth_base;
    uint depth_shift;
};

void main() {
    uint grid = first + invocation();
    if (grid == 0u) total = first_rank + page_total;
    if (grid >= last || chosen[grid] == 0u) return;
    uint rank = first_rank + ranks[grid];
    if (rank >= capacity) return;
    Subpatch subpatch = page_grids[grid];
    GridBound bound = page_bounds[grid];
    grids[rank] = subpatch;
    grid_bounds[rank] = bound;
    atomicAdd(histogram[depth_bucket(bound.zmin, depth_base, depth_shift)], 1u << slot_log2_of(subpatch.shape));
}
