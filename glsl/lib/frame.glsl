// The picture being drawn: camera, sampling pattern, limits. One record, read by every stage.

#ifndef FRAME_GLSL
#define FRAME_GLSL

#include "lib/math/quotient.glsl"

// Raster coordinates are in FIXED-ths of a pixel, integers once a vertex has been projected.
const int FIXED_LOG2 = 10;
const int FIXED = 1 << FIXED_LOG2;

const uint FRAME_PERSPECTIVE = 1u;
const uint FRAME_JITTER = 2u;
const uint FRAME_LENS = 4u; // depth of field
const uint FRAME_RAMPS = 8u; // the shutter takes time to open or to close
const uint FRAME_PAINT = 16u; // what comes later hides what comes before (RISpec 4.1.7, hider "paint")

struct Frame {
    vec2 raster_scale;  // 1/1024 pixels per unit of x/z, y/z (perspective) or x, y (orthographic)
    vec2 raster_offset; // 1/1024 pixels of the optical axis
    float near;         // hither: nearer micropolygons are dropped
    float far;          // yon
    float eye_z;        // smallest camera z that may be projected
    uint flags;         // FRAME_*
    ivec4 sampled_px;   // x0, y0, x1, y1: the pixels that are ever sampled: crop window and filter apron
    ivec4 picture_px;   // the same of the whole picture, however small the crop window is
    uvec2 samples;      // samples per pixel in x and y
    uvec2 sample_step;  // 16.16 fixed point: 1/1024 pixels per subpixel
    uvec2 time_lattice; // what a column of subpixels adds to its part of the shutter, and back (lib/sampling/blur.glsl)
    uint eye_splits;    // splits allowed because of the eye plane
    float stratum;      // 1 / samples of a pixel: the part of the shutter that a sample has for itself
    float opacity_threshold;
    float z_threshold;
    vec2 lens_far;  // 1/1024 pixels by which a point at infinity is displaced, seen from the rim of the lens
    vec2 lens_near; // the same is lens_far - lens_near / z at depth z: zero at the focal distance
    uvec2 spread;   // with a lens: how parts of the shutter go through a row of subpixels, and back
    vec2 ramps;     // the parts of its time during which the shutter opens and closes (lib/sampling/blur.glsl)
    vec2 ramp_parts;   // the parts of the light that comes in then
    vec2 ramp_inverse; // 1 / ramp_parts, 0 where that is 0
    float open_time;   // time in which all of the light would come in through the open shutter
    uint lens_wedges;         // of the aperture
    float lens_density;       // how much more light the rim lets in than the middle
    float lens_density_scale; // 1 / (2 lens_density), 0 where that is 0
    uint nth_step; // 2^22 / samples of a pixel (lib/sampling/sampling.glsl)
    float least_width; // of curves: in camera space at depth 1 (perspective) or at any depth (orthographic); 0 for none
};

// Each invocation's copy, made at the start of main (frame = frame_record): drivers read a record in a buffer again at
// every use, because a store in between might have changed it.
Frame frame;

// The one depth of everything that is painted.
const float PAINT_Z = 1.0;

bool frame_paints(Frame frame) { return (frame.flags & FRAME_PAINT) != 0u; }

bool frame_perspective(Frame frame) { return (frame.flags & FRAME_PERSPECTIVE) != 0u; }

// Whether the screen window mirrors the picture: along one axis, not both.
bool frame_mirrors(Frame frame) { return (frame.raster_scale.x < 0.0) == (frame.raster_scale.y < 0.0); }

// Raster position, in 1/1024 pixels, not rounded. Expects p.z >= frame.eye_z when the camera is perspective.
vec2 raster_position_by(Frame frame, vec3 p, float inverse_z) {
    vec2 q = frame_perspective(frame) ? p.xy * inverse_z : p.xy;
    return q * frame.raster_scale + frame.raster_offset;
}
vec2 raster_position(Frame frame, vec3 p) { return raster_position_by(frame, p, reciprocal(p.z)); }

// Raster positions are clamped to this, in 1/1024 pixel, so that differences fit 31 bits.
const float RASTER_MAX = 134217728.0;

// The one rounding to 1/1024 pixel that every vertex goes through.
ivec2 raster_fixed(Frame frame, vec3 p) {
    vec2 r = clamp(raster_position(frame, p), vec2(-RASTER_MAX), vec2(RASTER_MAX));
    return ivec2(floor(r + vec2(0.5)));
}

#endif
