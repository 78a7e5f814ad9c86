// What bound/split decides about one subpatch (see bound_split.comp).

#ifndef BOUND_SPLIT_GLSL
#define BOUND_SPLIT_GLSL

#include "lib/bound_split/bound.glsl"
#include "lib/bound_split/line.glsl"
#include "lib/bound_split/verdict.glsl"

const uint LEVEL_MAX = 16u;

// Curves are split until a grid is at most this long: what is hidden is dropped grid by grid.
const float CURVE_GRID_PX = 16.0;

// How far off the true line the chords of micropolygons may be, as a part of their wanted length.
const float FLATNESS = 0.125;
// Chords of an outline are inside it. Facets of KIND_BLOB are short, so all of its outline would be that far inside.
const float FLATNESS_BLOB = 0.015625;

// Whether a line runs along u.
bool line_along_u(uint line) { return line < 2u || line == 4u; }

// The points of a subpatch are expensive where a surface loops for them: loop trips are bounded
// (docs/pipeline/loops.md). Each is found once, although lines share points; and while a thing moves as a whole, points
// stay where they are in object space.
#if KIND == KIND_RATIONAL || KIND == KIND_BLOB
#define KEEPS_POINTS
const uint NO_ROW = 5u;
vec3 kept_points[25]; // at quarters of u and v
vec3 kept_ends[8];    // of the four edges' parts
uint kept_data;       // the control data that they are of
uint points_known;    // a bit each
uint ends_known;
uint kept_row;        // the quarter of v for which surface_row was called last

void forget_points(uint data_record) {
    kept_data = data_record;
    points_known = 0u;
    ends_known = 0u;
    kept_row = NO_ROW;
}

// The point at quarters i and j of u and v.
vec3 kept_point(uint i, uint j, Param u, Param v) {
    uint at = 5u * j + i;
    if ((points_known >> at & 1u) == 0u) {
        if (kept_row != j) surface_row(v);
        kept_row = j;
        kept_points[at] = surface_object_position(u);
        points_known |= 1u << at;
    }
    return camera_from_object(surface_instance, kept_points[at]);
}

vec3 kept_end(uint at, Param u, Param v) {
    if ((ends_known >> at & 1u) == 0u) {
        surface_row(v);
        kept_row = NO_ROW;
        kept_ends[at] = surface_object_position(u);
        ends_known |= 1u << at;
    }
    return camera_from_object(surface_instance, kept_ends[at]);
}
#endif

// Point i of 0 to 4 of a line; points are asked for in that order.
vec3 line_point(Subpatch subpatch, uint line, uint i) {
    uint u0 = subpatch.start & 0xffffu, v0 = subpatch.start >> 16;
    uint u_level = shape_u_level(subpatch.shape), v_level = shape_v_level(subpatch.shape);
    bool along_u = line_along_u(line);
    uint across = line < 4u ? 4u * (line & 1u) : 2u;
    Param u = param_quarter(u0, u_level, along_u ? i : across);
    Param v = param_quarter(v0, v_level, along_u ? across : i);
#if KIND == KIND_CURVE
    u = Param(0.5, 0.5); // a ribbon's centre line, so that the parts of a broad one agree
#endif
#ifdef KEEPS_POINTS
    return kept_point(along_u ? i : across, along_u ? across : i, u, v);
#else
    if (i == 0u || !along_u) surface_row(v);
    return surface_vertex(ParamPoint(u0, u_level, along_u ? i : across, 4u), ParamPoint(v0, v_level, along_u ? across : i, 4u), u, v);
#endif
}

// Lines 0 and 1 run along u at v0 and v1, 2 and 3 along v at u0 and u1, 4 along u and 5 along v through the middle.
#if MOVING
#include "lib/bound_split/passage.glsl"

// What is measured: lines by their numbers, ends of a curve, and a subpatch as a whole.
const uint THING_END = 6u;
const uint THING_WHOLE = 8u;

// The points of each line at the keyframe before and at the one that is loaded.
vec3 points_from[30];
vec3 points_to[30];
float pad_before; // how far the surface may have been outside of the box of its points
bool way_behind; // a line was behind the eye in part where it was measured

// A curved line is beside its points by less than half of its largest second difference.
const float CURVED_SLACK = 0.5;

