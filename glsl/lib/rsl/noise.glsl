// Gradient noise in one to four dimensions, periodic noise, cellnoise (RISpec 15.1), hashnoise.
//
// A lattice point is hashed through one linear combination of its coordinates, so that the corners of a cell share the
// multiplications; gradients are picked by hash bits with selects and sign flips. The interpolant 6t^5 - 15t^4 + 10t^3
// has two continuous derivatives. Results are (1 + scaled noise) / 2, clamped to 0..1: mean 1/2, exactly 1/2 at lattice
// points. The scales give every dimension the contrast of the third.

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

// Each function of noise exists for floats and, with the suffix v, for triples. The macros below are their common text:
// V is the type of the value, the other arguments are the functions to define and to call for that type.

// -- noise in a cell: the hash terms of its lower and upper corners, and the position in it

#define RSL_DEFINE_CELL1(V, cell, gradient, lerp)            \
V cell(const in uint a, const in uint b, const in float f) { \
    V n0 = gradient(rsl_scramble(a), f);                     \
    V n1 = gradient(rsl_scramble(b), f - 1.0);               \
    return lerp(n0, n1, rsl_fade(f));                        \
}
RSL_DEFINE_CELL1(float, rsl_cell1, rsl_gradient1, rsl_lerp)
RSL_DEFINE_CELL1(vec3, rsl_cell1v, rsl_gradient1v, rsl_lerp3)

#define RSL_DEFINE_CELL2(V, cell, gradient, lerp)                     \
V cell(const in uvec2 a, const in uvec2 b, const in vec2 f) {         \
    vec2 g = f - 1.0;                                                 \
    V n00 = gradient(rsl_scramble(a.x + a.y), f);                     \
    V n10 = gradient(rsl_scramble(b.x + a.y), vec2(g.x, f.y));        \
    V n01 = gradient(rsl_scramble(a.x + b.y), vec2(f.x, g.y));        \
    V n11 = gradient(rsl_scramble(b.x + b.y), g);                     \
    float t = rsl_fade(f.x);                                          \
    return lerp(lerp(n00, n10, t), lerp(n01, n11, t), rsl_fade(f.y)); \
}
RSL_DEFINE_CELL2(float, rsl_cell2, rsl_gradient2, rsl_lerp)
RSL_DEFINE_CELL2(vec3, rsl_cell2v, rsl_gradient2v, rsl_lerp3)

#define RSL_DEFINE_CELL3(V, cell, gradient, lerp)                        \
V cell(const in uvec3 a, const in uvec3 b, const in vec3 f) {            \
    vec3 g = f - 1.0;                                                    \
    vec3 t = rsl_fade3(f);                                               \
    uint aa = a.x + a.y, ba = b.x + a.y, ab = a.x + b.y, bb = b.x + b.y; \
    V n000 = gradient(rsl_scramble(aa + a.z), f);                        \
    V n100 = gradient(rsl_scramble(ba + a.z), vec3(g.x, f.yz));          \
    V n010 = gradient(rsl_scramble(ab + a.z), vec3(f.x, g.y, f.z));      \
    V n110 = gradient(rsl_scramble(bb + a.z), vec3(g.xy, f.z));          \
    V n001 = gradient(rsl_scramble(aa + b.z), vec3(f.xy, g.z));          \
    V n101 = gradient(rsl_scramble(ba + b.z), vec3(g.x, f.y, g.z));      \
    V n011 = gradient(rsl_scramble(ab + b.z), vec3(f.x, g.yz));          \
    V n111 = gradient(rsl_scramble(bb + b.z), g);                        \
    V near = lerp(lerp(n000, n100, t.x), lerp(n010, n110, t.x), t.y);    \
    V far = lerp(lerp(n001, n101, t.x), lerp(n011, n111, t.x), t.y);     \
    return lerp(near, far, t.z);                                         \
}
RSL_DEFINE_CELL3(float, rsl_cell3, rsl_gradient3, rsl_lerp)
RSL_DEFINE_CELL3(vec3, rsl_cell3v, rsl_gradient3v, rsl_lerp3)

