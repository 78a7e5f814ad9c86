// Gradient noise in one to four dimensions, periodic noise, cellnoise (RISpec 15.1).
//
// A lattice point is hashed through one linear combination of its coordinates, so that the corners of a cell share the multiplications;
// gradients are picked by hash bits with selects and sign flips. The interpolant 6t^5 - 15t^4 + 10t^3 has two continuous derivatives.
// Results are (1 + scaled noise) / 2, clamped to 0..1: mean 1/2, exactly 1/2 at lattice points. The scales give every dimension the
// contrast of the third.

#define RSL_K1 0x9e3779b1u
#define RSL_K2 0x85ebca77u
#define RSL_K3 0xc2b2ae3du
#define RSL_K4 0x27d4eb2fu

#define RSL_SCALE1 0.93
#define RSL_SCALE2 0.578
#define RSL_SCALE3 0.5
#define RSL_SCALE4 0.461

float rsl_fade(const in float t) {
    return t * t * t * (t * (t * 6.0 - 15.0) + 10.0);
}

vec3 rsl_fade3(const in vec3 t) {
    return t * t * t * (t * (t * 6.0 - 15.0) + 10.0);
}

float rsl_lerp(const in float a, const in float b, const in float t) {
    return a + t * (b - a);
}

vec3 rsl_lerp3(const in vec3 a, const in vec3 b, const in float t) {
    return a + t * (b - a);
}

float rsl_range(const in float n, const in float scale) {
    return min(max(n * scale + 0.5, 0.0), 1.0);
}

vec3 rsl_range3(const in vec3 n, const in float scale) {
    return min(max(n * scale + 0.5, 0.0), 1.0);
}

// x with its sign flipped where bit 31 of h is set.
float rsl_flip(const in float x, const in uint h) {
    return uintBitsToFloat(floatBitsToUint(x) ^ (h & 0x80000000u));
}

// -- dot products of an offset with the gradient that the upper bits of h pick; three of them for vector noise

// Slopes between -1 and 1.
float rsl_gradient1(const in uint h, const in float x) {
    return (float(h >> 8) * 1.1920928955078125e-7 - 1.0) * x;
}

// Eight directions, 45 degrees apart.
float rsl_gradient2(const in uint h, const in vec2 d) {
    bool swapped = (h & 0x20000000u) != 0u;
    float a = swapped ? d.y : d.x;
    float b = swapped ? d.x : d.y;
    return rsl_flip(a, h) + 0.41421357 * rsl_flip(b, h << 1);
}

// The twelve edges of a cube: two of the three coordinates, with two signs.
float rsl_gradient3(const in uint h, const in vec3 d) {
    int third = int(h << 2);
    float a = third < 715827882 ? d.x : d.y;
    float b = third < -715827883 ? d.y : d.z;
    return rsl_flip(a, h) + rsl_flip(b, h << 1);
}

// The 32 edges of a cube in four dimensions: three of the four coordinates, with three signs.
float rsl_gradient4(const in uint h, const in vec4 d) {
    int dropped = int(h & 0x18000000u);
    float a = dropped == 0 ? d.y : d.x;
    float b = dropped < 0x10000000 ? d.z : d.y;
    float c = dropped < 0x18000000 ? d.w : d.z;
    return rsl_flip(a, h) + rsl_flip(b, h << 1) + rsl_flip(c, h << 2);
}

vec3 rsl_gradient1v(const in uint h, const in float x) {
    return vec3(rsl_gradient1(h, x), rsl_gradient1(h << 11, x), rsl_gradient1(h << 22, x));
}

vec3 rsl_gradient2v(const in uint h, const in vec2 d) {
    return vec3(rsl_gradient2(h, d), rsl_gradient2(h << 11, d), rsl_gradient2(h << 22, d));
}

vec3 rsl_gradient3v(const in uint h, const in vec3 d) {
    return vec3(rsl_gradient3(h, d), rsl_gradient3(h << 11, d), rsl_gradient3(h << 22, d));
}