// Takes the points of a line at this keyframe.
void note_line(Subpatch subpatch, uint line, inout Box box) {
    for (uint i = 0u; i <= 4u; i++) {
        vec3 p = line_point(subpatch, line, i);
        box.low = min(box.low, p);
        box.high = max(box.high, p);
        points_from[5u * line + i] = motion_keyframe == 0u ? p : points_to[5u * line + i];
        points_to[5u * line + i] = p;
    }
}

// When a line is seen on its way from the keyframe before; `slack` is how far the surface may be from it at both
// keyframes.
vec2 line_times(uint line, float slack) {
    float bend = 0.0;
    [[dont_unroll]] for (uint at = 5u * line + 1u; at < 5u * line + 4u; at++) {
        vec3 from = (points_from[at - 1u] + points_from[at + 1u]) - 2.0 * points_from[at];
        vec3 to = (points_to[at - 1u] + points_to[at + 1u]) - 2.0 * points_to[at];
        bend = max(bend, max(dot(from, from), dot(to, to)));
    }
    slack += CURVED_SLACK * sqrt(bend);
    Passage passage = passage_begin();
    [[dont_unroll]] for (uint i = 0u; i <= 4u; i++) passage_add(passage, points_from[5u * line + i], points_to[5u * line + i], slack);
    return passage_times(passage);
}

// What a line asks for at two times, or at the second, or at none: where it is seen itself, and where any of its
// subpatch is.
void measure_ends(uint line, vec2 own_when, uint own_first, vec2 whole_when, uint whole_first, out Line own, out Line inside) {
    own = Line(0u, false, 0.0, false);
    inside = own;
    [[dont_unroll]] for (uint n = 0u; n < 4u; n++) {
        bool whole = n >= 2u;
        uint end = n & 1u;
        if (end < (whole ? whole_first : own_first)) continue;
        float when = whole ? whole_when[end] : own_when[end];
        Tracing t = trace_begin();
        [[dont_unroll]] for (uint i = 0u; i <= 4u; i++) trace_point(t, i, passage_point(points_from[5u * line + i], points_to[5u * line + i], when));
        Line then = trace_end(t);
        if (whole) inside = line_more(inside, then); else own = line_more(own, then);
    }
    way_behind = way_behind || own.behind || inside.behind;
}

#else

Line measure(Subpatch subpatch, uint line, inout Box box) {
    Tracing t = trace_begin();
    for (uint i = 0u; i <= 4u; i++) {
        vec3 p = line_point(subpatch, line, i);
        box.low = min(box.low, p);
        box.high = max(box.high, p);
        trace_point(t, i, p);
    }
    return trace_end(t);
}

#endif

#include "lib/bound_split/padding.glsl"

#include "lib/bound_split/shear.glsl"

// A part of a leaf edge ends at canonical points, which may lie a little outside the subpatch: they belong to its
// bound.
void include_ends(Subpatch subpatch, uint edge_index, inout Box box) {
    uint edge = subpatch.edges[edge_index], u0 = subpatch.start & 0xffffu, v0 = subpatch.start >> 16;
    uint u_level = shape_u_level(subpatch.shape), v_level = shape_v_level(subpatch.shape);
    bool along_u = edge_index < 2u;
    if (edge_open(edge) || edge_leaf_level(edge) == (along_u ? u_level : v_level)) return;
    for (uint i = 0u; i < 2u; i++) {
        ParamPoint point = point_on_edge(edge, along_u ? u0 : v0, i, 1u);
        Param on_edge = param_at(point);
        uint side = 4u * (edge_index & 1u);
        ParamPoint side_point = ParamPoint(along_u ? v0 : u0, along_u ? v_level : u_level, side, 4u);
        Param across = param_quarter(side_point.start, side_point.level, side);
        Param u = along_u ? on_edge : across, v = along_u ? across : on_edge;
#ifdef KEEPS_POINTS
        vec3 p = kept_end(2u * edge_index + i, u, v);
#else
        surface_row(v);
        vec3 p = along_u ? surface_vertex(point, side_point, u, v) : surface_vertex(side_point, point, u, v);
#endif
        box.low = min(box.low, p);
        box.high = max(box.high, p);
    }
}

