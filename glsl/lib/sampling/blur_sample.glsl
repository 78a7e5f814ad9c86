// A sample's own time and point of the lens (lib/sampling/blur.glsl), as blur_samples.comp keeps them. Needs frame.

#ifndef BLUR_SAMPLE_GLSL
#define BLUR_SAMPLE_GLSL

#include "lib/sampling/blur.glsl"

// The record of the sample of a pixel that has a part of the shutter: x its place in the pixel in 1/1024 pixel (x and
// y << 10) and the low bits of its subpixel (number in the pixel, << 20), y the number's high bits and when it is taken
// (in 1/2^28 of the shutter, << 4), zw its point of the lens.
const int BLUR_PLACE_BITS = 10;
const int BLUR_SUBPIXEL_BITS = 12;
const int BLUR_TIME_SHIFT = 4;
const float BLUR_TIME_UNITS = 268435456.0;
const float BLUR_TIME_LAST = 268435440.0; // the largest float below

uvec4 blur_pack(uvec2 place, uint subpixel, float time, vec2 lens) {
    uint low = subpixel & ((1u << BLUR_SUBPIXEL_BITS) - 1u), high = subpixel >> BLUR_SUBPIXEL_BITS;
    uint when = uint(min(time * BLUR_TIME_UNITS, BLUR_TIME_LAST));
    return uvec4(place.x | place.y << BLUR_PLACE_BITS | low << (2 * BLUR_PLACE_BITS), high | when << BLUR_TIME_SHIFT, floatBitsToUint(lens));
}

// The records of a region: cells of the lens, one for each sample of a pixel, then the samples of each pixel, by
// the part of the shutter that they have.
uint blur_sample_index(uint pixel, uint part) { return frame.samples.x * frame.samples.y * (1u + pixel) + part; }

LensCell blur_lens_cell(uvec4 record) { return LensCell(uintBitsToFloat(record.xy), uintBitsToFloat(record.zw)); }

ivec2 blur_place(uvec4 blur, ivec2 pixel) {
    return pixel * FIXED + ivec2(blur.x & (FIXED - 1u), (blur.x >> BLUR_PLACE_BITS) & (FIXED - 1u));
}

uint blur_subpixel(uvec4 blur) {
    return blur.x >> (2 * BLUR_PLACE_BITS) | (blur.y & ((1u << BLUR_TIME_SHIFT) - 1u)) << BLUR_SUBPIXEL_BITS;
}

float blur_time(uvec4 blur) { return float(blur.y >> BLUR_TIME_SHIFT) * (1.0 / BLUR_TIME_UNITS); }

vec2 blur_lens(uvec4 blur) { return uintBitsToFloat(blur.zw); }

#endif
