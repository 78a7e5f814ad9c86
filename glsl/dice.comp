// axes: KIND=KIND_* FULL MOVING
// rules: FULL requires KIND=curve|blob
//
// Dice: one invocation = one row of vertices of a grid, of those that cull listed. Reads the grid's subpatch, its
// primitive and instance; writes the geometry channels that `channels` asks for: 0 (P, u), 1 (N,
// v), 2 (dPdu, s), 3 (dPdv, t), in camera space; or alone, of curves, CHANNEL_COVERAGE
// (lib/surface/curve.glsl). P comes from lib/grid/grid_row.glsl, as in dice_hide.comp. Overflows nothing.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/frame.glsl"
#include "lib/records.glsl"
#include "lib/grid/edge.glsl"
#include "lib/grid/slot.glsl"
#include "lib/grid/piece.glsl"

layout(local_size_x = GROUP_ROWS) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer FrameBuffer { Frame frame_record; };
layout(std430, set = 0, binding = 1) readonly buffer Instances { Instance instances[]; };
layout(std430, set = 0, binding = 2) readonly buffer Primitives { Primitive primitives[]; };
layout(std430, set = 0, binding = 3) readonly buffer Data { vec4 data[]; };
layout(std430, set = 0, binding = 4) readonly buffer Grids { Subpatch grids[]; };
layout(std430, set = 0, binding = 5) readonly buffer Slots { Slot slots[]; };
layout(std430, set = 0, binding = 6) writeonly buffer Arena { vec4 arena[]; };
layout(std430, set = 0, binding = 7) readonly buffer Pieces { Piece pieces[]; };
layout(std430, set = 0, binding = 8) readonly buffer Motion { Keyframe motion[]; };
layout(std430, set = 0, binding = 9) readonly buffer Lists { uvec4 lists[]; }; // the arena
layout(push_constant) uniform Push {
    uint slot_base;
    uint piece;
    uint vertex_base;    // record of channel 0 of the first slot's first vertex
    uint channel_stride; // records from channel to channel
    uint channels;       // bit mask
    uint keyframe;       // of the motion
};

#define PAIR_RECORD(at) lists[at]
#include "lib/grid/pairs.glsl"
#include "lib/surface/surface.glsl"
#include "lib/grid/grid_param.glsl"
#include "lib/grid/grid_row.glsl"
#include "lib/motion/motion.glsl"

const uint CHANNEL_POSITION = 1u;
const uint CHANNEL_NORMAL = 2u;
const uint CHANNEL_DPDU = 4u;
const uint CHANNEL_DPDV = 8u;
const uint CHANNEL_COVERAGE = 32u;
const uint CHANNEL_PARAMETERS = 16u; // u, v, s, t beside those that are written: hiding needs none

// u, v of the whole surface, and default s, t (RISpec 4.2.1 TextureCoordinates, 5.1 for polygons).
vec4 surface_uvst(Primitive primitive, Param u, Param v) {
#if KIND == KIND_TRIANGLE
    vec3 at = triangle_at(u, v);
    u = Param(1.0 - at.x, at.x);
#endif
    // Exact at both ends, where another primitive goes on: mix might not be.
    vec4 range = primitive.uv_range;
    vec2 uv = vec2(u.s * range.x + u.t * range.z, v.s * range.y + v.t * range.w);
#if KIND == KIND_FACET
    if ((primitive.kind_flags & PRIMITIVE_POLYGON) != 0u) {
        vec2 xy = between(u, row[0], row[1]).xy;
        return vec4(xy, xy);
    }
#endif
    vec4 st0 = surface_instance.texture_st0, st1 = surface_instance.texture_st1;
    Param across = Param(1.0 - uv.x, uv.x), up = Param(1.0 - uv.y, uv.y);
    return vec4(uv, between(up, between(across, st0.xy, st0.zw), between(across, st1.xy, st1.zw)));
}

void write_vertex(Primitive primitive, RowVertex vertex, uint at) {
    Param u = vertex.u, v = vertex.v;
#if KIND == KIND_CURVE
    if (channels == CHANNEL_COVERAGE) {
        arena[at] = vec4(surface_coverage());
        return;
    }
#endif
    vec4 uvst = (channels & CHANNEL_PARAMETERS) == 0u ? vec4(0.0) : surface_uvst(primitive, u, v);
    if ((channels & CHANNEL_POSITION) != 0u) arena[at] = vec4(row_vertex_position(vertex), uvst.x);
    if ((channels & (CHANNEL_DPDU | CHANNEL_DPDV)) != 0u) {
        vec3 du, dv;
        surface_tangents(u, du, dv);
        vec2 range = primitive.uv_range.zw - primitive.uv_range.xy;
        if ((channels & CHANNEL_DPDU) != 0u) arena[at + 2u * channel_stride] = vec4(du / range.x, uvst.z);
        if ((channels & CHANNEL_DPDV) != 0u) arena[at + 3u * channel_stride] = vec4(dv / range.y, uvst.w);
    }
    if ((channels & CHANNEL_NORMAL) != 0u) {
        vec3 n = surface_normal(u, v);
        arena[at + channel_stride] = vec4((surface_instance.flags & INSTANCE_FLIP_NORMAL) != 0u ? -n : n, uvst.y);
    }
}

void main() {
    frame = frame_record;
    Assigned row;
    if (!assigned(pieces[piece].rows, invocation(), row)) return;
    Slot slot = slots[slot_base + row.slot];
    uint nu = slot_nu(slot), nv = slot_nv(slot), j = row.local;
    if (j > nv) return;
    Subpatch grid = grids[slot.rank];
    Primitive primitive = primitives[grid.primitive];
    Instance instance = instances[grid.instance];
#if MOVING
    primitive = primitive_at(instance, primitive, keyframe);
    instance = instance_at(instance, keyframe);
#endif
    surface_load(instance, primitive);
#if KIND == KIND_POINT
    point_rim(grid.shape, nu);
#endif
    uint at = vertex_base + (row.slot << pieces[piece].slot_log2) + j * (nu + 1u);
    float row_v = -1.0;
    for (uint i = 0u; i <= nu; i++) {
        write_vertex(primitive, row_vertex(grid, i, j, nu, nv, row_v), at + i);
    }
}
