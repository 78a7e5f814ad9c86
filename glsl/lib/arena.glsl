// Positions in the arena, for kernels that see it as words, because lists are there too (lib/pairs.glsl).

#ifndef ARENA_GLSL
#define ARENA_GLSL

vec3 arena_position(uint at) { return uintBitsToFloat(arena[at].xyz); }

#endif
