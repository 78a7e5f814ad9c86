// axes: PLAIN MIDPOINT SMOOTH=(constant)|smooth|blurred
// rules: MIDPOINT ignores PLAIN; SMOOTH=blurred ignores PLAIN
//
// Composite, translucent: one invocation = one subpixel. Takes the entries of its cell that its sample lies in, in
// order of (depth at the sample, number), and adds their colours to what the subpixel has gathered in nearer slabs: C
// += T Ci, T *= 1 - Oi. A subpixel whose opacity passes the threshold stops and hides what is behind it like an opaque
// surface. Reads entries, order, colours; writes resolved and lowers keys. One call composites the nearest
// NEAREST_ENTRIES entries; a subpixel with more notes how far it came and asks to be called again (unfinished).
//
// The MIDPOINT variants also find the depth behind the first surface that passes the z threshold, and go on for it
// where nothing shines through any more. The PLAIN variants leave out values of variables: CPU drivers go through a
// loop once even if it has nothing to do.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

#include "lib/frame.glsl"
#include "lib/records.glsl"
#include "lib/sampling/sampling.glsl"
#include "lib/colour/visible.glsl"
#include "lib/composite/entry.glsl"
#include "lib/composite/resolved.glsl"

// Entries of a subpixel that one call takes at most.
const uint NEAREST_ENTRIES = 48u;
// Least depth of a surface that passes the z threshold: 0 means that there is none.
const float DEPTH_MIN = 1e-30;

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer FrameBuffer { Frame frame_record; };
layout(std430, set = 0, binding = 1) readonly buffer Entries { Entry entries[]; };
layout(std430, set = 0, binding = 2) readonly buffer CellOffsets { uint cell_offsets[]; };
layout(std430, set = 0, binding = 3) readonly buffer CellCounts { uint cell_counts[]; };
layout(std430, set = 0, binding = 4) readonly buffer Order { uint order[]; };
layout(std430, set = 0, binding = 5) readonly buffer Colours { vec4 colours[]; };
layout(std430, set = 0, binding = 6) buffer Resolved { vec4 resolved[]; };
layout(std430, set = 0, binding = 7) buffer Keys { uint64_t keys[]; };
layout(std430, set = 0, binding = 8) buffer Resume { uint64_t resume[]; }; // key of the last entry done in this slab
layout(std430, set = 0, binding = 9) buffer Unfinished { uint unfinished; };
layout(std430, set = 0, binding = 10) buffer Behind { uint next_depth[]; }; // of the surface behind the first
layout(std430, set = 0, binding = 11) readonly buffer BlurSamples { uvec4 blur_samples[]; };
layout(std430, set = 0, binding = 12) readonly buffer Motion { Keyframe motion[]; };
#include "lib/colour/colour_weights.glsl"
layout(push_constant) uniform Push {
    int region_x;
    int region_y;
    uint region_width;
    uint region_height;
    uint cells;
    uint value_records; // of the colour store
    uint position_records;
    uint resolved_records;
    uint variables;
    uint weighted_first; // variables that are weighted by opacity already: Ci and Oi
    uint weighted_second;
    uint nearest_from; // variables from here on are those of the nearest surface
    uint first; // subpixels [first, last) are composited by this dispatch
    uint last;
};

// The nearest entries of the sample so far, sorted.
uint64_t nearest_key[NEAREST_ENTRIES];
uint nearest_entry[NEAREST_ENTRIES];
uint nearest_count;
bool more; // some did not fit

// Keeps an entry in its place. Entries come nearly in order, so few others move.
void keep(uint64_t key, uint index) {
    if (nearest_count == NEAREST_ENTRIES) {
        more = true;
        if (key > nearest_key[NEAREST_ENTRIES - 1u]) return;
        nearest_count--;
    }
    uint at = nearest_count;
    while (at > 0u && nearest_key[at - 1u] > key) {
        nearest_key[at] = nearest_key[at - 1u];
        nearest_entry[at] = nearest_entry[at - 1u];
        at--;
    }
    nearest_key[at] = key;
    nearest_entry[at] = index;
    nearest_count++;
}

// Entries of a list that are looked through at once: a bit each.
const uint LOOKED_THROUGH = 32u;
// Invocations that share the first look at a list.
const uint LIST_SHARES = 8u;

// Which of some entries of a list the sample lies in: all lanes of a CPU driver look at the same ones, so what is
// expensive is done afterwards, for those that each has found.
uint covering_entries(uint base, uint count, uint bit) {
    uint covering = 0u;
    for (uint i = 0u; i < count; i++) covering |= uint((entries[order[base + i]].mask & bit) != 0u) << i;
    return covering;
}

// Brings a list's entries into the caches: they are far from each other in memory, and invocations beside each other,
// which mostly have the same list, read different ones at the same time; else all would wait for one after another.
// Returns the number of entries, so that no compiler leaves the reads out: no micropolygon has the largest number.
uint touched(uint base, uint count, uint share) {
    uint largest = 0u;
    for (uint i = share; i < count; i += LIST_SHARES) largest = max(largest, entries[order[base + i]].number);
    return largest == 0xffffffffu ? 0u : count;
}

