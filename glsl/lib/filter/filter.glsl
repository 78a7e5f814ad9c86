// The RI's pixel filters (RISpec 4.1.3 and appendix C of its C binding), centred, with half widths in pixels.

#ifndef FILTER_GLSL
#define FILTER_GLSL

#include "lib/math/turns.glsl"

// cases: FILTER_*
const uint FILTER_BOX = 0u;
const uint FILTER_TRIANGLE = 1u;
const uint FILTER_GAUSSIAN = 2u;
const uint FILTER_CATMULL_ROM = 3u;
const uint FILTER_SINC = 4u;
const uint FILTER_MITCHELL = 5u;
const uint FILTER_LANCZOS = 6u;
const uint FILTER_BLACKMAN_HARRIS = 7u;
const uint FILTER_DISK = 8u;
const uint FILTER_SEPARABLE_CATMULL_ROM = 9u;

// e^x for x in [-20, 0], relative error below 1e-6: 2^n by bits, the rest by a polynomial.
float exp_negative(float x) {
    float n = floor(x * 1.44269504 + 0.5);
    float r = (x - n * 0.693359375) + n * 2.12194440e-4;
    float p = 1.0 + r * (1.0 + r * (0.5 + r * (0.166666667 + r * (4.16666667e-2 + r * (8.33333333e-3 + r * 1.38888889e-3)))));
    return p * uintBitsToFloat(uint(int(n) + 127) << 23);
}

float sinc(float x) { return x == 0.0 ? 1.0 : cos_sin_turns(0.5 * x).y / (3.14159265 * x); }

// The Catmull-Rom spline's kernel, twice its usual height, q >= 0 pixels from the centre.
float catmull_rom(float q) {
    if (q >= 2.0) return 0.0;
    return q < 1.0 ? (3.0 * q - 5.0) * q * q + 2.0 : ((5.0 - q) * q - 8.0) * q + 4.0;
}

// Mitchell and Netravali's filter of 1988 with B = C = 1/3, which ends at q = 2.
float mitchell(float q) {
    float w = q < 1.0 ? (21.0 * q - 36.0) * q * q + 16.0 : ((36.0 - 7.0 * q) * q - 60.0) * q + 32.0;
    return w * 5.55555556e-2;
}

// Harris's window of 1978 with four terms (Blackman-Harris, -92 dB), which ends at r = 1.
float blackman_harris(float r) {
    float c1 = cos_sin_turns(0.5 * r).x, c2 = cos_sin_turns(r).x, c3 = cos_sin_turns(1.5 * r).x;
    return 0.35875 + 0.48829 * c1 + 0.14128 * c2 + 0.01168 * c3;
}

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
    if (kind == FILTER_MITCHELL) return mitchell(2.0 * r.x) * mitchell(2.0 * r.y);
    // Sinc in pixels, windowed by the middle lobe of another one.
    if (kind == FILTER_LANCZOS) return sinc(d.x) * sinc(d.y) * (sinc(r.x) * sinc(r.y));
    if (kind == FILTER_BLACKMAN_HARRIS) return blackman_harris(r.x) * blackman_harris(r.y);
    if (kind == FILTER_DISK) return r.x * r.x + r.y * r.y <= 1.0 ? 1.0 : 0.0;
    if (kind == FILTER_SEPARABLE_CATMULL_ROM) return catmull_rom(abs(d.x)) * catmull_rom(abs(d.y));
    float r2 = dot(d, d), q = sqrt(r2); // FILTER_CATMULL_ROM: radial, in pixels
    if (q >= 2.0) return 0.0;
    return q < 1.0 ? 3.0 * q * r2 - 5.0 * r2 + 2.0 : -q * r2 + 5.0 * r2 - 8.0 * q + 4.0;
}

#endif