// Wanted micropolygons along a line; EDGE_RATE_MAX + 1 when it must be split first: too long, behind the eye, or so
// uneven (a line running away from the camera) that equal steps would make some micropolygons far too large.
uint wanted_rate(Line line, float dice_scale) {
    float rate = float(line.total) * dice_scale;
    if (line.behind || (line.uneven && rate > 4.0) || !(rate <= float(EDGE_RATE_MAX) + 0.5)) return EDGE_RATE_MAX + 1u;
    // n chords of a line with second differences d (at a quarter of its length) lie at most 2 d / n^2 off it. Where a
    // surface turns away from the eye lengths alone would leave its outline a coarse polygon.
    const float flatness = KIND == KIND_BLOB ? FLATNESS_BLOB : FLATNESS;
    float flat_rate = sqrt(line.bend * dice_scale * (2.0 / flatness));
    rate = max(rate, flat_rate);
    return rate > float(EDGE_RATE_MAX) + 0.5 ? EDGE_RATE_MAX + 1u : max(uint(ceil(rate - 0.5)), 1u);
}

#if KIND == KIND_BLOB

// At a crease of the field neighbours move apart however near to each other they start, so no splitting would end it:
// micropolygons need not be shorter than this part of the wanted length before they move.
const float CREASE_LENGTH = 0.25;
const float CREASE_RATE_LEAST = 2.0;

uint most_before[6]; // of each line, at the keyframe before

// The most micropolygons along a line, by its length before it moves.
uint most_rate(Subpatch subpatch, uint line, float dice_scale) {
    uint u0 = subpatch.start & 0xffffu, v0 = subpatch.start >> 16;
    bool along_u = line_along_u(line);
    uint across = line < 4u ? 4u * (line & 1u) : 2u;
    vec2 ends[2];
    for (uint i = 0u; i < 2u; i++) {
        Param u = param_quarter(u0, shape_u_level(subpatch.shape), along_u ? 4u * i : across);
        surface_row(param_quarter(v0, shape_v_level(subpatch.shape), along_u ? across : 4u * i));
        vec3 p = surface_start(u);
        kept_row = NO_ROW;
        if (frame_perspective(frame) && !(p.z >= frame.eye_z)) return EDGE_RATE_MAX + 1u;
        ends[i] = raster_position(frame, p);
    }
    float rate = float(chord(ends[0], ends[1])) * dice_scale * (1.0 / CREASE_LENGTH) + CREASE_RATE_LEAST;
    return rate > float(EDGE_RATE_MAX) ? EDGE_RATE_MAX + 1u : uint(ceil(rate));
}

#endif

// Fixes an open edge that is short enough; returns the micropolygons it asks for.
uint settle_edge(inout uint edge, uint level, uint rate) {
    if (edge_open(edge) && rate <= EDGE_RATE_MAX) edge = edge_pack(level, rate, 0u, rate);
    return edge_open(edge) ? EDGE_RATE_MAX + 1u : edge_count(edge);
}

#if MOVING
// Loads what it is at a keyframe of its motion.
void load_keyframe(Instance instance, Primitive primitive, uint keyframe) {
    motion_keyframe = keyframe;
    displacement_before = surface_instance.displacement_bound;
    Primitive at_keyframe = primitive_at(instance, primitive, keyframe);
    surface_load(instance_at(instance, keyframe), at_keyframe);
#ifdef KEEPS_POINTS
    if (at_keyframe.data != kept_data) forget_points(at_keyframe.data);
#endif
}
#endif

#if LOOSE

// Blur of this many pixels, times the factor, is where the area of micropolygons begins to grow with it.
const float LOOSE_BLUR_PX = 16.0;
// Longer ways are no longer, 1/1024 pixel.
const uint LOOSE_WAY_MAX = 1u << 26;

// What each line's dice_scale is multiplied by.
float loosened[6];

