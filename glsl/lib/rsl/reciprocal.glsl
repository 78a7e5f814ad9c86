// A reciprocal of products and sums alone, so that every device computes the same.

#ifndef RECIPROCAL_GLSL
#define RECIPROCAL_GLSL

// 1 / x for x in 1e-36..1e36, within 1 ulp.
float rsl_reciprocal(const in float x) {
    float y = uintBitsToFloat(0x7ef311c7u - floatBitsToUint(x));
    y = y + y * (1.0 - x * y);
    y = y + y * (1.0 - x * y);
    y = y + y * (1.0 - x * y);
    return y + y * (1.0 - x * y);
}

// 1 / sqrt(x) for x in 1e-36..1e36, within a few ulp.
float rsl_inverse_root(const in float x) {
    float y = uintBitsToFloat(0x5f3759dfu - (floatBitsToUint(x) >> 1)), h = 0.5 * x;
    y = y * (1.5 - (h * y) * y);
    y = y * (1.5 - (h * y) * y);
    y = y * (1.5 - (h * y) * y);
    return y * (1.5 - (h * y) * y);
}

#endif