// Keeps an entry if it lies behind a key. Entries are sorted by their nearest depth: when that of the next one lies
// behind all that is kept, and no room is left, nothing nearer can follow, and it returns false.
bool keep_if_behind(uint index, ivec2 at, uint64_t behind) {
    Entry e = entries[index];
    if (nearest_count == NEAREST_ENTRIES && floatBitsToUint(e.zmin) > uint(nearest_key[NEAREST_ENTRIES - 1u] >> 32)) {
        more = true;
        return false;
    }
    uint64_t key = (uint64_t(floatBitsToUint(entry_z(frame, e, at))) << 32) | uint64_t(e.number);
    if (key > behind) keep(key, index);
    return true;
}

// Finds the nearest entries behind a key.
void find_nearest(uint base, uint count, uint bit, ivec2 at, uint64_t behind) {
    nearest_count = 0u;
    more = false;
    for (uint from = 0u; from < count; from += LOOKED_THROUGH) {
        uint covering = covering_entries(base + from, min(count - from, LOOKED_THROUGH), bit);
        while (covering != 0u) {
            uint i = from + uint(findLSB(covering));
            covering &= covering - 1u;
            if (!keep_if_behind(order[base + i], at, behind)) return;
        }
    }
}

void main() {
    frame = frame_record;
    uint pixel_samples = frame.samples.x * frame.samples.y;
    uint subpixel = first + invocation();
    if (subpixel >= last) return;
    uint pixel = divide_large(subpixel, pixel_samples), s = subpixel - pixel * pixel_samples, cell = pixel * cells + (s >> CELL_LOG2);
    uint count = cell_counts[cell], record = subpixel * resolved_records;
    vec4 gathered = resolved[record], through = resolved[record + 1u];
    uint64_t behind = resume[subpixel];
    if (count == 0u || stopped(through) || behind == ~0ul) return;
    uint y = divide_large(pixel, region_width), row = divide(uvec2(s), frame.samples).x;
    ivec2 corner = ivec2(region_x, region_y) + ivec2(pixel - y * region_width, y);
    uvec2 k = uvec2(s - row * frame.samples.x, row);
    ivec2 raster = sample_position(frame, corner, k), at = raster - corner * FIXED;
    uint base = cell_offsets[cell];
    count = touched(base, count, s & (LIST_SHARES - 1u));
    find_nearest(base, count, 1u << (s & (CELL_SAMPLES - 1u)), at, behind);
    ColourSample taken = colour_sample(pixel, corner, k, raster);
#if MIDPOINT
    uint opaque = uint(keys[subpixel] >> 32);
#endif
    for (uint i = 0u; i < nearest_count && !stopped(through); i++) {
        uint place = entries[nearest_entry[i]].cell * colour_records(value_records, position_records);
        vec4 weights = colour_weights(place, value_records, taken);
        vec4 colour = colour_value(place, value_records, 0u, weights);
        vec3 opacity = clamp(colour_value(place, value_records, 1u, weights).xyz, 0.0, 1.0);
#if !PLAIN
        for (uint k = 0u; k < variables; k++) {
            vec4 value = colour_value(place, value_records, 2u + k, weights);
            if (k >= nearest_from) {
                if (untouched(through) && any(greaterThan(opacity, vec3(0.0)))) resolved[record + 2u + k] = value;
                continue;
            }
            vec3 weight = k == weighted_first || k == weighted_second ? through.xyz : through.xyz * opacity;
            resolved[record + 2u + k] += vec4(weight, mean3(weight)) * value;
        }
#endif
        // Alpha is what no longer shines through, in the mean of the channels; a matte surface (w = 0) leaves none.
        gathered += vec4(through.xyz, mean3(through.xyz * opacity)) * colour;
        through.xyz *= 1.0 - opacity;
        behind = nearest_key[i];
        float z = max(uintBitsToFloat(uint(behind >> 32)), DEPTH_MIN);
        bool has_depth = all(greaterThanEqual(opacity, vec3(frame.z_threshold)));
        bool closed = all(lessThanEqual(through.xyz, vec3(1.0 - frame.opacity_threshold)));
#if MIDPOINT
        if (through.w == 0.0 && (has_depth || closed)) {
            through.w = z;
            next_depth[subpixel] = opaque;
        } else if (has_depth) {
            next_depth[subpixel] = min(next_depth[subpixel], floatBitsToUint(z));
        }
        if (closed) through.xyz = vec3(0.0);
        bool stops = closed && next_depth[subpixel] < opaque;
#else
        if (through.w == 0.0 && has_depth) through.w = z;
        bool stops = closed;
#endif
        if (stops) through.w = through.w == 0.0 ? -z : -through.w;
    }
    // Without its number: it is composited, and need not be shaded once more with what opaque samples see.
    if (stopped(through)) keys[subpixel] = min(keys[subpixel], behind | uint64_t(KEY_EMPTY));
    bool finished = !more || stopped(through);
    if (!finished) atomicAdd(unfinished, 1u);
    resume[subpixel] = finished ? ~0ul : behind;
    resolved[record] = gathered;
    resolved[record + 1u] = through;
}
