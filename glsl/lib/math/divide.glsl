// Integers divided as floats: CPU drivers divide integers lane by lane.

#ifndef DIVIDE_GLSL
#define DIVIDE_GLSL

// x / n, exact below 2^20 also where a quotient is 2.5 ulp off, as Vulkan permits.
uvec2 divide(uvec2 x, uvec2 n) { return uvec2((vec2(x) + 0.5) / vec2(n)); }

// x / n for any x below 2^31, exact for quotients below 2^22, and any where n is 1 and x / 1 is x: the first
// one is then off by one at most.
uint divide_large(uint x, uint n) {
    uint q = uint(float(x) / float(n));
    q -= q * n > x ? 1u : 0u;
    return q + ((q + 1u) * n <= x ? 1u : 0u);
}

#endif
