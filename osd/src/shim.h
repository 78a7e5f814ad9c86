// The C interface of shim.cpp. src/ffi.rs declares the same.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

// A control mesh. The caller has checked all indices and counts.
struct OsdCage {
    int32_t scheme;       // 0 bilinear, 1 Catmull-Clark, 2 Loop
    int32_t boundary;     // interpolateboundary: 0 none, 1 edges and corners, 2 edges
    int32_t face_varying; // Sdc::Options::FVarLinearInterpolation
    int32_t chaikin;      // creases by Chaikin's rule
    int32_t smooth_triangles;
    int32_t vertex_count;
    int32_t face_count;
    const int32_t *face_sizes;
    const int32_t *face_vertices;
    int32_t crease_count;
    const int32_t *crease_edges; // pairs of vertices
    const float *crease_sharpness;
    int32_t corner_count;
    const int32_t *corner_vertices;
    const float *corner_sharpness;
    int32_t hole_count;
    const int32_t *hole_faces;
    int32_t channel_count;               // of face-varying topologies
    const int32_t *channel_value_counts; // of each
    const int32_t *const *channel_values; // the value of each face's corners, of each
};

// Interleaved values to interpolate.
struct OsdValues {
    int32_t vertex_width;
    const float *vertex;
    int32_t varying_width;
    const float *varying;
    const int32_t *channel_widths;
    const float *const *channels;
};

struct OsdPatch {
    int32_t face;     // of the cage
    int32_t quadrant; // of a face that is not a quadrilateral: which of its quadrilaterals; else 0
    uint16_t u, v;    // corner (0,0), in units of 2^-depth
    uint8_t depth;    // below the quadrilateral or triangle
    uint8_t regular;  // no rational interior in any of its values
    uint8_t rotated;  // a triangle that runs from (u, v) towards (0, 0)
    uint8_t spare;
};

struct OsdRefiner;
struct OsdPatches;

// For tests: refines the whole mesh evenly and writes the limit positions of the vertices of that level, room of them
// at most; returns how many there are.
size_t osd_even_limit(OsdRefiner *refiner, int32_t level, const float *positions, float *limits, size_t room);
// Null on failure; error (256 bytes) then says why.
OsdRefiner *osd_refiner_new(const OsdCage *cage, char *error);
void osd_refiner_free(OsdRefiner *refiner);

// Patches of some faces, after isolating features to `isolation` levels and smooth ones to `smooth_isolation`. Null on
// failure, also when there would be more than `patches_max`: error is empty then.
OsdPatches *osd_refine(OsdRefiner *refiner, const int32_t *faces, int32_t count, int32_t isolation, int32_t smooth_isolation,
                       int32_t patches_max, const OsdValues *values, char *error);
void osd_patches_free(OsdPatches *patches);
size_t osd_patch_count(const OsdPatches *patches);
const OsdPatch *osd_patch_records(const OsdPatches *patches);
// 20 (triangles: 18) values a patch.
const float *osd_vertex_values(const OsdPatches *patches, size_t *count);
// 4 (triangles: 3) values a patch.
const float *osd_varying_values(const OsdPatches *patches, size_t *count);
// 20 (triangles: 18) values a patch; of linear channels 4 (3).
const float *osd_channel_values(const OsdPatches *patches, int32_t channel, size_t *count);
}
