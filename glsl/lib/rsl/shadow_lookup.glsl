// shadow(), in maps of all kinds, and textureinfo().

// shadow(): 0 where p is lit, 1 where all of it lies behind what the map sees. p, dx and dy are in the space of this
// picture's camera. The area is the parallelogram (swidth dx, twidth dy), blur in parts of the map, and a texel, so
// that steps between texels do not show. Points behind the map's camera or outside its picture are lit, as is
// everything where the texture is no shadow map. samples_bias: samples (0: 16), bias0, bias1, and a gap that maps in
// one picture lack.
float rsl_shadow(const in uint token, const in float channel, const in vec3 p, const in vec3 dx, const in vec3 dy,
                 const in vec4 width_blur, const in vec4 samples_bias, const in uint seed) {
    uint texture = texture_of(token);
    if (texture == TEXTURE_NONE || texture == TEXTURE_UNKNOWN) return 0.0;
    TextureShape shape = texture_shape(texture);
    RslWindow window = rsl_whole(shape, texture, channel, 1u);
    bool defined = rsl_is_finite(p.x) && rsl_is_finite(p.y) && rsl_is_finite(p.z);
    bool of_views = textures_have(TEXTURE_VIEWS) && shape.kind == RSL_KIND_OCCLUSION;
    if (shape.matrices == 0u || !(of_views || window.first < window.end) || !defined) return 0.0;
    vec2 width = rsl_bounded2(width_blur.xy, 1e9);
    vec3 x = rsl_bounded3(rsl_bounded3(dx, 1e9) * width.x, 1e9);
    vec3 y = rsl_bounded3(rsl_bounded3(dy, 1e9) * width.y, 1e9);
    vec3 how = rsl_shadow_sampling(samples_bias.xyz);
    if (of_views) return rsl_shadow_of_views(shape, texture, rsl_bounded3(p, 1e15), x, y, width_blur.zw, how, seed);
    mat4 camera = texture_matrix(shape.matrices);
    mat4 picture = texture_matrix(shape.matrices + 4u);
    vec2 spread = rsl_map_spread(width_blur.zw, shape.width, shape.height);
    RslMapArea area = rsl_map_area(camera, picture, rsl_bounded3(p, 1e15), x, y, spread);
    if (!area.is_seen) return 0.0;
    if (textures_have(TEXTURE_DEEP) && shape.kind == RSL_KIND_DEEP) {
        return rsl_deep_shadowed(shape, texture, area, how, seed);
    }
    return rsl_shadowed(shape, window, 0u, area, how, seed);
}

// textureinfo(): 0 exists, 1 resolution, 2 channels, 3 type (0 texture, 1 environment, 2 shadow), 4 and 5 the
// matrices of a shadow map's camera and picture, 6 bits of a channel. 0 of a texture that is missing.
float rsl_textureinfo(const in uint token, const in uint what, const in uint index) {
    uint texture = texture_of(token);
    if (texture == TEXTURE_NONE || texture == TEXTURE_UNKNOWN) return 0.0;
    TextureShape shape = texture_shape(texture);
    if (what == 0u) return 1.0;
    if (shape.kind == RSL_KIND_POINTS || shape.kind == RSL_KIND_OCCLUSION) return 0.0;
    if (what == 1u) return float(index == 0u ? shape.width : shape.height);
    // Each knot of a deep shadow map is two channels of ours.
    if (what == 2u) return shape.kind == RSL_KIND_DEEP ? 1.0 : float(shape.channels);
    if (what == 3u) return shape.kind == RSL_KIND_SHADOW || shape.kind == RSL_KIND_DEEP ? 2.0 : shape.kind == 0u ? 0.0 : 1.0;
    if (what == 6u) return shape.format == 0u ? 8.0 : shape.format == 3u ? 32.0 : 16.0;
    bool known = shape.matrices != 0u && what < 6u && index < 16u;
    if (!known) return 0.0;
    mat4 m = texture_matrix(shape.matrices + (what == 4u ? 0u : 4u));
    uint column = index >> 2;
    return rsl_component(column == 0u ? m[0] : column == 1u ? m[1] : column == 2u ? m[2] : m[3], index & 3u);
}
