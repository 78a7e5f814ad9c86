// axes: FILL=count|fill
//
// Bin: one invocation = one micropolygon of an opaque grid. It is listed for each bin of pixels that it may touch, a
// sort in the middle (Molnar et al. 1994): bin_count counts, a scan turns the counts into places, bin_fill writes the
// lists and counts down to zero again. What is too large, or finds a list full, is hidden at once, as by hide.comp. The
// order in a list is any; keys are a minimum, so it does not show.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require

#include "lib/hide/block.glsl"
#include "lib/frame.glsl"
#include "lib/records.glsl"
#include "lib/grid/edge.glsl"
#include "lib/sampling/sampling.glsl"
#include "lib/grid/slot.glsl"
#include "lib/grid/piece.glsl"
#include "lib/hide/bin.glsl"

layout(local_size_x = GROUP_MICROPOLYGONS) in;
layout(std430, set = 0, binding = 0) readonly buffer FrameBuffer { Frame frame_record; };
layout(std430, set = 0, binding = 1) readonly buffer Slots { Slot slots[]; };
layout(std430, set = 0, binding = 2) readonly buffer Arena { uvec4 arena[]; };
layout(std430, set = 0, binding = 3) buffer Keys { uint64_t keys[]; };
layout(std430, set = 0, binding = 4) buffer Dirty { uint dirty[]; };
layout(std430, set = 0, binding = 5) buffer Rest { uint rest_groups_x; uint rest_groups_y; uint rest_groups_z; uint rest_lost; };
layout(std430, set = 0, binding = 6) readonly buffer Pieces { Piece pieces[]; };
layout(std430, set = 0, binding = 7) buffer BinCounts { uint bin_counts[]; };
layout(std430, set = 0, binding = 8) readonly buffer BinOffsets { uint bin_offsets[]; };
layout(std430, set = 0, binding = 9) readonly buffer Total { uint total; };
layout(std430, set = 0, binding = 10) writeonly buffer Listed { uint listed[]; };
layout(push_constant) uniform Push {
    uint slot_base;
    uint piece;
    uint vertex_base;
    int region_x;
    int region_y;
    uint region_width;
    uint region_height;
    uint bin_log2;
    uint bins_x;  // bins of a row
    uint bins;    // all bins
    uint capacity; // of the lists
};

#include "lib/sampling/micropolygon.glsl"
#include "lib/sampling/coverage.glsl"
#include "lib/sampling/clip.glsl"
#include "lib/sampling/trim.glsl"
#include "lib/hide/reach.glsl"
#include "lib/hide/lower.glsl"

#define WALK_BINS
#include "lib/hide/walk.glsl"

#if FILL
LISTED_FUNCTION
#endif

bool list_in_bins(uint id, ivec4 px) {
    uvec4 bins = uvec4(px - ivec4(region_x, region_y, region_x, region_y)) >> bin_log2;
    uvec2 size = bins.zw - bins.xy + 1u;
    bool fits = size.x * size.y <= MICROPOLYGON_BINS_MAX;
#if FILL
    if (!fits) return true; // bin_count hid it
#else
    if (!fits) return false;
#endif
    for (uint y = bins.y; y <= bins.w; y++) {
        for (uint x = bins.x; x <= bins.z; x++) {
            uint bin = y * bins_x + x;
#if FILL
            uint left = atomicAdd(bin_counts[bin], ~0u), at = bin_offsets[bin] + left - 1u;
            if (left <= listed_for(bin) && at < capacity) listed[at] = id;
            else fits = false;
#else
            atomicAdd(bin_counts[bin], 1u);
#endif
        }
    }
    return fits;
}

void main() {
    frame = frame_record;
    walk(HIDE_PARTS_MAX, HIDE_PARTS_MAX);
}