// The least blur of a line's five points decides: neighbours have the same points.
float looseness(Instance instance, Primitive primitive, Subpatch subpatch, uint line) {
    vec2 before[5];
    uint way[5];
    uint least_circle = LOOSE_WAY_MAX, least_way = LOOSE_WAY_MAX;
    for (uint keyframe = 0u; keyframe < instance.keyframes; keyframe++) {
        load_keyframe(instance, primitive, keyframe);
        for (uint i = 0u; i <= 4u; i++) {
            vec3 p = line_point(subpatch, line, i);
            if (frame_perspective(frame) && !(p.z >= frame.eye_z)) return 1.0;
            vec2 r = raster_position(frame, p), reach = lens_reach(p.z);
            way[i] = keyframe > 0u ? min(way[i] + chord(before[i], r), LOOSE_WAY_MAX) : 0u;
            before[i] = r;
            least_circle = min(least_circle, uint(min(2.0 * max(reach.x, reach.y), float(LOOSE_WAY_MAX))));
        }
    }
    for (uint i = 0u; i <= 4u; i++) least_way = min(least_way, way[i]);
    float blur = instance.motion_factor * float(least_way) + instance.focus_factor * float(least_circle);
    return 1.0 / sqrt(max(blur * (1.0 / (LOOSE_BLUR_PX * float(FIXED))), 1.0));
}

void loosen(Instance instance, Primitive primitive, Subpatch subpatch) {
    for (uint line = 0u; line < 6u; line++) loosened[line] = looseness(instance, primitive, subpatch, line);
}

float line_dice_scale(uint line) { return surface_instance.dice_scale * loosened[line]; }

#else

float line_dice_scale(uint line) { return surface_instance.dice_scale; }

#endif

// Across which direction to split: the one that needs it more, then the less split one.
uint choose_split(uint want_u, uint want_v, uint length_u, uint length_v, Subpatch subpatch) {
    bool may_u = shape_u_level(subpatch.shape) < LEVEL_MAX, may_v = shape_v_level(subpatch.shape) < LEVEL_MAX;
    bool must_u = want_u > EDGE_RATE_MAX && may_u, must_v = want_v > EDGE_RATE_MAX && may_v;
    if (!must_u && !must_v) return VERDICT_GRID; // split as far as parameters go: diced as fine as a grid can be
    if (must_u && must_v) return length_u >= length_v ? VERDICT_SPLIT_U : VERDICT_SPLIT_V;
    return must_u ? VERDICT_SPLIT_U : VERDICT_SPLIT_V;
}

// A subpatch that reaches behind the eye cannot be projected: it is split, until it has been split often enough to be
// given up. Most are soon wholly in front of the eye, behind it, or beside the picture. Not so those whose bound is
// mostly padding, which splitting makes smaller only slowly: those are given up earlier, before there are millions.
const uint PADDED_LEVEL_MAX = 10u;
uint across_eye(Subpatch subpatch, bool padded) {
    uint u_level = shape_u_level(subpatch.shape), v_level = shape_v_level(subpatch.shape);
#if KIND == KIND_RATIONAL
    // The padding of a rational patch shrinks, in the direction in which its weights differ.
    bool may_u = u_level < min(frame.eye_splits, LEVEL_MAX), may_v = v_level < min(frame.eye_splits, LEVEL_MAX);
    if (padded && surface_instance.displacement_bound == 0.0 && (may_u || may_v)) {
        return may_u && (pad_along.x > pad_along.y || !may_v) ? VERDICT_SPLIT_U : VERDICT_SPLIT_V;
    }
#endif
    uint limit = min(frame.eye_splits, padded ? PADDED_LEVEL_MAX : LEVEL_MAX);
    if (KIND == KIND_CURVE) return v_level < limit ? VERDICT_SPLIT_V : VERDICT_LOST;
    if (u_level >= limit && v_level >= limit) return VERDICT_LOST;
    return u_level <= v_level ? VERDICT_SPLIT_U : VERDICT_SPLIT_V;
}

// What a subpatch asks for: micropolygons along u and v (EDGE_RATE_MAX + 1: split first), of which its borders alone
// ask for border_u, border_v; and its longest lines.
struct Demand {
    uint want_u;
    uint want_v;
    uint border_u;
    uint border_v;
    uint length_u;
    uint length_v;
};

void demand_u(inout Demand d, uint rate, uint total, bool border) {
    d.want_u = max(d.want_u, rate);
    d.length_u = max(d.length_u, total);
    if (border) d.border_u = max(d.border_u, rate);
}

void demand_v(inout Demand d, uint rate, uint total, bool border) {
    d.want_v = max(d.want_v, rate);
    d.length_v = max(d.length_v, total);
    if (border) d.border_v = max(d.border_v, rate);
}

#if KIND == KIND_CURVE

// A curve's ribbon is measured along its centre line; across it is as wide as it is. Thin ribbons get micropolygons of
// the wanted area rather than the wanted length, at most twice as long: longer ones would cost more samples tested than
// they save.
const float STRETCH_MAX = 2.0;

