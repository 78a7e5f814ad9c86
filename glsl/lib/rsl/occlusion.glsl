// Occlusion maps: shadow maps seen from many sides (spirv-gen/src/abi.rs, "occlusion").

#define RSL_OCCLUSION_VIEWS_MAX 1023u

float rsl_view_float(const in uint slot, const in uint word) {
    return uintBitsToFloat(slot_word(slot, word));
}

// A number above 0, or 0.
uint rsl_view_number(const in uint slot, const in uint word) {
    return uint(max(rsl_bounded(rsl_view_float(slot, word), 4194304.0), 0.0));
}

vec4 rsl_view_column(const in uint slot, const in uint word) {
    return vec4(rsl_view_float(slot, word), rsl_view_float(slot, word + 1u), rsl_view_float(slot, word + 2u),
                rsl_view_float(slot, word + 3u));
}

mat4 rsl_view_matrix(const in uint slot, const in uint word) {
    return mat4(rsl_view_column(slot, word), rsl_view_column(slot, word + 4u), rsl_view_column(slot, word + 8u),
                rsl_view_column(slot, word + 12u));
}

// The cosine between a normal of length 1 and the direction from which a view sees.
float rsl_view_cosine(const in mat4 camera, const in vec3 facing) {
    vec3 axis = rsl_bounded3(vec3(camera[0].z, camera[1].z, camera[2].z), 1e15);
    float square = rsl_inner(axis, axis);
    return square < RSL_SMALLEST ? 0.0 : -rsl_inner(facing, axis) * rsl_reciprocal(rsl_root(square));
}

// occlusion(): the part of the light from all around that does not reach the area (as of rsl_shadow(), in world space)
// with the normal n, by the maps that it faces, each weighed by the cosine. The samples (0: 16) are divided among the
// maps as if these looked evenly from all sides, and each that counts gets one at least.
float rsl_occlusion(const in uint token, const in vec3 p, const in vec3 dx, const in vec3 dy, const in vec3 n,
                    const in vec4 width_blur, const in vec3 samples_bias, const in uint seed) {
    uint texture = texture_of(token);
    if (texture == TEXTURE_NONE || texture == TEXTURE_UNKNOWN) return 0.0;
    TextureShape shape = texture_shape(texture);
    bool defined = rsl_is_finite(p.x) && rsl_is_finite(p.y) && rsl_is_finite(p.z);
    vec3 normal = rsl_bounded3(n, 1e15);
    float square = rsl_inner(normal, normal);
    if (shape.kind != RSL_KIND_OCCLUSION || shape.format != 3u || !defined || square < RSL_SMALLEST) return 0.0;
    uint head = tile_slot(texture, 0u, 0u, uvec2(0u));
    if (head == TILE_MISSING) return 0.0;
    uint views = min(rsl_view_number(head, 0u), RSL_OCCLUSION_VIEWS_MAX);
    shape.width = min(rsl_view_number(head, 1u), shape.width);
    shape.height = min(rsl_view_number(head, 2u), shape.height);
    if (views == 0u || shape.width == 0u || shape.height == 0u) return 0.0;
    uint rows = (shape.height + 63u) >> 6;
    vec3 facing = normal * rsl_reciprocal(rsl_root(square));
    vec3 at = rsl_bounded3(p, 1e15);
    vec2 width = rsl_bounded2(width_blur.xy, 1e9);
    vec3 x = rsl_bounded3(rsl_bounded3(dx, 1e9) * width.x, 1e9);
    vec3 y = rsl_bounded3(rsl_bounded3(dy, 1e9) * width.y, 1e9);
    vec2 spread = rsl_map_spread(width_blur.zw, shape.width, shape.height);
    vec3 how = rsl_shadow_sampling(samples_bias);
    float share = 4.0 * how.x * rsl_reciprocal(float(views));
    RslWindow window = rsl_whole(shape, texture, 0.0, 1u);
    float dark = 0.0;
    float total = 0.0;
    // Loops of a view that are begun by all lanes of a CPU driver where one needs it; samples count by themselves.
    rsl_trips = rsl_trips + 6u * views;
    for (uint i = 0u; i < views; i++) {
        uint slot = tile_slot(texture, 0u, 0u, uvec2(0u, (i + 1u) >> 7));
        uint word = ((i + 1u) & 127u) << 5;
        mat4 camera = rsl_view_matrix(slot == TILE_MISSING ? 0u : slot, word);
        float cosine = rsl_view_cosine(camera, facing);
        if (slot == TILE_MISSING || !(cosine > 0.0)) continue;
        total = total + cosine;
        RslMapArea area = rsl_map_area(camera, rsl_view_matrix(slot, word + 16u), at, x, y, spread);
        if (!area.is_seen) continue;
        how.x = min(floor(share * cosine) + 1.0, RSL_SHADOW_SAMPLES_MAX);
        uint first_row = ((views + 128u) >> 7) + i * rows;
        dark = dark + cosine * rsl_shadowed(shape, window, first_row, area, how, rsl_hash(seed, i));
    }
    return total > 0.0 ? dark * rsl_reciprocal(total) : 0.0;
}
