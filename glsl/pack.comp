// Pack: one invocation = one micropolygon of a shaded grid; if some sample sees it, the mean of its four vertices' outputs goes to its
// place in the colour store. A place has `colour_records` records: (Ci, 1), then (Oi, 0) when the region has translucent grids,
// then one for each further output. A matte micropolygon leaves nothing behind: its records are zero.
// Reads slots, arena, visible, colour_base; writes colours. Overflows nothing: what does not fit the store is for another round.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/records.glsl"
#include "lib/slot.glsl"
#include "lib/piece.glsl"
#include "lib/visible.glsl"

layout(local_size_x = 256) in;
layout(std430, set = 0, binding = 0) readonly buffer Slots { Slot slots[]; };
layout(std430, set = 0, binding = 1) readonly buffer Arena { vec4 arena[]; };
layout(std430, set = 0, binding = 2) readonly buffer Visible { uint visible[]; };
layout(std430, set = 0, binding = 3) readonly buffer ColourBase { uint colour_base[]; };
layout(std430, set = 0, binding = 4) writeonly buffer Colours { vec4 colours[]; };
layout(std430, set = 0, binding = 5) readonly buffer VisibleBefore { uint visible_before[]; };
layout(std430, set = 0, binding = 6) readonly buffer Pieces { Piece pieces[]; };
layout(push_constant) uniform Push {
    uint slot_base;
    uint piece;
    uint vertex_base;    // record of output channel 0
    uint channel_stride;
    uint colour_records; // of a place
    uint opacity_record; // 1 when places have an opacity record, else 0
    uint opacity_channel; // output channel of Oi, 0xffffffff when the program's opacity is 1
    uint variables;      // output channels after colour and opacity
    uint first_variable; // output channel of the first of them
    uint first_place; // the colour store holds places [first_place, last_place)
    uint last_place;
    uint coloured; // 0: no program ran, the grids are matte
};

COLOUR_PLACE_FUNCTION

vec4 mean(uint at, uint nu) { return 0.25 * ((arena[at] + arena[at + nu + 2u]) + (arena[at + 1u] + arena[at + nu + 1u])); }

void main() {
    uint id = gl_GlobalInvocationID.x, index = id >> pieces[piece].mp_log2;
    if (index >= pieces[piece].count) return;
    Slot slot = slots[slot_base + index];
    uint local = id & ((1u << pieces[piece].mp_log2) - 1u), nu = slot_nu(slot), nv = slot_nv(slot);
    if (local >= nu * nv) return;
    uint number = (slot.rank << NUMBER_MP_BITS) | local;
    if ((visible[visible_word(number)] & visible_bit(number)) == 0u) return;
    uint place = colour_place(number);
    if (place < first_place || place >= last_place) return;
    place = (place - first_place) * colour_records;
    uint j = uint((float(local) + 0.5) / float(nu)), i = local - j * nu;
    uint at = vertex_base + (index << pieces[piece].slot_log2) + j * (nu + 1u) + i;
    bool matte = coloured == 0u || slot_matte(slot);
    vec3 opacity = opacity_channel == 0xffffffffu ? vec3(1.0) : mean(at + opacity_channel * channel_stride, nu).xyz;
    colours[place] = matte ? vec4(0.0) : vec4(mean(at, nu).xyz, 1.0);
    if (opacity_record != 0u) colours[place + 1u] = vec4(opacity, 0.0);
    for (uint k = 0u; k < variables; k++) {
        colours[place + 1u + opacity_record + k] = matte ? vec4(0.0) : mean(at + (first_variable + k) * channel_stride, nu);
    }
}
