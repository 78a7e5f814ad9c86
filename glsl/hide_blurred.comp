// axes: EXPANDED BEHIND REST=first|rest CLIPPED TRIMMED MOTION=(keyframed)|still|straight|focused
// rules: REST ignores EXPANDED MOTION; TRIMMED ignores MOTION
//
// Hide, where something moves or is out of focus: one invocation = one micropolygon of an opaque grid. As hide.comp,
// but each sample has its own time and point of the lens (lib/sampling/blur.glsl), so that the micropolygon is
// somewhere else for each. Reads slots, the vertices at all keyframes of the motion, motion, blur_samples; lowers keys
// (and, BEHIND, the depths behind them), marks changed blocks. Overflows nothing: what is too much for an invocation is
// done by the second pass (lib/hide/strata.glsl), which this kernel arms.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require

#include "lib/hide/block.glsl"
#include "lib/frame.glsl"
#include "lib/records.glsl"
#include "lib/grid/edge.glsl"
#include "lib/sampling/blur.glsl"
#include "lib/grid/slot.glsl"
#include "lib/grid/piece.glsl"

layout(local_size_x = GROUP_MICROPOLYGONS) in;
layout(std430, set = 0, binding = 0) readonly buffer FrameBuffer { Frame frame_record; };
layout(std430, set = 0, binding = 1) readonly buffer Slots { Slot slots[]; };
layout(std430, set = 0, binding = 2) readonly buffer Arena { uvec4 arena[]; };
layout(std430, set = 0, binding = 3) buffer Keys { uint64_t keys[]; };
layout(std430, set = 0, binding = 4) buffer Dirty { uint dirty[]; };
layout(std430, set = 0, binding = 5) buffer Rest { uint rest_groups_x; uint rest_groups_y; uint rest_groups_z; uint rest_lost; };
layout(std430, set = 0, binding = 6) readonly buffer Pieces { Piece pieces[]; };
layout(std430, set = 0, binding = 7) readonly buffer ClipPlanes { vec4 clip_planes[]; };
layout(std430, set = 0, binding = 8) buffer Behind { uint behind[]; };
layout(std430, set = 0, binding = 9) readonly buffer Grids { Subpatch grids[]; };
layout(std430, set = 0, binding = 10) readonly buffer Primitives { Primitive primitives[]; };
layout(std430, set = 0, binding = 11) readonly buffer Data { vec4 data[]; };
layout(std430, set = 0, binding = 12) readonly buffer Motion { Keyframe motion[]; };
layout(std430, set = 0, binding = 13) readonly buffer BlurSamples { uvec4 blur_samples[]; };
layout(push_constant) uniform Push {
    uint slot_base;
    uint piece;
    uint vertex_base; // of the first keyframe
    int region_x;
    int region_y;
    uint region_width;
    uint region_height;
    uint keyframe_count;  // keyframes of the piece's motion, 1 for what stands still
    uint keyframe_stride; // records from a keyframe's vertices to those of the next
};

#include "lib/sampling/blur_sample.glsl"
#include "lib/sampling/micropolygon.glsl"
#include "lib/sampling/coverage.glsl"
#include "lib/sampling/clip.glsl"
#include "lib/sampling/trim.glsl"
#include "lib/motion/blurred.glsl"
#include "lib/hide/strata.glsl"
#include "lib/hide/lower.glsl"

void hit(Walk w, Micropolygon m, ivec2 pixel, uint s, ivec2 at) {
    float z = micropolygon_z(m, at);
    // Outside the declared bound: never hit, in any region.
    bool seen = z >= w.slot.zmin && z <= w.slot.zmax && !clipped(at, z) && !trimmed(m, at);
    uint subpixel = region_pixel(w.region, pixel) * (frame.samples.x * frame.samples.y) + s;
    if (seen) lower(w.region, uvec2(pixel - ivec2(region_x, region_y)), subpixel, floatBitsToUint(z), w.number);
}

void main() {
    frame = frame_record;
    walk_strata();
}