vec3 rsl_gradient4v(const in uint h, const in vec4 d) {
    return vec3(rsl_gradient4(h, d), rsl_gradient4(h << 11, d), rsl_gradient4(h << 22, d));
}

// -- noise in a cell: the hash terms of its lower and upper corner, and the place in it

float rsl_cell1(const in uint a, const in uint b, const in float f) {
    float n0 = rsl_gradient1(rsl_scramble(a), f);
    float n1 = rsl_gradient1(rsl_scramble(b), f - 1.0);
    return rsl_lerp(n0, n1, rsl_fade(f));
}

float rsl_cell2(const in uvec2 a, const in uvec2 b, const in vec2 f) {
    vec2 g = f - 1.0;
    float n00 = rsl_gradient2(rsl_scramble(a.x + a.y), f);
    float n10 = rsl_gradient2(rsl_scramble(b.x + a.y), vec2(g.x, f.y));
    float n01 = rsl_gradient2(rsl_scramble(a.x + b.y), vec2(f.x, g.y));
    float n11 = rsl_gradient2(rsl_scramble(b.x + b.y), g);
    float t = rsl_fade(f.x);
    return rsl_lerp(rsl_lerp(n00, n10, t), rsl_lerp(n01, n11, t), rsl_fade(f.y));
}

float rsl_cell3(const in uvec3 a, const in uvec3 b, const in vec3 f) {
    vec3 g = f - 1.0;
    vec3 t = rsl_fade3(f);
    uint aa = a.x + a.y, ba = b.x + a.y, ab = a.x + b.y, bb = b.x + b.y;
    float n000 = rsl_gradient3(rsl_scramble(aa + a.z), f);
    float n100 = rsl_gradient3(rsl_scramble(ba + a.z), vec3(g.x, f.yz));
    float n010 = rsl_gradient3(rsl_scramble(ab + a.z), vec3(f.x, g.y, f.z));
    float n110 = rsl_gradient3(rsl_scramble(bb + a.z), vec3(g.xy, f.z));
    float n001 = rsl_gradient3(rsl_scramble(aa + b.z), vec3(f.xy, g.z));
    float n101 = rsl_gradient3(rsl_scramble(ba + b.z), vec3(g.x, f.y, g.z));
    float n011 = rsl_gradient3(rsl_scramble(ab + b.z), vec3(f.x, g.yz));
    float n111 = rsl_gradient3(rsl_scramble(bb + b.z), g);
    float near = rsl_lerp(rsl_lerp(n000, n100, t.x), rsl_lerp(n010, n110, t.x), t.y);
    float far = rsl_lerp(rsl_lerp(n001, n101, t.x), rsl_lerp(n011, n111, t.x), t.y);
    return rsl_lerp(near, far, t.z);
}

float rsl_square4(const in uvec2 h, const in uvec2 a, const in uvec2 b, const in vec2 near, const in vec2 f, const in vec2 t) {
    vec2 g = f - 1.0;
    uint base = h.x + h.y;
    float n00 = rsl_gradient4(rsl_scramble(base + a.x + a.y), vec4(f, near));
    float n10 = rsl_gradient4(rsl_scramble(base + b.x + a.y), vec4(g.x, f.y, near));
    float n01 = rsl_gradient4(rsl_scramble(base + a.x + b.y), vec4(f.x, g.y, near));
    float n11 = rsl_gradient4(rsl_scramble(base + b.x + b.y), vec4(g, near));
    return rsl_lerp(rsl_lerp(n00, n10, t.x), rsl_lerp(n01, n11, t.x), t.y);
}