// A cell of four dimensions is four squares: `near` is the offset of a square along the third and fourth axes.
#define RSL_DEFINE_SQUARE4(V, square, gradient, lerp)                                                                  \
V square(const in uvec2 h, const in uvec2 a, const in uvec2 b, const in vec2 near, const in vec2 f, const in vec2 t) { \
    vec2 g = f - 1.0;                                                                                                  \
    uint base = h.x + h.y;                                                                                             \
    V n00 = gradient(rsl_scramble(base + a.x + a.y), vec4(f, near));                                                   \
    V n10 = gradient(rsl_scramble(base + b.x + a.y), vec4(g.x, f.y, near));                                            \
    V n01 = gradient(rsl_scramble(base + a.x + b.y), vec4(f.x, g.y, near));                                            \
    V n11 = gradient(rsl_scramble(base + b.x + b.y), vec4(g, near));                                                   \
    return lerp(lerp(n00, n10, t.x), lerp(n01, n11, t.x), t.y);                                                        \
}

#define RSL_DEFINE_CELL4(V, cell, square, lerp)                           \
V cell(const in uvec4 a, const in uvec4 b, const in vec4 f) {             \
    vec4 g = f - 1.0;                                                     \
    vec2 t = vec2(rsl_fade(f.x), rsl_fade(f.y));                          \
    V n00 = square(a.zw, a.xy, b.xy, f.zw, f.xy, t);                      \
    V n10 = square(uvec2(b.z, a.w), a.xy, b.xy, vec2(g.z, f.w), f.xy, t); \
    V n01 = square(uvec2(a.z, b.w), a.xy, b.xy, vec2(f.z, g.w), f.xy, t); \
    V n11 = square(b.zw, a.xy, b.xy, g.zw, f.xy, t);                      \
    float tz = rsl_fade(f.z);                                             \
    return lerp(lerp(n00, n10, tz), lerp(n01, n11, tz), rsl_fade(f.w));   \
}
RSL_DEFINE_SQUARE4(float, rsl_square4, rsl_gradient4, rsl_lerp)
RSL_DEFINE_CELL4(float, rsl_cell4, rsl_square4, rsl_lerp)
RSL_DEFINE_SQUARE4(vec3, rsl_square4v, rsl_gradient4v, rsl_lerp3)
RSL_DEFINE_CELL4(vec3, rsl_cell4v, rsl_square4v, rsl_lerp3)

// -- noise

// Whether the lattice coordinates of a place are integers of 32 bits: devices differ in what they make of others.
// Elsewhere, and where it is no number, noise is 1/2. `extent` is the sum of its coordinates without their signs.
bool rsl_has_cell(const in float extent) {
    return extent < 2147483648.0;
}

