// The RI's pixel filters (RISpec 4.1.3 and appendix C of its C binding), centred, with half widths in pixels.

#ifndef FILTER_GLSL
#define FILTER_GLSL

#include "lib/turns.glsl"

// cases: FILTER_*
const uint FILTER_BOX = 0u;
const uint FILTER_TRIANGLE = 1u;
const uint FILTER_GAUSSIAN = 2u;
const uint FILTER_CATMULL_ROM = 3u;
const uint FILTER_SINC = 4u;

// e^x for x in [-20, 0], relative error below 1e-6: 2^n by bits, the rest by a polynomial.
float exp_negative(float x) {
    float n = floor(x * 1.44269504 + 0.5);
    float r = (x - n * 0.693359375) + n * 2.12194440e-4;
    float p = 1.0 + r * (1.0 + r * (0.5 + r * (0.166666667 + r * (4.16666667e-2 + r * (8.33333333e-3 + r * 1.38888889e-3)))));
    return p * uintBitsToFloat(uint(int(n) + 127) << 23);
}

float sinc(float x) { return x == 0.0 ? 1.0 : cos_sin_turns(0.5 * x).y / (3.14159265 * x); }

// Weight at d pixels from the centre. The rim, at half the width, belongs to the filter.
float filter_weight(uint kind, vec2 d, vec2 half_width, vec2 inverse) {
    if (abs(d.x) > half_width.x || abs(d.y) > half_width.y) return 0.0;
    vec2 r = abs(d) * inverse; // in half widths
    if (kind == FILTER_BOX) return 1.0;
    if (kind == FILTER_TRIANGLE) return (1.0 - r.x) * (1.0 - r.y);
    if (kind == FILTER_GAUSSIAN) return exp_negative(-2.0 * (r.x * r.x + r.y * r.y));
    if (kind == FILTER_SINC) {
        // The RISpec's: sinc in pixels, windowed by cos(pi x / (2 width)).
        vec2 window = vec2(cos_sin_turns(0.125 * r.x).x, cos_sin_turns(0.125 * r.y).x);
        return sinc(d.x) * sinc(d.y) * (window.x * window.y);
    }
    float r2 = dot(d, d), q = sqrt(r2); // FILTER_CATMULL_ROM: radial, in pixels
    if (q >= 2.0) return 0.0;
    return q < 1.0 ? 3.0 * q * r2 - 5.0 * r2 + 2.0 : -q * r2 + 5.0 * r2 - 8.0 * q + 4.0;
}

#endif
