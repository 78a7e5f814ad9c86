#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require

// The helper library of compiled shaders. The compiler imports single functions of it; this entry point only names
// those that it may ask for, because others are dropped when the library is compiled. Compile for Vulkan 1.2, without
// optimisation (which would inline them all). Functions take their parameters by value (const in) and use no global
// variables but the buffers of tiles.glsl, and words that are 0 when a program begins. With RSL_ONLY_NAMES, lookups
// name the tiles that they need and find nothing.

#include "lib/rsl/hash.glsl"
#include "lib/rsl/math.glsl"
#include "lib/rsl/trips.glsl"
#include "lib/rsl/matrix.glsl"
#include "lib/rsl/color.glsl"
#include "lib/rsl/noise.glsl"
#include "lib/rsl/tiles.glsl"
#include "lib/rsl/texture.glsl"
#include "lib/rsl/environment.glsl"
#include "lib/rsl/points.glsl"
#include "lib/rsl/shadow.glsl"
#include "lib/rsl/views.glsl"
#include "lib/rsl/shadow_lookup.glsl"
#include "lib/rsl/occlusion.glsl"

layout(local_size_x = 1) in;

void main() {
    uint u = gl_GlobalInvocationID.x;
    float f = float(u);
    vec2 p = vec2(f);
    vec3 v = vec3(f);
    vec4 w = vec4(f);
    mat4 m = mat4(f);
    rsl_take_trips();
    rsl_begin_pass(u, u);
    rsl_hash(u, u);
    rsl_random(u, u, u, u);
    rsl_random3(u, u, u, u);
    rsl_determinant(m);
    rsl_inverse(m);
    rsl_hsv_from_rgb(v);
    rsl_rgb_from_hsv(v);
    rsl_hsl_from_rgb(v);
    rsl_rgb_from_hsl(v);
    rsl_yiq_from_rgb(v);
    rsl_rgb_from_yiq(v);
    rsl_xyz_from_rgb(v);
    rsl_rgb_from_xyz(v);
    rsl_xyy_from_rgb(v);
    rsl_rgb_from_xyy(v);
    rsl_sin(f);
    rsl_cos(f);
    rsl_tan(f);
    rsl_asin(f);
    rsl_acos(f);
    rsl_atan(f);
    rsl_atan2(f, f);
    rsl_exp(f);
    rsl_log(f);
    rsl_pow(f, f);
    rsl_noise1(f);
    rsl_noise1v(f);
    rsl_noise2(f, f);
    rsl_noise2v(f, f);
    rsl_noise3(v);
    rsl_noise3v(v);
    rsl_noise4(v, f);
    rsl_noise4v(v, f);
    rsl_pnoise1(f, f);
    rsl_pnoise1v(f, f);
    rsl_pnoise2(f, f, f, f);
    rsl_pnoise2v(f, f, f, f);
    rsl_pnoise3(v, v);
    rsl_pnoise3v(v, v);
    rsl_pnoise4(v, f, v, f);
    rsl_pnoise4v(v, f, v, f);
    rsl_cellnoise1(f);
    rsl_cellnoise1v(f);
    rsl_cellnoise2(f, f);
    rsl_cellnoise2v(f, f);
    rsl_cellnoise3(v);
    rsl_cellnoise3v(v);
    rsl_cellnoise4(v, f);
    rsl_cellnoise4v(v, f);
    rsl_hashnoise1(f);
    rsl_hashnoise1v(f);
    rsl_hashnoise2(f, f);
    rsl_hashnoise2v(f, f);
    rsl_hashnoise3(v);
    rsl_hashnoise3v(v);
    rsl_hashnoise4(v, f);
    rsl_hashnoise4v(v, f);
    rsl_texture(u, f, u, p, p, p, w, u, f, f);
    rsl_environment(u, f, u, v, v, v, w, u, f);
    rsl_shadow(u, f, v, v, v, w, w, u);
    rsl_occlusion(u, v, v, v, v, w, v, u);
    rsl_textureinfo(u, u, u);
    rsl_points(u, v, v, p, uvec2(u));
}
