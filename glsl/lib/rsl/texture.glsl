// Texture lookups, on top of the tiles of tiles.glsl. Every operation is exact on every device: no division, root or
// logarithm of the driver's.
//
// The footprint is an ellipse, the image of a circle under (dx, dy), to which blur is added as variance. Probes lie
// along its major axis (after Feline, McCormack et al. 1999), each bilinear in levels whose texels are about as large
// as its minor axis. The weights of the probes add what the major axis lacks, so that the sum is close to an elliptic
// weighted average at a bounded number of texels: with the gaussian, about 1.5 probes for each unit of the ellipse's
// ratio in the finest level, and half as many in each coarser one. The ratio is kept to 16. Probes are less than a
// width apart, or fine patterns would show between them.
//
// A micropolygon shows the mean of lookups at its vertices, which blurs what they see. So the levels just finer and
// coarser than the footprint weigh twice, minus the next coarser pair once. Gratings of 5 micropolygons keep 0.92 of
// their contrast by that, those of 8 all of it, and patterns of less than 2 are hardly let through
// (bench/results/2026-11-sharpness.md).

#include "lib/rsl/reciprocal.glsl"

#define RSL_FILTER_BOX 1u
#define RSL_FILTER_BSPLINE 2u
#define RSL_FILTER_DISK 3u
#define RSL_FILTER_LANCZOS 4u
// Is added where lookups are not made sharper.
#define RSL_FILTER_PLAIN 8u
#define RSL_WRAP_BLACK 0u
#define RSL_WRAP_CLAMP 1u
#define RSL_WRAP_PERIODIC 2u
#define RSL_WRAP_MIRROR 3u
#define RSL_KIND_LAT_LONG 1u
#define RSL_KIND_CUBE 2u
#define RSL_KIND_SHADOW 3u
#define RSL_KIND_DEEP 4u
#define RSL_KIND_POINTS 5u
#define RSL_KIND_OCCLUSION 6u
#define RSL_PROBES_MAX 32.0
// Bits of TEXTURE_FORMS, by which kernels leave out what no texture needs.
#define TEXTURE_WORD16 1u
#define TEXTURE_HALF 2u
// Some are mirrored, or lat-long maps, beyond whose poles the other side lies.
#define TEXTURE_MIRRORED 4u
#define TEXTURE_DEEP 8u
// Some are cubes, whose filters see neighbouring faces.
#define TEXTURE_CUBE 16u
// Some are of halves or floats, which may be beyond 0..1.
#define TEXTURE_FLOAT 32u
// Some are several shadow maps.
#define TEXTURE_VIEWS 64u

// Whether any texture is of a form. CPU drivers run both sides of a branch unless it is constant, so it is an
// expression of constants, by which kernels are cut down (src/gpu/specialise.rs).
#define textures_have(form) ((TEXTURE_FORMS & (form)) != 0u)

// What is looked up: channels of a window of a texture, which is a cell of a grid of equal parts (of a cube's faces).
struct RslWindow {
    uint texture;
    uint first;
    uint end;
    uvec2 cell;
    uvec2 parts;
};

// Where probes lie: place + x * axis for x in -1..1, in parts of the window; how many there are in `level` and the two
// after it, and the shares of these levels, which add up to 1. A level without a share has no probes.
struct RslFootprint {
    vec2 place;
    vec2 axis;
    uint level;
    vec3 counts;
    vec3 shares;
};

bool rsl_is_finite(const in float x) {
    return (floatBitsToUint(x) & 0x7f800000u) != 0x7f800000u;
}

// What is smaller counts as 0: some devices have no numbers below 1e-38, and products would differ.
const float RSL_SMALLEST = 1e-30;

// x within -limit..limit; 0 where it is not finite.
float rsl_bounded(const in float x, const in float limit) {
    return rsl_is_finite(x) && abs(x) > RSL_SMALLEST ? min(max(x, -limit), limit) : 0.0;
}

vec2 rsl_bounded2(const in vec2 v, const in float limit) {
    return vec2(rsl_bounded(v.x, limit), rsl_bounded(v.y, limit));
}

// The root of x, within a few ulp; 0 below 1e-36.
float rsl_root(const in float x) {
    float y = uintBitsToFloat(0x5f3759dfu - (floatBitsToUint(x) >> 1));
    float h = 0.5 * x;
    y = y * (1.5 - (h * y) * y);
    y = y * (1.5 - (h * y) * y);
    y = y * (1.5 - (h * y) * y);
    y = y * (1.5 - (h * y) * y);
    return x > 1e-36 ? x * y : 0.0;
}

