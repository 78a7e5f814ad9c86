// The set of micropolygons that some sample sees: 256 bits for each selected grid; and where their colours are kept.

#ifndef VISIBLE_GLSL
#define VISIBLE_GLSL

#include "lib/sampling/key.glsl"
#include "lib/records.glsl"

// Words of a grid.
const uint VISIBLE_WORDS = (1u << NUMBER_MP_BITS) / 32u;

uint visible_word(uint number) { return (number >> NUMBER_MP_BITS) * VISIBLE_WORDS + ((number >> 5) & (VISIBLE_WORDS - 1u)); }
uint visible_bit(uint number) { return 1u << (number & 31u); }

// Place of a visible micropolygon's colour: those of its grid begin at colour_base, in order of their numbers.
// visible_before holds a byte for each word of a grid: the visible ones in the words before it. Needs visible[],
// visible_before[] and colour_base[].
#define COLOUR_PLACE_FUNCTION                                                                                          \
    uint colour_place(uint number) {                                                                                   \
        uint rank = number >> NUMBER_MP_BITS, word = (number >> 5) & (VISIBLE_WORDS - 1u);                             \
        uint before = (visible_before[2u * rank + (word >> 2)] >> (8u * (word & 3u))) & 0xffu;                         \
        return colour_base[rank] + before                                                                              \
            + uint(bitCount(visible[rank * VISIBLE_WORDS + word] & (visible_bit(number) - 1u)));                       \
    }

#endif
