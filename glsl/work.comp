// axes: SHADE=displace|shade
//
// Work: one invocation = one slot; the records through which a compiled kernel knows its grid (spirv-gen's abi.rs,
// `work`). For shading it makes the slot too, from the sorted list of visible grids; for displacement it takes the
// slots that cull made.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/records.glsl"
#include "lib/grid/edge.glsl"
#include "lib/grid/slot.glsl"
#include "lib/grid/piece.glsl"

const uint WORK_SNAPPED_V0 = 1u;
const uint WORK_SNAPPED_V1 = 2u;
const uint WORK_SNAPPED_U0 = 4u;
const uint WORK_SNAPPED_U1 = 8u;
const uint WORK_FLIP_NORMAL = 16u;

layout(local_size_x = GROUP_SLOTS) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer Instances { Instance instances[]; };
layout(std430, set = 0, binding = 1) readonly buffer Primitives { Primitive primitives[]; };
layout(std430, set = 0, binding = 2) readonly buffer Grids { Subpatch grids[]; };
layout(std430, set = 0, binding = 3) readonly buffer Slots { Slot slots[]; };
layout(std430, set = 0, binding = 4) writeonly buffer Work { uvec4 work[]; };
layout(std430, set = 0, binding = 5) readonly buffer Pieces { Piece pieces[]; };
layout(push_constant) uniform Push {
    uint slot_base;
    uint piece;
    uint uniform_base;  // record of the first slot's uniform inputs in the arena
    uint uniform_count; // of one slot
};

// The same whatever the picture leaves out: by the place of the primitive in its drawable.
uint hash_grid(Instance instance, Subpatch grid) {
    uint primitive = grid.primitive - instance.first_primitive;
    uint h = instance.seed * 0x9e3779b1u ^ primitive * 0x85ebca77u ^ grid.start * 0xc2b2ae3du ^ (grid.shape & 0x3ffu);
    h ^= h >> 16;
    h *= 0x7feb352du;
    h ^= h >> 15;
    h *= 0x846ca68bu;
    return h ^ (h >> 16);
}

void main() {
    uint index = invocation();
    uint count = pieces[piece].count, in_group = GROUP_VERTICES >> pieces[piece].slot_log2;
    if (index >= count) {
        // The compiled kernel's last workgroup extends to here: empty slots.
        if (index < (count + in_group - 1u) / in_group * in_group) work[2u * index] = uvec4(0u);
        return;
    }
    Slot slot = slots[slot_base + index];
    Subpatch grid = grids[slot.rank];
    Instance instance = instances[grid.instance];
    vec4 range = primitives[grid.primitive].uv_range;
    uint u_level = shape_u_level(grid.shape), v_level = shape_v_level(grid.shape), nu = shape_nu(grid.shape), nv = shape_nv(grid.shape);
    uint flags = 0u;
    if (edge_snapped(grid.edges.x, u_level, nu)) flags |= WORK_SNAPPED_V0;
    if (edge_snapped(grid.edges.y, u_level, nu)) flags |= WORK_SNAPPED_V1;
    if (edge_snapped(grid.edges.z, v_level, nv)) flags |= WORK_SNAPPED_U0;
    if (edge_snapped(grid.edges.w, v_level, nv)) flags |= WORK_SNAPPED_U1;
    if ((instance.flags & INSTANCE_FLIP_NORMAL) != 0u) flags |= WORK_FLIP_NORMAL;
    float du = (range.z - range.x) / float(nu << u_level), dv = (range.w - range.y) / float(nv << v_level);
    uint block = SHADE == 1 ? instance.shade_block : instance.displace_block;
    work[2u * index] = uvec4((slot.dims & ((1u << SLOT_FLAGS_SHIFT) - 1u)) | (flags << 16), block, hash_grid(instance, grid), uniform_base + index * uniform_count);
    work[2u * index + 1u] = uvec4(floatBitsToUint(du), floatBitsToUint(dv), slot.rank, 0u);
}
