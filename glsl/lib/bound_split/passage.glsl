// The part of a way between two keyframes on which something may be seen. What is far outside of the picture at a
// keyframe, or has come much nearer to the eye than it was at the keyframe before, need not be as fine as it would have
// to be there: nearly all of the time while the shutter is open it is elsewhere. Where it passes the eye plane there is
// no such fineness.
//
// Needs frame and data[]. What is found depends on the points alone, in any order, so two subpatches that
// share a line find the same.

#ifndef PASSAGE_GLSL
#define PASSAGE_GLSL

#include "lib/bound_split/line.glsl"
#include "lib/surface/surface.glsl"

uint motion_keyframe; // the keyframe that is loaded
uint ends_measured; // a bit for each thing that was measured where it was at the keyframe before
float displacement_before; // how far it may be displaced at the keyframe before

// This many micropolygons outside of the picture is far: a grid, which has no more than half as many along a side, does
// not reach from there to what is seen.
const float PASSAGE_MARGIN = 32.0;
// So much nearer than at the other keyframe is much nearer.
const float PASSAGE_NEARER = 0.125;
// No nearer to the eye than this many times what can be projected: the other points of a line are nearer than the last.
const float PASSAGE_LEAST = 4.0;

// When the first point of some comes in over a border, 2 if never, and when the last one leaves by it, -1 if never; the
// borders are those of the picture (low x, low y, high x, high y) and one before the eye.
struct Passage {
    vec4 enters;
    vec4 leaves;
    float enters_depth;
    float leaves_depth;
};

Passage passage_begin() { return Passage(vec4(2.0), vec4(-1.0), 2.0, -1.0); }

// How far a point is outside of each border of the picture, in 1/1024 pixel at depth 1; `slack` is how far from it, in
// camera space, anything of the surface may be.
vec4 outside_picture(vec3 p, float slack) {
    float z = frame_perspective(frame) ? p.z : 1.0;
    float margin = PASSAGE_MARGIN / surface_instance.dice_scale;
    vec2 first = frame.raster_offset - vec2(frame.picture_px.xy) * float(FIXED) + margin;
    vec2 last = frame.raster_offset - vec2(frame.picture_px.zw) * float(FIXED) - margin;
    vec2 scale = abs(frame.raster_scale), q = p.xy * frame.raster_scale;
    vec2 reach = (frame.flags & FRAME_LENS) != 0u ? abs(frame.lens_far * z - frame.lens_near) : vec2(0.0);
    vec2 slack_first = slack * (scale + abs(first)) + reach, slack_last = slack * (scale + abs(last)) + reach;
    return vec4(-(q + first * z) - slack_first, q + last * z - slack_last);
}

void passage_add(inout Passage passage, vec3 from, vec3 to, float slack) {
    vec4 a = outside_picture(from, slack), b = outside_picture(to, slack);
    bvec4 starts_in = lessThanEqual(a, vec4(0.0)), ends_in = lessThanEqual(b, vec4(0.0));
    vec4 crosses = clamp(a * reciprocal(a - b), 0.0, 1.0);
    passage.enters = min(passage.enters, mix(mix(vec4(2.0), crosses, ends_in), vec4(0.0), starts_in));
    passage.leaves = max(passage.leaves, mix(mix(vec4(-1.0), crosses, starts_in), vec4(1.0), ends_in));
    // A surface that reaches farther is seen there.
    float starts = from.z + lasting_reach, ends = to.z + lasting_reach;
    float nearest = max(PASSAGE_LEAST * frame.eye_z, PASSAGE_NEARER * max(starts, ends));
    bool starts_far = !frame_perspective(frame) || starts >= nearest, ends_far = !frame_perspective(frame) || ends >= nearest;
    float comes = clamp((nearest - starts) * reciprocal(ends - starts), 0.0, 1.0);
    passage.enters_depth = min(passage.enters_depth, starts_far ? 0.0 : ends_far ? comes : 2.0);
    passage.leaves_depth = max(passage.leaves_depth, ends_far ? 1.0 : starts_far ? comes : -1.0);
}

// When it is first and when it is last seen, 0 at the keyframe before and 1 at this one; the first is later where it is
// not seen at all. A thing that stands still is as fine as it must be where it is.
vec2 passage_times(Passage passage) {
    if (surface_instance.keyframes <= 1u) return vec2(1.0);
    vec4 enters = passage.enters, leaves = passage.leaves;
    return vec2(max(max(max(enters.x, enters.y), max(enters.z, enters.w)), passage.enters_depth),
                min(min(min(leaves.x, leaves.y), min(leaves.z, leaves.w)), passage.leaves_depth));
}

// The first of both times at which thing number `thing` must be measured: the second where they are the same, or where
// the first is that of a keyframe at which it was measured; none of them where nothing is seen, and at the first of
// several keyframes.
uint passage_first_end(vec2 when, uint thing) {
    bool known = (ends_measured >> thing & 1u) != 0u, seen = when.x <= when.y;
    ends_measured = ends_measured & ~(1u << thing);
    if (!seen || (motion_keyframe == 0u && surface_instance.keyframes > 1u)) return 2u;
    if (when.y >= 1.0) ends_measured |= 1u << thing;
    return when.x == when.y || (when.x <= 0.0 && known) ? 1u : 0u;
}

// How far the surface may be displaced at either keyframe.
float displacement_most() {
    float now = surface_instance.displacement_bound;
    return motion_keyframe == 0u ? now : max(now, displacement_before);
}

// The larger of what is now and was at the keyframe before, which it then becomes.
float larger_of_keyframes(float now, inout float before) {
    float larger = motion_keyframe == 0u ? now : max(now, before);
    before = now;
    return larger;
}

vec3 passage_point(vec3 from, vec3 to, float time) { return time <= 0.0 ? from : time >= 1.0 ? to : mix(from, to, time); }

#endif
