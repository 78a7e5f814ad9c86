// Shadow maps: percentage closer filtering (Reeves, Salesin and Cook 1987). A map holds z of its camera (in its
// units, not divided by the far plane; 1e38 where there is nothing) for the texel's centre.

#define RSL_SHADOW_SAMPLES_MAX 256.0

// The light that reaches depth z at a texel of a deep shadow map (Lokovic and Veach 2000): 1 before the first knot,
// linear between two, that of the last one behind it. Channels 2 k and 2 k + 1 are the depth of knot k and its light;
// depths of knots that a texel lacks are 1e38.
float rsl_knot(const in uint texture, const in uint plane, const in uvec2 texel) {
    uint slot = tile_slot(texture, 0u, plane, texel >> 6);
    return slot == TILE_MISSING ? 0.0 : uintBitsToFloat(slot_word(slot, tile_word(texel)));
}

float rsl_deep_light(const in uint texture, const in uint knots, const in uvec2 texel, const in float z) {
    uint low = 0u;
    uint high = knots;
    // The search, and the loops that find its tiles.
    rsl_trips = rsl_trips + 16u;
    while (low < high) {
        uint middle = (low + high) >> 1;
        if (rsl_knot(texture, 2u * middle, texel) < z) low = middle + 1u;
        else high = middle;
    }
    if (low == 0u) return 1.0;
    float before = rsl_knot(texture, 2u * low - 1u, texel);
    if (low == knots) return before;
    float from = rsl_knot(texture, 2u * low - 2u, texel);
    float to = rsl_knot(texture, 2u * low, texel);
    if (to >= 1e37) return before;
    return before + (rsl_knot(texture, 2u * low + 1u, texel) - before) * ((z - from) * rsl_reciprocal(to - from));
}

// m * (v, w), columns in order.
vec4 rsl_transformed(const in mat4 m, const in vec3 v, const in float w) {
    return ((m[0] * v.x + m[1] * v.y) + m[2] * v.z) + m[3] * w;
}

// What a shadow map sees of an area: whether any of it is before its camera; the middle in the map, and how the place
// changes along x (xy) and y (zw) of the area; what is sampled around each place; the middle's depth and its changes.
struct RslMapArea {
    bool is_seen;
    vec2 place;
    vec4 xy;
    vec2 spread;
    vec3 depths;
};

// Of the parallelogram about p with sides x and y.
RslMapArea rsl_map_area(const in mat4 camera, const in mat4 picture, const in vec3 p, const in vec3 x, const in vec3 y,
                        const in vec2 spread) {
    vec4 q = rsl_transformed(picture, p, 1.0);
    RslMapArea area;
    area.depths = vec3(rsl_transformed(camera, p, 1.0).z, rsl_transformed(camera, x, 0.0).z,
                       rsl_transformed(camera, y, 0.0).z);
    area.is_seen = q.w > 1e-30 && q.w < 1e30 && area.depths.x > 0.0;
    float near = rsl_reciprocal(q.w);
    area.place = q.xy * near;
    vec4 qx = rsl_transformed(picture, x, 0.0);
    vec4 qy = rsl_transformed(picture, y, 0.0);
    area.xy = vec4((qx.xy - area.place * qx.w) * near, (qy.xy - area.place * qy.w) * near);
    area.spread = spread;
    return area;
}

// What is sampled around each place: blur, and a texel, so that steps between texels do not show.
vec2 rsl_map_spread(const in vec2 blur, const in uint width, const in uint height) {
    return rsl_bounded2(blur, 4.0) + vec2(rsl_reciprocal(float(width)), rsl_reciprocal(float(height)));
}

// samples (below 1: 16), bias0 and bias1 within their bounds.
vec3 rsl_shadow_sampling(const in vec3 samples_bias) {
    float samples = rsl_bounded(samples_bias.x, RSL_SHADOW_SAMPLES_MAX);
    samples = samples < 1.0 ? 16.0 : floor(samples);
    return vec3(samples, rsl_bounded(samples_bias.y, 1e30), rsl_bounded(samples_bias.z, 1e30));
}