// A half as a float; what is not finite counts as 0.
float rsl_half(const in uint h) {
    uint exponent = (h >> 10) & 31u;
    float small = float(h & 1023u) * 5.9604644775390625e-8;
    float normal = uintBitsToFloat(((h & 0x7fffu) << 13) + 0x38000000u);
    float size = exponent == 31u ? 0.0 : exponent == 0u ? small : normal;
    return (h & 0x8000u) != 0u ? -size : size;
}

// The channels of a texel word.
vec4 rsl_word_channels(const in uint word, const in uint format) {
    if (format == 0u) return vec4(uvec4(word, word >> 8, word >> 16, word >> 24) & 255u) * 0.003921568859368563;
    if (textures_have(TEXTURE_WORD16) && format == 1u) return vec4(vec2(uvec2(word, word >> 16) & 65535u) * 0.000015259021893143654, 0.0, 0.0);
    if (textures_have(TEXTURE_HALF) && format == 2u) return vec4(rsl_half(word & 65535u), rsl_half(word >> 16), 0.0, 0.0);
    float number = uintBitsToFloat(word);
    return vec4(rsl_is_finite(number) ? number : 0.0, 0.0, 0.0, 0.0);
}

// A texel's coordinate after wrap, -1 outside in black. It is beside a place that rsl_wrap_place() gave: at most one
// texel outside of the map where that repeats, or of the map and its mirror image. No division, which is slow.
int rsl_wrap_texel(const in int at, const in int extent, const in uint wrap) {
    int periodic = at < 0 ? at + extent : at >= extent ? at - extent : at;
    int mirrored = at < 0 ? -1 - at : at >= 2 * extent ? at - 2 * extent : at >= extent ? 2 * extent - 1 - at : at;
    int inside = min(max(at, 0), extent - 1);
    if (wrap == RSL_WRAP_PERIODIC) return periodic;
    if (textures_have(TEXTURE_MIRRORED) && wrap == RSL_WRAP_MIRROR) return mirrored;
    return wrap == RSL_WRAP_CLAMP || at == inside ? inside : -1;
}

// How a texture is wrapped along both axes. Beyond the poles of a lat-long map lies the other side.
uvec2 rsl_wraps(const in TextureShape shape) {
    bool is_sphere = shape.kind == RSL_KIND_LAT_LONG;
    return is_sphere ? uvec2(RSL_WRAP_PERIODIC, RSL_WRAP_MIRROR) : uvec2(shape.wrap_s, shape.wrap_t);
}

// The coordinate before the wrap of texels, where it may be large.
float rsl_wrap_place(const in float x, const in uint wrap) {
    if (wrap == RSL_WRAP_PERIODIC) return x - floor(x);
    if (wrap == RSL_WRAP_MIRROR) return x - 2.0 * floor(0.5 * x);
    return min(max(x, -300.0), 300.0);
}

uint rsl_channels_of_word(const in uint format) {
    return format == 0u ? 4u : format == 3u ? 1u : 2u;
}

// How a filter divides its work: width of a probe and reach of the line of probes, in footprints. The width decides
// between blur and aliases in both directions, so it is nearly the same for all. A disk has the area of the footprint.
// The gaussian is as narrow as brings it closest to the mean of the picture over a pixel.
vec2 rsl_filter_extent(const in uint form) {
    if (form == RSL_FILTER_BOX) return vec2(0.85, 0.5);
    if (form == RSL_FILTER_BSPLINE) return vec2(0.7, 1.0);
    if (form == RSL_FILTER_DISK) return vec2(0.75, 0.564);
    return form == RSL_FILTER_LANCZOS ? vec2(0.75, 2.0) : vec2(0.96, 0.75);
}

// A filter's weight along the line of probes by q = x^2. The line across a disk; the spline and the windowed sinc by
// polynomials with their zeros.
float rsl_filter_weight(const in uint form, const in float q) {
    float r = 1.0 - q;
    if (form == RSL_FILTER_BOX) return 1.0;
    if (form == RSL_FILTER_BSPLINE) return r * r * r;
    if (form == RSL_FILTER_DISK) return 1.0 - 0.5 * (q + (q * q) * (q * q));
    if (form == RSL_FILTER_LANCZOS) return (1.0 - 4.0 * q) * ((r * r) * r);
    float g = 1.0 - 0.125 * q;
    g = g * g;
    g = g * g;
    g = g * g;
    return g * g;
}

