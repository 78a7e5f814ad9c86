// One invocation = one part of the shutter in one pixel of a square: the subpixel that has the part, and the part that
// this subpixel has. Test that one is the inverse of the other.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/frame.glsl"
#include "lib/records.glsl"
#include "lib/sampling/blur.glsl"

layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer FrameBuffer { Frame frame_record; };
layout(std430, set = 0, binding = 1) writeonly buffer Parts { uvec2 parts[]; }; // number of the subpixel, of the part
layout(push_constant) uniform Push { uint side; }; // pixels of a row, and rows

void main() {
    frame = frame_record;
    uint count = frame.samples.x * frame.samples.y, id = gl_GlobalInvocationID.x, pixel = id / count;
    if (pixel >= side * side) return;
    ivec2 at = ivec2(pixel % side, pixel / side) * 5 - ivec2(8); // periods begin at 0 and 32
    uvec2 k = subpixel_of_part(place_of(id - pixel * count), at), part = part_of_subpixel(k, at);
    parts[id] = uvec2(k.y * frame.samples.x + k.x, part.y * frame.samples.x + part.x);
}