// Sample i of a part `share` of them: its place in the map, as parts of it, and the depth that is compared there.
vec3 rsl_shadow_sample(const in uint i, const in float share, const in RslMapArea area, const in vec3 samples_bias,
                       const in uint seed) {
    // Stratified by i along x, and along y by its reversed bits (Hammersley), both shifted by the seed.
    vec3 random = rsl_unit3(rsl_hash(seed, i));
    float jx = (float(i) + random.x) * share - 0.5;
    float jy = rsl_unit(bitfieldReverse(i) ^ rsl_scramble(seed)) - 0.5;
    vec2 at = area.place + ((area.xy.xy * jx + area.xy.zw * jy) + area.spread * vec2(jx, jy));
    float z = (area.depths.x + (area.depths.y * jx + area.depths.z * jy)) - (samples_bias.y + (samples_bias.z - samples_bias.y) * random.z);
    return vec3(at, z);
}

// As rsl_shadowed(), in a deep shadow map. A loop of its own, as CPU drivers run both sides of a branch.
float rsl_deep_shadowed(const in TextureShape shape, const in uint texture, const in RslMapArea area,
                        const in vec3 samples_bias, const in uint seed) {
    uint count = uint(samples_bias.x);
    float share = rsl_reciprocal(samples_bias.x);
    vec2 size = vec2(shape.width, shape.height);
    float dark = 0.0;
    rsl_trips = rsl_trips + count;
    for (uint i = 0u; i < count; i++) {
        vec3 placed = rsl_shadow_sample(i, share, area, samples_bias, seed);
        vec2 at = placed.xy * size;
        if (!(at.x >= 0.0 && at.y >= 0.0 && at.x < size.x && at.y < size.y)) continue;
        uvec2 texel = min(uvec2(at), uvec2(shape.width, shape.height) - 1u);
        dark = dark + (1.0 - rsl_deep_light(texture, shape.channels >> 1, texel, placed.z));
    }
    return dark * share;
}

// A sample of a shadow map: its tile as one number (TILE_MISSING beside the map), its word there, and its depth.
struct RslShadowTexel {
    uint tile;
    uint inside;
    float z;
};

RslShadowTexel rsl_shadow_texel(const in uint i, const in float share, const in vec2 size, const in RslMapArea area,
                                const in vec3 samples_bias, const in uint seed) {
    vec3 placed = rsl_shadow_sample(i, share, area, samples_bias, seed);
    vec2 at = placed.xy * size;
    bool is_inside = at.x >= 0.0 && at.y >= 0.0 && at.x < size.x && at.y < size.y;
    uvec2 texel = min(uvec2(is_inside ? at : vec2(0.0)), uvec2(size) - 1u);
    RslShadowTexel sampled;
    sampled.tile = is_inside ? (texel.x >> 6) | ((texel.y >> 6) << 16) : TILE_MISSING;
    sampled.inside = tile_word(texel);
    sampled.z = placed.z;
    return sampled;
}

// The fraction of `count` samples in a window of a shadow map (place + jitter * x + jitter * y + jitter * spread)
// that lie behind the map's depth; depths: the point's, its change along x and along y. The map begins at a row of
// tiles.
float rsl_shadowed(const in TextureShape shape, const in RslWindow window, const in uint first_row,
                   const in RslMapArea area, const in vec3 samples_bias, const in uint seed) {
    uint count = uint(samples_bias.x);
    float share = rsl_reciprocal(samples_bias.x);
    uint each = rsl_channels_of_word(shape.format);
    uint plane = window.first / each;
    vec2 size = vec2(shape.width, shape.height);
    float behind = 0.0;
    rsl_trips = rsl_trips + 5u * count;
    // CPU drivers run both sides of a branch, and to find a tile costs more than a sample: the inner loop takes the
    // samples that follow each other in one tile.
    uint i = 0u;
    RslShadowTexel sampled = rsl_shadow_texel(0u, share, size, area, samples_bias, seed);
    while (i < count) {
        uint tile = sampled.tile;
        uvec2 at = uvec2(tile & 0xffffu, first_row + (tile >> 16));
        uint slot = tile == TILE_MISSING ? tile : tile_slot(window.texture, 0u, plane, at);
        do {
#ifndef RSL_ONLY_NAMES
            bool is_there = slot != TILE_MISSING && sampled.tile != TILE_MISSING;
            uint word = slot_word(is_there ? slot : 0u, is_there ? sampled.inside : 0u);
            bool open = shape.format == 3u && !rsl_is_finite(uintBitsToFloat(word));
            float depth = rsl_component(rsl_word_channels(word, shape.format), window.first - plane * each);
            behind = behind + (is_there && !open && sampled.z > depth ? 1.0 : 0.0);
#endif
            i = i + 1u;
            sampled = rsl_shadow_texel(i, share, size, area, samples_bias, seed);
        } while (i < count && (sampled.tile == TILE_MISSING || sampled.tile == tile));
    }
    return behind * share;
}