// How much sharper lookups are of which the scene widens the footprint by these factors: the wider, the less.
float rsl_sharpness(const in vec2 width, const in uint filter_number) {
    return filter_number >= RSL_FILTER_PLAIN ? 0.0 : rsl_reciprocal(max(abs(width.x), 1.0) * max(abs(width.y), 1.0));
}

// The number of probes along a line that is as long as so many widths of a probe. Lanczos weighs two with 0.
float rsl_probe_count(const in float widths, const in uint form) {
    float count = min(floor(widths + 1.5), RSL_PROBES_MAX);
    return form == RSL_FILTER_LANCZOS && count == 2.0 ? 3.0 : count;
}

// The shares of a level and of the two after it, if it has these: `coarser` is how far the footprint is on the way to
// the next level. Beyond the last level the last one counts, so the sharper ones fade into it.
vec3 rsl_level_shares(const in uint level, const in uint levels, const in float coarser, const in float sharp) {
    bool last = level + 1u >= levels;
    float finest = last ? 1.0 : (1.0 + sharp) * (1.0 - coarser);
    float coarsest = level + 2u >= levels ? 0.0 : -(sharp * coarser);
    return vec3(finest, last ? 0.0 : (1.0 - finest) - coarsest, coarsest);
}

// The probes of a footprint (dx, dy) and blur in parts of a window of `size` texels and `levels` levels. `sharpness` is
// 1 for the footprint of a micropolygon.
RslFootprint rsl_footprint(const in vec2 size, const in uint levels, const in vec2 place, const in vec2 dx, const in vec2 dy,
                           const in vec2 blur, const in uint form, const in float lerp, const in float sharpness) {
    vec2 x = dx * size;
    vec2 y = dy * size;
    vec2 b = blur * size;
    float a = (x.x * x.x + y.x * y.x) + b.x * b.x;
    float c = (x.y * x.y + y.y * y.y) + b.y * b.y;
    float h = x.x * x.y + y.x * y.y;
    // Squares of the axes: their difference, the major one, and the minor one from the determinant.
    float spread = rsl_root((a - c) * (a - c) + 4.0 * (h * h));
    float major = 0.5 * ((a + c) + spread);
    float area = x.x * y.y - x.y * y.x;
    float stretched = b.x * b.x * (x.y * x.y + y.y * y.y) + b.y * b.y * a;
    float square = area * area + stretched;
    float minor = square * rsl_reciprocal(max(major, 1e-12));
    vec2 extent = rsl_filter_extent(form);
    float across = extent.x * rsl_root(max(minor, major * 0.00390625));
    float width = max(across, 1.0);
    float covered = width * rsl_reciprocal(extent.x);
    float rest = rsl_root(max(major - covered * covered, 0.0));
    vec2 along = vec2(rsl_root(max(a - minor, 0.0)), rsl_root(max(c - minor, 0.0)));
    float scale = extent.y * rest * rsl_reciprocal(max(rsl_root(spread), 1e-6));
    along = vec2(along.x, h < 0.0 ? -along.y : along.y) * scale;
    RslFootprint f;
    f.place = place;
    f.axis = along * vec2(rsl_reciprocal(size.x), rsl_reciprocal(size.y));
    // The levels whose texels are just smaller and larger than a probe.
    uint bits = floatBitsToUint(width);
    uint level = (bits >> 23) - 127u;
    float coarser = float(bits & 0x7fffffu) * 1.1920928955078125e-7;
    level = lerp < 0.5 && coarser >= 0.5 ? level + 1u : level;
    f.level = min(level, levels - 1u);
    // Where texels are as wide as two probes and more, there is nothing finer to see; and what is blurred stays so.
    float sharp = min(max(2.0 * across - 1.0, 0.0), 1.0) * sharpness;
    sharp = sharp * max(1.0 - stretched * rsl_reciprocal(max(square, 1e-12)), 0.0);
    f.shares = lerp < 0.5 ? vec3(1.0, 0.0, 0.0) : rsl_level_shares(level, levels, coarser, sharp);
    float line = 2.2 * extent.y * rest;
    float texels = line * uintBitsToFloat(0x7f000000u - (bits & 0x7f800000u));
    f.counts = vec3(rsl_probe_count(line * rsl_reciprocal(width), form),
                    f.shares.y == 0.0 ? 0.0 : rsl_probe_count(texels * 0.5, form),
                    f.shares.z == 0.0 ? 0.0 : rsl_probe_count(texels * 0.25, form));
    return f;
}

