// Displaced: one invocation = one slot of a piece that has been displaced; how far displacement moved its vertices at
// most, for the instance's displacement bound: to measure one that was not declared, and to tell of one that is too
// small (RISpec 4.2.11). Reads slots, arena; raises the instance's word of displaced_by (float bits). NaN is no
// distance.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/grid/slot.glsl"
#include "lib/grid/piece.glsl"

layout(local_size_x = GROUP_SLOTS) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer Slots { Slot slots[]; };
layout(std430, set = 0, binding = 1) readonly buffer Pieces { Piece pieces[]; };
layout(std430, set = 0, binding = 2) readonly buffer Arena { vec4 arena[]; };
layout(std430, set = 0, binding = 3) buffer DisplacedBy { uint displaced_by[]; };
layout(push_constant) uniform Push {
    uint slot_base;
    uint piece;
    uint from_base; // positions before
    uint to_base;   // and after
};

void main() {
    uint index = invocation();
    if (index >= pieces[piece].count) return;
    Slot slot = slots[slot_base + index];
    uint vertices = (slot_nu(slot) + 1u) * (slot_nv(slot) + 1u), first = index << pieces[piece].slot_log2;
    float farthest = 0.0;
    for (uint v = first; v < first + vertices; v++) {
        vec3 d = arena[to_base + v].xyz - arena[from_base + v].xyz;
        float square = dot(d, d);
        if (square > farthest && square <= 3.0e38) farthest = square;
    }
    uint bits = floatBitsToUint(sqrt(farthest));
    if (bits > displaced_by[slot.instance]) atomicMax(displaced_by[slot.instance], bits);
}
