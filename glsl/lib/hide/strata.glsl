// How hide_blurred.comp and sample_blurred.comp find the samples of a micropolygon that moves or is out of focus. One
// invocation = one micropolygon of a piece. A *stratum* is a part of the shutter, a cell of the lens, or (where it both
// moves and may be out of focus) a part of the shutter in pixels of one class, which gives the cell. In each pixel one
// sample is in a stratum, so a micropolygon is bounded for each stratum, and of the pixels in this small box only those
// samples are tested that are in the stratum. Lanes of a CPU driver go through the same strata; candidates that the
// micropolygon can reach wait, and are tested together after several strata.
//
// Where a stratum's box is small (nearly all), the first pass (REST 0) does it. It arms the second (REST 1), which does
// the rest: boxes of many pixels in windows, and micropolygons that need 64-bit arithmetic. All loops are bounded
// (docs/pipeline/loops.md).
//
// The including file defines `hit`. Needs the buffers slots[], pieces[], blur_samples[] (which blur_samples.comp
// filled) and rest_groups_*, and the push constants slot_base, piece, vertex_base, keyframe_count, keyframe_stride and
// region_*.

#ifndef STRATA_GLSL
#define STRATA_GLSL

#include "lib/sampling/blur_sample.glsl"
#include "lib/motion/blurred.glsl"
#include "lib/sampling/clip.glsl"
#include "lib/sampling/coverage.glsl"
#include "lib/invocation.glsl"
#include "lib/grid/piece.glsl"
#include "lib/sampling/trim.glsl"

// Workgroups along z that every device can run.
const uint STRATA_GROUPS_MAX = 65535u;
// Strata that the first pass does, and the candidate samples of all of them together: up to four trips each, for lanes
// of a CPU driver take those of all lanes.
const uint STRATA_FIRST_MAX = 2048u;
const uint STRATA_CANDIDATES_MAX = 6144u;
const uint STRATA_TRIPS = 4u;
// Pixels along the side of a window of the second pass, and parts (of a stratum and a window) that an invocation does.
const int STRATA_WINDOW_PX = 32;
const uint STRATA_REST_PARTS = 8u;
// Trim loops and many clipping planes take trips of their own: windows are smaller. Trim loops say how many parts of 32
// samples are not too much; with planes a window's candidates take no more than TRIPS_MAX trips.
const int STRATA_TRIMMED_WINDOW_PX = 4;
const uint TRIPS_MAX = 32768u; // loop trips that an invocation may make: CPU drivers end all loops at 65,535
const uint TRIM_PART_CANDIDATES = 32u;

struct Walk {
    Vertices vertices;
    Slot slot;
    uint number;
    RegionRect region;
    ivec4 px;     // pixels that it may touch: its grid's bound in the region, inclusive
    bool moves;
    bool lens;
    uint classes; // LENS_CLASSES where it moves and is seen through a lens, else 1
    uint strata;  // of each class
    uint candidates; // that an invocation may test
};

// A sample that the micropolygon covers, at `at`: number s of a pixel.
void hit(Walk w, Micropolygon m, ivec2 pixel, uint s, ivec2 at);

// Where a micropolygon is at each time of a part of the shutter: its box moves evenly from the first one on. Not known
// better than for all of the part where both ways are 0, and for other MOTION than 3.
struct Drift {
    vec2 low; // when the part begins
    vec2 high;
    vec2 low_way; // until it ends
    vec2 high_way;
    float begin;
    float inverse_span; // 1 over the time that the part takes
};

Drift no_drift(vec2 low, vec2 high, float begin) { return Drift(low, high, vec2(0.0), vec2(0.0), begin, 0.0); }

// Where a micropolygon is during a part of the shutter, in 1/1024 pixel, seen through the middle of the lens.
struct Sweep {
    vec2 low;
    vec2 high;
    vec2 inverse_z; // smallest and largest 1 / z
    bool across;    // it may pass the eye plane
    uint keyframe;  // the interval of keyframes in which it begins
    Drift drift;
};

// Farther away than anything that is looked at.
const float SWEEP_FAR = 67108864.0;

