// One invocation lowers one key of 64 bits. Test of atomic operations on 64-bit integers.
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require

layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) buffer Keys { uint64_t keys[]; };

layout(push_constant) uniform Push { uint count; uint key_count; };

// A hash with full avalanche (the finaliser of MurmurHash3).
uint hash(uint x) {
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    return x ^ (x >> 16);
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count) return;
    uint64_t key = (uint64_t(hash(i)) << 32) | i;
    atomicMin(keys[hash(i ^ 0x9e3779b9u) % key_count], key);
}
