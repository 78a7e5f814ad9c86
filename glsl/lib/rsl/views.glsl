// Shadow maps seen from several places, in one texture (spirv-gen/src/abi.rs, "occlusion").

#define RSL_OCCLUSION_VIEWS_MAX 1023u
// The most samples of shadow() in all maps together, as CPU drivers end long loops.
#define RSL_VIEW_SAMPLES_MAX 16384u

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

// The maps of a texture: none where it is not here yet.
struct RslViews {
    uint count;
    uint width;
    uint height;
};

RslViews rsl_views(const in uint texture, const in TextureShape shape) {
    RslViews views = RslViews(0u, 0u, 0u);
    if (shape.kind != RSL_KIND_OCCLUSION || shape.format != 3u) return views;
    uint head = tile_slot(texture, 0u, 0u, uvec2(0u));
    if (head == TILE_MISSING) return views;
    views.width = min(rsl_view_number(head, 1u), shape.width);
    views.height = min(rsl_view_number(head, 2u), shape.height);
    bool has_texels = views.width != 0u && views.height != 0u;
    views.count = has_texels ? min(rsl_view_number(head, 0u), RSL_OCCLUSION_VIEWS_MAX) : 0u;
    return views;
}

// The first row of tiles of a map.
uint rsl_view_row(const in RslViews views, const in uint i) {
    return ((views.count + 128u) >> 7) + i * ((views.height + 63u) >> 6);
}

// The slot with a map's matrices, and the first word of them there.
uvec2 rsl_view_place(const in uint texture, const in uint i) {
    return uvec2(tile_slot(texture, 0u, 0u, uvec2(0u, (i + 1u) >> 7)), ((i + 1u) & 127u) << 5);
}

// Which of the samples `begin` to `end` (exclusive, 32 at most) of an area lie behind what a map sees, as bits.
uint rsl_behind_view(const in TextureShape map, const in uint texture, const in uint first_row, const in RslMapArea area,
                     const in vec3 how, const in uint seed, const in uvec2 range) {
    float share = rsl_reciprocal(how.x);
    vec2 size = vec2(map.width, map.height);
    uint behind = 0u;
    uint tile = TILE_MISSING;
    uint slot = TILE_MISSING;
    rsl_trips = rsl_trips + range.y - range.x;
    for (uint i = range.x; i < range.y; i++) {
        RslShadowTexel sampled = rsl_shadow_texel(i, share, size, area, how, seed);
        if (sampled.tile == TILE_MISSING) continue;
        if (sampled.tile != tile) {
            tile = sampled.tile;
            slot = tile_slot(texture, 0u, 0u, uvec2(tile & 0xffffu, first_row + (tile >> 16)));
        }
#ifndef RSL_ONLY_NAMES
        if (slot == TILE_MISSING) continue;
        float depth = uintBitsToFloat(slot_word(slot, sampled.inside));
        behind = behind | (rsl_is_finite(depth) && sampled.z > depth ? 1u << (i - range.x) : 0u);
#endif
    }
    return behind;
}

// As rsl_shadow(), of several maps: the fraction of the area that lies behind what any of them sees. All take the same
// samples, so that maps side by side join without a seam, and what two of them see counts once. The record `matrices`
// takes p, x and y to world space.
float rsl_shadow_of_views(const in TextureShape shape, const in uint texture, const in vec3 p, const in vec3 x,
                          const in vec3 y, const in vec2 blur, const in vec3 how, const in uint seed) {
    RslViews views = rsl_views(texture, shape);
    if (views.count == 0u) return 0.0;
    TextureShape map = shape;
    map.width = views.width;
    map.height = views.height;
    mat4 world = texture_matrix(shape.matrices);
    vec3 at = rsl_bounded3(rsl_transformed(world, p, 1.0).xyz, 1e15);
    vec3 along_x = rsl_bounded3(rsl_transformed(world, x, 0.0).xyz, 1e15);
    vec3 along_y = rsl_bounded3(rsl_transformed(world, y, 0.0).xyz, 1e15);
    vec2 spread = rsl_map_spread(blur, map.width, map.height);
    vec3 each = vec3(min(how.x, float(RSL_VIEW_SAMPLES_MAX / views.count)), how.yz);
    uint samples = uint(each.x);
    uint dark = 0u;
    for (uint begin = 0u; begin < samples; begin = begin + 32u) {
        uvec2 range = uvec2(begin, min(begin + 32u, samples));
        uint behind = 0u;
        rsl_trips = rsl_trips + 1u + 6u * views.count;
        for (uint i = 0u; i < views.count; i++) {
            uvec2 place = rsl_view_place(texture, i);
            if (place.x == TILE_MISSING) continue;
            mat4 camera = rsl_view_matrix(place.x, place.y);
            RslMapArea area = rsl_map_area(camera, rsl_view_matrix(place.x, place.y + 16u), at, along_x, along_y, spread);
            if (!area.is_seen) continue;
            behind = behind | rsl_behind_view(map, texture, rsl_view_row(views, i), area, each, seed, range);
        }
        dark = dark + uint(bitCount(behind));
    }
    return float(dark) * rsl_reciprocal(each.x);
}
