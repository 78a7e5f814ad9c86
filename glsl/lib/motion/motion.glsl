// What moves, at one of the times at which its motion is known. Needs the buffer motion[].

#ifndef MOTION_GLSL
#define MOTION_GLSL

#include "lib/records.glsl"

Instance instance_at(Instance instance, uint keyframe) {
    if (instance.keyframes <= 1u) return instance;
    uint at = instance.motion + keyframe;
    instance.row0 = motion[at].row0;
    instance.row1 = motion[at].row1;
    instance.row2 = motion[at].row2;
    instance.scale = motion[at].scale;
    instance.displacement_bound *= motion[at].carry_scale;
    return instance;
}

// The primitive's control data are those of the time.
Primitive primitive_at(Instance instance, Primitive primitive, uint keyframe) {
    if (instance.keyframes <= 1u) return primitive;
    uint records = motion[instance.motion + keyframe].data;
    primitive.data += records;
    primitive.extra += records;
#if KIND == KIND_GREGORY || KIND == KIND_TRIANGLE
    primitive.face_corners += records * uvec4(notEqual(primitive.face_corners, uvec4(0u))); // its seams
#endif
    return primitive;
}

#endif