// The lattice coordinate i, wrapped to 0 .. period - 1; the period is rounded, at least 1 and at most 2^24.
float rsl_wrap(const in float i, const in float period) {
    float p = floor(period + 0.5);
    p = p > 1.0 ? p : 1.0;
    p = p < 16777216.0 ? p : 16777216.0;
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

#define RSL_DEFINE_NOISE1(V, noise, pnoise, cell, range)     \
V noise(const in float x) {                                  \
    float q = x;                                             \
    float i = floor(q);                                      \
    uint a = uint(int(i)) * RSL_K1;                          \
    V value = range(cell(a, a + RSL_K1, q - i), RSL_SCALE1); \
    return rsl_has_cell(abs(q)) ? value : V(0.5);            \
}                                                            \
V pnoise(const in float x, const in float period_x) {        \
    float q = x;                                             \
    float r = period_x;                                      \
    float i = floor(q);                                      \
    uint a = uint(int(rsl_wrap(i, r))) * RSL_K1;             \
    uint b = uint(int(rsl_wrap(i + 1.0, r))) * RSL_K1;       \
    V value = range(cell(a, b, q - i), RSL_SCALE1);          \
    return rsl_has_cell(abs(q)) ? value : V(0.5);            \
}
RSL_DEFINE_NOISE1(float, rsl_noise1, rsl_pnoise1, rsl_cell1, rsl_range)
RSL_DEFINE_NOISE1(vec3, rsl_noise1v, rsl_pnoise1v, rsl_cell1v, rsl_range3)

#define RSL_DEFINE_NOISE2(V, noise, pnoise, cell, range)                                         \
V noise(const in float x, const in float y) {                                                    \
    vec2 q = vec2(x, y);                                                                         \
    vec2 i = floor(q);                                                                           \
    uvec2 a = uvec2(ivec2(i)) * uvec2(RSL_K1, RSL_K2);                                           \
    V value = range(cell(a, a + uvec2(RSL_K1, RSL_K2), q - i), RSL_SCALE2);                      \
    return rsl_has_cell(abs(q.x) + abs(q.y)) ? value : V(0.5);                                   \
}                                                                                                \
V pnoise(const in float x, const in float y, const in float period_x, const in float period_y) { \
    vec2 q = vec2(x, y);                                                                         \
    vec2 r = vec2(period_x, period_y);                                                           \
    vec2 i = floor(q);                                                                           \
    uvec2 a = uvec2(ivec2(rsl_wrap2(i, r))) * uvec2(RSL_K1, RSL_K2);                             \
    uvec2 b = uvec2(ivec2(rsl_wrap2(i + 1.0, r))) * uvec2(RSL_K1, RSL_K2);                       \
    V value = range(cell(a, b, q - i), RSL_SCALE2);                                              \
    return rsl_has_cell(abs(q.x) + abs(q.y)) ? value : V(0.5);                                   \
}
RSL_DEFINE_NOISE2(float, rsl_noise2, rsl_pnoise2, rsl_cell2, rsl_range)
RSL_DEFINE_NOISE2(vec3, rsl_noise2v, rsl_pnoise2v, rsl_cell2v, rsl_range3)

#define RSL_DEFINE_NOISE3(V, noise, pnoise, cell, range)                            \
V noise(const in vec3 p) {                                                          \
    vec3 q = p;                                                                     \
    vec3 i = floor(q);                                                              \
    uvec3 a = uvec3(ivec3(i)) * uvec3(RSL_K1, RSL_K2, RSL_K3);                      \
    V value = range(cell(a, a + uvec3(RSL_K1, RSL_K2, RSL_K3), q - i), RSL_SCALE3); \
    return rsl_has_cell(abs(q.x) + abs(q.y) + abs(q.z)) ? value : V(0.5);           \
}                                                                                   \
V pnoise(const in vec3 p, const in vec3 period_p) {                                 \
    vec3 q = p;                                                                     \
    vec3 r = period_p;                                                              \
    vec3 i = floor(q);                                                              \
    uvec3 a = uvec3(ivec3(rsl_wrap3(i, r))) * uvec3(RSL_K1, RSL_K2, RSL_K3);        \
    uvec3 b = uvec3(ivec3(rsl_wrap3(i + 1.0, r))) * uvec3(RSL_K1, RSL_K2, RSL_K3);  \
    V value = range(cell(a, b, q - i), RSL_SCALE3);                                 \
    return rsl_has_cell(abs(q.x) + abs(q.y) + abs(q.z)) ? value : V(0.5);           \
}
RSL_DEFINE_NOISE3(float, rsl_noise3, rsl_pnoise3, rsl_cell3, rsl_range)
RSL_DEFINE_NOISE3(vec3, rsl_noise3v, rsl_pnoise3v, rsl_cell3v, rsl_range3)

#define RSL_DEFINE_NOISE4(V, noise, pnoise, cell, range)                                       \
V noise(const in vec3 p, const in float t) {                                                   \
    vec4 q = vec4(p, t);                                                                       \
    vec4 i = floor(q);                                                                         \
    uvec4 a = uvec4(ivec4(i)) * uvec4(RSL_K1, RSL_K2, RSL_K3, RSL_K4);                         \
    V value = range(cell(a, a + uvec4(RSL_K1, RSL_K2, RSL_K3, RSL_K4), q - i), RSL_SCALE4);    \
    return rsl_has_cell(abs(q.x) + abs(q.y) + abs(q.z) + abs(q.w)) ? value : V(0.5);           \
}                                                                                              \
V pnoise(const in vec3 p, const in float t, const in vec3 period_p, const in float period_t) { \
    vec4 q = vec4(p, t);                                                                       \
    vec4 r = vec4(period_p, period_t);                                                         \
    vec4 i = floor(q);                                                                         \
    uvec4 a = uvec4(ivec4(rsl_wrap4(i, r))) * uvec4(RSL_K1, RSL_K2, RSL_K3, RSL_K4);           \
    uvec4 b = uvec4(ivec4(rsl_wrap4(i + 1.0, r))) * uvec4(RSL_K1, RSL_K2, RSL_K3, RSL_K4);     \
    V value = range(cell(a, b, q - i), RSL_SCALE4);                                            \
    return rsl_has_cell(abs(q.x) + abs(q.y) + abs(q.z) + abs(q.w)) ? value : V(0.5);           \
}
RSL_DEFINE_NOISE4(float, rsl_noise4, rsl_pnoise4, rsl_cell4, rsl_range)
RSL_DEFINE_NOISE4(vec3, rsl_noise4v, rsl_pnoise4v, rsl_cell4v, rsl_range3)

// -- cellnoise: a number for each integer cell; hashnoise: one for each value

// The cell's coordinate as an integer, the nearest one that there is; NaN is in cell 0.
uint rsl_cell(const in float x) {
    return uint(int(min(max(x == x ? floor(x) : 0.0, -2147483648.0), 2147483520.0)));
}

// The bits of a number. Zeros are alike, and so is what is too small for a normal float, which devices may take for 0;
// and all that is no number.
uint rsl_bits(const in float x) {
    return abs(x) >= 1.1754943508222875e-38 ? floatBitsToUint(x) : 0u;
}

// A number for the `key` of each coordinate.
#define RSL_DEFINE_HASHED(key, seed, noise1, noise1v, noise2, noise2v, noise3, noise3v, noise4, noise4v, hash2, hash3) \
uint hash2(const in uint start, const in float x, const in float y) {                                                  \
    return rsl_scramble(rsl_scramble(start + key(x) * RSL_K1) + key(y) * RSL_K2);                                      \
}                                                                                                                      \
uint hash3(const in uint start, const in vec3 p) {                                                                     \
    return rsl_scramble(hash2(start, p.x, p.y) + key(p.z) * RSL_K3);                                                   \
}                                                                                                                      \
float noise1(const in float x) { return rsl_unit(rsl_scramble(seed + 1u + key(x) * RSL_K1)); }                         \
vec3 noise1v(const in float x) { return rsl_unit3(rsl_scramble(seed + 1u + key(x) * RSL_K1)); }                        \
float noise2(const in float x, const in float y) { return rsl_unit(hash2(seed + 2u, x, y)); }                          \
vec3 noise2v(const in float x, const in float y) { return rsl_unit3(hash2(seed + 2u, x, y)); }                         \
float noise3(const in vec3 p) { return rsl_unit(hash3(seed + 3u, p)); }                                                \
vec3 noise3v(const in vec3 p) { return rsl_unit3(hash3(seed + 3u, p)); }                                               \
float noise4(const in vec3 p, const in float t) {                                                                      \
    return rsl_unit(rsl_scramble(hash3(seed + 4u, p) + key(t) * RSL_K4));                                              \
}                                                                                                                      \
vec3 noise4v(const in vec3 p, const in float t) {                                                                      \
    return rsl_unit3(rsl_scramble(hash3(seed + 4u, p) + key(t) * RSL_K4));                                             \
}
RSL_DEFINE_HASHED(rsl_cell, 0u, rsl_cellnoise1, rsl_cellnoise1v, rsl_cellnoise2, rsl_cellnoise2v, rsl_cellnoise3,
                  rsl_cellnoise3v, rsl_cellnoise4, rsl_cellnoise4v, rsl_cell_hash2, rsl_cell_hash3)
RSL_DEFINE_HASHED(rsl_bits, 4u, rsl_hashnoise1, rsl_hashnoise1v, rsl_hashnoise2, rsl_hashnoise2v, rsl_hashnoise3,
                  rsl_hashnoise3v, rsl_hashnoise4, rsl_hashnoise4v, rsl_bits_hash2, rsl_bits_hash3)
