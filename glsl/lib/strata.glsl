// How hide_blurred.comp and sample_blurred.comp find the samples of a micropolygon that moves or is out of focus. One
// invocation = one micropolygon of a piece. A *stratum* is a part of the shutter, a cell of the lens, or (where it both
// moves and may be out of focus) a part of the shutter in pixels of one class, which gives the cell. In each pixel one
// sample is in a stratum, so a micropolygon is bounded for each stratum, and of the pixels in this small box only those
// samples are tested that are in the stratum. Lanes of a CPU driver have the same strata, and search their boxes apart
// for a sample that lies in the box, then test one together.
//
// Where a stratum's box is small (nearly all), the first pass (REST 0) does it. It arms the second (REST 1), which does
// the rest: boxes of many pixels in tiles, and micropolygons that need 64-bit arithmetic. All loops are bounded
// (docs/pipeline.md).
//
// The including file defines `hit`. Needs blurred.glsl, coverage.glsl, the buffers slots[], pieces[] and rest_groups_*,
// and the push constants slot_base, piece, vertex_base, key_count, key_stride and region_*.

#ifndef STRATA_GLSL
#define STRATA_GLSL

// Workgroups along z that every device can run.
const uint STRATA_GROUPS_MAX = 65535u;
// Strata that the first pass does, and the candidate samples of all of them together.
const uint STRATA_FIRST_MAX = 2048u;
const uint STRATA_CANDIDATES_MAX = 8192u;
// Pixels along the side of a tile of the second pass, and parts (of a stratum and a tile) that an invocation does.
const int STRATA_TILE_PX = 32;
const uint STRATA_REST_PARTS = 8u;
// Trim loops take trips of their own: tiles are smaller. Trim loops say how many parts of 32 samples are not too much.
const int STRATA_TRIMMED_TILE_PX = 4;
const uint TRIM_PART_CANDIDATES = 32u;

struct Walk {
    Vertices vertices;
    Slot slot;
    uint number;
    RegionRect region;
    ivec4 px;     // pixels that it may touch: its grid's bound in the region, inclusive
    bool moves;
    bool lens;
    uint classes; // LENS_CLASSES where it moves and is seen through a lens, else 1
    uint strata;  // of each class
    uint candidates; // that an invocation may test
};

// A sample that the micropolygon covers, at `at`: that of subpixel k of a pixel.
void hit(Walk w, Micropolygon m, ivec2 pixel, uvec2 k, ivec2 at);

// Where a micropolygon is during a part of the shutter, in 1/1024 pixel, seen through the middle of the lens.
struct Sweep {
    vec2 low;
    vec2 high;
    vec2 inverse_z; // smallest and largest 1 / z
    bool across;    // it may pass the eye plane
    uint key;       // the interval of keys in which it begins
};

// Adds where it is at a time.
void sweep_at(Walk w, KeyTime at, inout Sweep s) {
    Corners p = corners_at(w.vertices, at);
    vec4 z = corner_depths(p);
    bool seen = can_be_projected(z);
    vec2 a = raster_position(frame, p.a), b = raster_position(frame, p.b), c = raster_position(frame, p.c), d = raster_position(frame, p.d);
    vec4 inverse = 1.0 / z;
    s.low = min(s.low, min(min(a, b), min(c, d)));
    s.high = max(s.high, max(max(a, b), max(c, d)));
    s.inverse_z.x = min(s.inverse_z.x, min(min(inverse.x, inverse.y), min(inverse.z, inverse.w)));
    s.inverse_z.y = max(s.inverse_z.y, max(max(inverse.x, inverse.y), max(inverse.z, inverse.w)));
    s.across = s.across || !seen;
}

Sweep no_sweep(uint key) { return Sweep(vec2(3.4e38), vec2(-3.4e38), vec2(3.4e38, -3.4e38), false, key); }

