// axes: EXPANDED REST=first|rest CLIPPED TRIMMED
// rules: REST ignores EXPANDED
//
// Sample: one invocation = one micropolygon of a translucent grid. For each cell (32 samples of a pixel) in which it
// covers samples that lie before the opaque surface and inside the depth slab, appends an entry and counts it; marks
// the micropolygon visible. Reads slots, arena, keys, nearest; writes entries, cell_counts, visible. An append beyond
// the capacity is counted, not written: the host then does the slab again with a smaller depth range.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

#include "lib/frame.glsl"
#include "lib/records.glsl"
#include "lib/grid/edge.glsl"
#include "lib/sampling/sampling.glsl"
#include "lib/grid/slot.glsl"
#include "lib/grid/piece.glsl"
#include "lib/colour/visible.glsl"
#include "lib/composite/entry.glsl"

layout(local_size_x = GROUP_MICROPOLYGONS) in;
layout(std430, set = 0, binding = 0) readonly buffer FrameBuffer { Frame frame_record; };
layout(std430, set = 0, binding = 1) readonly buffer Slots { Slot slots[]; };
layout(std430, set = 0, binding = 2) readonly buffer Arena { uvec4 arena[]; };
layout(std430, set = 0, binding = 3) readonly buffer Keys { uint64_t keys[]; };
layout(std430, set = 0, binding = 4) writeonly buffer Entries { u64vec4 entries[]; }; // an Entry each
layout(std430, set = 0, binding = 5) buffer CellCounts { uint cell_counts[]; };
layout(std430, set = 0, binding = 6) buffer Visible { uint visible[]; };
layout(std430, set = 0, binding = 7) buffer Appended { uint appended; uint longest_cell; uint list_cut; };
layout(std430, set = 0, binding = 8) buffer Rest { uint rest_groups_x; uint rest_groups_y; uint rest_groups_z; uint rest_lost; };
layout(std430, set = 0, binding = 9) readonly buffer Pieces { Piece pieces[]; };
layout(std430, set = 0, binding = 10) readonly buffer ClipPlanes { vec4 clip_planes[]; };
layout(std430, set = 0, binding = 11) readonly buffer Grids { Subpatch grids[]; };
layout(std430, set = 0, binding = 12) readonly buffer Primitives { Primitive primitives[]; };
layout(std430, set = 0, binding = 13) readonly buffer Data { vec4 data[]; };
layout(std430, set = 0, binding = 14) readonly buffer Nearest { uint nearest[]; }; // opaque depth of each cell
layout(push_constant) uniform Push {
    uint slot_base;
    uint piece;
    uint vertex_base;
    int region_x;
    int region_y;
    uint region_width;
    uint region_height;
    uint capacity;     // entries
    uint cells;        // of a pixel
    uint slab_low_z;   // the slab: keys (depth bits, number) from low, inclusive, to high, exclusive
    uint slab_low_number;
    uint slab_high_z;
    uint slab_high_number;
};

#include "lib/sampling/micropolygon.glsl"
#include "lib/sampling/coverage.glsl"
#include "lib/sampling/clip.glsl"
#include "lib/sampling/trim.glsl"
#include "lib/composite/entry_append.glsl"

// The cells of the pixels that a micropolygon may touch.
struct Parts {
    ivec2 first; // pixel
    uint width;  // pixels along x
    uint count;
};

#define WALK_SKIPS
#include "lib/hide/walk.glsl"

// Cells that one invocation of the first pass goes through, and one of the second, of which most are passed over.
const uint SAMPLE_CELLS_MAX = 256u;
const uint SAMPLE_REST_MAX = 448u;
// Cells of a micropolygon; their numbers are exact as floats.
const uint SAMPLE_PARTS_MAX = 1u << 22;

// Whether the sample sees the entry, which has one depth there.
bool seen(Micropolygon m, Entry entry, Slot slot, ivec2 corner, ivec2 at, uint subpixel) {
    float z = entry_z(frame, entry, at);
    // What is clipped of a solid still bounds it.
    return entry_seen(entry, slot, z, subpixel) && (slot_solid(slot) || !clipped(corner + at, z)) && !trimmed(m, corner + at);
}

// Whether all samples of a cell that a micropolygon covers see it, without a look at each.
bool all_see(Micropolygon m, Slot slot, uint cell) {
#if CLIPPED || TRIMMED
    return false;
#else
    uint near = floatBitsToUint(m.zmin), far = floatBitsToUint(m.zmax);
    bool behind_low = near > slab_low_z || (slab_low_z | slab_low_number) == 0u;
    bool in_slot = m.zmin >= max(slot.zmin, 0.0) && m.zmax <= slot.zmax;
    return slot.detail == DETAIL_ALL && !slot_solid(slot) && in_slot && behind_low && far < min(slab_high_z, nearest[cell]);
#endif
}

// The row of subpixels of a pixel's sample s.
uint subpixel_row(uint s) { return divide(uvec2(s), frame.samples).x; }

