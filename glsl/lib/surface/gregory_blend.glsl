// How the interior points of Gregory patches are blended from pairs: a pair belongs to a corner, its first point to the
// edge that leaves the corner in the order of corners (Loop, Schaefer, Ni, Castano 2009).

#ifndef GREGORY_GLSL
#define GREGORY_GLSL

#include "lib/rsl/reciprocal.glsl"

// The part of a pair's first point, a / (a + b), and its derivatives by a and b. Where both are zero, at the corner,
// the pair has no weight.
struct Blend {
    float part;
    float da;
    float db;
};

Blend blend(float a, float b) {
    float sum = a + b;
    if (sum == 0.0) return Blend(0.5, 0.0, 0.0);
    float inverse = rsl_reciprocal(sum);
    float part = a * inverse, rest = b * inverse;
    return Blend(part, rest * inverse, -(part * inverse));
}

// Quartic Bernstein polynomials along an edge, and a curve of that degree; both are the same bits from either end.
vec3 quartic(Param p, vec3 a, vec3 b, vec3 c, vec3 d, vec3 e) {
    float s2 = p.s * p.s, t2 = p.t * p.t, st = p.s * p.t;
    return (((s2 * s2) * a + (t2 * t2) * e) + (((4.0 * s2) * st) * b + ((4.0 * t2) * st) * d)) + (6.0 * (s2 * t2)) * c;
}

// The weights of the fifteen points of a quartic triangle, rows of falling length along s, at (s, t, w) with s + t + w
// = 1.
void quartic_weights(float s, float t, float w, out float weights[15]) {
    float s2 = s * s, t2 = t * t, w2 = w * w;
    weights[0] = w2 * w2;
    weights[1] = 4.0 * (w2 * (w * s));
    weights[2] = 6.0 * (w2 * s2);
    weights[3] = 4.0 * (s2 * (w * s));
    weights[4] = s2 * s2;
    weights[5] = 4.0 * (w2 * (w * t));
    weights[6] = 12.0 * (w2 * (s * t));
    weights[7] = 12.0 * (s2 * (w * t));
    weights[8] = 4.0 * (s2 * (s * t));
    weights[9] = 6.0 * (w2 * t2);
    weights[10] = 12.0 * (t2 * (w * s));
    weights[11] = 6.0 * (s2 * t2);
    weights[12] = 4.0 * (t2 * (w * t));
    weights[13] = 4.0 * (t2 * (s * t));
    weights[14] = t2 * t2;
}

// Bezier points that are pairs, in the order of their corners.
uint pair_of_quad(uint corner) { return corner < 2u ? 5u + corner : 12u - corner; } // 5, 6, 10, 9
uint pair_of_triangle(uint corner) { return corner < 2u ? 6u + corner : 10u; } // 6, 7, 10

// The blends of the pairs of a quadrilateral at (u, v); of a triangle at (s, t, w), by s and t with w = 1 - s - t.
void blend_quad(Param u, Param v, out Blend blends[4]) {
    blends[0] = blend(u.t, v.t);
    blends[1] = blend(v.t, u.s);
    blends[2] = blend(u.s, v.s);
    blends[3] = blend(v.s, u.t);
}
void blend_triangle(float s, float t, float w, out Blend blends[3]) {
    blends[0] = blend(s, t);
    blends[1] = blend(t, w);
    blends[2] = blend(w, s);
}

// Barycentric coordinates of (u, v), which run over a triangle as over a square whose border v = 1 is one point.
vec3 triangle_at(Param u, Param v) { return vec3(u.t * v.s, v.t, u.s * v.s); }

#endif
