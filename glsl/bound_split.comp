// axes: KIND=KIND_* FULL LOOSE MOVING
// rules: FULL requires KIND=curve|blob; LOOSE requires MOVING
//
// Bound/split, first half of a round (RenderAnts, section 5.1; Patney and Owens 2008). One invocation = one subpatch of
// the list that is no grid yet, those of other kinds idle. Bounds the subpatch in raster space and depth, fixes the
// rates of its short edges (lib/grid/edge.glsl), and decides:
//   0 children  outside the picture, or across the eye plane after all eye splits (counted in status)
//   1           small enough: it becomes a grid of nu x nv micropolygons
//   2           to be split across u or v by the second half (split.comp)
// With MOVING it does so for what moves (and what stands still): bounds hold all of the shutter. With LOOSE blur makes
// micropolygons larger (GeometricApproximation "motionfactor" and "focusfactor").
// Reads open, list, primitives, data, instances, motion; writes the subpatch back, its bound, its number of children.
// Overflows nothing.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/frame.glsl"
#include "lib/records.glsl"
#include "lib/grid/edge.glsl"
#include "lib/bound_split/round.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer FrameBuffer { Frame frame_record; };
layout(std430, set = 0, binding = 1) readonly buffer Instances { Instance instances[]; };
layout(std430, set = 0, binding = 2) readonly buffer Primitives { Primitive primitives[]; };
layout(std430, set = 0, binding = 3) readonly buffer Data { vec4 data[]; };
layout(std430, set = 0, binding = 4) buffer List { Subpatch list[]; };
layout(std430, set = 0, binding = 5) writeonly buffer Bounds { GridBound bounds[]; };
layout(std430, set = 0, binding = 6) writeonly buffer Children { uint children[]; };
layout(std430, set = 0, binding = 7) buffer Round { ROUND_MEMBERS };
layout(std430, set = 0, binding = 8) readonly buffer Motion { Keyframe motion[]; };
layout(std430, set = 0, binding = 9) readonly buffer Open { uint open[]; };

#include "lib/surface/surface.glsl"
#include "lib/motion/motion.glsl"
#include "lib/bound_split/bound_split.glsl"

void main() {
    frame = frame_record;
    uint place = invocation();
    if (place >= round_open) return;
    uint index = open[place];
    Subpatch subpatch = list[index];
    Primitive primitive = primitives[subpatch.primitive];
    if ((primitive.kind_flags & PRIMITIVE_KIND_MASK) != uint(KIND)) return;
    GridBound bound;
    uint verdict = bound_and_decide(instances[subpatch.instance], primitive, subpatch, bound);
    if (verdict == VERDICT_LOST) {
        atomicAdd(round_dropped, 1u);
        round_dropped_instance = subpatch.instance;
        verdict = VERDICT_CULL;
    }
    children[index] = verdict;
    list[index] = subpatch;
    if (verdict == VERDICT_GRID) bounds[index] = bound;
    if (verdict > VERDICT_GRID) atomicAdd(round_splits, 1u);
}
