// One invocation reads parts of records of all shapes, at places that it computes. Test of what becomes texels.
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

struct TexelRecord {
    vec3 v;
    float f;
    mat4 m;
    uint list[4];
    vec4 rows[2];
    ivec2 pair;
    uvec2 two;
};

struct TexelOdd {
    uint a;
    float b;
    int c[3];
};

layout(std430, set = 0, binding = 0) readonly buffer Records { TexelRecord records[]; };
layout(std430, set = 0, binding = 1) readonly buffer Odds { TexelOdd odds[]; };
layout(std430, set = 0, binding = 2) readonly buffer Vectors { vec4 vectors[]; };
layout(std430, set = 0, binding = 3) readonly buffer Keys { uint64_t keys[]; };
layout(std430, set = 0, binding = 4) writeonly buffer Results { vec4 results[]; };

layout(push_constant) uniform Push { uint count; };

layout(local_size_x = 64) in;

vec4 whole(TexelRecord r, uint k) { return vec4(r.v.y + r.f, r.m[2].z, float(r.list[k & 3u]), r.rows[1].x); }

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count) return;
    uint j = (i * 7u) % count, k = i & 3u;
    results[4u * i] = whole(records[j], k);
    results[4u * i + 1u] = vec4(records[j].m[k][1], records[j].rows[i & 1u].w, float(records[j].pair.y), float(records[j].two[i & 1u]));
    results[4u * i + 2u] = vec4(float(odds[j].a), odds[j].b, float(odds[j].c[k % 3u]), vectors[j][k]);
    results[4u * i + 3u] = vec4(vectors[j].zw, float(records[j].list[k]), float(uint(keys[j] >> 32)));
}