// The four texels beside a place: columns and rows of the left and right upper ones, then of the lower ones; -1 where
// there is none. `low` is the upper left one before wrap.
struct RslTexels {
    ivec4 x;
    ivec4 y;
};

RslTexels rsl_texels(const in TextureShape shape, const in ivec2 low, const in ivec2 extent, const in uvec2 wraps) {
    ivec2 x = ivec2(rsl_wrap_texel(low.x, extent.x, wraps.x), rsl_wrap_texel(low.x + 1, extent.x, wraps.x));
    ivec2 y = ivec2(rsl_wrap_texel(low.y, extent.y, wraps.y), rsl_wrap_texel(low.y + 1, extent.y, wraps.y));
    ivec2 turned = x + (extent.x >> 1);
    turned = ivec2(turned.x >= extent.x ? turned.x - extent.x : turned.x, turned.y >= extent.x ? turned.y - extent.x : turned.y);
    bool is_sphere = textures_have(TEXTURE_MIRRORED) && shape.kind == RSL_KIND_LAT_LONG;
    bool above = is_sphere && (low.y < 0 || (low.y >= extent.y && low.y < 2 * extent.y));
    bool below = is_sphere && low.y + 1 >= extent.y && low.y + 1 < 2 * extent.y;
    RslTexels texels;
    texels.x = ivec4(above ? turned : x, below ? turned : x);
    texels.y = y.xxyy;
    return texels;
}

// Whether a cube's face ends where its neighbours begin: not where their fields of view overlap.
bool rsl_has_neighbours(const in TextureShape shape, const in RslWindow window) {
    bool overlaps = shape.fov > 90.5 && shape.fov < 179.0;
    return textures_have(TEXTURE_CUBE) && window.parts.x == 3u && !overlaps;
}

// A place in a cube's face of n x n texels, without places that are beyond it in both directions: there is no face.
vec2 rsl_beside_face(const in vec2 at, const in int n) {
    float last = float(n) - 1.0;
    vec2 over = max(-0.5 - at, at - (last + 0.5));
    bool beyond_x = over.x > 0.0 && over.x >= over.y;
    bool beyond_y = over.y > 0.0 && !beyond_x;
    return vec2(beyond_y ? min(max(at.x, 0.0), last) : at.x, beyond_x ? min(max(at.y, 0.0), last) : at.y);
}

// Where a texel is that may be beyond an edge of a cube's face of n x n texels: its column and row among those of all
// faces, which are folded at the edges; -1 beyond a corner. Places on the cube are counted in half texels from its
// middle: along the face to the right, down, out.
ivec2 rsl_cube_texel(const in uint face, const in ivec2 at, const in int n) {
    bool beyond_x = at.x < 0 || at.x >= n;
    bool beyond_y = at.y < 0 || at.y >= n;
    int depth_x = min(at.x < 0 ? -1 - at.x : at.x - n, n - 1);
    int depth_y = min(at.y < 0 ? -1 - at.y : at.y - n, n - 1);
    int right = beyond_x ? (at.x < 0 ? -n : n) : 2 * at.x + 1 - n;
    int down = beyond_y ? (at.y < 0 ? -n : n) : 2 * at.y + 1 - n;
    int out_of = beyond_x ? n - 1 - 2 * depth_x : beyond_y ? n - 1 - 2 * depth_y : n;
    ivec3 v = face == 0u ? ivec3(out_of, -down, -right) : face == 1u ? ivec3(-out_of, -down, right)
            : face == 2u ? ivec3(right, out_of, down) : face == 3u ? ivec3(right, -out_of, -down)
            : face == 4u ? ivec3(right, -down, out_of) : ivec3(-right, -down, -out_of);
    uint found = v.x == n ? 0u : v.x == -n ? 1u : v.y == n ? 2u : v.y == -n ? 3u : v.z == n ? 4u : 5u;
    ivec2 along = found == 0u ? ivec2(-v.z, -v.y) : found == 1u ? ivec2(v.z, -v.y)
                : found == 2u ? ivec2(v.x, v.z) : found == 3u ? ivec2(v.x, -v.z)
                : found == 4u ? ivec2(v.x, -v.y) : ivec2(-v.x, -v.y);
    ivec2 cell = ivec2(found % 3u, found / 3u);
    return beyond_x && beyond_y ? ivec2(-1) : ((along + (n - 1)) >> 1) + cell * n;
}