// The covered samples of a cell among the subpixels [first, last] of a pixel: bits of the cell's 32 samples.
uint cell_mask(Micropolygon m, Coverage cover, ivec2 pixel, uint cell, uvec2 first, uvec2 last) {
    uint mask = 0u;
    first.y = max(first.y, subpixel_row(CELL_SAMPLES * cell));
    last.y = min(last.y, subpixel_row(CELL_SAMPLES * cell + (CELL_SAMPLES - 1u)));
    if (first.y == last.y) {
        // Where rows are longer than cells, only the cell's part of one.
        int start = int(CELL_SAMPLES * cell) - int(first.y * frame.samples.x);
        first.x = uint(max(int(first.x), start));
        last.x = uint(min(int(last.x), start + int(CELL_SAMPLES) - 1));
    }
    // One loop, not one in another: lanes of a CPU driver take the trips of the longest, row for row.
    ivec2 size = max(ivec2(last - first) + 1, ivec2(0));
    float row_inverse = 1.0 / float(size.x);
    PixelSamples samples = pixel_samples_of(frame, pixel);
    for (uint i = 0u; i < uint(size.x * size.y); i++) {
        uint y = uint((float(i) + 0.5) * row_inverse);
        uvec2 k = first + uvec2(i - y * uint(size.x), y);
        uint s = k.y * frame.samples.x + k.x;
        if ((s >> CELL_LOG2) == cell && covers(m, cover, position_of(frame, samples, k))) mask |= 1u << (s & (CELL_SAMPLES - 1u));
    }
    return mask;
}

void sample_cell(Micropolygon m, Coverage cover, Slot slot, uint number, ivec2 pixel, uint pixel_index, uint cell) {
    ivec2 corner = pixel * FIXED;
    uint covered = cell_mask(m, cover, pixel, cell, first_subpixel(m.low, corner), last_subpixel(m.high, corner));
    vec2 shift = vec2(corner - m.low);
    Entry entry = Entry(number, m.zmin, covered, pixel_index * cells + cell, m.f0 + (m.fx * shift.x + m.fy * shift.y), m.fx, m.fy, m.zmax);
    uint first = pixel_index * (frame.samples.x * frame.samples.y) + CELL_SAMPLES * cell;
    uint unsure = all_see(m, slot, entry.cell) ? 0u : covered;
    while (unsure != 0u) {
        uint bit = uint(findLSB(unsure));
        unsure &= unsure - 1u;
        uint s = CELL_SAMPLES * cell + bit, y = subpixel_row(s);
        ivec2 at = sample_position(frame, pixel, uvec2(s - y * frame.samples.x, y)) - corner;
        bool sees = sees_detail(slot.detail, pixel, s) && seen(m, entry, slot, corner, at, first + bit);
        if (!sees) entry.mask &= ~(1u << bit);
    }
    if (entry.mask != 0u) append(entry, slot_solid(slot));
}

Parts parts_of(Micropolygon m, ivec4 px, RegionRect region) {
    uint width = uint(px.z - px.x) + 1u, count = width * (uint(px.w - px.y) + 1u) * cells;
    // The slab is crossed only if the depth ranges meet.
    if (floatBitsToUint(m.zmax) < slab_low_z || floatBitsToUint(max(m.zmin, 0.0)) > slab_high_z) count = 0u;
#if !REST
    if (count > SAMPLE_PARTS_MAX) atomicAdd(rest_lost, 1u);
#endif
    return Parts(px.xy, width, min(count, SAMPLE_PARTS_MAX));
}

// The pixel of a part, from the first one, and the cell.
uvec3 part_cell(Parts parts, uint part) {
    uint at = uint((float(part) + 0.5) / float(cells)), y = uint((float(at) + 0.5) / float(parts.width));
    return uvec3(at - y * parts.width, y, part - at * cells);
}

uint next_visit(Micropolygon m, Parts parts, uint part, uint end) {
    while (part < end) {
        uvec2 at = part_cell(parts, part).xy;
        ivec2 span = row_span(m, parts.first.y + int(at.y)) - parts.first.x;
        span = clamp(span, ivec2(int(at.x), -1), ivec2(parts.width, parts.width - 1u));
        if (span.x <= span.y) return max(part, (at.y * parts.width + uint(span.x)) * cells);
        part = (at.y + 1u) * parts.width * cells;
    }
    return end;
}

void visit(Micropolygon m, Coverage cover, Slot slot, uint number, RegionRect region, Parts parts, uint part) {
    uvec3 which = part_cell(parts, part);
    ivec2 pixel = parts.first + ivec2(which.xy);
    sample_cell(m, cover, slot, number, pixel, region_pixel(region, pixel), which.z);
}

#if EXPANDED

// A strip: a cell.
uint strips_of(Parts parts, uint count) { return count; }

void visit_strip(Micropolygon m, Coverage cover, Slot slot, uint number, RegionRect region, Parts parts, uint strip) {
    if (next_visit(m, parts, strip, strip + 1u) == strip) visit(m, cover, slot, number, region, parts, strip);
}

#endif

void main() {
    frame = frame_record;
    walk(SAMPLE_CELLS_MAX, SAMPLE_REST_MAX);
}