// Four squares of four corners: `near` is the offset of a square along the third and fourth axis.
float rsl_cell4(const in uvec4 a, const in uvec4 b, const in vec4 f) {
    vec4 g = f - 1.0;
    vec2 t = vec2(rsl_fade(f.x), rsl_fade(f.y));
    float n00 = rsl_square4(a.zw, a.xy, b.xy, f.zw, f.xy, t);
    float n10 = rsl_square4(uvec2(b.z, a.w), a.xy, b.xy, vec2(g.z, f.w), f.xy, t);
    float n01 = rsl_square4(uvec2(a.z, b.w), a.xy, b.xy, vec2(f.z, g.w), f.xy, t);
    float n11 = rsl_square4(b.zw, a.xy, b.xy, g.zw, f.xy, t);
    float tz = rsl_fade(f.z);
    return rsl_lerp(rsl_lerp(n00, n10, tz), rsl_lerp(n01, n11, tz), rsl_fade(f.w));
}

vec3 rsl_cell1v(const in uint a, const in uint b, const in float f) {
    vec3 n0 = rsl_gradient1v(rsl_scramble(a), f);
    vec3 n1 = rsl_gradient1v(rsl_scramble(b), f - 1.0);
    return rsl_lerp3(n0, n1, rsl_fade(f));
}

vec3 rsl_cell2v(const in uvec2 a, const in uvec2 b, const in vec2 f) {
    vec2 g = f - 1.0;
    vec3 n00 = rsl_gradient2v(rsl_scramble(a.x + a.y), f);
    vec3 n10 = rsl_gradient2v(rsl_scramble(b.x + a.y), vec2(g.x, f.y));
    vec3 n01 = rsl_gradient2v(rsl_scramble(a.x + b.y), vec2(f.x, g.y));
    vec3 n11 = rsl_gradient2v(rsl_scramble(b.x + b.y), g);
    float t = rsl_fade(f.x);
    return rsl_lerp3(rsl_lerp3(n00, n10, t), rsl_lerp3(n01, n11, t), rsl_fade(f.y));
}

vec3 rsl_cell3v(const in uvec3 a, const in uvec3 b, const in vec3 f) {
    vec3 g = f - 1.0;
    vec3 t = rsl_fade3(f);
    uint aa = a.x + a.y, ba = b.x + a.y, ab = a.x + b.y, bb = b.x + b.y;
    vec3 n000 = rsl_gradient3v(rsl_scramble(aa + a.z), f);
    vec3 n100 = rsl_gradient3v(rsl_scramble(ba + a.z), vec3(g.x, f.yz));
    vec3 n010 = rsl_gradient3v(rsl_scramble(ab + a.z), vec3(f.x, g.y, f.z));
    vec3 n110 = rsl_gradient3v(rsl_scramble(bb + a.z), vec3(g.xy, f.z));
    vec3 n001 = rsl_gradient3v(rsl_scramble(aa + b.z), vec3(f.xy, g.z));
    vec3 n101 = rsl_gradient3v(rsl_scramble(ba + b.z), vec3(g.x, f.y, g.z));
    vec3 n011 = rsl_gradient3v(rsl_scramble(ab + b.z), vec3(f.x, g.yz));
    vec3 n111 = rsl_gradient3v(rsl_scramble(bb + b.z), g);
    vec3 near = rsl_lerp3(rsl_lerp3(n000, n100, t.x), rsl_lerp3(n010, n110, t.x), t.y);
    vec3 far = rsl_lerp3(rsl_lerp3(n001, n101, t.x), rsl_lerp3(n011, n111, t.x), t.y);
    return rsl_lerp3(near, far, t.z);
}

vec3 rsl_square4v(const in uvec2 h, const in uvec2 a, const in uvec2 b, const in vec2 near, const in vec2 f, const in vec2 t) {
    vec2 g = f - 1.0;
    uint base = h.x + h.y;
    vec3 n00 = rsl_gradient4v(rsl_scramble(base + a.x + a.y), vec4(f, near));
    vec3 n10 = rsl_gradient4v(rsl_scramble(base + b.x + a.y), vec4(g.x, f.y, near));
    vec3 n01 = rsl_gradient4v(rsl_scramble(base + a.x + b.y), vec4(f.x, g.y, near));
    vec3 n11 = rsl_gradient4v(rsl_scramble(base + b.x + b.y), vec4(g, near));
    return rsl_lerp3(rsl_lerp3(n00, n10, t.x), rsl_lerp3(n01, n11, t.x), t.y);
}

