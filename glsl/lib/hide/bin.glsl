// Bins of pixels that micropolygons are listed for: squares of 1 << bin_log2 pixels, row by row, so small that a
// workgroup keeps the keys of a bin's samples in its shared memory.

#ifndef BIN_GLSL
#define BIN_GLSL

// Samples of a bin, at most.
const uint BIN_SAMPLES_MAX = 1024u;
// Bins that a micropolygon is listed for, at most; larger ones are hidden without lists.
const uint MICROPOLYGON_BINS_MAX = 16u;
// Micropolygons in the list of a bin, at most, so that the trips of loops are bounded (docs/pipeline/loops.md).
const uint BIN_LISTED_MAX = 1024u;
// And at least: fewer are hidden at once, because loading and keeping a bin's keys costs more than they do.
const uint BIN_LISTED_MIN = 64u;

// How many micropolygons are listed for a bin, 0 for none. Needs bin_offsets[], bins and total.
#define LISTED_FUNCTION                                                                                                \
    uint listed_for(uint bin) {                                                                                        \
        uint end = bin + 1u < bins ? bin_offsets[bin + 1u] : total, count = end - bin_offsets[bin];                    \
        return count < BIN_LISTED_MIN ? 0u : min(count, BIN_LISTED_MAX);                                               \
    }

#endif
