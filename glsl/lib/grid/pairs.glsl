// What the invocations of a piece do. Grids fill their slots in part only, so cull lists the micropolygons and the rows
// of vertices of those that are left, two of one grid at a time, in the arena, and few invocations idle.

#ifndef PAIRS_GLSL
#define PAIRS_GLSL

#include "lib/grid/piece.glsl"

// Bits of a pair's number in its grid.
const uint PAIR_BITS = 7u;

uint pairs_of(uint count) { return (count + 1u) / 2u; }

uint pair_pack(uint slot, uint pair) { return (slot << PAIR_BITS) | pair; }

#ifdef PAIR_RECORD // a record of the arena, as uvec4

// One of a grid's micropolygons or rows.
struct Assigned {
    uint slot; // of the piece
    uint local; // its number in the grid, which may be one beyond the last
};

// What invocation `id` does of a list; false if there is no more.
bool assigned(PairList list, uint id, out Assigned which) {
    uint pair = id / 2u, word = list.first + pair;
    if (pair >= list.pairs) return false;
    uvec4 words = PAIR_RECORD(word / 4u);
    uvec2 halves = (word & 2u) == 0u ? words.xy : words.zw;
    uint packed = (word & 1u) == 0u ? halves.x : halves.y;
    which = Assigned(packed >> PAIR_BITS, 2u * (packed & ((1u << PAIR_BITS) - 1u)) + (id & 1u));
    return true;
}

#endif

#endif
