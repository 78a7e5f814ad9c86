// What bound/split decided about a subpatch; the low two bits are its number of children.

#ifndef VERDICT_GLSL
#define VERDICT_GLSL

const uint VERDICT_CULL = 0u;
const uint VERDICT_GRID = 1u;
const uint VERDICT_SPLIT_U = 2u;
const uint VERDICT_SPLIT_V = 6u;
const uint VERDICT_LOST = 4u; // across the eye plane, no splits left; never stored
const uint VERDICT_CHILDREN = 3u;

#endif
