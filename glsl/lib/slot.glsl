// A grid in the arena: where it came from, its size, where it may be hit.

#ifndef SLOT_GLSL
#define SLOT_GLSL

struct Slot {
    uint rank; // place in the region's list of grids: the upper part of its micropolygons' numbers
    uint dims; // nu | nv << 8 | SLOT_* << 16; nu = 0: nothing to do
    uint bound_x;
    uint bound_y;
    float zmin;
    float zmax;
    uint instance;
    uint spare0;
};

#define SLOT_ONE_SIDED 1u
#define SLOT_FLIP 2u
#define SLOT_MATTE 4u
#define SLOT_SMOOTH 8u

uint slot_nu(Slot s) { return s.dims & 0xffu; }
uint slot_nv(Slot s) { return (s.dims >> 8) & 0xffu; }
bool slot_one_sided(Slot s) { return (s.dims & (SLOT_ONE_SIDED << 16)) != 0u; }
bool slot_flip(Slot s) { return (s.dims & (SLOT_FLIP << 16)) != 0u; }
bool slot_smooth(Slot s) { return (s.dims & (SLOT_SMOOTH << 16)) != 0u; }
bool slot_matte(Slot s) { return (s.dims & (SLOT_MATTE << 16)) != 0u; }

#endif
