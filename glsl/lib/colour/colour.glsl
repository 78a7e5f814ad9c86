// Places of the colour store (ShadingInterpolation, RISpec 4.2.1). Without SMOOTH a place has `value_records` records,
// which hold for the whole micropolygon: (Ci, coverage), (Oi, 0) when the region has translucent grids, one for each
// further output. With SMOOTH it has them for each of the four vertices a, b, c, d, one vertex after the other, and
// then `position_records` of where they are. With SMOOTH 1 nothing of one colour a vertex moves or is out of focus: two
// records have the vertices' raster positions in 1/1024 pixel: (a, b), (c, d). With SMOOTH 2 some may be: a head, with
// the number of keyframes and the first of them (low 16 bits, high bits) as numbers, and for each keyframe three
// records with the vertices' x, y and z in camera space. A micropolygon of one colour has it at vertex a, and all its
// positions are zero, or its keyframes.

#ifndef COLOUR_GLSL
#define COLOUR_GLSL

const uint POSITION_RECORDS = 2u;
const uint POSITION_HEAD_RECORDS = 1u;
const uint KEYFRAME_POSITION_RECORDS = 3u;

uint colour_records(uint value_records, uint position_records) {
    return SMOOTH != 0 ? 4u * value_records + position_records : value_records;
}

#endif
