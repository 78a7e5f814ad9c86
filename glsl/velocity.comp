// Velocity: one invocation = one vertex of a piece whose program reads dPdtime: how P changes between the first two
// keyframes of its motion, in camera space and for each unit of time. P at the second keyframe is diced undisplaced,
// and takes the displacement along (carry.comp). What stands still has 0. Reads slots, instances, motion, arena; writes
// arena. Overflows nothing.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/records.glsl"
#include "lib/grid/slot.glsl"
#include "lib/grid/piece.glsl"

layout(local_size_x = GROUP_VERTICES) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer Slots { Slot slots[]; };
layout(std430, set = 0, binding = 1) readonly buffer Pieces { Piece pieces[]; };
layout(std430, set = 0, binding = 2) readonly buffer Instances { Instance instances[]; };
layout(std430, set = 0, binding = 3) readonly buffer Motion { Keyframe motion[]; };
layout(std430, set = 0, binding = 4) buffer Arena { vec4 arena[]; };
layout(push_constant) uniform Push {
    uint slot_base;
    uint piece;
    uint from_base; // positions at shutter open, before displacement
    uint to_base;   // and after
    uint next_base; // positions at the second keyframe, before displacement
    uint velocity_base;
};

#include "lib/motion/carried.glsl"

void main() {
    uint v = invocation(), index = v >> pieces[piece].slot_log2;
    if (index >= pieces[piece].count) return;
    Slot slot = slots[slot_base + index];
    if ((v & ((1u << pieces[piece].slot_log2) - 1u)) >= (slot_nu(slot) + 1u) * (slot_nv(slot) + 1u)) return;
    vec3 velocity = vec3(0.0);
    if (instances[slot.instance].keyframes > 1u) {
        vec3 open = arena[to_base + v].xyz, d = open - arena[from_base + v].xyz;
        vec3 way = (arena[next_base + v].xyz - open) + carried(slot.motion + 1u, d);
        velocity = way * motion[slot.motion].per_time;
    }
    arena[velocity_base + v] = vec4(velocity, 0.0);
}
