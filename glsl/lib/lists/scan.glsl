// Exclusive prefix sum in three passes: sums of blocks, scan of the sums, scan inside the blocks. Two variants of one
// interface with equal results: SERIAL, one invocation a block and no barrier, for CPU drivers, where barriers are
// expensive; and one workgroup a block with shared memory, for GPUs. With BITS a value is the number of
// bits set in its word.

#ifndef SCAN_GLSL
#define SCAN_GLSL

// Values of a block.
const uint SCAN_BLOCK = 1024u;
// Invocations of a parallel workgroup.
const uint SCAN_GROUP = 256u;

#if BITS
#define VALUE(value) bitCount(value)
#else
#define VALUE(value) ((value) & mask)
#endif

#endif