// Where a corner is, not farther away than that; behind the eye, far away on its side of the axis: on its way there it
// goes away on that side, unless it passes the axis (see sweep_both).
vec2 sweep_position(vec3 p, float inverse_z) {
    vec2 away = mix(vec2(-SWEEP_FAR), vec2(SWEEP_FAR), greaterThanEqual(p.xy * frame.raster_scale, vec2(0.0)));
    vec2 seen = clamp(raster_position_by(frame, p, inverse_z), vec2(-SWEEP_FAR), vec2(SWEEP_FAR));
    return p.z > 0.0 || !frame_perspective(frame) ? seen : away;
}

// Where it is at a time, in an interval of keyframes from `keyframe` on.
Sweep sweep_at(Walk w, uint keyframe, float time) {
    KeyframeTime at = keyframe_time(w.vertices, keyframe, time);
    Corners p = corners_at(w.vertices, at);
    vec4 z = corner_depths(p), inverse = reciprocal(z);
    vec2 a = sweep_position(p.a, inverse.x), b = sweep_position(p.b, inverse.y), c = sweep_position(p.c, inverse.z), d = sweep_position(p.d, inverse.w);
    inverse = mix(vec4(reciprocal(frame.eye_z)), inverse, greaterThan(z, vec4(frame.eye_z)));
    Sweep s;
    s.low = min(min(a, b), min(c, d));
    s.high = max(max(a, b), max(c, d));
    s.inverse_z = vec2(min(min(inverse.x, inverse.y), min(inverse.z, inverse.w)), max(max(inverse.x, inverse.y), max(inverse.z, inverse.w)));
    s.across = !can_be_projected(z);
    s.keyframe = at.keyframe;
    s.drift = no_drift(s.low, s.high, time);
    return s;
}

// From the first one's interval of keyframes on. What passes the eye plane on one side of the axis goes away on that
// side; on both sides, it may be anywhere.
Sweep sweep_both(Sweep a, Sweep b) {
    vec2 inverse_z = vec2(min(a.inverse_z.x, b.inverse_z.x), max(a.inverse_z.y, b.inverse_z.y));
    vec2 low = min(a.low, b.low), high = max(a.high, b.high);
    bool across = a.across || b.across;
    bvec2 both = bvec2(across && low.x < frame.raster_offset.x && high.x > frame.raster_offset.x,
                       across && low.y < frame.raster_offset.y && high.y > frame.raster_offset.y);
    low = mix(low, vec2(-SWEEP_FAR), both);
    high = mix(high, vec2(SWEEP_FAR), both);
    return Sweep(low, high, inverse_z, across, a.keyframe, no_drift(low, high, a.drift.begin));
}

// A point that moves evenly in camera space, with depths z0 and z1 at both ends, is where it would be if it moved
// evenly in the picture, but for a quarter of its way there times |z1 - z0| / min(z0, z1), and rounding. Nothing whose
// depths differ by more than a factor of two is followed.
const float DRIFT_SLACK = 0.2501;
const float DRIFT_DEPTHS_MAX = 2.0;

// On its way between two times, on a straight line. A lens would hide most of what that tells.
Sweep sweep_straight(Sweep a, Sweep b) {
    Sweep s = sweep_both(a, b);
    float begin = a.drift.begin, span = b.drift.begin - begin;
    bool exact = !s.across && all(greaterThan(s.low, vec2(-SWEEP_FAR))) && all(lessThan(s.high, vec2(SWEEP_FAR)));
    if (!exact || !(s.inverse_z.y < DRIFT_DEPTHS_MAX * s.inverse_z.x) || !(span > 0.0)) return s;
    vec2 longest = max(b.high - a.low, a.high - b.low);
    vec2 slack = (DRIFT_SLACK * (s.inverse_z.y - s.inverse_z.x) / s.inverse_z.x) * longest;
    s.drift = Drift(a.low - slack, a.high + slack, b.low - a.low, b.high - a.high, begin, 1.0 / span);
    return s;
}

