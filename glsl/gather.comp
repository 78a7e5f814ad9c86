// axes: SERIAL=parallel|serial
//
// Select, second pass: one invocation (serial) or one workgroup (parallel) = one cluster of a page. Each chosen grid
// takes its rank (the chosen ones before it in authored order: those of words before, by the scan of `chosen`, and of
// bits before), goes to the region's list, and its vertices are counted in the histogram of depth buckets. Reads
// clusters, order, chosen, ranks, page_grids, page_bounds; writes grids, grid_bounds, histogram. What is more than the
// capacity is left out.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/lists/clusters.glsl"
#include "lib/lists/selection.glsl"

layout(std430, set = 0, binding = 1) readonly buffer Order { uint order[]; };
layout(std430, set = 0, binding = 2) readonly buffer Chosen { uint chosen[]; };
layout(std430, set = 0, binding = 3) readonly buffer Ranks { uint ranks[]; };
layout(std430, set = 0, binding = 4) readonly buffer PageGrids { Subpatch page_grids[]; };
layout(std430, set = 0, binding = 5) readonly buffer PageBounds { GridBound page_bounds[]; };
layout(std430, set = 0, binding = 6) writeonly buffer Grids { Subpatch grids[]; };
layout(std430, set = 0, binding = 7) writeonly buffer GridBounds { GridBound grid_bounds[]; };
layout(std430, set = 0, binding = 8) buffer Histogram { uint histogram[]; };
layout(push_constant) uniform Push {
    uint first; // clusters [first, last) are this dispatch's
    uint last;
    uint count; // grids of the page
    int x0; // sampled pixels, half-open
    int y0;
    int x1;
    int y1;
    uint capacity;
    uint depth_base;
    uint depth_shift;
};

void visit(uint grid) {
    uint place = order[grid], word = chosen[place >> 5], bit = 1u << (place & 31u);
    if ((word & bit) == 0u) return;
    uint rank = ranks[place >> 5] + bitCount(word & (bit - 1u));
    if (rank >= capacity) return;
    Subpatch subpatch = page_grids[grid];
    GridBound bound = page_bounds[grid];
    grids[rank] = subpatch;
    grid_bounds[rank] = bound;
    atomicAdd(histogram[depth_bucket(bound.zmin, depth_base, depth_shift)], 1u << slot_log2_of(subpatch.shape));
}

void main() { visit_clusters(first, last, count, ivec4(x0, y0, x1, y1)); }
