// occlusion(): maps seen from many sides (views.glsl).

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
    if (!defined || square < RSL_SMALLEST) return 0.0;
    RslViews views = rsl_views(texture, shape);
    if (views.count == 0u) return 0.0;
    shape.width = views.width;
    shape.height = views.height;
    vec3 facing = normal * rsl_reciprocal(rsl_root(square));
    vec3 at = rsl_bounded3(p, 1e15);
    vec2 width = rsl_bounded2(width_blur.xy, 1e9);
    vec3 x = rsl_bounded3(rsl_bounded3(dx, 1e9) * width.x, 1e9);
    vec3 y = rsl_bounded3(rsl_bounded3(dy, 1e9) * width.y, 1e9);
    vec2 spread = rsl_map_spread(width_blur.zw, shape.width, shape.height);
    vec3 how = rsl_shadow_sampling(samples_bias);
    float share = 4.0 * how.x * rsl_reciprocal(float(views.count));
    RslWindow window = rsl_whole(shape, texture, 0.0, 1u);
    float dark = 0.0;
    float total = 0.0;
    // Loops of a view that are begun by all lanes of a CPU driver where one needs it; samples count by themselves.
    rsl_trips = rsl_trips + 6u * views.count;
    for (uint i = 0u; i < views.count; i++) {
        uvec2 place = rsl_view_place(texture, i);
        mat4 camera = rsl_view_matrix(place.x == TILE_MISSING ? 0u : place.x, place.y);
        float cosine = rsl_view_cosine(camera, facing);
        if (place.x == TILE_MISSING || !(cosine > 0.0)) continue;
        total = total + cosine;
        RslMapArea area = rsl_map_area(camera, rsl_view_matrix(place.x, place.y + 16u), at, x, y, spread);
        if (!area.is_seen) continue;
        how.x = min(floor(share * cosine) + 1.0, RSL_SHADOW_SAMPLES_MAX);
        dark = dark + cosine * rsl_shadowed(shape, window, rsl_view_row(views, i), area, how, rsl_hash(seed, i));
    }
    return total > 0.0 ? dark * rsl_reciprocal(total) : 0.0;
}
