// Linear interpolation that gives what both values are where they are equal, whatever the rounding: what does not
// change along a parameter has no derivative along it, and a collapsed edge is one point.

#ifndef BETWEEN_GLSL
#define BETWEEN_GLSL

#include "lib/grid/edge.glsl"

float between(Param p, float a, float b) { return a == b ? a : p.s * a + p.t * b; }
vec2 between(Param p, vec2 a, vec2 b) { return mix(p.s * a + p.t * b, a, equal(a, b)); }
vec3 between(Param p, vec3 a, vec3 b) { return mix(p.s * a + p.t * b, a, equal(a, b)); }

#endif