// `reach` is how far anything of the curve may be from there.
float raster_width(vec3 centre, float width, float reach) {
    float scale = max(abs(frame.raster_scale.x), abs(frame.raster_scale.y));
    return abs(width) * scale / (frame_perspective(frame) ? max(measured_depth(centre, reach), frame.eye_z) : 1.0);
}

#if MOVING
vec3 centres_before[2]; // of its ends, at the keyframe before
float widths_before[2];

// How wide an end of it is where it is first and where it is last seen on its way from the keyframe before.
float widest_on_way(uint end_of_curve, vec3 to, float width) {
    vec3 from = motion_keyframe == 0u ? to : centres_before[end_of_curve];
    float width_from = motion_keyframe == 0u ? width : widths_before[end_of_curve];
    centres_before[end_of_curve] = to;
    widths_before[end_of_curve] = width;
    Passage passage = passage_begin();
    float reach = displacement_most() + max(abs(width), abs(width_from));
    passage_add(passage, from, to, reach);
    vec2 when = passage_times(passage);
    float widest = 0.0;
    for (uint end = passage_first_end(when, THING_END + end_of_curve); end < 2u; end++) {
        float then = when[end] >= 1.0 ? width : mix(width_from, width, when[end]);
        widest = max(widest, raster_width(passage_point(from, to, when[end]), then, reach));
    }
    return widest;
}
#endif

// cases: KIND_*
Demand measure_all(inout Subpatch subpatch, inout Box box) {
    Demand d = Demand(1u, 1u, 1u, 1u, 0u, 0u);
    uint v0 = subpatch.start >> 16, u_level = shape_u_level(subpatch.shape), v_level = shape_v_level(subpatch.shape);
    float widest = 0.0, broadest = 0.0;
    for (uint i = 0u; i < 2u; i++) {
        surface_row(param_quarter(v0, v_level, 4u * i));
        broadest = max(broadest, abs(row_width));
#if MOVING
        float width = widest_on_way(i, row_centre, row_width) / float(1u << u_level);
#else
        float reach = surface_instance.displacement_bound + abs(row_width);
        float width = raster_width(row_centre, row_width, reach) / float(1u << u_level);
#endif
        widest = max(widest, width);
        float rate = width * surface_instance.dice_scale;
        uint want = rate > float(EDGE_RATE_MAX) + 0.5 ? EDGE_RATE_MAX + 1u : max(uint(ceil(rate - 0.5)), 1u);
        demand_u(d, settle_edge(subpatch.edges[i], u_level, want), uint(min(width, 67108864.0)), true);
    }
    float scale = surface_instance.dice_scale;
    surface_instance.dice_scale *= clamp(widest * scale, 1.0 / STRETCH_MAX, 1.0);
#if MOVING
    note_line(subpatch, 5u, box);
    vec2 when = line_times(5u, displacement_most() + larger_of_keyframes(broadest, pad_before));
    Line line, inside;
    measure_ends(5u, when, passage_first_end(when, 5u), when, 2u, line, inside);
#else
    Line line = measure(subpatch, 5u, box);
#endif
    uint rate = wanted_rate(line, line_dice_scale(5u));
    if (float(line.total) > CURVE_GRID_PX * float(FIXED)) rate = EDGE_RATE_MAX + 1u;
    surface_instance.dice_scale = scale;
    for (uint i = 2u; i < 4u; i++) {
        include_ends(subpatch, i, box);
        demand_v(d, settle_edge(subpatch.edges[i], v_level, rate), line.total, true);
    }
    return d;
}

#else

#if MOVING
// Takes the points of all lines at this keyframe; when the subpatch is seen on its way from the keyframe before.
vec2 whole_times(Subpatch subpatch, uint lines, inout Box box) {
    for (uint i = 0u; i < lines; i++) note_line(subpatch, i, box);
    vec3 pad = pad_of(subpatch, box, lasting_pad(subpatch));
    float slack = larger_of_keyframes(max(pad.x, max(pad.y, pad.z)), pad_before);
    Passage passage = passage_begin();
    [[dont_unroll]] for (uint at = 0u; at < 5u * lines; at++) passage_add(passage, points_from[at], points_to[at], slack);
    return passage_times(passage);
}
#endif

