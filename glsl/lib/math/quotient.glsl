// Division that is correctly rounded on every device, whose own `/` may be off by 2.5 ulp: so what is divided by itself
// is 1, and depths are the same numbers everywhere. The quotient's residual, found by splitting factors into halves of
// 12 bits, whose products are exact (Dekker 1971), corrects it. Where that overflows, it is a times 1 / b.

#ifndef QUOTIENT_GLSL
#define QUOTIENT_GLSL

const float QUOTIENT_MAX = 3.4e38;

float upper_half(float x) { return uintBitsToFloat(floatBitsToUint(x) & 0xfffff000u); }

// a / b, where `inverse` is about 1 / b.
float quotient_by(float a, float b, float inverse) {
    float q = a * inverse;
    float q1 = upper_half(q), q2 = q - q1, b1 = upper_half(b), b2 = b - b1;
    float better = q + ((((a - q1 * b1) - q1 * b2) - q2 * b1) - q2 * b2) * inverse;
    return abs(better) < QUOTIENT_MAX ? better : q; // also where it is NaN
}

float quotient(float a, float b) { return quotient_by(a, b, 1.0 / b); }
vec2 quotient(vec2 a, float b) {
    float inverse = 1.0 / b;
    return vec2(quotient_by(a.x, b, inverse), quotient_by(a.y, b, inverse));
}
vec4 quotient(vec4 a, float b) {
    float inverse = 1.0 / b;
    return vec4(quotient_by(a.x, b, inverse), quotient_by(a.y, b, inverse), quotient_by(a.z, b, inverse), quotient_by(a.w, b, inverse));
}

float reciprocal(float x) { return quotient(1.0, x); }
vec4 reciprocal(vec4 x) { return vec4(reciprocal(x.x), reciprocal(x.y), reciprocal(x.z), reciprocal(x.w)); }

#endif
