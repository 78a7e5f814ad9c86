// A grid in the arena: where it came from, its size, where it may be hit.

#ifndef SLOT_GLSL
#define SLOT_GLSL

struct Slot {
    uint rank; // place in the region's list of grids: the upper part of its micropolygons' numbers
    uint dims; // nu | nv << 8 | SLOT_* << 16
    uint bound_x;
    uint bound_y;
    float zmin;
    float zmax;
    uint instance;
    uint detail; // the samples that see it (lib/sampling/sampling.glsl)
    uint motion; // the first of the instance's keyframes
};

const uint SLOT_ONE_SIDED = 1u;
const uint SLOT_FLIP = 2u;
const uint SLOT_MATTE = 4u;
const uint SLOT_SMOOTH = 8u;
const uint SLOT_SOLID = 16u;

const int SLOT_NV_SHIFT = 8;
const int SLOT_FLAGS_SHIFT = 16;

uint slot_nu(Slot s) { return s.dims & 0xffu; }
uint slot_nv(Slot s) { return (s.dims >> SLOT_NV_SHIFT) & 0xffu; }
bool slot_one_sided(Slot s) { return (s.dims & (SLOT_ONE_SIDED << SLOT_FLAGS_SHIFT)) != 0u; }
bool slot_flip(Slot s) { return (s.dims & (SLOT_FLIP << SLOT_FLAGS_SHIFT)) != 0u; }
bool slot_smooth(Slot s) { return (s.dims & (SLOT_SMOOTH << SLOT_FLAGS_SHIFT)) != 0u; }
bool slot_solid(Slot s) { return (s.dims & (SLOT_SOLID << SLOT_FLAGS_SHIFT)) != 0u; }
bool slot_matte(Slot s) { return (s.dims & (SLOT_MATTE << SLOT_FLAGS_SHIFT)) != 0u; }

#endif
