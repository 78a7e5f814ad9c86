// axes: REST=narrow|wide
//
// One invocation = one pixel of one micropolygon: bit 0 says whether the micropolygon may cover anything in the pixel,
// bit 1 whether it covers a point of a fine lattice there. Test of what sampling passes over.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

#include "lib/frame.glsl"
#include "lib/records.glsl"
#include "lib/sampling/sampling.glsl"

layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer FrameBuffer { Frame frame_record; };
layout(std430, set = 0, binding = 1) readonly buffer Arena { vec4 arena[]; }; // four corners of each micropolygon
layout(std430, set = 0, binding = 2) writeonly buffer Touched { uint touched[]; };
layout(push_constant) uniform Push { uint count; uint side; }; // micropolygons; pixels of a row, and rows

#define MICROPOLYGON_VERTEX(v) arena[v].xyz
#include "lib/sampling/micropolygon.glsl"
#include "lib/sampling/coverage.glsl"

// From the first to the last point of a pixel in 33 steps.
const int LATTICE_STEP = (FIXED - 1) / 33;

void main() {
    frame = frame_record;
    uint id = gl_GlobalInvocationID.x, quad = id / (side * side), at = id - quad * side * side;
    if (quad >= count) return;
    Slot slot = Slot(0u, 1u | (1u << SLOT_NV_SHIFT), 0u, 0u, 0.0, 0.0, 0u, 0u, 0u);
    Micropolygon m;
    touched[id] = 0u;
    if (!micropolygon_load(4u * quad, slot, 0u, m)) return;
    Coverage cover = coverage_setup(m);
    ivec2 pixel = ivec2(at % side, at / side), box_low = m.low >> FIXED_LOG2, box_high = m.high >> FIXED_LOG2;
    // Only pixels that the box meets are asked for.
    if (any(lessThan(pixel, box_low)) || any(greaterThan(pixel, box_high))) return;
    ivec2 span = row_span(m, pixel.y);
    uint bits = pixel.x >= span.x && pixel.x <= span.y ? 1u : 0u;
    for (int y = 0; y < FIXED; y += LATTICE_STEP) {
        for (int x = 0; x < FIXED; x += LATTICE_STEP) {
            if (covers(m, cover, pixel * FIXED + ivec2(x, y))) bits |= 2u;
        }
    }
    touched[id] = bits;
}