// Four squares of four corners: `near` is the offset of a square along the third and fourth axis.
vec3 rsl_cell4v(const in uvec4 a, const in uvec4 b, const in vec4 f) {
    vec4 g = f - 1.0;
    vec2 t = vec2(rsl_fade(f.x), rsl_fade(f.y));
    vec3 n00 = rsl_square4v(a.zw, a.xy, b.xy, f.zw, f.xy, t);
    vec3 n10 = rsl_square4v(uvec2(b.z, a.w), a.xy, b.xy, vec2(g.z, f.w), f.xy, t);
    vec3 n01 = rsl_square4v(uvec2(a.z, b.w), a.xy, b.xy, vec2(f.z, g.w), f.xy, t);
    vec3 n11 = rsl_square4v(b.zw, a.xy, b.xy, g.zw, f.xy, t);
    float tz = rsl_fade(f.z);
    return rsl_lerp3(rsl_lerp3(n00, n10, tz), rsl_lerp3(n01, n11, tz), rsl_fade(f.w));
}

// -- noise

// The lattice coordinate i, wrapped to 0 .. period - 1; the period is rounded and at least 1.
float rsl_wrap(const in float i, const in float period) {
    float p = max(floor(period + 0.5), 1.0);
    float r = i - p * floor(i / p);
    r = r < 0.0 ? r + p : r;
    return r < p ? r : r - p;
}

vec2 rsl_wrap2(const in vec2 i, const in vec2 period) {
    return vec2(rsl_wrap(i.x, period.x), rsl_wrap(i.y, period.y));
}

vec3 rsl_wrap3(const in vec3 i, const in vec3 period) {
    return vec3(rsl_wrap2(i.xy, period.xy), rsl_wrap(i.z, period.z));
}

vec4 rsl_wrap4(const in vec4 i, const in vec4 period) {
    return vec4(rsl_wrap3(i.xyz, period.xyz), rsl_wrap(i.w, period.w));
}

float rsl_noise1(const in float x) {
    float q = x;
    float i = floor(q);
    uint a = uint(int(i)) * RSL_K1;
    return rsl_range(rsl_cell1(a, a + RSL_K1, q - i), RSL_SCALE1);
}

float rsl_pnoise1(const in float x, const in float period_x) {
    float q = x;
    float r = period_x;
    float i = floor(q);
    uint a = uint(int(rsl_wrap(i, r))) * RSL_K1;
    uint b = uint(int(rsl_wrap(i + 1.0, r))) * RSL_K1;
    return rsl_range(rsl_cell1(a, b, q - i), RSL_SCALE1);
}

vec3 rsl_noise1v(const in float x) {
    float q = x;
    float i = floor(q);
    uint a = uint(int(i)) * RSL_K1;
    return rsl_range3(rsl_cell1v(a, a + RSL_K1, q - i), RSL_SCALE1);
}

vec3 rsl_pnoise1v(const in float x, const in float period_x) {
    float q = x;
    float r = period_x;
    float i = floor(q);
    uint a = uint(int(rsl_wrap(i, r))) * RSL_K1;
    uint b = uint(int(rsl_wrap(i + 1.0, r))) * RSL_K1;
    return rsl_range3(rsl_cell1v(a, b, q - i), RSL_SCALE1);
}

float rsl_noise2(const in float x, const in float y) {
    vec2 q = vec2(x, y);
    vec2 i = floor(q);
    uvec2 a = uvec2(ivec2(i)) * uvec2(RSL_K1, RSL_K2);
    return rsl_range(rsl_cell2(a, a + uvec2(RSL_K1, RSL_K2), q - i), RSL_SCALE2);
}

