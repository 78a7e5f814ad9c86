// axes: SMOOTH=constant|smooth|blurred
//
// Pack: one invocation = one micropolygon of a shaded grid; if some sample sees it, its vertices' outputs go to its
// place in the colour store (lib/colour/colour.glsl): their mean, or with ShadingInterpolation "smooth" each of them,
// and where they are. A matte micropolygon leaves nothing behind: its records are zero. What covers only a part of its
// vertices (thin curves) has that part of their colour and opacity. Values that are not finite are replaced here, so
// that none reaches the film: the mean of what is left would be as wrong in every pixel that a filter spreads it to.
// Reads slots, arena, visible, colour_base, status; writes colours, and counts in replaced. Overflows nothing: what
// does not fit the store is for another round.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/frame.glsl"
#include "lib/records.glsl"
#include "lib/grid/slot.glsl"
#include "lib/grid/piece.glsl"
#include "lib/colour/visible.glsl"
#include "lib/colour/colour.glsl"

layout(local_size_x = GROUP_MICROPOLYGONS) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer Slots { Slot slots[]; };
layout(std430, set = 0, binding = 1) readonly buffer Arena { uvec4 arena[]; };
layout(std430, set = 0, binding = 2) readonly buffer Visible { uint visible[]; };
layout(std430, set = 0, binding = 3) readonly buffer ColourBase { uint colour_base[]; };
layout(std430, set = 0, binding = 4) writeonly buffer Colours { vec4 colours[]; };
layout(std430, set = 0, binding = 5) readonly buffer VisibleBefore { uint visible_before[]; };
layout(std430, set = 0, binding = 6) readonly buffer Pieces { Piece pieces[]; };
layout(std430, set = 0, binding = 7) readonly buffer FrameBuffer { Frame frame_record; };
layout(std430, set = 0, binding = 8) readonly buffer Status { uint status[]; }; // word 0: loops that have not ended
layout(std430, set = 0, binding = 9) buffer Replaced { uint replaced[]; };
layout(push_constant) uniform Push {
    uint slot_base;
    uint piece;
    uint vertex_base;    // record of output channel 0
    uint channel_stride;
    uint position_base;  // record of the vertices' positions (pack_smooth), at the first keyframe (pack_blurred)
    uint position_keyframes; // of their motion (pack_blurred)
    uint value_records;  // of a vertex, or of the whole micropolygon
    uint position_records;
    uint opacity_record; // 1 when places have an opacity record, else 0
    uint opacity_channel; // output channel of Oi, OPACITY_NONE when the program's opacity is 1
    uint variables;      // output channels after colour and opacity
    uint first_variable; // output channel of the first of them
    uint first_place; // the colour store holds places [first_place, last_place)
    uint last_place;
    uint coverage_channel; // behind the output channels: what the vertices cover, COVERAGE_WHOLE for all
    uint coloured; // 0: no program ran, the grids are matte
    uint replaced_word; // micropolygons with such values, then the complement of their least instance
};

#include "lib/grid/arena.glsl"
// No output channel of Oi.
const uint OPACITY_NONE = 0xffffffffu;

// No channel of what is covered.
const uint COVERAGE_WHOLE = 0xffffffffu;

COLOUR_PLACE_FUNCTION

// Larger values are replaced by this one: so large that no picture has it, so small that sums of samples stay finite.
const float VALUE_MAX = 1e30;
// Bits of infinity; those of NaN are greater.
const uint INFINITY_BITS = 0x7f800000u;

// Whether the micropolygon has a value that is not finite.
bool bad = false;

// What a program stored, or `instead` where a component is not finite. Only integers are certain to show that.
vec4 finite(uint at, float instead) {
    vec4 x = uintBitsToFloat(arena[at]);
    bool right = all(lessThan(floatBitsToUint(x) & 0x7fffffffu, uvec4(INFINITY_BITS)));
    bad = bad || !right;
    return right ? clamp(x, vec4(-VALUE_MAX), vec4(VALUE_MAX)) : vec4(instead);
}

vec4 mean(uint at, uint nu, float instead) {
    return 0.25 * ((finite(at, instead) + finite(at + nu + 2u, instead)) + (finite(at + 1u, instead) + finite(at + nu + 1u, instead)));
}

// A value of the program that goes to the store: that of a vertex, or of all four.
vec4 value(uint at, uint nu, bool one, float instead) { return one ? mean(at, nu, instead) : finite(at, instead); }

