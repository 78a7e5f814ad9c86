// Places of the colour store (ShadingInterpolation, RISpec 4.2.1). Without SMOOTH a place has `value_records` records,
// which hold for the whole micropolygon: (Ci, coverage), (Oi, 0) when the region has translucent grids, one for each
// further output. With SMOOTH it has them for each of the four vertices a, b, c, d, one vertex after the other, and
// then two records with the vertices' raster positions in 1/1024 pixel: (a, b), (c, d). A micropolygon of one colour
// has it at vertex a, and all its positions are zero.

#ifndef COLOUR_GLSL
#define COLOUR_GLSL

const uint POSITION_RECORDS = 2u;

uint colour_records(uint value_records) { return SMOOTH == 1 ? 4u * value_records + POSITION_RECORDS : value_records; }

#if SMOOTH

float cross2(vec2 a, vec2 b) { return a.x * b.y - a.y * b.x; }

// Weights of the corners p = 0, q and r of a triangle at a point; all very small when the triangle has no area.
vec3 triangle_weights(vec2 q, vec2 r, vec2 at) {
    float area = cross2(q, r);
    if (area == 0.0) return vec3(-1e30);
    float wq = cross2(at, r) / area, wr = cross2(q, at) / area;
    return vec3(1.0 - wq - wr, wq, wr);
}

float least(vec3 w) { return min(w.x, min(w.y, w.z)); }

// Weights of the vertices at a point, linear in each of the two triangles in which a micropolygon covers samples (a, b,
// d) and (a, d, c): along an edge they depend on its two ends alone, so that neighbours agree. Not outside their
// triangle.
vec4 vertex_weights(vec4 ab, vec4 cd, vec2 at) {
    vec2 b = ab.zw - ab.xy, c = cd.xy - ab.xy, d = cd.zw - ab.xy, p = at - ab.xy;
    vec3 abd = triangle_weights(b, d, p), adc = triangle_weights(d, c, p);
    bool first = least(abd) >= least(adc);
    vec3 w = max(first ? abd : adc, vec3(0.0));
    float sum = w.x + w.y + w.z;
    if (sum == 0.0) return vec4(1.0, 0.0, 0.0, 0.0);
    w /= sum;
    return first ? vec4(w.x, w.y, 0.0, w.z) : vec4(w.x, 0.0, w.z, w.y);
}

// Needs colours[].
#define COLOUR_FUNCTION                                                                                                \
    vec4 colour_weights(uint place, uint value_records, ivec2 at) {                                                    \
        uint positions = place + 4u * value_records;                                                                   \
        return vertex_weights(colours[positions], colours[positions + 1u], vec2(at));                                  \
    }                                                                                                                  \
    vec4 colour_value(uint place, uint value_records, uint record, vec4 weights) {                                     \
        uint at = place + record;                                                                                      \
        vec4 value = weights.x * colours[at];                                                                          \
        value += weights.y * colours[at + value_records];                                                              \
        value += weights.z * colours[at + 2u * value_records];                                                         \
        return value + weights.w * colours[at + 3u * value_records];                                                   \
    }

#else

// Needs colours[].
#define COLOUR_FUNCTION                                                                                                \
    vec4 colour_weights(uint place, uint value_records, ivec2 at) { return vec4(0.0); }                                \
    vec4 colour_value(uint place, uint value_records, uint record, vec4 weights) { return colours[place + record]; }

#endif

#endif
