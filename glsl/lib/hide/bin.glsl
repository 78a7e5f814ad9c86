// Tiles of pixels that micropolygons are listed for: squares of 1 << tile_log2 pixels, row by row, so small that a
// workgroup keeps the keys of a tile's samples in its shared memory.

#ifndef BIN_GLSL
#define BIN_GLSL

// Samples of a tile, at most.
const uint BIN_SAMPLES_MAX = 1024u;
// Tiles that a micropolygon is listed for, at most; larger ones are hidden without lists.
const uint BIN_TILES_MAX = 16u;
// Micropolygons in the list of a tile, at most, so that the trips of loops are bounded (docs/pipeline.md).
const uint BIN_LISTED_MAX = 1024u;
// And at least: fewer are hidden at once, because loading and keeping a tile's keys costs more than they do.
const uint BIN_LISTED_MIN = 64u;

// How many micropolygons are listed for a tile, 0 for none. Needs tile_offsets[], tiles and total.
#define LISTED_FUNCTION                                                                                                \
    uint listed_for(uint tile) {                                                                                       \
        uint end = tile + 1u < tiles ? tile_offsets[tile + 1u] : total, count = end - tile_offsets[tile];              \
        return count < BIN_LISTED_MIN ? 0u : min(count, BIN_LISTED_MAX);                                               \
    }

#endif
