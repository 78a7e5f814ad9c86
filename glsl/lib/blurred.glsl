// A micropolygon that moves or is out of focus: where it is at a sample's time, seen through the sample's point of the
// lens. Its vertices are in the arena at each key of its motion, and move on straight lines in between.
//
// Needs frame, arena[] (vec4), motion[], micropolygon.glsl and blur.glsl.

#ifndef BLURRED_GLSL
#define BLURRED_GLSL

struct Vertices {
    uint first;  // vertex (i, j) at the first key
    uint pitch;  // from it to (i, j + 1)
    uint stride; // from a key to the next
    uint keys;   // 1 for what stands still
    uint motion; // MotionKey of the first key
};

// A time among keys: in which interval, and where in it.
struct KeyTime {
    uint key;
    float part; // 0 to 1
};

#if KEYS == 1

KeyTime key_time(Vertices v, uint key, float time) { return KeyTime(0u, 0.0); }

#else

// Looks from the interval `key` on.
KeyTime key_time(Vertices v, uint key, float time) {
#ifndef KEYS
    while (key + 2u < v.keys && time >= motion[v.motion + key + 1u].time) key++;
#endif
    float from = v.keys > 1u ? motion[v.motion + key].time : 0.0, inverse = v.keys > 1u ? motion[v.motion + key].inverse_span : 0.0;
    return KeyTime(key, clamp((time - from) * inverse, 0.0, 1.0));
}

#endif

// The four corners (i, j), (i + 1, j), (i, j + 1), (i + 1, j + 1) at a time.
struct Corners {
    vec3 a;
    vec3 b;
    vec3 c;
    vec3 d;
};

Corners corners_of_key(Vertices v, uint key) {
    uint a = v.first + key * v.stride;
    return Corners(arena[a].xyz, arena[a + 1u].xyz, arena[a + v.pitch].xyz, arena[a + v.pitch + 1u].xyz);
}

#ifndef KEYS

void load_corners(Vertices v) {}
Corners corners_before(Vertices v, uint key) { return corners_of_key(v, key); }
Corners corners_after(Vertices v, uint key) { return corners_of_key(v, min(key + 1u, v.keys - 1u)); }

#else

// With one key or two (KEYS) there is one interval of keys, whose corners are loaded once.
Corners corners_from;
Corners corners_to;

void load_corners(Vertices v) {
    corners_from = corners_of_key(v, 0u);
    corners_to = corners_of_key(v, v.keys - 1u);
}
Corners corners_before(Vertices v, uint key) { return corners_from; }
Corners corners_after(Vertices v, uint key) { return corners_to; }

#endif

vec3 between(vec3 from, vec3 to, float part) { return (1.0 - part) * from + part * to; }

#if KEYS == 1

Corners corners_at(Vertices v, KeyTime at) { return corners_from; }

#else

Corners corners_at(Vertices v, KeyTime at) {
    Corners from = corners_before(v, at.key), to = corners_after(v, at.key);
    return Corners(between(from.a, to.a, at.part), between(from.b, to.b, at.part), between(from.c, to.c, at.part), between(from.d, to.d, at.part));
}

#endif

vec4 corner_depths(Corners p) { return vec4(p.a.z, p.b.z, p.c.z, p.d.z); }

// Also false for NaN.
bool can_be_projected(vec4 z) { return all(greaterThanEqual(z, vec4(frame.eye_z))) && all(lessThanEqual(z, vec4(DEPTH_MAX))); }

// The one rounding to 1/1024 pixel that vertices go through here, by the device's own division, because every candidate
// takes four: another device may round another way, but all micropolygons of a picture agree.
ivec2 raster_through_lens(vec3 p, vec2 lens) {
    float inverse = 1.0 / p.z;
    vec2 r = (frame_perspective(frame) ? p.xy * inverse : p.xy) * frame.raster_scale + frame.raster_offset;
    if ((frame.flags & FRAME_LENS) != 0u) r += lens * (frame.lens_far - frame.lens_near * inverse);
    return ivec2(floor(clamp(r, vec2(-RASTER_MAX), vec2(RASTER_MAX)) + vec2(0.5)));
}

// The micropolygon at a sample, without its plane of depth; false when none of it can be seen then. Without branches:
// what they assign is dear on a CPU driver.
bool micropolygon_at(Slot slot, Corners p, vec2 lens, out Micropolygon m) {
    vec4 z = corner_depths(p);
    m.a = raster_through_lens(p.a, lens);
    m.b = raster_through_lens(p.b, lens);
    m.c = raster_through_lens(p.c, lens);
    m.d = raster_through_lens(p.d, lens);
    m.low = min(min(m.a, m.b), min(m.c, m.d));
    m.high = max(max(m.a, m.b), max(m.c, m.d));
    vec2 e1 = vec2(m.d - m.a), e2 = vec2(m.c - m.b);
    bool turned = (e1.x * e2.y - e1.y * e2.x > 0.0) == slot_flip(slot);
    return can_be_projected(z) && !clipped_whole(slot, z) && !(slot_one_sided(slot) && turned);
}

#endif
