// What sample.comp and sample_blurred.comp have in common: what becomes of an entry. Needs the buffers entries[],
// cell_counts[], visible[], appended and keys[], and the push constants capacity and slab_*.

#ifndef ENTRY_APPEND_GLSL
#define ENTRY_APPEND_GLSL

#include "lib/composite/entry.glsl"
#include "lib/grid/slot.glsl"
#include "lib/colour/visible.glsl"

// Two words as one: a CPU driver stores one at a time for each lane.
uint64_t word_pair(uint low, uint high) { return uint64_t(low) | uint64_t(high) << 32; }

// An entry, as it is stored: its members in order.
u64vec4 stored(Entry e) {
    return u64vec4(word_pair(e.number, floatBitsToUint(e.zmin)), word_pair(e.mask, e.cell),
        word_pair(floatBitsToUint(e.f0), floatBitsToUint(e.fx)), word_pair(floatBitsToUint(e.fy), floatBitsToUint(e.zmax)));
}

// A cut solid's micropolygons are visible only if something of them is left.
void append(Entry entry, bool solid) {
    uint at = atomicAdd(appended, 1u);
    if (at >= capacity) return;
    uint bit = visible_bit(entry.number), word = visible_word(entry.number);
    if (!solid && (visible[word] & bit) == 0u) atomicOr(visible[word], bit);
    atomicAdd(cell_counts[entry.cell], 1u);
    entries[at] = stored(entry);
}

// Whether a subpixel sees the entry, as far as opaque surfaces and the slab go. Its depth z is the one that it is
// composited by: else where slabs are cut would show.
bool entry_seen(Entry entry, Slot slot, float z, uint subpixel) {
    uint64_t key = (uint64_t(floatBitsToUint(slot_solid(slot) ? max(z, 0.0) : z)) << 32) | uint64_t(entry.number);
    uint64_t low = (uint64_t(slab_low_z) << 32) | uint64_t(slab_low_number), high = (uint64_t(slab_high_z) << 32) | uint64_t(slab_high_number);
    return z >= slot.zmin && z <= slot.zmax && key >= low && key < high && key < keys[subpixel];
}

#endif
