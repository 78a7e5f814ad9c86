// The arena as words, because lists are there beside positions. Needs arena[] (uvec4).

#ifndef ARENA_GLSL
#define ARENA_GLSL

vec3 arena_position(uint at) { return uintBitsToFloat(arena[at].xyz); }

#define PAIR_RECORD(at) arena[at]
#include "lib/grid/pairs.glsl"

#endif
