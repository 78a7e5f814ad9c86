// One invocation answers one query by a lookup of a texture whose tiles are all there. Test of the library's texture
// functions.
#version 460
#extension GL_GOOGLE_include_directive : require

const uint TEXTURE_NONE = 0xffffffff;
const uint TEXTURE_UNKNOWN = 0xfffffffe;
const uint TILE_MISSING = 0xffffffff;
const uint TEXTURE_FORMS = 127u;
const uint LOOKUP_HEADER_WORDS = 64;
const uint LOOKUP_SLOTS_FROM = 1024;

// One query: which function, the token, the channel, how many channels, the form of the filter, numbers. Of a point
// cloud: P in `middle`, N in `along_x`, radius and scale in `width_blur`, the channel's hash in `wanted` and `seed`. Of
// an occlusion map: the normal in the last parts of `middle`, `along_x` and `along_y`.
struct LookupQuery {
    uint what;
    uint token;
    float channel;
    uint wanted;
    uint form;
    uint seed;
    float fill;
    float between;
    vec4 middle;
    vec4 along_x;
    vec4 along_y;
    vec4 width_blur;
    vec4 samples_bias;
};

// A header of 64 words a texture, from the second on; then slots of 64 x 64 words.
layout(std430, set = 0, binding = 0) readonly buffer Store { uint store[]; };
layout(std430, set = 0, binding = 1) readonly buffer Queries { LookupQuery queries[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Results { vec4 results[]; };

layout(push_constant) uniform Push { uint count; };

struct TextureShape {
    uint width;
    uint height;
    uint levels;
    uint channels;
    uint format;
    uint kind;
    uint wrap_s;
    uint wrap_t;
    uint matrices;
    float fov;
};

uint texture_of(const in uint token) {
    return token != 0u && store[token * LOOKUP_HEADER_WORDS] != 0u ? token : TEXTURE_NONE;
}

TextureShape texture_shape(const in uint number) {
    uint w = number * LOOKUP_HEADER_WORDS;
    return TextureShape(store[w], store[w + 1u], store[w + 2u], store[w + 3u], store[w + 4u], store[w + 5u], store[w + 6u],
                        store[w + 7u], store[w + 8u], uintBitsToFloat(store[w + 9u]));
}

vec4 matrix_column(const in uint word) {
    return uintBitsToFloat(uvec4(store[word], store[word + 1u], store[word + 2u], store[word + 3u]));
}

mat4 texture_matrix(const in uint record) {
    uint w = record * 4u;
    return mat4(matrix_column(w), matrix_column(w + 4u), matrix_column(w + 8u), matrix_column(w + 12u));
}

// Slots lie level by level, in each plane by plane, in each row by row.
uint tile_slot(const in uint number, const in uint level, const in uint plane, const in uvec2 tile) {
    uint w = number * LOOKUP_HEADER_WORDS;
    uvec2 size = uvec2(store[w], store[w + 1u]);
    uint slot = store[w + 10u];
    for (uint l = 0u; l < level; l++) {
        uvec2 tiles = (max(size >> l, uvec2(1u)) + 63u) >> 6;
        slot += tiles.x * tiles.y * store[w + 11u];
    }
    uvec2 tiles = (max(size >> level, uvec2(1u)) + 63u) >> 6;
    return slot + (plane * tiles.y + tile.y) * tiles.x + tile.x;
}

uint tile_word(const in uvec2 texel) {
    return ((texel.y & 63u) << 6) | (texel.x & 63u);
}

uint slot_word(const in uint slot, const in uint inside) {
    return store[LOOKUP_SLOTS_FROM + slot * 4096u + inside];
}

#include "lib/rsl/hash.glsl"
#include "lib/rsl/math.glsl"
#include "lib/rsl/trips.glsl"
#include "lib/rsl/texture.glsl"
#include "lib/rsl/environment.glsl"
#include "lib/rsl/points.glsl"
#include "lib/rsl/shadow.glsl"
#include "lib/rsl/views.glsl"
#include "lib/rsl/shadow_lookup.glsl"
#include "lib/rsl/occlusion.glsl"

layout(local_size_x = 64) in;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count) return;
    LookupQuery q = queries[i];
    vec3 found = vec3(0.0);
    if (q.what == 0u) {
        found = rsl_texture(q.token, q.channel, q.wanted, q.middle.xy, q.along_x.xy, q.along_y.xy, q.width_blur, q.form, q.fill,
                            q.between);
    } else if (q.what == 1u) {
        found = rsl_environment(q.token, q.channel, q.wanted, q.middle.xyz, q.along_x.xyz, q.along_y.xyz, q.width_blur, q.form,
                                q.fill);
    } else if (q.what == 2u) {
        found.x = rsl_shadow(q.token, q.channel, q.middle.xyz, q.along_x.xyz, q.along_y.xyz, q.width_blur, q.samples_bias, q.seed);
    } else if (q.what == 3u) {
        found.x = rsl_textureinfo(q.token, q.wanted, q.seed);
    } else if (q.what == 5u) {
        vec3 normal = vec3(q.middle.w, q.along_x.w, q.along_y.w);
        found.x = rsl_occlusion(q.token, q.middle.xyz, q.along_x.xyz, q.along_y.xyz, normal, q.width_blur, q.samples_bias.xyz,
                                q.seed);
    } else {
        results[i] = rsl_points(q.token, q.middle.xyz, q.along_x.xyz, q.width_blur.xy, uvec2(q.wanted, q.seed));
        return;
    }
    results[i] = vec4(found, 0.0);
}