float rsl_pnoise2(const in float x, const in float y, const in float period_x, const in float period_y) {
    vec2 q = vec2(x, y);
    vec2 r = vec2(period_x, period_y);
    vec2 i = floor(q);
    uvec2 a = uvec2(ivec2(rsl_wrap2(i, r))) * uvec2(RSL_K1, RSL_K2);
    uvec2 b = uvec2(ivec2(rsl_wrap2(i + 1.0, r))) * uvec2(RSL_K1, RSL_K2);
    return rsl_range(rsl_cell2(a, b, q - i), RSL_SCALE2);
}

vec3 rsl_noise2v(const in float x, const in float y) {
    vec2 q = vec2(x, y);
    vec2 i = floor(q);
    uvec2 a = uvec2(ivec2(i)) * uvec2(RSL_K1, RSL_K2);
    return rsl_range3(rsl_cell2v(a, a + uvec2(RSL_K1, RSL_K2), q - i), RSL_SCALE2);
}

vec3 rsl_pnoise2v(const in float x, const in float y, const in float period_x, const in float period_y) {
    vec2 q = vec2(x, y);
    vec2 r = vec2(period_x, period_y);
    vec2 i = floor(q);
    uvec2 a = uvec2(ivec2(rsl_wrap2(i, r))) * uvec2(RSL_K1, RSL_K2);
    uvec2 b = uvec2(ivec2(rsl_wrap2(i + 1.0, r))) * uvec2(RSL_K1, RSL_K2);
    return rsl_range3(rsl_cell2v(a, b, q - i), RSL_SCALE2);
}

float rsl_noise3(const in vec3 p) {
    vec3 q = p;
    vec3 i = floor(q);
    uvec3 a = uvec3(ivec3(i)) * uvec3(RSL_K1, RSL_K2, RSL_K3);
    return rsl_range(rsl_cell3(a, a + uvec3(RSL_K1, RSL_K2, RSL_K3), q - i), RSL_SCALE3);
}

float rsl_pnoise3(const in vec3 p, const in vec3 period_p) {
    vec3 q = p;
    vec3 r = period_p;
    vec3 i = floor(q);
    uvec3 a = uvec3(ivec3(rsl_wrap3(i, r))) * uvec3(RSL_K1, RSL_K2, RSL_K3);
    uvec3 b = uvec3(ivec3(rsl_wrap3(i + 1.0, r))) * uvec3(RSL_K1, RSL_K2, RSL_K3);
    return rsl_range(rsl_cell3(a, b, q - i), RSL_SCALE3);
}

vec3 rsl_noise3v(const in vec3 p) {
    vec3 q = p;
    vec3 i = floor(q);
    uvec3 a = uvec3(ivec3(i)) * uvec3(RSL_K1, RSL_K2, RSL_K3);
    return rsl_range3(rsl_cell3v(a, a + uvec3(RSL_K1, RSL_K2, RSL_K3), q - i), RSL_SCALE3);
}

vec3 rsl_pnoise3v(const in vec3 p, const in vec3 period_p) {
    vec3 q = p;
    vec3 r = period_p;
    vec3 i = floor(q);
    uvec3 a = uvec3(ivec3(rsl_wrap3(i, r))) * uvec3(RSL_K1, RSL_K2, RSL_K3);
    uvec3 b = uvec3(ivec3(rsl_wrap3(i + 1.0, r))) * uvec3(RSL_K1, RSL_K2, RSL_K3);
    return rsl_range3(rsl_cell3v(a, b, q - i), RSL_SCALE3);
}

float rsl_noise4(const in vec3 p, const in float t) {
    vec4 q = vec4(p, t);
    vec4 i = floor(q);
    uvec4 a = uvec4(ivec4(i)) * uvec4(RSL_K1, RSL_K2, RSL_K3, RSL_K4);
    return rsl_range(rsl_cell4(a, a + uvec4(RSL_K1, RSL_K2, RSL_K3, RSL_K4), q - i), RSL_SCALE4);
}

