// Cull: one invocation = one grid of a piece, in sorted order. Makes its slot, unless the grid lies behind what every
// 4x4-pixel block it may touch already shows, or outside the depth slab at work: such a grid is neither diced nor
// hidden. Which slot of the piece it gets does not matter. Lists the rows and micropolygons of the grids that are left,
// in any order. Reads sorted, grids, grid_bounds, instances, blocks; writes slots and arena, and counts them and what
// was dropped. Overflows nothing: loads plan room for the lists of whole slots.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/hide/block.glsl"
#include "lib/records.glsl"
#include "lib/grid/slot.glsl"
#include "lib/grid/pairs.glsl"

// Larger grids are not worth the search.
const int CULL_BLOCKS_MAX = 256;

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer Sorted { uint sorted[]; };
layout(std430, set = 0, binding = 1) readonly buffer Grids { Subpatch grids[]; };
layout(std430, set = 0, binding = 2) readonly buffer GridBounds { GridBound grid_bounds[]; };
layout(std430, set = 0, binding = 3) readonly buffer Instances { Instance instances[]; };
layout(std430, set = 0, binding = 4) readonly buffer Blocks { uint blocks[]; };
layout(std430, set = 0, binding = 5) writeonly buffer Slots { Slot slots[]; };
layout(std430, set = 0, binding = 6) buffer Culled { uint culled_grids; uint culled_micropolygons; };
layout(std430, set = 0, binding = 7) buffer Pieces { Piece pieces[]; };
layout(std430, set = 0, binding = 8) writeonly buffer Arena { uint arena[]; };
layout(push_constant) uniform Push {
    uint first; // in sorted order
    uint count;
    uint slot_base;
    uint piece;
    int region_x;
    int region_y;
    uint region_width;
    uint region_height;
    uint enabled; // 0: nothing is dropped for being hidden
    uint slab_low_z; // depth bits between which something of the grid must lie
    uint slab_high_z;
};

bool hidden(GridBound bound) {
    ivec2 x = unpack_range(bound.x) - region_x, y = unpack_range(bound.y) - region_y;
    ivec2 low = max(ivec2(x.x, y.x), ivec2(0)) >> BLOCK_LOG2, high = min(ivec2(x.y, y.y), ivec2(region_width, region_height) - 1) >> BLOCK_LOG2;
    ivec2 size = high - low + 1;
    if (min(size.x, size.y) <= 0) return true;
    if (size.x * size.y > CULL_BLOCKS_MAX) return false;
    int pitch = int((region_width + (BLOCK_PX - 1u)) >> BLOCK_LOG2);
    uint near = floatBitsToUint(max(bound.zmin, 0.0));
    for (int by = low.y; by <= high.y; by++) {
        for (int bx = low.x; bx <= high.x; bx++) {
            if (near <= blocks[by * pitch + bx]) return false;
        }
    }
    return true;
}

void list(uint at, uint pairs, uint slot) {
    for (uint pair = 0u; pair < pairs; pair++) arena[at + pair] = pair_pack(slot, pair);
}

void main() {
    uint index = invocation();
    if (index >= count) return;
    uint rank = sorted[first + index];
    GridBound bound = grid_bounds[rank];
    Subpatch subpatch = grids[rank];
    bool outside = floatBitsToUint(max(bound.zmax, 0.0)) < slab_low_z || floatBitsToUint(max(bound.zmin, 0.0)) > slab_high_z;
    if (outside) return;
    uint nu = shape_nu(subpatch.shape), nv = shape_nv(subpatch.shape);
    if (enabled != 0u && hidden(bound)) {
        atomicAdd(culled_grids, 1u);
        atomicAdd(culled_micropolygons, nu * nv);
        return;
    }
    Instance instance = instances[subpatch.instance];
    uint flags = instance.flags, dims = nu | (nv << SLOT_NV_SHIFT);
    // The backs of solids count too.
    if ((flags & (INSTANCE_ONE_SIDED | INSTANCE_SOLID)) == INSTANCE_ONE_SIDED) dims |= SLOT_ONE_SIDED << SLOT_FLAGS_SHIFT;
    if ((flags & INSTANCE_FLIP_NORMAL) != 0u) dims |= SLOT_FLIP << SLOT_FLAGS_SHIFT;
    if ((flags & INSTANCE_MATTE) != 0u) dims |= SLOT_MATTE << SLOT_FLAGS_SHIFT;
    if ((flags & INSTANCE_SMOOTH) != 0u) dims |= SLOT_SMOOTH << SLOT_FLAGS_SHIFT;
    if ((flags & INSTANCE_SOLID) != 0u) dims |= SLOT_SOLID << SLOT_FLAGS_SHIFT;
    uint slot = atomicAdd(pieces[piece].count, 1u), rows = pairs_of(nv + 1u), mps = pairs_of(nu * nv);
    list(pieces[piece].rows.first + atomicAdd(pieces[piece].rows.pairs, rows), rows, slot);
    list(pieces[piece].mps.first + atomicAdd(pieces[piece].mps.pairs, mps), mps, slot);
    slots[slot_base + slot] = Slot(rank, dims, bound.x, bound.y, bound.zmin, bound.zmax, subpatch.instance, instance.detail, instance.motion);
}
