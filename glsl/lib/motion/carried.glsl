// What a displacement at shutter open is at a keyframe of a motion. Needs the buffer motion[].

#ifndef CARRIED_GLSL
#define CARRIED_GLSL

#include "lib/records.glsl"

vec3 carried(uint keyframe, vec3 d) {
    vec4 a = motion[keyframe].carry0, b = motion[keyframe].carry1, c = motion[keyframe].carry2;
    return vec3((a.x * d.x + a.y * d.y) + a.z * d.z, (b.x * d.x + b.y * d.y) + b.z * d.z, (c.x * d.x + c.y * d.y) + c.z * d.z);
}

#endif