// A probe: the columns and rows of its texels, their tiles as one number each, the largest for texels that count
// nothing, and the shares of the texels.
struct RslProbe {
    uvec4 columns;
    uvec4 rows;
    uvec4 tiles;
    vec4 shares;
};

// The probe at x along the axis of the footprint, in a level.
RslProbe rsl_probe(const in TextureShape shape, const in RslWindow window, const in RslFootprint f, const in uvec2 wraps,
                   const in uint level, const in float x) {
    uvec2 size = max(uvec2(shape.width >> level, shape.height >> level), uvec2(1u));
    // A cube's faces are three across and two down.
    uvec2 extent = window.parts.x == 1u ? size : max(uvec2(size.x / 3u, size.y >> 1), uvec2(1u));
    vec2 place = f.place + f.axis * x;
    vec2 at = vec2(rsl_wrap_place(place.x, wraps.x), rsl_wrap_place(place.y, wraps.y)) * vec2(extent) - 0.5;
    bool neighbours = rsl_has_neighbours(shape, window);
    at = neighbours ? rsl_beside_face(at, int(extent.x)) : at;
    vec2 low = floor(at);
    vec2 share = at - low;
    RslTexels texels = rsl_texels(shape, ivec2(low), ivec2(extent), wraps);
    RslProbe probe;
    probe.columns = uvec4(texels.x) + window.cell.x * extent.x;
    probe.rows = uvec4(texels.y) + window.cell.y * extent.y;
    probe.shares = vec4(1.0 - share.x, share.x, 1.0 - share.x, share.x) * vec4(1.0 - share.yy, share.yy);
    if (neighbours) {
        uint face = window.cell.x + 3u * window.cell.y;
        int n = int(extent.x);
        ivec2 upper_left = rsl_cube_texel(face, ivec2(low), n);
        ivec2 upper_right = rsl_cube_texel(face, ivec2(low) + ivec2(1, 0), n);
        ivec2 lower_left = rsl_cube_texel(face, ivec2(low) + ivec2(0, 1), n);
        ivec2 lower_right = rsl_cube_texel(face, ivec2(low) + ivec2(1, 1), n);
        texels.x = ivec4(upper_left.x, upper_right.x, lower_left.x, lower_right.x);
        texels.y = ivec4(upper_left.y, upper_right.y, lower_left.y, lower_right.y);
        probe.columns = uvec4(texels.x);
        probe.rows = uvec4(texels.y);
        // Three faces meet at a corner: the texel that there is not is the mean of the others.
        bvec4 none = lessThan(texels.x, ivec4(0));
        float lost = none.x ? probe.shares.x : none.y ? probe.shares.y
                   : none.z ? probe.shares.z : none.w ? probe.shares.w : 0.0;
        float third = 0.33333334 * lost;
        probe.shares = vec4(none.x ? 0.0 : probe.shares.x + third, none.y ? 0.0 : probe.shares.y + third,
                            none.z ? 0.0 : probe.shares.z + third, none.w ? 0.0 : probe.shares.w + third);
    }
    uvec4 tiles = (probe.columns >> 6) | ((probe.rows >> 6) << 16);
    bvec4 outside = lessThan(min(texels.x, texels.y), ivec4(0));
    bvec4 idle = equal(probe.shares, vec4(0.0));
    probe.tiles = uvec4(outside.x || idle.x ? 0xffffffffu : tiles.x, outside.y || idle.y ? 0xffffffffu : tiles.y,
                        outside.z || idle.z ? 0xffffffffu : tiles.z, outside.w || idle.w ? 0xffffffffu : tiles.w);
    return probe;
}

// The least and the largest of texels.
struct RslRange {
    vec4 low;
    vec4 high;
};

// The range with a texel, if it counts.
RslRange rsl_range_with(const in RslRange range, const in vec4 texel, const in bool counts) {
    RslRange wider;
    wider.low = counts ? min(range.low, texel) : range.low;
    wider.high = counts ? max(range.high, texel) : range.high;
    return wider;
}

