// A sample's own time and point of the lens (lib/blur.glsl), as blur_samples.comp keeps them. Needs frame.

#ifndef BLUR_SAMPLE_GLSL
#define BLUR_SAMPLE_GLSL

#include "lib/blur.glsl"

// Bits of a hash that say where in its part of the shutter and in its cell of the lens a sample is.
const int TIME_BITS = 12;
const int LENS_BITS = 10;

// The record of the sample of a pixel that has a part of the shutter: x its place in the pixel in 1/1024 pixel (x and
// y << 10) and when in its part it is taken (<< 20), y its subpixel (number in the pixel), zw its point of the lens.
const int BLUR_PLACE_BITS = 10;

// The records of a region: cells of the lens, one for each sample of a pixel, then the samples of each pixel, by
// the part of the shutter that they have.
uint blur_sample_index(uint pixel, uint part) { return frame.samples.x * frame.samples.y * (1u + pixel) + part; }

LensCell blur_lens_cell(uvec4 record) { return LensCell(uintBitsToFloat(record.xy), uintBitsToFloat(record.zw)); }

ivec2 blur_place(uvec4 blur, ivec2 pixel) {
    return pixel * FIXED + ivec2(blur.x & (FIXED - 1u), (blur.x >> BLUR_PLACE_BITS) & (FIXED - 1u));
}

// When the sample that has part n of the shutter is taken, 0 to 1.
float blur_time(uvec4 blur, uint n) {
    float jitter = (float(blur.x >> (2 * BLUR_PLACE_BITS)) + 0.5) * (1.0 / float(1 << TIME_BITS));
    return shutter_time((float(n) + jitter) * frame.stratum);
}

vec2 blur_lens(uvec4 blur) { return uintBitsToFloat(blur.zw); }

#endif