// During the part of the shutter with this number; `before` is where it was when the part begins, then when it ends.
Sweep sweep_part(Walk w, uint part, inout Sweep before) {
    Sweep s = before;
    if (!w.moves) return s;
    float end = shutter_time(float(part + 1u) * frame.stratum);
    uint key = s.key;
    while (key + 2u < w.vertices.keys && motion[w.vertices.motion + key + 1u].time < end) {
        key++;
        sweep_at(w, KeyTime(key, 0.0), s);
    }
    KeyTime at = key_time(w.vertices, key, end);
    sweep_at(w, at, s);
    s.key = before.key;
    before = no_sweep(at.key);
    sweep_at(w, at, before);
    return s;
}

Sweep sweep_begin(Walk w, uint part) {
    KeyTime at = key_time(w.vertices, 0u, shutter_time(float(part) * frame.stratum));
    Sweep s = no_sweep(at.key);
    sweep_at(w, at, s);
    return s;
}

// A stratum's box: candidates are the samples of its pixels that lie in it.
struct StratumBox {
    ivec4 px;   // inclusive, empty when x0 > x1
    ivec2 low;  // 1/1024 pixel
    ivec2 high;
    bool wide;  // needs 64-bit arithmetic
};

// Vertices are rounded, and floats off, by less than this and a part of their size.
const float SWEEP_MARGIN = 2.0;
const float SWEEP_ERROR = 1e-6;

StratumBox box_of(Walk w, Sweep s, uvec2 cell) {
    vec2 low = s.low, high = s.high;
    if (w.lens) {
        LensCell rim = lens_cells[cell.y * frame.samples.x + cell.x];
        vec2 u = frame.lens_far - frame.lens_near * s.inverse_z.x, v = frame.lens_far - frame.lens_near * s.inverse_z.y;
        vec2 ul = u * rim.low, uh = u * rim.high, vl = v * rim.low, vh = v * rim.high;
        low += min(min(ul, uh), min(vl, vh));
        high += max(max(ul, uh), max(vl, vh));
    }
    vec2 margin = vec2(SWEEP_MARGIN) + SWEEP_ERROR * max(abs(low), abs(high));
    // Not false for NaN.
    bool across = s.across || !(all(greaterThan(low, vec2(-RASTER_MAX))) && all(lessThan(high, vec2(RASTER_MAX))));
    StratumBox box;
    box.low = across ? ivec2(-int(RASTER_MAX)) : ivec2(floor(low - margin));
    box.high = across ? ivec2(int(RASTER_MAX)) : ivec2(ceil(high + margin));
    box.px = ivec4(max(box.low >> FIXED_LOG2, w.px.xy), min(box.high >> FIXED_LOG2, w.px.zw));
    ivec2 extent = box.high - box.low;
    box.wide = max(extent.x, extent.y) > NARROW_EXTENT;
    return box;
}

// The pixels of a box that are searched: all of them, or those of a class.
struct Search {
    ivec2 first;
    int step;
    uvec2 size;
};

Search search_of(Walk w, ivec4 px, uint lens_class) {
    Search s = Search(px.xy, 1, uvec2(max(px.zw - px.xy + 1, ivec2(0))));
    if (w.classes > 1u) {
        ivec2 to = ivec2(lens_class & (LENS_CLASS_PX - 1u), lens_class >> LENS_CLASS_LOG2);
        s.first += (to - px.xy) & int(LENS_CLASS_PX - 1u);
        s.step = int(LENS_CLASS_PX);
        s.size = uvec2(max((px.zw - s.first + s.step) >> int(LENS_CLASS_LOG2), ivec2(0)));
    }
    return s;
}

