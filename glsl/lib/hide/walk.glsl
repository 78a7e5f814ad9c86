// What hide.comp and sample.comp have in common: one invocation = one micropolygon of a piece, in two passes. The
// samples that the micropolygon may cover are cut into parts (of 32 samples, cells), so that loop trips are bounded
// (docs/pipeline/loops.md). The first pass does up to `each` of them. What is left, and every part of a wide
// micropolygon, is for the second pass (REST), `each_rest` parts an invocation; the first one arms its indirect
// dispatch. At most WALK_GROUPS_MAX times `each_rest` parts are done.
//
// The EXPANDED variants of the first pass even the lanes out: they share out the strips of parts
// (lib/hide/strips.glsl).
//
// The including file defines the struct Parts, `parts_of` and `visit`, where EXPANDED is on `strips_of` and
// `visit_strip`. Needs the buffers slots[], pieces[] and rest_*, and the push constants slot_base, piece, vertex_base
// and region_*.

#ifndef WALK_GLSL
#define WALK_GLSL

#include "lib/sampling/clip.glsl"
#include "lib/sampling/coverage.glsl"
#include "lib/invocation.glsl"
#include "lib/sampling/micropolygon.glsl"
#include "lib/grid/piece.glsl"
#include "lib/hide/rest.glsl"
#include "lib/sampling/trim.glsl"

// How a micropolygon that may touch the pixels `px` (x0, y0, x1, y1, inclusive) is cut: parts.count of them, 0 to leave
// it out.
Parts parts_of(Micropolygon m, ivec4 px, RegionRect region);
#ifdef KNOWS_BLOCKS
// Whether a micropolygon that may touch the pixels `px` lies behind all that is seen there.
bool behind_blocks(Micropolygon m, ivec4 px, RegionRect region);
#endif
#ifdef WALK_SKIPS
// The first part from `part` on, before `end`, that may have anything to do; `end` if there is none.
uint next_visit(Micropolygon m, Parts parts, uint part, uint end);
#endif
#if EXPANDED
// How many strips a micropolygon's first `count` parts are made of.
uint strips_of(Parts parts, uint count);
// Does a strip.
void visit_strip(Micropolygon m, Coverage cover, Slot slot, uint number, RegionRect region, Parts parts, uint strip);
#endif
#ifdef WALK_BINS
// Whether a micropolygon that may touch the pixels `px` is left to the bins that it is listed in.
bool list_in_bins(uint id, ivec4 px);
#endif
// Does a part.
void visit(Micropolygon m, Coverage cover, Slot slot, uint number, RegionRect region, Parts parts, uint part);

// Loop trips at a sample that an invocation tests, without clipping planes and trim loops.
const uint WALK_TRIPS = 2u;

#if TRIMMED
// Loads what a micropolygon's trim loops are tested with; the parts that an invocation may do of it.
uint load_trimming(Assigned which, Slot slot) {
    return trim_load(vertex_base + (which.slot << pieces[piece].slot_log2), slot, which.local);
}
#endif

// Lowers the parts that an invocation does, in the first pass and in the second, where clipping planes and trim loops
// take loop trips too. Loads what trim loops are tested with.
void limit_parts(Assigned which, Slot slot, uint parts, inout uint each, inout uint each_rest) {
    each = clip_share(each, WALK_TRIPS);
    each_rest = clip_share(each_rest, WALK_TRIPS);
#if TRIMMED
    uint allowed = load_trimming(which, slot);
    each = clip_and_trim_share(each, allowed);
    each_rest = clip_and_trim_share(each_rest, allowed);
#endif
#if !REST && (CLIPPED || TRIMMED)
    if (parts > WALK_GROUPS_MAX * each_rest) atomicAdd(rest_lost, 1u);
#endif
}

#if EXPANDED

#include "lib/hide/strips.glsl"

// The micropolygons of a workgroup.
shared ivec2 listed_vertices[4u * GROUP_MICROPOLYGONS];
shared float listed_depth[5u * GROUP_MICROPOLYGONS];
shared uint listed_numbers[GROUP_MICROPOLYGONS]; // slot of the piece << NUMBER_MP_BITS | number in the grid

void list_micropolygon(uint lane, Micropolygon m) {
    ivec2 vertices[4] = ivec2[](m.a, m.b, m.c, m.d);
    float depth[5] = float[](m.f0, m.fx, m.fy, m.zmin, m.zmax);
    for (uint at = 0u; at < 4u; at++) listed_vertices[at * GROUP_MICROPOLYGONS + lane] = vertices[at];
    for (uint at = 0u; at < 5u; at++) listed_depth[at * GROUP_MICROPOLYGONS + lane] = depth[at];
}