// During the part of the shutter with this number; `before` is where it was when the part begins, then when it ends.
Sweep sweep_part(Walk w, uint part, inout Sweep before) {
    Sweep s = before;
    if (!w.moves) return s;
    float end = shutter_time(float(part + 1u) * frame.stratum);
    uint keyframe = s.keyframe;
#if MOTION == 0
    while (keyframe + 2u < w.vertices.keyframes && motion[w.vertices.motion + keyframe + 1u].time < end) {
        keyframe++;
        s = sweep_both(s, sweep_at(w, keyframe, motion[w.vertices.motion + keyframe].time));
    }
#endif
    before = sweep_at(w, keyframe, end);
#if MOTION == 3
    return sweep_straight(s, before);
#else
    return sweep_both(s, before);
#endif
}

Sweep sweep_begin(Walk w, uint part) { return sweep_at(w, 0u, shutter_time(float(part) * frame.stratum)); }

// Where the samples of a stratum may be that the micropolygon covers: seen through a point l of the lens, in low +
// min(u l, v l) to high + max(u l, v l), in 1/1024 pixel, of where it is at their time.
struct Reach {
    Drift drift;
    vec2 u;
    vec2 v;
};

// A stratum's box: candidates are the samples of its pixels.
struct StratumBox {
    ivec4 px;    // inclusive, empty when x0 > x1
    bool wide;   // needs 64-bit arithmetic
    Reach reach; // of each candidate
};

// Vertices are rounded, and floats off, by less than this and a part of their size.
const float SWEEP_MARGIN = 2.0;
const float SWEEP_ERROR = 1e-6;

// Where it is, seen through points of the lens between two.
StratumBox box_through(Walk w, Sweep s, LensCell rim) {
    Reach reach = Reach(s.drift, vec2(0.0), vec2(0.0));
    vec2 low = s.low, high = s.high;
    if (w.lens) {
        reach.u = frame.lens_far - frame.lens_near * s.inverse_z.x;
        reach.v = frame.lens_far - frame.lens_near * s.inverse_z.y;
        vec2 ul = reach.u * rim.low, uh = reach.u * rim.high, vl = reach.v * rim.low, vh = reach.v * rim.high;
        low += min(min(ul, uh), min(vl, vh));
        high += max(max(ul, uh), max(vl, vh));
    }
    vec2 margin = vec2(SWEEP_MARGIN) + SWEEP_ERROR * (max(abs(s.low), abs(s.high)) + max(abs(reach.u), abs(reach.v)));
    low -= margin;
    high += margin;
    bool anywhere = !(all(lessThanEqual(low, high))); // NaN
    if (anywhere) return StratumBox(w.px, true, Reach(no_drift(vec2(-2.0 * RASTER_MAX), vec2(2.0 * RASTER_MAX), 0.0), vec2(0.0), vec2(0.0)));
    reach.drift.low -= margin;
    reach.drift.high += margin;
    low = clamp(low, vec2(-RASTER_MAX), vec2(RASTER_MAX));
    high = clamp(high, vec2(-RASTER_MAX), vec2(RASTER_MAX));
    ivec2 first = ivec2(floor(low)), last = ivec2(ceil(high)), extent = last - first;
    ivec4 px = ivec4(max(first >> FIXED_LOG2, w.px.xy), min(last >> FIXED_LOG2, w.px.zw));
    return StratumBox(px, s.across || max(extent.x, extent.y) > NARROW_EXTENT, reach);
}

StratumBox box_of(Walk w, Sweep s, uvec2 cell) {
    LensCell rim = LensCell(vec2(0.0), vec2(0.0));
    if (w.lens) rim = blur_lens_cell(blur_samples[cell.y * frame.samples.x + cell.x]);
    return box_through(w, s, rim);
}

StratumBox whole_box(Walk w, Sweep s) { return box_through(w, s, LensCell(vec2(-1.0), vec2(1.0))); }

bool in_reach(Reach r, uvec4 blur, ivec2 at) {
    vec2 lens = blur_lens(blur), a = r.u * lens, b = r.v * lens, p = vec2(at), low = r.drift.low, high = r.drift.high;
#if MOTION == 3
    float passed = (blur_time(blur) - r.drift.begin) * r.drift.inverse_span;
    low += passed * r.drift.low_way;
    high += passed * r.drift.high_way;
#endif
    return all(greaterThanEqual(p, low + min(a, b))) && all(lessThanEqual(p, high + max(a, b)));
}