float rsl_pnoise4(const in vec3 p, const in float t, const in vec3 period_p, const in float period_t) {
    vec4 q = vec4(p, t);
    vec4 r = vec4(period_p, period_t);
    vec4 i = floor(q);
    uvec4 a = uvec4(ivec4(rsl_wrap4(i, r))) * uvec4(RSL_K1, RSL_K2, RSL_K3, RSL_K4);
    uvec4 b = uvec4(ivec4(rsl_wrap4(i + 1.0, r))) * uvec4(RSL_K1, RSL_K2, RSL_K3, RSL_K4);
    return rsl_range(rsl_cell4(a, b, q - i), RSL_SCALE4);
}

vec3 rsl_noise4v(const in vec3 p, const in float t) {
    vec4 q = vec4(p, t);
    vec4 i = floor(q);
    uvec4 a = uvec4(ivec4(i)) * uvec4(RSL_K1, RSL_K2, RSL_K3, RSL_K4);
    return rsl_range3(rsl_cell4v(a, a + uvec4(RSL_K1, RSL_K2, RSL_K3, RSL_K4), q - i), RSL_SCALE4);
}

vec3 rsl_pnoise4v(const in vec3 p, const in float t, const in vec3 period_p, const in float period_t) {
    vec4 q = vec4(p, t);
    vec4 r = vec4(period_p, period_t);
    vec4 i = floor(q);
    uvec4 a = uvec4(ivec4(rsl_wrap4(i, r))) * uvec4(RSL_K1, RSL_K2, RSL_K3, RSL_K4);
    uvec4 b = uvec4(ivec4(rsl_wrap4(i + 1.0, r))) * uvec4(RSL_K1, RSL_K2, RSL_K3, RSL_K4);
    return rsl_range3(rsl_cell4v(a, b, q - i), RSL_SCALE4);
}

// -- cellnoise: a number for each integer cell

// The cell's coordinate as an integer; beyond 2^31 cells cannot be told apart anyway.
uint rsl_cell(const in float x) {
    return uint(int(min(max(floor(x), -2147483648.0), 2147483520.0)));
}

uint rsl_cell_hash2(const in uint seed, const in float x, const in float y) {
    return rsl_scramble(rsl_scramble(seed + rsl_cell(x) * RSL_K1) + rsl_cell(y) * RSL_K2);
}

uint rsl_cell_hash3(const in uint seed, const in vec3 p) {
    return rsl_scramble(rsl_cell_hash2(seed, p.x, p.y) + rsl_cell(p.z) * RSL_K3);
}

float rsl_cellnoise1(const in float x) {
    return rsl_unit(rsl_scramble(1u + rsl_cell(x) * RSL_K1));
}

vec3 rsl_cellnoise1v(const in float x) {
    return rsl_unit3(rsl_scramble(1u + rsl_cell(x) * RSL_K1));
}

float rsl_cellnoise2(const in float x, const in float y) {
    return rsl_unit(rsl_cell_hash2(2u, x, y));
}

vec3 rsl_cellnoise2v(const in float x, const in float y) {
    return rsl_unit3(rsl_cell_hash2(2u, x, y));
}

float rsl_cellnoise3(const in vec3 p) {
    return rsl_unit(rsl_cell_hash3(3u, p));
}

vec3 rsl_cellnoise3v(const in vec3 p) {
    return rsl_unit3(rsl_cell_hash3(3u, p));
}

float rsl_cellnoise4(const in vec3 p, const in float t) {
    return rsl_unit(rsl_scramble(rsl_cell_hash3(4u, p) + rsl_cell(t) * RSL_K4));
}

vec3 rsl_cellnoise4v(const in vec3 p, const in float t) {
    return rsl_unit3(rsl_scramble(rsl_cell_hash3(4u, p) + rsl_cell(t) * RSL_K4));
}