// Goes through the candidates of a box. `stratum` is a cell of the lens for what does not move, else a part of the
// shutter, during which keys from `key` on matter.
void search(Walk w, StratumBox box, Search s, uvec2 stratum, uint key) {
    uint count = s.size.x * s.size.y, x = 0u, y = 0u;
    bool by_cell = w.lens && !w.moves;
    for (uint i = 0u; i < count;) {
        ivec2 pixel, at;
        uvec2 part, k;
        bool found = false;
        while (i < count && !found) {
            pixel = s.first + ivec2(x, y) * s.step;
            i++;
            x++;
            if (x == s.size.x) {
                x = 0u;
                y++;
            }
            part = by_cell ? part_of_cell(stratum, pixel_class(pixel)) : stratum;
            k = subpixel_of_part(part, pixel);
            at = sample_position(frame, pixel, k);
            found = all(greaterThanEqual(at, box.low)) && all(lessThanEqual(at, box.high));
        }
        if (!found) return;
        if (!sees_detail(w.slot.detail, pixel, k.y * frame.samples.x + k.x)) continue;
        Blur blur = blur_of(pixel, k, part);
        Corners corners = corners_at(w.vertices, key_time(w.vertices, key, blur.time));
        Micropolygon m;
        if (!micropolygon_at(w.slot, corners, blur.lens, m) || !covers(m, coverage_setup(m), at)) continue;
        micropolygon_depth(m, corner_depths(corners));
#if TRIMMED
        vec4 weights = frame_perspective(frame) ? 1.0 / corner_depths(corners) : vec4(1.0);
        for (uint c = 0u; c < 4u; c++) trim_corners[c].weight = weights[c];
#endif
        hit(w, m, pixel, k, at);
    }
}

// Candidates that a box of the first pass has at most.
uint candidates_max(Walk w) { return w.candidates / min(w.strata * w.classes, STRATA_FIRST_MAX); }
uint first_strata(Walk w) { return min(w.strata, STRATA_FIRST_MAX / w.classes); }

// Whether the first pass does a stratum.
bool is_first(Walk w, uint stratum, StratumBox box, Search s) {
    return stratum < first_strata(w) && !box.wide && s.size.x * s.size.y <= candidates_max(w);
}

// Side of a tile of the second pass, and the parts that an invocation does.
int tile_px() { return TRIMMED == 1 ? STRATA_TRIMMED_TILE_PX : STRATA_TILE_PX; }
uint rest_parts(Walk w) { return clamp(w.candidates / uint(tile_px() * tile_px()), 1u, STRATA_REST_PARTS); }

bool walk_begin(uint id, out Walk w) {
    uint index = id >> pieces[piece].mp_log2;
    if (index >= pieces[piece].count) return false;
    w.slot = slots[slot_base + index];
    uint local = id & ((1u << pieces[piece].mp_log2) - 1u), nu = slot_nu(w.slot), nv = slot_nv(w.slot);
    if (local >= nu * nv) return false;
    uint j = uint((float(local) + 0.5) / float(nu)), i = local - j * nu;
    uint first = vertex_base + (index << pieces[piece].slot_log2) + j * (nu + 1u) + i;
    w.vertices = Vertices(first, nu + 1u, key_stride, key_count, w.slot.motion);
    w.number = (w.slot.rank << NUMBER_MP_BITS) | local;
    w.region = RegionRect(region_x, region_y, region_width, region_height);
    ivec2 bx = unpack_range(w.slot.bound_x), by = unpack_range(w.slot.bound_y);
    ivec2 end = ivec2(region_x + int(region_width), region_y + int(region_height)) - 1;
    w.px = ivec4(max(ivec2(bx.x, by.x), ivec2(region_x, region_y)), min(ivec2(bx.y, by.y), end));
    w.moves = key_count > 1u;
    w.lens = (frame.flags & FRAME_LENS) != 0u;
    w.classes = w.moves && w.lens ? LENS_CLASSES : 1u;
    w.strata = frame.samples.x * frame.samples.y;
    w.candidates = STRATA_CANDIDATES_MAX;
#if TRIMMED
    w.candidates = min(w.candidates, TRIM_PART_CANDIDATES * trim_load(vertex_base + (index << pieces[piece].slot_log2), w.slot, local));
#endif
    return w.px.x <= w.px.z && w.px.y <= w.px.w;
}

// Where stratum n is in the lens.
uvec2 stratum_cell(Walk w, uvec2 stratum, uint lens_class) { return w.moves ? cell_of_part(stratum, lens_class) : stratum; }

