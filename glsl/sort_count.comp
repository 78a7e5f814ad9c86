// axes: SHADE=hide|shade
//
// Counting sort, first pass: one invocation = one selected grid; finds its sort key and its place among those of an
// equal one. The order among equals is whatever it is: nothing in the picture depends on it. For hiding the sort key is
// (batch, hide sublist, size class); for shading it is (shade sublist, size class), and only grids take part that have
// visible micropolygons among this round's colours. Reads grids, grid_bounds, instances, batches, needed, colour_base;
// writes counts, sort_keys, places, and for hiding the farthest depth of each batch.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/records.glsl"
#include "lib/lists/selection.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer Grids { Subpatch grids[]; };
layout(std430, set = 0, binding = 1) readonly buffer GridBounds { GridBound grid_bounds[]; };
layout(std430, set = 0, binding = 2) readonly buffer Instances { Instance instances[]; };
layout(std430, set = 0, binding = 3) buffer Batches { uint batches[]; };
layout(std430, set = 0, binding = 4) readonly buffer Needed { uint needed[]; };
layout(std430, set = 0, binding = 5) buffer Counts { uint counts[]; };
layout(std430, set = 0, binding = 6) writeonly buffer SortKeys { uint sort_keys[]; };
layout(std430, set = 0, binding = 7) writeonly buffer Places { uint places[]; };
layout(std430, set = 0, binding = 8) readonly buffer Total { uint total; }; // selected grids
layout(std430, set = 0, binding = 9) readonly buffer ColourBase { uint colour_base[]; };
layout(push_constant) uniform Push {
    uint capacity;
    uint sublist_count;
    uint depth_base;
    uint depth_shift;
    uint first_place; // colours [first_place, last_place) are shaded in this round
    uint last_place;
};

void main() {
    uint rank = invocation();
    if (rank >= min(total, capacity)) return;
    Subpatch subpatch = grids[rank];
#if SHADE
    sort_keys[rank] = SORT_KEY_NONE;
    uint places_here = needed[rank], base = colour_base[rank];
    if (places_here == 0u || base >= last_place || base + places_here <= first_place) return;
    uint sublist = instances[subpatch.instance].shade_sublist;
#else
    uint batch = batches[depth_bucket(grid_bounds[rank].zmin, depth_base, depth_shift)];
    uint sublist = batch * sublist_count + instances[subpatch.instance].hide_sublist;
    atomicMax(batches[DEPTH_BUCKETS + batch], floatBitsToUint(max(grid_bounds[rank].zmax, 0.0)));
#endif
    uint sort_key = sublist * SIZE_CLASSES + size_class(subpatch.shape);
    sort_keys[rank] = sort_key;
    places[rank] = atomicAdd(counts[sort_key], 1u);
}
