// Bound/split, second half of a round. One invocation = one subpatch of the list: it puts its children (none, itself,
// or its two halves) at the place that the scan of the numbers of children gave it, so that the order of the list is
// stable. Reads list_in, bounds_in, children, offsets; writes list_out, bounds_out, and for the next round either the
// verdict on a grid (children_out) or where halves are (open). Children beyond the capacity are not written: the last
// round's count says so, and the host does the chunk again with fewer primitives.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/frame.glsl"
#include "lib/records.glsl"
#include "lib/grid/edge.glsl"
#include "lib/bound_split/round.glsl"
#include "lib/bound_split/verdict.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer ListIn { Subpatch list_in[]; };
layout(std430, set = 0, binding = 1) readonly buffer BoundsIn { GridBound bounds_in[]; };
layout(std430, set = 0, binding = 2) readonly buffer Children { uint children[]; };
layout(std430, set = 0, binding = 3) readonly buffer Offsets { uint offsets[]; };
layout(std430, set = 0, binding = 4) writeonly buffer ListOut { Subpatch list_out[]; };
layout(std430, set = 0, binding = 5) writeonly buffer BoundsOut { GridBound bounds_out[]; };
layout(std430, set = 0, binding = 6) buffer Round { ROUND_MEMBERS };
layout(std430, set = 0, binding = 7) writeonly buffer ChildrenOut { uint children_out[]; };
layout(std430, set = 0, binding = 8) writeonly buffer Open { uint open[]; };
layout(push_constant) uniform Push { uint capacity; };

uint u_start(Subpatch s) { return s.start & 0xffffu; }
uint v_start(Subpatch s) { return s.start >> 16; }

// Whether the corners at u0, on the edges along u, and those at v0, on the edges along v, were moved.
bvec2 moved_u0(Subpatch s) {
    uint v1 = v_start(s) + (65536u >> shape_v_level(s.shape));
    return bvec2(edge_moved(s.edges.z, edge_i0(s.edges.z), v_start(s)), edge_moved(s.edges.z, edge_i1(s.edges.z), v1));
}
bvec2 moved_v0(Subpatch s) {
    uint u1 = u_start(s) + (65536u >> shape_u_level(s.shape));
    return bvec2(edge_moved(s.edges.x, edge_i0(s.edges.x), u_start(s)), edge_moved(s.edges.x, edge_i1(s.edges.x), u1));
}

Subpatch lower_u(Subpatch s) {
    bvec2 moved = moved_u0(s);
    s.edges = uvec4(edge_lower_half(s.edges.x, moved.x), edge_lower_half(s.edges.y, moved.y), s.edges.z, EDGE_OPEN);
    s.shape += 1u;
    return s;
}

Subpatch upper_u(Subpatch s) {
    bvec2 moved = moved_u0(s);
    s.edges = uvec4(edge_upper_half(s.edges.x, moved.x), edge_upper_half(s.edges.y, moved.y), EDGE_OPEN, s.edges.w);
    s.start += 32768u >> shape_u_level(s.shape);
    s.shape += 1u;
    return s;
}

Subpatch lower_v(Subpatch s) {
    bvec2 moved = moved_v0(s);
    s.edges = uvec4(s.edges.x, EDGE_OPEN, edge_lower_half(s.edges.z, moved.x), edge_lower_half(s.edges.w, moved.y));
    s.shape += 1u << SHAPE_V_LEVEL;
    return s;
}

Subpatch upper_v(Subpatch s) {
    bvec2 moved = moved_v0(s);
    s.edges = uvec4(EDGE_OPEN, s.edges.y, edge_upper_half(s.edges.z, moved.x), edge_upper_half(s.edges.w, moved.y));
    s.start += (32768u >> shape_v_level(s.shape)) << 16;
    s.shape += 1u << SHAPE_V_LEVEL;
    return s;
}

void main() {
    uint index = invocation();
    if (index >= round_count) return;
    uint verdict = children[index], at = offsets[index];
    if (verdict == VERDICT_CULL) return;
    Subpatch subpatch = list_in[index];
    if (verdict == VERDICT_GRID) {
        if (at >= capacity) return;
        list_out[at] = subpatch;
        bounds_out[at] = bounds_in[index];
        children_out[at] = VERDICT_GRID;
    } else if (at + 2u <= capacity) {
        list_out[at] = verdict == VERDICT_SPLIT_U ? lower_u(subpatch) : lower_v(subpatch);
        list_out[at + 1u] = verdict == VERDICT_SPLIT_U ? upper_u(subpatch) : upper_v(subpatch);
        uint place = atomicAdd(round_next_open, 2u);
        open[place] = at;
        open[place + 1u] = at + 1u;
    }
}