#if REST

void walk_strata() {
    Walk w;
    if (!walk_begin(gl_GlobalInvocationID.x, w)) return;
    ivec2 size = w.px.zw - w.px.xy + 1, tiles = (size + (tile_px() - 1)) / tile_px();
    uint tile_count = uint(tiles.x * tiles.y), count = w.strata * w.classes * tile_count;
    uint begin = gl_WorkGroupID.z * rest_parts(w), end = min(count, begin + rest_parts(w));
    for (uint i = begin; i < end; i++) {
        uint both = i / tile_count, tile = i - both * tile_count, n = both / w.classes, lens_class = both - n * w.classes;
        Sweep before = sweep_begin(w, w.moves ? n : 0u);
        Sweep sweep = sweep_part(w, n, before);
        uvec2 stratum = place_of(n);
        StratumBox box = box_of(w, sweep, stratum_cell(w, stratum, lens_class));
        if (is_first(w, n, box, search_of(w, box.px, lens_class))) continue;
        ivec2 corner = w.px.xy + ivec2(tile % uint(tiles.x), tile / uint(tiles.x)) * tile_px();
        ivec4 px = ivec4(max(box.px.xy, corner), min(box.px.zw, corner + (tile_px() - 1)));
        search(w, box, search_of(w, px, lens_class), stratum, sweep.key);
    }
}

#else

// Does stratum n; whether anything of it is left to the second pass. `before` is as in sweep_part.
bool visit_stratum(Walk w, uint n, inout Sweep before) {
    Sweep sweep = sweep_part(w, n, before);
    uvec2 stratum = place_of(n);
    bool rest = false;
    for (uint lens_class = 0u; lens_class < w.classes; lens_class++) {
        StratumBox box = box_of(w, sweep, stratum_cell(w, stratum, lens_class));
        Search s = search_of(w, box.px, lens_class);
        if (is_first(w, n, box, s)) search(w, box, s, stratum, sweep.key);
        else rest = rest || s.size.x * s.size.y != 0u;
    }
    return rest;
}

// Arms the second pass, which goes on with a micropolygon.
void arm_rest(Walk w) {
    ivec2 size = w.px.zw - w.px.xy + 1, tiles = (size + (tile_px() - 1)) / tile_px();
    uint parts = w.strata * w.classes * uint(tiles.x * tiles.y);
    rest_groups_x = gl_NumWorkGroups.x;
    atomicMax(rest_groups_z, min((parts + rest_parts(w) - 1u) / rest_parts(w), STRATA_GROUPS_MAX));
    if (parts > rest_parts(w) * STRATA_GROUPS_MAX) atomicAdd(rest_lost, 1u);
}

#ifdef EXPANDED

#include "lib/strips.glsl"

void walk_strata() {
    Walk w;
    bool seen = walk_begin(gl_GlobalInvocationID.x, w), rest = seen && first_strata(w) < w.strata;
    if (rest) arm_rest(w);
    uint strips = list_strips(seen ? first_strata(w) : 0u);
    for (uint strip = gl_LocalInvocationID.x; strip < strips; strip += GROUP_MICROPOLYGONS) {
        uint owner = strip_owner(strip), n = strip - strips_before(owner);
        walk_begin(gl_WorkGroupID.x * GROUP_MICROPOLYGONS + owner, w);
        Sweep before = sweep_begin(w, w.moves ? n : 0u);
        if (visit_stratum(w, n, before)) arm_rest(w);
    }
}

#else

void walk_strata() {
    Walk w;
    if (!walk_begin(gl_GlobalInvocationID.x, w)) return;
    Sweep before = sweep_begin(w, 0u);
    bool rest = first_strata(w) < w.strata;
    uint end = first_strata(w);
    for (uint n = 0u; n < end; n++) rest = visit_stratum(w, n, before) || rest;
    if (rest) arm_rest(w);
}

#endif

#endif

#endif