Demand measure_all(inout Subpatch subpatch, inout Box box) {
    Demand d = Demand(1u, 1u, 1u, 1u, 0u, 0u);
    uint u_level = shape_u_level(subpatch.shape), v_level = shape_v_level(subpatch.shape);
    // The middle lines matter where a primitive may be longer inside than along its borders, as KIND_QUADRIC,
    // KIND_PATCH, KIND_RATIONAL, KIND_GREGORY, KIND_TRIANGLE and KIND_BLOB may; KIND_FACET, KIND_CURVE and KIND_POINT
    // are not, but for spheres.
#if KIND == KIND_POINT
    const uint lines = form == PRIMITIVE_SPHERE ? 6u : 4u;
#else
    const uint lines = KIND == KIND_FACET || KIND == KIND_CURVE ? 4u : 6u;
#endif
#if MOVING
    vec2 whole = whole_times(subpatch, lines, box);
    uint whole_end = passage_first_end(whole, THING_WHOLE);
#endif
    for (uint i = 0u; i < lines; i++) {
        bool along_u = line_along_u(i);
#if MOVING
        vec2 when = line_times(i, displacement_most());
        // Wherever any of the subpatch is seen its inside must be as fine as its lines ask for, seen or not.
        Line line, inside;
        measure_ends(i, when, passage_first_end(when, i), whole, whole_end, line, inside);
        uint want = wanted_rate(inside, line_dice_scale(i));
#else
        Line line = measure(subpatch, i, box);
#endif
        uint rate = wanted_rate(line, line_dice_scale(i) * shear_scale(subpatch, i, line));
#if KIND == KIND_BLOB
        uint most = most_rate(subpatch, i, line_dice_scale(i));
#if MOVING
        uint most_of_keyframes = motion_keyframe == 0u ? most : max(most, most_before[i]);
        most_before[i] = most;
        most = most_of_keyframes;
        want = min(want, most);
#endif
        rate = min(rate, most);
#endif
#if MOVING
        if (along_u) demand_u(d, want, inside.total, false); else demand_v(d, want, inside.total, false);
#endif
#if KIND == KIND_POINT
        if (i < 2u && form != PRIMITIVE_SQUARE) rate = max(rate, POINT_RIM_RATE);
#endif
#if KIND == KIND_RATIONAL
        // Five points do not show the waves of a long polynomial.
        if ((along_u ? u_level : v_level) < level_least(along_u ? degree.x : degree.y)) rate = EDGE_RATE_MAX + 1u;
#endif
#ifdef SURFACE_SEAMS
        if (seam_whole(subpatch, i)) rate = EDGE_RATE_MAX + 1u;
#endif
        if (i < 4u) {
            include_ends(subpatch, i, box);
            rate = settle_edge(subpatch.edges[i], along_u ? u_level : v_level, rate);
        }
        if (along_u) demand_u(d, rate, line.total, i < 4u); else demand_v(d, rate, line.total, i < 4u);
    }
    return d;
}

#endif

// Splits, or fixes the grid's rates, once its bound is known.
uint decide(inout Subpatch subpatch, Demand d) {
    uint verdict = choose_split(d.want_u, d.want_v, d.length_u, d.length_v, subpatch);
    if (verdict != VERDICT_GRID) return verdict;
    // Without an inner row both rows are borders: then neither may have more vertices than the finer edge.
    uint nu = min(d.want_v <= 1u ? d.border_u : d.want_u, EDGE_RATE_MAX), nv = min(d.want_u <= 1u ? d.border_v : d.want_v, EDGE_RATE_MAX);
    uint u_level = shape_u_level(subpatch.shape), v_level = shape_v_level(subpatch.shape);
#if KIND == KIND_POINT
    if (becomes_octagon(u_level, v_level, nu, nv)) make_octagon(subpatch.edges, nu, nv);
#endif
    for (uint i = 0u; i < 4u; i++) { // still open only where levels ran out
        if (edge_open(subpatch.edges[i])) subpatch.edges[i] = i < 2u ? edge_pack(u_level, nu, 0u, nu) : edge_pack(v_level, nv, 0u, nv);
    }
    subpatch.shape = u_level | (v_level << SHAPE_V_LEVEL) | (nu << SHAPE_NU) | (nv << SHAPE_NV);
    return VERDICT_GRID;
}

#if MOVING

