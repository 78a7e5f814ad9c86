// Carry: one invocation = one vertex of a piece that moves and has been displaced. Its positions at the keyframes of
// the motion, diced undisplaced, take the displacement along, as the object's rotation and scale turn it: what moves is
// displaced once, when the shutter opens. Reads slots, motion, arena; writes arena. Overflows nothing.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/records.glsl"
#include "lib/grid/slot.glsl"
#include "lib/grid/piece.glsl"

layout(local_size_x = GROUP_VERTICES) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer Slots { Slot slots[]; };
layout(std430, set = 0, binding = 1) readonly buffer Pieces { Piece pieces[]; };
layout(std430, set = 0, binding = 2) readonly buffer Motion { Keyframe motion[]; };
layout(std430, set = 0, binding = 3) buffer Arena { vec4 arena[]; };
layout(push_constant) uniform Push {
    uint slot_base;
    uint piece;
    uint from_base; // positions at shutter open, before displacement
    uint to_base;   // and after
    uint keyframes_base; // positions at the first keyframe
    uint keyframe_count;
    uint keyframe_stride;
};

#include "lib/motion/carried.glsl"

void main() {
    uint v = invocation(), index = v >> pieces[piece].slot_log2;
    if (index >= pieces[piece].count) return;
    Slot slot = slots[slot_base + index];
    if ((v & ((1u << pieces[piece].slot_log2) - 1u)) >= (slot_nu(slot) + 1u) * (slot_nv(slot) + 1u)) return;
    vec4 displaced = arena[to_base + v];
    vec3 d = displaced.xyz - arena[from_base + v].xyz;
    arena[keyframes_base + v] = displaced;
    for (uint keyframe = 1u; keyframe < keyframe_count; keyframe++) {
        uint at = keyframes_base + keyframe * keyframe_stride + v;
        arena[at] = vec4(arena[at].xyz + carried(slot.motion + keyframe, d), 0.0);
    }
}
