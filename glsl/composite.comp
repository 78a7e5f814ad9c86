// axes: TRANSLUCENT=opaque|close SMOOTH=(constant)|smooth|blurred
//
// Composite: one invocation = one pixel. What the key of a subpixel sees gives its colour; where translucent surfaces
// lie before it, what they let through. Reads keys, visible, colour_base, colours, blur_samples, motion; writes
// resolved.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

#include "lib/frame.glsl"
#include "lib/records.glsl"
#include "lib/sampling/sampling.glsl"
#include "lib/colour/visible.glsl"
#include "lib/composite/resolved.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer Keys { uint64_t keys[]; };
layout(std430, set = 0, binding = 1) readonly buffer Visible { uint visible[]; };
layout(std430, set = 0, binding = 2) readonly buffer ColourBase { uint colour_base[]; };
layout(std430, set = 0, binding = 3) readonly buffer Colours { vec4 colours[]; };
layout(std430, set = 0, binding = 4) buffer Resolved { vec4 resolved[]; };
layout(std430, set = 0, binding = 5) readonly buffer VisibleBefore { uint visible_before[]; };
layout(std430, set = 0, binding = 6) readonly buffer FrameBuffer { Frame frame_record; };
layout(std430, set = 0, binding = 7) readonly buffer BlurSamples { uvec4 blur_samples[]; };
layout(std430, set = 0, binding = 8) readonly buffer Motion { Keyframe motion[]; };
#include "lib/colour/colour_weights.glsl"
layout(push_constant) uniform Push {
    int region_x;
    int region_y;
    uint region_width;
    uint first; // pixels [first, last) are this dispatch's
    uint last;
    uint pixel_samples;
    uint value_records; // of the colour store
    uint position_records;
    uint resolved_records;
    uint variables;
    uint nearest_from; // variables from here on are those of the nearest surface
    uint first_place; // the colour store holds places [first_place, last_place); other subpixels wait for another round
    uint last_place;
};

COLOUR_PLACE_FUNCTION

void main() {
    uint pixel = first + invocation();
    if (pixel >= last) return;
    uint before = KEY_EMPTY, place = 0u;
    bool there = true;
    vec4 colour = vec4(0.0), weights = vec4(0.0);
#if SMOOTH != 0
    frame = frame_record;
    uint y = divide_large(pixel, region_width);
    ivec2 corner = ivec2(region_x, region_y) + ivec2(pixel - y * region_width, y);
#endif
    for (uint s = pixel * pixel_samples; s < (pixel + 1u) * pixel_samples; s++) {
        uint number = uint(keys[s]), record = s * resolved_records;
#if TRANSLUCENT
        vec4 gathered = resolved[record], through = resolved[record + 1u];
        if (stopped(through)) continue;
#else
        vec4 gathered = vec4(0.0), through = vec4(1.0);
#endif
        bool other = number != before;
        if (other) {
            before = number;
            place = number == KEY_EMPTY ? first_place : colour_place(number);
            there = place >= first_place && place < last_place;
            place = (place - first_place) * colour_records(value_records, position_records);
        }
#if SMOOTH != 0
        other = true;
        uint k = s - pixel * pixel_samples;
        if (number != KEY_EMPTY && there) {
            uint row = divide(uvec2(k), frame.samples).x;
            uvec2 at = uvec2(k - row * frame.samples.x, row);
            ColourSample taken = colour_sample(pixel, corner, at, sample_position(frame, corner, at));
            weights = colour_weights(place, value_records, taken);
        }
#endif
        if (other) colour = number == KEY_EMPTY || !there ? vec4(0.0) : colour_value(place, value_records, 0u, weights);
        if (!there || (number == KEY_EMPTY && first_place != 0u)) continue;
        float mean = TRANSLUCENT == 1 ? mean3(through.xyz) : 1.0;
        resolved[record] = TRANSLUCENT == 1 ? gathered + vec4(through.xyz * colour.xyz, mean * colour.w) : colour;
        for (uint k = 0u; k < variables; k++) {
            vec4 value = number == KEY_EMPTY ? vec4(0.0) : colour_value(place, value_records, value_records - variables + k, weights);
            uint at = record + resolved_records - variables + k;
            if (TRANSLUCENT == 0) resolved[at] = value;
            else if (k < nearest_from) resolved[at] += vec4(through.xyz, mean) * value;
            else if (untouched(through)) resolved[at] = value;
        }
    }
}