Micropolygon listed_micropolygon(uint lane) {
    Micropolygon m;
    m.a = listed_vertices[lane];
    m.b = listed_vertices[GROUP_MICROPOLYGONS + lane];
    m.c = listed_vertices[2u * GROUP_MICROPOLYGONS + lane];
    m.d = listed_vertices[3u * GROUP_MICROPOLYGONS + lane];
    m.low = min(min(m.a, m.b), min(m.c, m.d));
    m.high = max(max(m.a, m.b), max(m.c, m.d));
    m.f0 = listed_depth[lane];
    m.fx = listed_depth[GROUP_MICROPOLYGONS + lane];
    m.fy = listed_depth[2u * GROUP_MICROPOLYGONS + lane];
    m.zmin = listed_depth[3u * GROUP_MICROPOLYGONS + lane];
    m.zmax = listed_depth[4u * GROUP_MICROPOLYGONS + lane];
    return m;
}

// Loads the lane's micropolygon and lists it; the number of its strips.
uint strips_of_lane(uint lane, RegionRect region, uint each, uint each_rest) {
    Assigned which;
    if (!assigned(pieces[piece].mps, invocation(), which)) return 0u;
    Slot slot = slots[slot_base + which.slot];
    Micropolygon m;
    if (!micropolygon_load(vertex_base + (which.slot << pieces[piece].slot_log2), slot, which.local, m)) return 0u;
    ivec4 px = covered_pixels(m, slot, region);
    if (px.x > px.z || px.y > px.w) return 0u;
#ifdef KNOWS_BLOCKS
    if (behind_blocks(m, px, region)) return 0u;
#endif
    Parts parts = parts_of(m, px, region);
    if (parts.count == 0u) return 0u;
    limit_parts(which, slot, parts.count, each, each_rest);
    bool wide = micropolygon_wide(m);
    if (parts.count > each || wide) arm_rest(gl_NumWorkGroups.x, parts.count, each_rest);
    if (wide) return 0u;
    list_micropolygon(lane, m);
    listed_numbers[lane] = (which.slot << NUMBER_MP_BITS) | which.local;
    return strips_of(parts, min(parts.count, each));
}

void walk(uint each, uint each_rest) {
    uint lane = gl_LocalInvocationID.x;
    RegionRect region = RegionRect(region_x, region_y, region_width, region_height);
    uint strips = list_strips(strips_of_lane(lane, region, each, each_rest));
    for (uint strip = lane; strip < strips; strip += GROUP_MICROPOLYGONS) {
        uint owner = strip_owner(strip);
        Assigned which = Assigned(listed_numbers[owner] >> NUMBER_MP_BITS, listed_numbers[owner] & ((1u << NUMBER_MP_BITS) - 1u));
        Slot slot = slots[slot_base + which.slot];
        uint number = (slot.rank << NUMBER_MP_BITS) | which.local;
        Micropolygon m = listed_micropolygon(owner);
        Parts parts = parts_of(m, covered_pixels(m, slot, region), region);
#if TRIMMED
        load_trimming(which, slot);
#endif
        visit_strip(m, coverage_setup(m), slot, number, region, parts, strip - strips_before(owner));
    }
}

#else

void walk(uint each, uint each_rest) {
#if REST
    uvec2 whose = workgroup_and_part();
    uint id = whose.x * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
#else
    uint id = invocation();
#endif
    Assigned which;
    if (!assigned(pieces[piece].mps, id, which)) return;
    Slot slot = slots[slot_base + which.slot];
    Micropolygon m;
    if (!micropolygon_load(vertex_base + (which.slot << pieces[piece].slot_log2), slot, which.local, m)) return;
    RegionRect region = RegionRect(region_x, region_y, region_width, region_height);
    ivec4 px = covered_pixels(m, slot, region);
    if (px.x > px.z || px.y > px.w) return;
#ifdef KNOWS_BLOCKS
    if (behind_blocks(m, px, region)) return;
#endif
    Parts parts = parts_of(m, px, region);
    if (parts.count == 0u) return;
    limit_parts(which, slot, parts.count, each, each_rest);
    bool wide = micropolygon_wide(m);
#if REST
    uint begin = whose.y * each_rest, end = min(parts.count, begin + each_rest);
    if (!wide) begin = max(begin, each); // the first pass did those before
    if (begin >= end) return;
#else
    if (parts.count > each || wide) arm_rest(gl_NumWorkGroups.x, parts.count, each_rest);
    if (wide) return;
#ifdef WALK_BINS
    if (list_in_bins(id, px)) return;
#endif
    uint begin = 0u, end = min(parts.count, each);
#endif
    uint number = (slot.rank << NUMBER_MP_BITS) | which.local;
    Coverage cover = coverage_setup(m);
#ifdef WALK_SKIPS
    // Lanes search apart and visit together: what a thin micropolygon's box has beside it costs no lane a visit.
    for (uint part = next_visit(m, parts, begin, end); part < end; part = next_visit(m, parts, part + 1u, end)) {
        visit(m, cover, slot, number, region, parts, part);
    }
#else
    for (uint part = begin; part < end; part++) visit(m, cover, slot, number, region, parts, part);
#endif
}

#endif

#endif
