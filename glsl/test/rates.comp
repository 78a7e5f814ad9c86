// axes: RATE=RATE_*
//
// One invocation does one thing many times. Benchmark of what a device can do at most (bench/rates.rs).
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require

#define RATE_ARITHMETIC 0
#define RATE_TRIPS 1
#define RATE_READ_NARROW 2
#define RATE_READ_WIDE 3
#define RATE_GATHER_NARROW 4
#define RATE_GATHER_WIDE 5
#define RATE_WRITE_NARROW 6
#define RATE_WRITE_WIDE 7
#define RATE_MINIMA 8

// Times that an invocation does it; each of vectors counts as four.
const uint TIMES_OF_ONE = 16u;
const uint SUMS_OF_ONE = 512u;

layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer Words { uint words[]; };
layout(std430, set = 0, binding = 1) readonly buffer Vectors { vec4 vectors[]; };
layout(std430, set = 0, binding = 2) buffer WrittenWords { uint written_words[]; };
layout(std430, set = 0, binding = 3) buffer WrittenVectors { vec4 written_vectors[]; };
layout(std430, set = 0, binding = 4) buffer Keys { uint64_t keys[]; };

layout(push_constant) uniform Push {
    uint count; // invocations, a power of two
    float factor;
};

uint hashed(uint a) {
    a = (a ^ (a >> 16)) * 0x7feb352du;
    a = (a ^ (a >> 15)) * 0x846ca68bu;
    return a ^ (a >> 16);
}

// Eight sums that do not wait for each other: one product and one sum each.
float arithmetic(float x) {
    float sums[8];
    for (uint k = 0u; k < 8u; k++) sums[k] = x + float(k);
    for (uint n = 0u; n < SUMS_OF_ONE / 8u; n++) {
        for (uint k = 0u; k < 8u; k++) sums[k] = sums[k] * factor + x;
    }
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

// A loop of which each invocation makes other trips.
uint trips(uint i) {
    uint most = TIMES_OF_ONE / 2u + (hashed(i) & (TIMES_OF_ONE - 1u)), last = i;
    for (uint n = 0u; n < most; n++) last = last * 5u + n;
    return last;
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count) return;
    // cases: RATE_*
#if RATE == RATE_ARITHMETIC
    written_words[i] = floatBitsToUint(arithmetic(float(i)));
#elif RATE == RATE_TRIPS
    written_words[i] = trips(i);
#elif RATE == RATE_READ_NARROW
    uint sum = 0u;
    for (uint n = 0u; n < TIMES_OF_ONE; n++) sum += words[n * count + i];
    written_words[i] = sum;
#elif RATE == RATE_READ_WIDE
    vec4 sum = vec4(0.0);
    for (uint n = 0u; n < TIMES_OF_ONE / 4u; n++) sum += vectors[n * count + i];
    written_words[i] = floatBitsToUint(sum.x + sum.y + sum.z + sum.w);
#elif RATE == RATE_GATHER_NARROW
    uint sum = 0u;
    for (uint n = 0u; n < TIMES_OF_ONE; n++) sum += words[hashed(n * count + i) & (TIMES_OF_ONE * count - 1u)];
    written_words[i] = sum;
#elif RATE == RATE_GATHER_WIDE
    vec4 sum = vec4(0.0);
    for (uint n = 0u; n < TIMES_OF_ONE / 4u; n++) sum += vectors[hashed(n * count + i) & (TIMES_OF_ONE / 4u * count - 1u)];
    written_words[i] = floatBitsToUint(sum.x + sum.y + sum.z + sum.w);
#elif RATE == RATE_WRITE_NARROW
    for (uint n = 0u; n < TIMES_OF_ONE; n++) written_words[n * count + i] = i;
#elif RATE == RATE_WRITE_WIDE
    for (uint n = 0u; n < TIMES_OF_ONE / 4u; n++) written_vectors[n * count + i] = vec4(float(i));
#elif RATE == RATE_MINIMA
    for (uint n = 0u; n < TIMES_OF_ONE / 2u; n++) atomicMin(keys[n * count + i], uint64_t(i));
#else
#error "no such rate"
#endif
}