// The pixels of a box that are searched: all of them, or those of a class.
struct Search {
    ivec2 first;
    uint step_log2;
    uvec2 size;
    float row_inverse; // of the size along x
};

Search search_of_all(ivec4 px) {
    Search s = Search(px.xy, 0u, uvec2(max(px.zw - px.xy + 1, ivec2(0))), 0.0);
    s.row_inverse = 1.0 / float(s.size.x);
    return s;
}

Search search_of(Walk w, ivec4 px, uint lens_class) {
    Search s = search_of_all(px);
    if (w.classes > 1u) {
        ivec2 to = ivec2(lens_class & (LENS_CLASS_PX - 1u), lens_class >> LENS_CLASS_LOG2);
        s.first += (to - px.xy) & int(LENS_CLASS_PX - 1u);
        s.step_log2 = LENS_CLASS_LOG2;
        s.size = uvec2(max((px.zw - s.first + int(LENS_CLASS_PX)) >> int(LENS_CLASS_LOG2), ivec2(0)));
        s.row_inverse = 1.0 / float(s.size.x);
    }
    return s;
}

// A candidate: the sample of a pixel that has a part of the shutter.
struct Candidate {
    ivec2 pixel;
    uint part;
};

uint candidate_row(Search s, uint i) { return uint((float(i) + 0.5) * s.row_inverse); }

uint candidate_part(Walk w, uint n, ivec2 pixel) { return w.lens && !w.moves ? part_number(n, pixel_class(pixel)) : n; }

Candidate candidate(Walk w, Search s, uint n, uint i) {
    uint y = candidate_row(s, i);
    ivec2 pixel = s.first + (ivec2(i - y * s.size.x, y) << s.step_log2);
    return Candidate(pixel, candidate_part(w, n, pixel));
}

uvec4 blur_of(Walk w, Candidate c) { return blur_samples[blur_sample_index(region_pixel(w.region, c.pixel), c.part)]; }

// Tests a sample; during its part of the shutter keyframes from `keyframe` on matter.
void test(Walk w, Candidate c, uint keyframe) {
    uvec4 blur = blur_of(w, c);
    ivec2 at = blur_place(blur, c.pixel);
    uint subpixel = blur_subpixel(blur);
    Corners corners = corners_at(w.vertices, keyframe_time(w.vertices, keyframe, blur_time(blur)));
    Micropolygon m;
    bool seen = micropolygon_at(w.slot, corners, blur_lens(blur), m);
    seen = seen && covers_once(m, at) && sees_detail(w.slot.detail, c.pixel, subpixel);
    micropolygon_depth(m, corner_depths(corners));
#if TRIMMED
    vec4 weights = frame_perspective(frame) ? 1.0 / corner_depths(corners) : vec4(1.0);
    for (uint corner = 0u; corner < 4u; corner++) trim_corners[corner].weight = weights[corner];
#endif
    if (seen) hit(w, m, c.pixel, subpixel, at);
}

// Candidates that are looked at in one go: a bit each.
const uint REACH_BITS = 32u;

// The candidates from `first` to `end` that are in reach. Where a candidate is follows from where the one before is: it
// takes longer to work it out for each.
uint reached_bits(Walk w, StratumBox box, Search s, uint n, uint first, uint end) {
    uint samples = frame.samples.x * frame.samples.y, y = candidate_row(s, first), x = first - y * s.size.x, reached = 0u;
    ivec2 pixel = s.first + (ivec2(x, y) << s.step_log2);
    uint index = blur_sample_index(region_pixel(w.region, pixel), 0u);
    // Records from a candidate to the next, and from behind the last of a row to the first of the next.
    uint along = samples << s.step_log2, down = (samples * w.region.width << s.step_log2) - along * s.size.x;
    int step = 1 << s.step_log2;
    for (uint bit = 0u; bit < end - first; bit++) {
        uvec4 blur = blur_samples[index + candidate_part(w, n, pixel)];
        reached |= uint(in_reach(box.reach, blur, blur_place(blur, pixel))) << bit;
        x++;
        index += along;
        pixel.x += step;
        if (x == s.size.x) {
            x = 0u;
            index += down;
            pixel = ivec2(s.first.x, pixel.y + step);
        }
    }
    return reached;
}

