// Sine and cosine of an angle given in turns: exact at multiples of a quarter turn, the same on every device.

#ifndef TURNS_GLSL
#define TURNS_GLSL

const float TWO_PI = 6.28318531;

// (cos, sin) of 2 pi t. |error| < 1 ulp of 1. t and t + 1 give the same bits, so that a full sweep closes.
vec2 cos_sin_turns(float t) {
    float f = t - floor(t + 0.5);         // exact: [-1/2, 1/2]
    float q = floor(4.0 * f + 0.5);       // quarter: -2 to 2
    float r = (f - 0.25 * q) * TWO_PI; // exact difference, then radians in [-pi/4, pi/4]
    float z = r * r;
    float s = r + r * (z * (-1.66666667e-1 + z * (8.33332957e-3 + z * (-1.98392909e-4 + z * 2.71811842e-6))));
    float c = 1.0 + z * (-0.5 + z * (4.16666381e-2 + z * (-1.38878059e-3 + z * 2.44677067e-5)));
    int n = int(q) & 3;
    vec2 cs = (n & 1) == 0 ? vec2(c, s) : vec2(-s, c); // n = 0: (c, s); 1: (-s, c)
    return (n & 2) == 0 ? cs : -cs;
}

#endif
