// One invocation looks one place of a texture up, whose tiles may be missing. Test of the tiles of textures that a
// device holds.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require

// s, t, and the sides of the footprint.
layout(std430, set = 0, binding = 0) readonly buffer Places { vec2 places[]; };
layout(std430, set = 0, binding = 1) readonly buffer Sides { vec2 sides[]; };
layout(set = 0, binding = 2) uniform itextureBuffer tokens;
layout(std430, set = 0, binding = 3) writeonly buffer Colours { vec4 colours[]; };
// What the texture is like, as the table has it.
layout(std430, set = 0, binding = 4) writeonly buffer Shapes { uvec4 shapes[]; };

layout(push_constant) uniform Push { uint first; uint count; };

#include "lib/rsl/hash.glsl"
#include "lib/rsl/math.glsl"
#include "lib/rsl/trips.glsl"
#include "lib/rsl/tiles.glsl"
#include "lib/rsl/texture.glsl"

layout(local_size_x = 64) in;

void main() {
    uint i = first + gl_GlobalInvocationID.x;
    if (gl_GlobalInvocationID.x >= count) return;
    vec2 side = sides[i];
    uint token = uint(texelFetch(tokens, int(i)).x);
    uint number = texture_of(token);
    uvec4 like = uvec4(0u);
    if (number < TEXTURE_UNKNOWN) {
        TextureShape shape = texture_shape(number);
        uint what = shape.levels | (shape.channels << 8) | (shape.format << 16) | (shape.kind << 20);
        like = uvec4(shape.width, shape.height, what, shape.wrap_s | (shape.wrap_t << 4));
    }
    shapes[i] = like;
    colours[i] = vec4(rsl_texture(token, 0.0, 3u, places[i], vec2(side.x, 0.0), vec2(0.0, side.y),
                                  vec4(1.0, 1.0, 0.0, 0.0), 0u, 0.0, 1.0), 0.0);
}
