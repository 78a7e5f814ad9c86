// Which samples a micropolygon covers. Small micropolygons (all but wild ones) use 32-bit edge functions relative to
// their own corner; larger ones 64-bit, with the same result, in kernels that are compiled with REST: CPU drivers run
// through both sides of a branch, so rare cases have a kernel of their own.

#ifndef COVERAGE_GLSL
#define COVERAGE_GLSL

#include "lib/sampling/micropolygon.glsl"

// Products of two differences and their sums stay inside 31 bits up to this extent, in 1/1024 pixel.
const int NARROW_EXTENT = 16383;

struct Coverage {
    Triangle t0; // (a, b, d)
    Triangle t1; // (a, d, c)
};

bool micropolygon_wide(Micropolygon m) {
    ivec2 extent = m.high - m.low;
    return max(extent.x, extent.y) > NARROW_EXTENT;
}

Coverage coverage_setup(Micropolygon m) {
    Coverage cover;
    ivec2 o = m.low;
    cover.t0 = triangle_setup(m.a - o, m.b - o, m.d - o);
    cover.t1 = triangle_setup(m.a - o, m.d - o, m.c - o);
    return cover;
}

#if REST

int64_t edge_wide(ivec2 p, ivec2 q, ivec2 at) {
    return int64_t(q.x - p.x) * int64_t(at.y - p.y) - int64_t(q.y - p.y) * int64_t(at.x - p.x);
}

bool edge_inside(ivec2 p, ivec2 q, ivec2 at, bool turned) {
    int64_t e = edge_wide(p, q, at);
    if (turned) e = -e;
    ivec2 d = turned ? p - q : q - p;
    return e > 0l || (e == 0l && (d.y < 0 || (d.y == 0 && d.x > 0)));
}

bool triangle_covers_wide(ivec2 p, ivec2 q, ivec2 r, ivec2 at) {
    int64_t area = edge_wide(p, q, r);
    bool turned = area < 0l;
    return area != 0l && edge_inside(p, q, at, turned) && edge_inside(q, r, at, turned) && edge_inside(r, p, at, turned);
}

bool covers_wide(Micropolygon m, ivec2 at) {
    return triangle_covers_wide(m.a, m.b, m.d, at) || triangle_covers_wide(m.a, m.d, m.c, at);
}

#endif

bool covers(Micropolygon m, Coverage cover, ivec2 at) {
#if REST
    if (micropolygon_wide(m)) return covers_wide(m, at);
#endif
    ivec2 p = at - m.low;
    return triangle_covers(cover.t0, p) || triangle_covers(cover.t1, p);
}

// Twice the area of the triangle of a sample and two vertices, which are given from the sample on: an edge function.
int edge_from(ivec2 p, ivec2 q) { return p.x * q.y - p.y * q.x; }

// Of edge functions e of edges along d, whether the sample is inside: on an edge if it is a left or top one.
bool inside_edges(ivec3 e, ivec3 dx, ivec3 dy) {
    int area = e.x + e.y + e.z;
    ivec3 turn = ivec3(area >> 31); // -1 turns the sign, 0 leaves it
    e = (e ^ turn) - turn;
    dx = (dx ^ turn) - turn;
    dy = (dy ^ turn) - turn;
    e -= ivec3(not(owns_edges(dx, dy)));
    return area != 0 && (e.x | e.y | e.z) >= 0;
}

// As `covers`, for a micropolygon that is tested for one sample only.
bool covers_once(Micropolygon m, ivec2 at) {
#if REST
    if (micropolygon_wide(m)) return covers_wide(m, at);
#endif
    ivec2 a = m.a - at, b = m.b - at, c = m.c - at, d = m.d - at;
    ivec2 ab = b - a, bd = d - b, da = a - d, dc = c - d, ca = a - c;
    int across = edge_from(d, a);
    bool first = inside_edges(ivec3(edge_from(a, b), edge_from(b, d), across), ivec3(ab.x, bd.x, da.x), ivec3(ab.y, bd.y, da.y));
    bool second = inside_edges(ivec3(-across, edge_from(d, c), edge_from(c, a)), ivec3(-da.x, dc.x, ca.x), ivec3(-da.y, dc.y, ca.y));
    // Far from the micropolygon, where what moves fast may have samples, products are too large.
    bool near = all(greaterThanEqual(at, m.low)) && all(lessThanEqual(at, m.high));
    return near && (first || second);
}

// Widens a span of x by the part of a line that lies between two heights.
void span_line(vec2 p, vec2 q, vec2 band, inout vec2 span) {
    vec2 first = p.y <= q.y ? p : q, last = p.y <= q.y ? q : p;
    if (last.y < band.x || first.y > band.y) return;
    float slope = last.y > first.y ? (last.x - first.x) / (last.y - first.y) : 0.0;
    float x0 = first.y < band.x ? first.x + (band.x - first.y) * slope : first.x;
    float x1 = last.y > band.y ? last.x - (last.y - band.y) * slope : last.x;
    span = vec2(min(span.x, min(x0, x1)), max(span.y, max(x0, x1)));
}

// The first and last pixel of a row in which a micropolygon may cover anything: conservative, by more than the floats
// are off. None: the last one lies before the first.
ivec2 row_span(Micropolygon m, int y) {
    vec2 a = vec2(m.a - m.low), b = vec2(m.b - m.low), c = vec2(m.c - m.low), d = vec2(m.d - m.low);
    ivec2 extent = m.high - m.low;
    float margin = 2.0 + 4e-6 * float(max(extent.x, extent.y));
    vec2 band = vec2(ivec2(max(y * FIXED, m.low.y), min(y * FIXED + (FIXED - 1), m.high.y)) - m.low.y) + vec2(-margin, margin);
    vec2 span = vec2(float(extent.x), 0.0);
    span_line(a, b, band, span);
    span_line(b, d, band, span);
    span_line(d, c, band, span);
    span_line(c, a, band, span);
    span_line(a, d, band, span);
    return (ivec2(floor(span + vec2(-margin, margin))) + m.low.x) >> FIXED_LOG2;
}

// The pixels that a micropolygon may touch inside its grid's bound and the region, inclusive; empty when x0 > x1.
ivec4 covered_pixels(Micropolygon m, Slot slot, RegionRect region) {
    ivec2 bx = unpack_range(slot.bound_x), by = unpack_range(slot.bound_y);
    ivec2 low = max(max(m.low >> FIXED_LOG2, ivec2(bx.x, by.x)), ivec2(region.x, region.y));
    ivec2 high = min(min(m.high >> FIXED_LOG2, ivec2(bx.y, by.y)), ivec2(region.x + int(region.width), region.y + int(region.height)) - 1);
    return ivec4(low, high);
}

#endif
