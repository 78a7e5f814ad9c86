// What hide.comp and sample.comp have in common: one invocation = one micropolygon of a piece, in two passes. The
// samples that the micropolygon may cover are cut into parts (tiles, cells), so that loop trips are bounded
// (docs/pipeline.md). The first pass does up to `each` of them. What is left, and every part of a wide micropolygon,
// is for the second pass (REST), `each_rest` parts an invocation; the first one arms its indirect dispatch. At most
// WALK_GROUPS_MAX times `each_rest` parts are done.
//
// The including file defines the struct Parts, `parts_of` and `visit`. Needs micropolygon.glsl, coverage.glsl, the
// buffers slots[], pieces[] and rest_*, the push constants slot_base, piece, vertex_base and region_*, and trim.glsl
// where TRIMMED is 1.

#ifndef WALK_GLSL
#define WALK_GLSL

// Workgroups along z that every device can run.
const uint WALK_GROUPS_MAX = 65535u;

// How a micropolygon that may touch the pixels `px` (x0, y0, x1, y1, inclusive) is cut: parts.count of them, 0 to leave
// it out.
Parts parts_of(Micropolygon m, ivec4 px, RegionRect region);
#ifdef WALK_SKIPS
// The first part from `part` on, before `end`, that may have anything to do; `end` if there is none.
uint next_visit(Micropolygon m, Parts parts, uint part, uint end);
#endif
// Does a part.
void visit(Micropolygon m, Coverage cover, Slot slot, uint number, RegionRect region, Parts parts, uint part);

void walk(uint each, uint each_rest) {
    uint id = gl_GlobalInvocationID.x, index = id >> pieces[piece].mp_log2;
    if (index >= pieces[piece].count) return;
    Slot slot = slots[slot_base + index];
    uint local = id & ((1u << pieces[piece].mp_log2) - 1u);
    Micropolygon m;
    if (!micropolygon_load(vertex_base + (index << pieces[piece].slot_log2), slot, local, m)) return;
    RegionRect region = RegionRect(region_x, region_y, region_width, region_height);
    ivec4 px = covered_pixels(m, slot, region);
    if (px.x > px.z || px.y > px.w) return;
    Parts parts = parts_of(m, px, region);
    if (parts.count == 0u) return;
#if TRIMMED
    uint most = trim_load(vertex_base + (index << pieces[piece].slot_log2), slot, local);
    each = min(each, most);
    each_rest = min(each_rest, most);
#if !REST
    if (parts.count > WALK_GROUPS_MAX * each_rest) atomicAdd(rest_lost, 1u);
#endif
#endif
    bool wide = micropolygon_wide(m);
#if REST
    uint begin = gl_WorkGroupID.z * each_rest, end = min(parts.count, begin + each_rest);
    if (!wide) begin = max(begin, each); // the first pass did those before
    if (begin >= end) return;
#else
    if (parts.count > each || wide) {
        rest_groups_x = gl_NumWorkGroups.x;
        atomicMax(rest_groups_z, min((parts.count + each_rest - 1u) / each_rest, WALK_GROUPS_MAX));
    }
    if (wide) return;
    uint begin = 0u, end = min(parts.count, each);
#endif
    uint number = (slot.rank << NUMBER_MP_BITS) | local;
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
