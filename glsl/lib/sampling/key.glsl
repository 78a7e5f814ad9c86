// Depth keys: (camera z as float bits) << 32 | micropolygon number, one for each sample.

#ifndef KEY_GLSL
#define KEY_GLSL

// Both halves of the key of a sample that sees nothing.
const uint KEY_EMPTY = 0xffffffffu;

// RI_INFINITY: the depth of a sample that sees nothing; nothing farther is seen.
const float DEPTH_MAX = 1e38;

#endif