// Takes the first of some candidates.
Candidate next_of(Walk w, Search s, uint n, uint first, inout uint reached) {
    uint i = first + uint(findLSB(reached));
    reached &= reached - 1u;
    return candidate(w, s, n, i);
}

#if REST || TRIMMED || EXPANDED

void take_reached(Walk w, Search s, uint n, uint first, uint reached, uint keyframe) {
    while (reached != 0u) test(w, next_of(w, s, n, first, reached), keyframe);
}

bool any_full() { return false; }
bool all_in_subgroup(bool here) { return here; }
void test_waiting(Walk w) {}

#else

// Candidates in reach wait here over several strata, so that lanes of a CPU driver have about as many tests each.
const uint WAITING_MAX = 64u;
uint waiting_pixels[WAITING_MAX]; // from the first of w.px, x and y << 16
uint waiting_parts[WAITING_MAX];  // part and, up to 65535, keyframe << 16
uint waiting = 0u;

void wait(Walk w, Candidate c, uint keyframe) {
    uvec2 from = uvec2(c.pixel - w.px.xy);
    waiting_pixels[waiting] = from.x | from.y << 16;
    waiting_parts[waiting] = c.part | min(keyframe, 65535u) << 16;
    waiting++;
}

void take_reached(Walk w, Search s, uint n, uint first, uint reached, uint keyframe) {
    while (reached != 0u) wait(w, next_of(w, s, n, first, reached), keyframe);
}

// Whether an invocation of the subgroup has no room for the candidates of one go. All of them stop there, so that all
// stay in the same stratum: the bound on their trips is that of one of them.
bool any_full() { return subgroupAny(waiting + REACH_BITS > WAITING_MAX); }
bool all_in_subgroup(bool here) { return subgroupAll(here); }

void test_waiting(Walk w) {
    while (waiting != 0u) {
        waiting--;
        uint from = waiting_pixels[waiting], part = waiting_parts[waiting];
        test(w, Candidate(w.px.xy + ivec2(from & 65535u, from >> 16), part & 65535u), part >> 16);
    }
}

#endif

// Looks at candidates of a box from `first` on, REACH_BITS at most; those in reach wait or are tested. `n` is the
// number of a cell of the lens for what does not move, else of a part of the shutter; during it keyframes from
// `keyframe` on matter.
void search(Walk w, StratumBox box, Search s, uint n, uint keyframe, uint first) {
    uint end = min(s.size.x * s.size.y, first + REACH_BITS);
    take_reached(w, s, n, first, reached_bits(w, box, s, n, first, end), keyframe);
}

// Candidates that a box of the first pass has at most; where they are more than are looked at in one go, a multiple of
// those, so that lanes of a CPU driver that are in different goes take no more trips together.
uint candidates_max(Walk w) {
    uint most = w.candidates / min(w.strata * w.classes, STRATA_FIRST_MAX);
    return most > REACH_BITS ? most & ~(REACH_BITS - 1u) : most;
}
uint first_strata(Walk w) { return min(w.strata, STRATA_FIRST_MAX / w.classes); }

// Whether the first pass does a stratum.
bool is_first(Walk w, uint stratum, StratumBox box, Search s) {
    return stratum < first_strata(w) && !box.wide && s.size.x * s.size.y <= candidates_max(w);
}

// Where the lens moves a micropolygon by little, a stratum is done at once for all classes, with the whole lens's box:
// for a CPU driver that takes less than a box for each class where it has no more candidates than these.
const uint WHOLE_LENS_CANDIDATES_MAX = 128u;
bool is_whole(Walk w, uint stratum, StratumBox box) {
    ivec2 size = max(box.px.zw - box.px.xy + 1, ivec2(0));
    uint most = min(WHOLE_LENS_CANDIDATES_MAX, candidates_max(w) * w.classes);
    return stratum < first_strata(w) && !box.wide && uint(size.x) * uint(size.y) <= most;
}