// What an edge is settled to at one time, beside what it was settled to at others: the finest counts. Open as soon as
// it is open at one time.
uint finer_edge(uint a, uint b) { return edge_open(a) || edge_open(b) ? EDGE_OPEN : edge_rate(a) >= edge_rate(b) ? a : b; }

// Adds what a subpatch asks for at another time.
void demand_more(inout Demand d, Demand other) {
    d = Demand(max(d.want_u, other.want_u), max(d.want_v, other.want_v), max(d.border_u, other.border_u),
               max(d.border_v, other.border_v), max(d.length_u, other.length_u), max(d.length_v, other.length_v));
}

// A moving subpatch: it is as fine as it must be wherever it is seen on its way from keyframe to keyframe, and its
// bound is that of its paths between them, which are straight.
uint bound_and_decide(Instance instance, Primitive primitive, inout Subpatch subpatch, out GridBound bound) {
    Subpatch settled = subpatch;
#ifdef KEEPS_POINTS
    forget_points(primitive.data);
#endif
#if LOOSE
    loosen(instance, primitive, subpatch);
#endif
    Demand d = Demand(1u, 1u, 1u, 1u, 0u, 0u);
    Box swept = empty_box();
    bool behind = false, across = false, padded = false;
    lasting_reach = 0.0;
    way_behind = false;
    for (uint keyframe = 0u; keyframe < instance.keyframes; keyframe++) {
        load_keyframe(instance, primitive, keyframe);
        Box box = empty_box();
        Subpatch at_keyframe = subpatch;
        note_reach();
        Demand at_time = measure_all(at_keyframe, box);
        demand_more(d, at_time);
        for (uint i = 0u; i < 4u; i++) settled.edges[i] = keyframe == 0u ? at_keyframe.edges[i] : finer_edge(settled.edges[i], at_keyframe.edges[i]);
        Padding padding = pad_box(subpatch, box);
        if (!(box.low.z <= box.high.z)) return VERDICT_CULL; // NaN
        padded = padded || padding.most;
        swept.low = min(swept.low, box.low);
        swept.high = max(swept.high, box.high);
        bool starts_behind = frame_perspective(frame) && box.low.z < frame.eye_z;
        behind = behind || starts_behind;
        // Beside the picture, however much of it is rendered, it need not be projected.
        bool ends_before = box.high.z >= (bounds_solid() ? frame.eye_z : frame.near);
        across = across || (starts_behind && ends_before && !padding.lasts && !beside(box, frame.picture_px));
        GridBound at_keyframe_bound;
        bound_box(box, at_keyframe_bound);
        if (keyframe == 0u) bound = at_keyframe_bound; else bound = both_bounds(bound, at_keyframe_bound);
    }
    if (beyond_clipping(swept)) return VERDICT_CULL;
    subpatch.edges = settled.edges;
    if (across || (behind && way_behind)) return beside_picture(swept) ? VERDICT_CULL : across_eye(subpatch, padded);
    // What passes the eye plane between two keyframes may be anywhere that its box may be.
    bool seen = behind ? bound_box(swept, bound)
        : ranges_meet(bound.x, bound.y, frame.sampled_px);
    if (behind && beside_picture(swept)) seen = false;
    if (!seen) return VERDICT_CULL;
    bound.zmin = depth_floor(swept);
    bound.zmax = depth_ceiling(swept);
    return decide(subpatch, d);
}

#else

uint bound_and_decide(Instance instance, Primitive primitive, inout Subpatch subpatch, out GridBound bound) {
    surface_load(instance, primitive);
#ifdef KEEPS_POINTS
    forget_points(primitive.data);
#endif
    Box box = empty_box();
    note_reach();
    Demand d = measure_all(subpatch, box);
    Padding padding = pad_box(subpatch, box);
    if (!(box.low.z <= box.high.z)) return VERDICT_CULL; // NaN
    if (beyond_clipping(box)) return VERDICT_CULL;
    if (frame_perspective(frame) && box.low.z < frame.eye_z) {
        if (beside_picture(box)) return VERDICT_CULL;
        // What is left across the eye plane by padding alone may be seen anywhere in its bound.
        if (!padding.lasts) return across_eye(subpatch, padding.most);
    }
    if (!bound_box(box, bound)) return VERDICT_CULL;
    return decide(subpatch, d);
}

#endif

#endif
