// Environment maps: directions to texture coordinates, filtered as textures are.
//
// A lat-long map has s = 1/2 + longitude / 2 pi (longitude from x towards y) and t from the north pole z (0, the upper
// edge) to -z (1). Its footprint comes from the direction's derivative itself, so that no seam shows; beyond a pole is
// the other side. A cube's faces px nx py / ny pz nz are three by two in one picture, each with y (for py and ny: -z,
// z) up and x (for px and nx: -z, z) to the right, nz mirrored; they overlap if their field of view exceeds 90 degrees.

// The largest component's size.
float rsl_largest_size(const in vec3 v) {
    return max(max(abs(v.x), abs(v.y)), abs(v.z));
}

vec3 rsl_bounded3(const in vec3 v, const in float limit) {
    return vec3(rsl_bounded(v.x, limit), rsl_bounded(v.y, limit), rsl_bounded(v.z, limit));
}

float rsl_inner(const in vec3 a, const in vec3 b) {
    return (a.x * b.x + a.y * b.y) + a.z * b.z;
}

// The probes in a lat-long map for the unit direction d, whose derivatives are orthogonal to it.
RslFootprint rsl_sphere_footprint(const in TextureShape shape, const in vec3 d, const in vec3 dx, const in vec3 dy,
                                  const in vec2 blur, const in uint form, const in float sharpness) {
    float across = rsl_root(d.x * d.x + d.y * d.y);
    float stretch = rsl_reciprocal(max(across, 1e-6));
    float turn = 0.15915494 * (stretch * stretch);
    vec2 x = vec2((d.x * dx.y - d.y * dx.x) * turn, rsl_bounded(dx.z * stretch, rsl_largest_size(dx)) * -0.31830989);
    vec2 y = vec2((d.x * dy.y - d.y * dy.x) * turn, rsl_bounded(dy.z * stretch, rsl_largest_size(dy)) * -0.31830989);
    float s = across > 0.0 ? rsl_atan2(d.y, d.x) * 0.15915494 + 0.5 : 0.5;
    vec2 place = vec2(s, rsl_atan2(across, d.z) * 0.31830989);
    vec2 spread = vec2(min(abs(blur.x) * stretch, 1.0), blur.y);
    vec2 size = vec2(shape.width, shape.height);
    return rsl_footprint(size, shape.levels, place, rsl_bounded2(x, 1.0), rsl_bounded2(y, 1.0), spread, form, 1.0,
                         sharpness);
}

// A vector by its components along a cube's face: to the right, down, out.
vec3 rsl_along_face(const in vec3 v, const in uint face) {
    if (face < 2u) return face == 0u ? vec3(-v.z, -v.y, v.x) : vec3(v.z, -v.y, -v.x);
    if (face < 4u) return face == 2u ? vec3(v.x, v.z, v.y) : vec3(v.x, -v.z, -v.y);
    return face == 4u ? vec3(v.x, -v.y, v.z) : vec3(-v.x, -v.y, -v.z);
}

// The face that a direction meets: that of its largest component.
uint rsl_face(const in vec3 d) {
    vec3 a = abs(d);
    if (a.x >= a.y && a.x >= a.z) return d.x >= 0.0 ? 0u : 1u;
    if (a.y >= a.z) return d.y >= 0.0 ? 2u : 3u;
    return d.z >= 0.0 ? 4u : 5u;
}

// The probes in one face of a cube, whose level 0 has `size` texels.
RslFootprint rsl_face_footprint(const in TextureShape shape, const in uvec2 size, const in uint face, const in vec3 d,
                                const in vec3 dx, const in vec3 dy, const in vec2 blur, const in uint form,
                                const in float sharpness) {
    vec3 v = rsl_along_face(d, face);
    vec3 x = rsl_along_face(dx, face);
    vec3 y = rsl_along_face(dy, face);
    float near = rsl_reciprocal(v.z);
    vec2 place = v.xy * near;
    float half_angle = shape.fov > 0.0 && shape.fov < 179.0 ? 0.0087266463 * shape.fov : 0.78539816;
    float scale = shape.fov == 90.0 ? 0.5 : 0.5 * rsl_cos(half_angle) * rsl_reciprocal(rsl_sin(half_angle));
    vec2 along_x = rsl_bounded2((x.xy - place * x.z) * (near * scale), 4.0);
    vec2 along_y = rsl_bounded2((y.xy - place * y.z) * (near * scale), 4.0);
    // Levels end where a face would be less than a texel.
    uint levels = min(shape.levels, uint(findMSB(min(size.x, size.y))) + 1u);
    return rsl_footprint(vec2(size), levels, place * scale + 0.5, along_x, along_y, blur, form, 1.0, sharpness);
}

// environment(): `wanted` channels from `channel` on, towards r, filtered over (swidth dx, twidth dy). Blur is in
// parts of the map at its equator, or of a cube's face. A direction that is not finite, or none, and a
// shadow map give 0.
vec3 rsl_environment(const in uint token, const in float channel, const in uint wanted, const in vec3 r, const in vec3 dx,
                     const in vec3 dy, const in vec4 width_blur, const in uint filter_number, const in float fill) {
    uint texture = texture_of(token);
    float largest = rsl_largest_size(r);
    bool defined = rsl_is_finite(r.x) && rsl_is_finite(r.y) && rsl_is_finite(r.z) && largest > 1e-30;
    if (texture == TEXTURE_NONE || texture == TEXTURE_UNKNOWN || !defined) return vec3(0.0);
    TextureShape shape = texture_shape(texture);
    if (shape.kind == RSL_KIND_SHADOW || shape.kind == RSL_KIND_DEEP) return vec3(0.0);
    float scale = rsl_reciprocal(min(largest, 1e30));
    vec3 d = rsl_bounded3(r * scale, 1.0);
    float shorter = rsl_reciprocal(rsl_root(rsl_inner(d, d)));
    d = d * shorter;
    vec2 width = rsl_bounded2(width_blur.xy, 1e9);
    vec3 x = rsl_bounded3(rsl_bounded3(dx * (scale * shorter), 1e9) * width.x, 16.0);
    vec3 y = rsl_bounded3(rsl_bounded3(dy * (scale * shorter), 1e9) * width.y, 16.0);
    x = x - d * rsl_inner(d, x);
    y = y - d * rsl_inner(d, y);
    vec2 blur = rsl_bounded2(width_blur.zw, 1.0);
    float sharpness = rsl_sharpness(width, filter_number);
    uint form = filter_number % RSL_FILTER_PLAIN;
    RslWindow window = rsl_whole(shape, texture, channel, wanted);
    if (shape.kind != RSL_KIND_CUBE) {
        shape.kind = RSL_KIND_LAT_LONG;
        RslFootprint around = rsl_sphere_footprint(shape, d, x, y, blur, form, sharpness);
        return rsl_filter_window(shape, window, around, form, fill);
    }
    uint face = rsl_face(d);
    window.cell = uvec2(face % 3u, face / 3u);
    window.parts = uvec2(3u, 2u);
    shape.wrap_s = RSL_WRAP_CLAMP;
    shape.wrap_t = RSL_WRAP_CLAMP;
    uvec2 size = max(uvec2(shape.width, shape.height) / window.parts, uvec2(1u));
    RslFootprint f = rsl_face_footprint(shape, size, face, d, x, y, blur, form, sharpness);
    return rsl_filter_window(shape, window, f, form, fill);
}