// Side of a window of the second pass, and the parts that an invocation does.
int window_px() {
#if TRIMMED
    return STRATA_TRIMMED_WINDOW_PX;
#elif CLIPPED
    uint trips = 3u + uint(clip_planes.length());
    int px = STRATA_WINDOW_PX;
    if (uint(px * px) * trips > TRIPS_MAX) px /= 2;
    return uint(px * px) * trips > TRIPS_MAX ? px / 2 : px;
#else
    return STRATA_WINDOW_PX;
#endif
}
// Without trim loops a candidate takes two or three trips there, not four.
uint rest_parts(Walk w) {
    uint candidates = TRIMMED == 1 ? w.candidates : w.candidates * 4u / 3u;
    return clamp(candidates / uint(window_px() * window_px()), 1u, STRATA_REST_PARTS);
}

bool walk_begin(uint id, out Walk w) {
    Assigned which;
    if (!assigned(pieces[piece].mps, id, which)) return false;
    w.slot = slots[slot_base + which.slot];
    uint local = which.local, nu = slot_nu(w.slot), nv = slot_nv(w.slot);
    if (local >= nu * nv) return false;
    uint j = uint((float(local) + 0.5) / float(nu)), i = local - j * nu;
    uint first = vertex_base + (which.slot << pieces[piece].slot_log2) + j * (nu + 1u) + i;
    w.vertices = Vertices(first, nu + 1u, keyframe_stride, keyframe_count, w.slot.motion);
    w.number = (w.slot.rank << NUMBER_MP_BITS) | local;
    w.region = RegionRect(region_x, region_y, region_width, region_height);
    ivec2 bx = unpack_range(w.slot.bound_x), by = unpack_range(w.slot.bound_y);
    ivec2 end = ivec2(region_x + int(region_width), region_y + int(region_height)) - 1;
    w.px = ivec4(max(ivec2(bx.x, by.x), ivec2(region_x, region_y)), min(ivec2(bx.y, by.y), end));
#if MOTION != 0
    w.moves = MOTION > 1;
#else
    w.moves = keyframe_count > 1u;
#endif
    // What stands still needs these kernels only for a lens.
    w.lens = MOTION != 3 && (!w.moves || (frame.flags & FRAME_LENS) != 0u);
    w.classes = w.moves && w.lens ? LENS_CLASSES : 1u;
    w.strata = frame.samples.x * frame.samples.y;
    w.candidates = STRATA_CANDIDATES_MAX;
    // The search for a sample's interval of keyframes takes trips too.
    w.candidates /= 1u + (max(keyframe_count, 2u) - 2u) / w.strata;
    w.candidates = clip_share(w.candidates, STRATA_TRIPS);
#if TRIMMED
    w.candidates = clip_and_trim_share(w.candidates, TRIM_PART_CANDIDATES * trim_load(vertex_base + (which.slot << pieces[piece].slot_log2), w.slot, local));
#endif
    load_corners(w.vertices);
    return w.px.x <= w.px.z && w.px.y <= w.px.w;
}

// The cell of the lens of stratum n.
uvec2 stratum_cell(Walk w, uint n, uint lens_class) { return w.moves ? cell_of_part(place_of(n), lens_class) : place_of(n); }

// Stratum n, as `search` wants it.
uint stratum_number(Walk w, uint n) {
    return w.lens && !w.moves ? cell_number(place_of(n)) : n;
}

#if REST

void walk_strata() {
    Walk w;
    uvec2 whose = workgroup_and_part();
    if (!walk_begin(whose.x * gl_WorkGroupSize.x + gl_LocalInvocationID.x, w)) return;
    ivec2 size = w.px.zw - w.px.xy + 1, windows = (size + (window_px() - 1)) / window_px();
    uint window_count = uint(windows.x * windows.y), count = w.strata * w.classes * window_count;
    uint begin = whose.y * rest_parts(w), end = min(count, begin + rest_parts(w));
    for (uint i = begin; i < end; i++) {
        uint both = i / window_count, window = i - both * window_count, n = both / w.classes, lens_class = both - n * w.classes;
        Sweep before = sweep_begin(w, w.moves ? n : 0u);
        Sweep sweep = sweep_part(w, n, before);
        if (w.classes > 1u && is_whole(w, n, whole_box(w, sweep))) continue;
        StratumBox box = box_of(w, sweep, stratum_cell(w, n, lens_class));
        if (is_first(w, n, box, search_of(w, box.px, lens_class))) continue;
        ivec2 corner = w.px.xy + ivec2(window % uint(windows.x), window / uint(windows.x)) * window_px();
        ivec4 px = ivec4(max(box.px.xy, corner), min(box.px.zw, corner + (window_px() - 1)));
        Search s = search_of(w, px, lens_class);
        for (uint first = 0u; first < s.size.x * s.size.y; first += REACH_BITS) search(w, box, s, stratum_number(w, n), sweep.keyframe, first);
    }
}

