// What bound/split decided about a subpatch; the low two bits are its number of children.

#ifndef VERDICT_GLSL
#define VERDICT_GLSL

#define VERDICT_CULL 0u
#define VERDICT_GRID 1u
#define VERDICT_SPLIT_U 2u
#define VERDICT_SPLIT_V 6u
#define VERDICT_LOST 4u // across the eye plane, no splits left; never stored
#define VERDICT_CHILDREN 3u

#endif
