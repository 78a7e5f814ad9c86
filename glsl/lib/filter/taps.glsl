// Taps of a pixel filter: the subpixels that it reaches, in the window of pixels around a pixel, counted from the
// window's corner. Half widths are in pixels.

#ifndef TAPS_GLSL
#define TAPS_GLSL

#include "lib/frame.glsl"
#include "lib/sampling/sampling.glsl"

// The subpixels that a filter reaches: a rectangle of the window's.
struct TapWindow {
    uvec2 first;
    uvec2 size;
};

// Pixels of the window on each side of the pixel in the middle.
ivec2 tap_apron(vec2 half_width) { return ivec2(ceil(half_width - 0.5)); }

TapWindow tap_window(vec2 half_width) {
    // In 1/1024 pixel from the corner of the pixel in the middle.
    ivec2 reach = ivec2(ceil(half_width * float(FIXED))), apron = tap_apron(half_width);
    uvec2 first = first_subpixel(FIXED / 2 - reach, -apron * FIXED);
    uvec2 last = last_subpixel(FIXED / 2 + reach, apron * FIXED) + 2u * uvec2(apron) * frame.samples;
    return TapWindow(first, last - first + 1u);
}

uint tap_count(TapWindow window) { return window.size.x * window.size.y; }

#endif
