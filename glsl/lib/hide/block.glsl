// Blocks of 4x4 pixels of a region, for which hiding keeps the farthest depth that their samples show.

#ifndef BLOCK_GLSL
#define BLOCK_GLSL

const int BLOCK_LOG2 = 2;
// Pixels along a side of a block.
const uint BLOCK_PX = 1u << BLOCK_LOG2;

#endif