// Values that levels weighed below 0 took beyond the range of the texels: kept within 0..1 if the range is, and within
// the range the closer, the further that is beyond it. So masks stay masks, and there are no dark rings around lights.
vec4 rsl_within(const in vec4 value, const in RslRange range) {
    if (!textures_have(TEXTURE_FLOAT)) return min(max(value, vec4(0.0)), vec4(1.0));
    vec4 above = min(max(range.high - 1.0, 0.0), 1.0);
    vec4 below = min(max(-range.low, 0.0), 1.0);
    vec4 least = min(range.low, range.low * above);
    vec4 most = max(range.high, (range.high - 1.0) * below + 1.0);
    return min(max(value, least), most);
}

// The weighted mean of all probes in one plane: the channels of its words. CPU drivers run both sides of a branch, and
// to find a tile costs more than to read a probe's texels. So the inner loop reads texels of one tile for as many
// probes as lie in it, and the outer loop finds tiles. A probe's texels are added when all are read, in the same order
// wherever tiles end; and a level's mean when its last probe is.
vec4 rsl_filter_plane(const in TextureShape shape, const in RslWindow window, const in RslFootprint f, const in uint plane,
                      const in uint form) {
    vec4 mean = vec4(0.0);
    vec4 sum = vec4(0.0);
    float total = 0.0;
    RslRange range;
    range.low = vec4(3.4e38);
    range.high = vec4(-3.4e38);
    uvec3 ends = uvec3(f.counts);
    ends = uvec3(ends.x, ends.x + ends.y, ends.x + ends.y + ends.z);
    vec3 counts = max(f.counts, vec3(1.0));
    vec3 steps = vec3(rsl_reciprocal(counts.x), rsl_reciprocal(counts.y), rsl_reciprocal(counts.z));
    rsl_trips = rsl_trips + 8u * ends.z;
    uvec2 wraps = rsl_wraps(shape);
    uint i = 0u;
    uint coarser = 0u;
    float x = steps.x - 1.0;
    RslProbe probe = rsl_probe(shape, window, f, wraps, f.level, x);
    uvec4 words = uvec4(0u);
    while (i < ends.z) {
        uint tile = min(min(probe.tiles.x, probe.tiles.y), min(probe.tiles.z, probe.tiles.w));
        uint held = coarser;
        uint slot = tile == 0xffffffffu ? TILE_MISSING : tile_slot(window.texture, f.level + held, plane, uvec2(tile & 0xffffu, tile >> 16));
        do {
            bvec4 here = equal(probe.tiles, uvec4(tile));
#ifndef RSL_ONLY_NAMES
            bool is_there = slot != TILE_MISSING;
            uint known = is_there ? slot : 0u;
            uvec4 inside = (probe.columns & 63u) | ((probe.rows & 63u) << 6);
            uvec4 texels = uvec4(slot_word(known, inside.x), slot_word(known, inside.y), slot_word(known, inside.z),
                                 slot_word(known, inside.w));
            words = uvec4(here.x && is_there ? texels.x : words.x, here.y && is_there ? texels.y : words.y,
                          here.z && is_there ? texels.z : words.z, here.w && is_there ? texels.w : words.w);
#endif
            probe.tiles = uvec4(here.x ? 0xffffffffu : probe.tiles.x, here.y ? 0xffffffffu : probe.tiles.y,
                                here.z ? 0xffffffffu : probe.tiles.z, here.w ? 0xffffffffu : probe.tiles.w);
            if (min(min(probe.tiles.x, probe.tiles.y), min(probe.tiles.z, probe.tiles.w)) != 0xffffffffu) break;
            i = i + 1u;
#ifndef RSL_ONLY_NAMES
            float weight = rsl_filter_weight(form, x * x);
            total = total + weight;
            vec4 first = rsl_word_channels(words.x, shape.format);
            vec4 second = rsl_word_channels(words.y, shape.format);
            vec4 third = rsl_word_channels(words.z, shape.format);
            vec4 fourth = rsl_word_channels(words.w, shape.format);
            sum = sum + (weight * probe.shares.x) * first;
            sum = sum + (weight * probe.shares.y) * second;
            sum = sum + (weight * probe.shares.z) * third;
            sum = sum + (weight * probe.shares.w) * fourth;
            if (textures_have(TEXTURE_FLOAT)) {
                range = rsl_range_with(range, first, probe.shares.x != 0.0);
                range = rsl_range_with(range, second, probe.shares.y != 0.0);
                range = rsl_range_with(range, third, probe.shares.z != 0.0);
                range = rsl_range_with(range, fourth, probe.shares.w != 0.0);
            }
            words = uvec4(0u);
#endif
            coarser = i < ends.x ? 0u : i < ends.y ? 1u : 2u;
            uint begin = coarser == 0u ? 0u : coarser == 1u ? ends.x : ends.y;
            float step = coarser == 0u ? steps.x : coarser == 1u ? steps.y : steps.z;
            x = float(2u * (i - begin) + 1u) * step - 1.0;
            probe = rsl_probe(shape, window, f, wraps, f.level + coarser, x);
            // In the same tile?
        } while (i < ends.z && coarser == held &&
                 min(min(probe.tiles.x, probe.tiles.y), min(probe.tiles.z, probe.tiles.w)) == tile);
#ifndef RSL_ONLY_NAMES
        bool is_level = i == (held == 0u ? ends.x : held == 1u ? ends.y : ends.z);
        float share = (held == 0u ? f.shares.x : held == 1u ? f.shares.y : f.shares.z) * rsl_reciprocal(total);
        mean = is_level ? mean + sum * share : mean;
        sum = is_level ? vec4(0.0) : sum;
        total = is_level ? 0.0 : total;
#endif
    }
    return rsl_within(mean, range);
}