#else

// How far a walk through strata is.
struct Progress {
    uint n;          // stratum
    uint lens_class; // of it
    uint first;      // candidate of that
    bool rest;       // whether anything is left to the second pass
};

// Goes on with stratum p.n until all of it is done, or no more can wait; whether it is done. What waits is not tested
// here: a CPU driver would run the code of a test at each stratum, also where no sample is in reach.
bool visit_stratum(Walk w, Sweep sweep, inout Progress p) {
    StratumBox whole = whole_box(w, sweep);
    bool at_once = w.classes > 1u && is_whole(w, p.n, whole);
    uint classes = at_once ? 1u : w.classes;
    while (p.lens_class < classes && !any_full()) {
        StratumBox box = at_once ? whole : box_of(w, sweep, stratum_cell(w, p.n, p.lens_class));
        Search s = at_once ? search_of_all(box.px) : search_of(w, box.px, p.lens_class);
        uint count = s.size.x * s.size.y;
        if (!at_once && !is_first(w, p.n, box, s)) {
            p.rest = p.rest || count != 0u;
            s.size = uvec2(0u);
        }
        search(w, box, s, stratum_number(w, p.n), sweep.keyframe, p.first);
        p.first += REACH_BITS;
        if (p.first >= s.size.x * s.size.y) {
            p.first = 0u;
            p.lens_class++;
        }
    }
    return p.lens_class >= classes;
}

// Arms the second pass, which goes on with a micropolygon.
void arm_rest(Walk w) {
    ivec2 size = w.px.zw - w.px.xy + 1, windows = (size + (window_px() - 1)) / window_px();
    uint parts = w.strata * w.classes * uint(windows.x * windows.y);
    rest_groups_x = gl_NumWorkGroups.x;
    atomicMax(rest_groups_z, min((parts + rest_parts(w) - 1u) / rest_parts(w), STRATA_GROUPS_MAX));
    if (parts > rest_parts(w) * STRATA_GROUPS_MAX) atomicAdd(rest_lost, 1u);
}

#if EXPANDED

#include "lib/hide/strips.glsl"

void walk_strata() {
    Walk w;
    bool seen = walk_begin(invocation(), w), rest = seen && first_strata(w) < w.strata;
    if (rest) arm_rest(w);
    uint strips = list_strips(seen ? first_strata(w) : 0u);
    for (uint strip = gl_LocalInvocationID.x; strip < strips; strip += GROUP_MICROPOLYGONS) {
        uint owner = strip_owner(strip), n = strip - strips_before(owner);
        walk_begin(workgroup() * GROUP_MICROPOLYGONS + owner, w);
        Sweep before = sweep_begin(w, w.moves ? n : 0u);
        Progress p = Progress(n, 0u, 0u, false);
        visit_stratum(w, sweep_part(w, n, before), p);
        if (p.rest) arm_rest(w);
    }
}

#else

// Strata after which what waits is tested, full or not.
const uint ROUND_STRATA = 36u;

void walk_strata() {
    Walk w;
    if (!walk_begin(invocation(), w)) return;
    Sweep before = sweep_begin(w, 0u);
    uint end = first_strata(w);
    Progress p = Progress(0u, 0u, 0u, end < w.strata);
    while (p.n < end) {
        uint stop = min(end, p.n + ROUND_STRATA);
        while (p.n < stop && !any_full()) {
            Sweep after = before;
            bool done = visit_stratum(w, sweep_part(w, p.n, after), p);
            if (all_in_subgroup(done)) {
                p.n++;
                p.lens_class = 0u;
                before = after;
            }
        }
        test_waiting(w);
    }
    if (p.rest) arm_rest(w);
}

#endif

#endif

#endif
