// A line of five points of a subpatch as it is in the picture: how long it is, and how much it bends.
//
// Needs frame.

#ifndef LINE_GLSL
#define LINE_GLSL

// Measured along one line of five points at 0, 1/4, 1/2, 3/4, 1. Lengths are integers, so that the order of summation
// cannot matter.
struct Line {
    uint total; // sum of the four chords, 1/1024 pixel
    bool uneven; // one chord is longer than the others together
    float bend; // largest second difference, 1/1024 pixel
    bool behind; // a point cannot be projected
};

uint chord(vec2 a, vec2 b) { return uint(min(length(b - a), 67108864.0)); }

// The points of a line, one after the other.
struct Tracing {
    Line line;
    uint longest; // chord
    vec2 previous;
    vec2 before; // that one
};

// How far from its points the surface may be, however often it is split: as far as displacement moves it, and as broad
// as a curve is.
float lasting_reach;

vec2 per_border; // 1 over how far the farther borders of the picture are from its middle, in 1/1024 pixel

// Finds it: the same for all points.
void note_border() {
    vec2 first = abs(frame.raster_offset - vec2(frame.picture_px.xy) * float(FIXED));
    vec2 last = abs(frame.raster_offset - vec2(frame.picture_px.zw) * float(FIXED));
    vec2 wide = max(first, last);
    per_border = vec2(reciprocal(wide.x), reciprocal(wide.y));
}

// The depth at which a point is measured. A surface is seen where it reaches the picture, which may be where its points
// are not: beside the picture, in front of the eye plane or behind it. There they count as if they were as deep as the
// border of the picture, or as the surface reaches. So splitting ends, and what is in the picture is measured as it is.
float measured_depth(vec3 p, float reach) {
    // Most points are farther away than the surface reaches.
    if (!(reach > 0.0) || p.z >= max(reach, frame.eye_z)) return p.z;
    vec2 at = abs(p.xy * frame.raster_scale);
    float border = max(at.x * per_border.x, at.y * per_border.y);
    return max(max(abs(p.z), frame.eye_z), min(border, reach));
}

Tracing trace_begin() { return Tracing(Line(0u, false, 0.0, false), 0u, vec2(0.0), vec2(0.0)); }

void trace_point(inout Tracing t, uint i, vec3 p) {
    if (frame_perspective(frame)) p.z = measured_depth(p, lasting_reach);
    bool behind = frame_perspective(frame) && !(p.z >= frame.eye_z);
    vec2 r = behind ? t.previous : raster_position(frame, p);
    uint l = i > 0u ? chord(t.previous, r) : 0u;
    if (i > 1u) t.line.bend = max(t.line.bend, length((t.before + r) - 2.0 * t.previous));
    t.before = t.previous;
    t.previous = r;
    t.line.total += l;
    t.longest = max(t.longest, l);
    t.line.behind = t.line.behind || behind;
}

Line trace_end(Tracing t) {
    t.line.uneven = 2u * t.longest > t.line.total;
    return t.line;
}

// What both ask for.
Line line_more(Line a, Line b) {
    return Line(max(a.total, b.total), a.uneven || b.uneven, max(a.bend, b.bend), a.behind || b.behind);
}

#endif