// Component i of v.
float rsl_component(const in vec4 v, const in uint i) {
    return i == 0u ? v.x : i == 1u ? v.y : i == 2u ? v.z : v.w;
}

// The wanted channels, `fill` for those that the texture lacks.
vec3 rsl_filter_window(const in TextureShape shape, const in RslWindow window, const in RslFootprint f, const in uint form,
                       const in float fill) {
    uint each = rsl_channels_of_word(shape.format);
    vec3 result = vec3(fill);
    for (uint plane = window.first / each; plane * each < window.end; plane++) {
        vec4 mean = rsl_filter_plane(shape, window, f, plane, form);
        for (uint channel = max(window.first, plane * each); channel < min(window.end, (plane + 1u) * each); channel++) {
            float value = rsl_component(mean, channel - plane * each);
            uint i = channel - window.first;
            result = vec3(i == 0u ? value : result.x, i == 1u ? value : result.y, i == 2u ? value : result.z);
        }
    }
    return result;
}

// The channels wanted from `channel` on, in the whole texture.
RslWindow rsl_whole(const in TextureShape shape, const in uint texture, const in float channel, const in uint wanted) {
    RslWindow window;
    window.texture = texture;
    window.first = channel >= 0.0 && channel < 1024.0 ? uint(channel) : 1024u;
    window.end = min(window.first + wanted, shape.channels);
    window.cell = uvec2(0u);
    window.parts = uvec2(1u);
    return window;
}

// texture(): `wanted` channels (1 or 3) from `channel` on, filtered over the footprint (dx, dy) of texture
// coordinates st. width_blur: swidth, twidth, sblur, tblur. What is not finite counts as 0 in the footprint, and
// gives 0 in st.
vec3 rsl_texture(const in uint token, const in float channel, const in uint wanted, const in vec2 st, const in vec2 dx,
                 const in vec2 dy, const in vec4 width_blur, const in uint filter_number, const in float fill, const in float lerp) {
    uint texture = texture_of(token);
    if (texture == TEXTURE_NONE) return vec3(wanted == 3u ? 1.0 : 0.0);
    if (texture == TEXTURE_UNKNOWN || !rsl_is_finite(st.x) || !rsl_is_finite(st.y)) return vec3(0.0);
    TextureShape shape = texture_shape(texture);
    vec2 place = vec2(rsl_wrap_place(st.x, shape.wrap_s), rsl_wrap_place(st.y, shape.wrap_t));
    vec2 width = rsl_bounded2(width_blur.xy, 1e9);
    vec2 x = rsl_bounded2(rsl_bounded2(dx, 1e9) * width, 64.0);
    vec2 y = rsl_bounded2(rsl_bounded2(dy, 1e9) * width, 64.0);
    vec2 blur = rsl_bounded2(width_blur.zw, 64.0);
    vec2 size = vec2(shape.width, shape.height);
    uint form = filter_number % RSL_FILTER_PLAIN;
    RslFootprint f = rsl_footprint(size, shape.levels, place, x, y, blur, form, lerp, rsl_sharpness(width, filter_number));
    return rsl_filter_window(shape, rsl_whole(shape, texture, channel, wanted), f, form, fill);
}