// The part that a vertex covers, or all four on average.
float covered(uint at, uint nu, bool one) {
    if (coverage_channel == COVERAGE_WHOLE) return 1.0;
    uint channel = at + coverage_channel * channel_stride;
    if (!one) return arena_position(channel).x;
    return 0.25 * ((arena_position(channel).x + arena_position(channel + nu + 2u).x) + (arena_position(channel + 1u).x + arena_position(channel + nu + 1u).x));
}

// Puts the records of a vertex, or of the micropolygon, into the store.
void store(uint place, uint at, uint nu, bool one, bool matte) {
    float part = covered(at, nu, one);
    colours[place] = matte ? vec4(0.0) : vec4(part * value(at, nu, one, 0.0).xyz, 1.0);
    if (opacity_record != 0u) {
        bool opaque = opacity_channel == OPACITY_NONE;
        vec3 opacity = opaque ? vec3(1.0) : value(at + opacity_channel * channel_stride, nu, one, 1.0).xyz;
        colours[place + 1u] = vec4(part * opacity, 0.0);
    }
    for (uint k = 0u; k < variables; k++) {
        uint from = at + (first_variable + k) * channel_stride;
        colours[place + 1u + opacity_record + k] = matte ? vec4(0.0) : value(from, nu, one, 0.0);
    }
}

// Counts the micropolygon if a value was replaced. What loops have left unfinished is computed again.
void count_bad(Slot slot) {
    if (!bad || status[0] != 0u) return;
    atomicAdd(replaced[replaced_word], 1u);
    atomicMax(replaced[replaced_word + 1u], ~slot.instance);
}

#if SMOOTH == 1

vec2 raster_of(uint vertex) { return vec2(raster_fixed(frame, arena_position(vertex))); }

// Keeps where the vertices are, of which `vertex` is the first.
void store_positions(uint positions, uint vertex, uint nu, Slot slot) {
    colours[positions] = vec4(raster_of(vertex), raster_of(vertex + 1u));
    colours[positions + 1u] = vec4(raster_of(vertex + nu + 1u), raster_of(vertex + nu + 2u));
}

#elif SMOOTH == 2

void store_positions(uint positions, uint vertex, uint nu, Slot slot) {
    colours[positions] = vec4(float(position_keyframes), float(slot.motion & 0xffffu), float(slot.motion >> 16), 0.0);
    for (uint keyframe = 0u; keyframe < position_keyframes; keyframe++) {
        uint at = positions + POSITION_HEAD_RECORDS + keyframe * KEYFRAME_POSITION_RECORDS, from = vertex + keyframe * channel_stride;
        vec3 a = arena_position(from), b = arena_position(from + 1u), c = arena_position(from + nu + 1u), d = arena_position(from + nu + 2u);
        colours[at] = vec4(a.x, b.x, c.x, d.x);
        colours[at + 1u] = vec4(a.y, b.y, c.y, d.y);
        colours[at + 2u] = vec4(a.z, b.z, c.z, d.z);
    }
}

#endif

void main() {
    Assigned which;
    if (!assigned(pieces[piece].mps, invocation(), which)) return;
    Slot slot = slots[slot_base + which.slot];
    uint local = which.local, nu = slot_nu(slot), nv = slot_nv(slot);
    if (local >= nu * nv) return;
    uint number = (slot.rank << NUMBER_MP_BITS) | local;
    if ((visible[visible_word(number)] & visible_bit(number)) == 0u) return;
    uint place = colour_place(number);
    if (place < first_place || place >= last_place) return;
    place = (place - first_place) * colour_records(value_records, position_records);
    uint j = uint((float(local) + 0.5) / float(nu)), i = local - j * nu;
    uint vertex = (which.slot << pieces[piece].slot_log2) + j * (nu + 1u) + i, at = vertex_base + vertex;
    bool matte = coloured == 0u || slot_matte(slot);
#if SMOOTH != 0
    frame = frame_record;
    uint positions = place + 4u * value_records;
    if (slot_smooth(slot) && !matte) {
        uvec4 corner = uvec4(0u, 1u, nu + 1u, nu + 2u);
        for (uint k = 0u; k < 4u; k++) store(place + k * value_records, at + corner[k], nu, false, false);
        count_bad(slot);
        store_positions(positions, position_base + vertex, nu, slot);
        return;
    }
    // The other vertices weigh nothing, which only numbers do.
    for (uint k = value_records; k < colour_records(value_records, position_records); k++) colours[place + k] = vec4(0.0);
#endif
    store(place, at, nu, true, matte);
    count_bad(slot);
}
