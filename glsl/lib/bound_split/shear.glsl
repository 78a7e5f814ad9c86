// How much longer than asked for micropolygons may be inside of a facet whose directions run nearly along one line in
// the picture, as those of a plane do near its horizon, away from the middle. Micropolygons of the wanted length would
// be slivers there, hundreds of them on the area of one.
//
// A line's rate may only depend on what both of its sides know: so lines on the border of a facet stay as they are.
// What is found depends on products and sums alone, and so is the same on all devices.
//
// Needs surface.glsl and line.glsl.

#ifndef SHEAR_GLSL
#define SHEAR_GLSL

#if KIND == KIND_FACET && !MOVING

// Micropolygons on the area of one before they become longer.
const float SHEAR_AREA = 16.0;
// They become longer in steps, by the root of 2 each, and four times as long at most.
const uint SHEAR_STEPS_MAX = 4u;
const float SHEAR_STEP = 0.70710678;

// Which way a point moves in the picture where it moves along d; its larger component is 1 to 2.
vec2 raster_direction(vec3 p, vec3 d) {
    vec2 r = (frame_perspective(frame) ? d.xy * p.z - p.xy * d.z : d.xy) * frame.raster_scale;
    uint exponent = floatBitsToUint(max(abs(r.x), abs(r.y))) >> 23;
    return r * uintBitsToFloat((254u - min(exponent, 253u)) << 23);
}

// By how many steps micropolygons may be longer at a point: their area goes with the sine of the angle between both
// directions, and with the square of their length.
uint shear_steps_at(Param u, Param v) {
    surface_row(v);
    vec3 p = surface_position(u), du, dv;
    surface_tangents(u, du, dv);
    vec2 a = raster_direction(p, du), b = raster_direction(p, dv);
    float area = SHEAR_AREA * (a.x * b.y - a.y * b.x), square = area * area, most = dot(a, a) * dot(b, b);
    uint steps = 0u;
    for (uint step = 1u; step <= SHEAR_STEPS_MAX; step++) steps += uint(square * float(1u << 2u * step) <= most);
    return steps;
}

// What the wanted rate of a line is multiplied by.
float shear_scale(Subpatch subpatch, uint line, Line measured) {
    if (float(measured.total) * surface_instance.dice_scale < 1.5) return 1.0; // one micropolygon anyway
    uint u0 = subpatch.start & 0xffffu, v0 = subpatch.start >> 16;
    uint u_level = shape_u_level(subpatch.shape), v_level = shape_v_level(subpatch.shape);
    bool along_u = line_along_u(line);
    uint across = along_u ? v0 + (line & 1u) * (65536u >> v_level) : u0 + (line & 1u) * (65536u >> u_level);
    bool border = across == 0u || across == 65536u;
    if (border || measured.behind || !(surface_instance.displacement_bound <= 0.0)) return 1.0;
    uint steps = SHEAR_STEPS_MAX;
    for (uint i = 0u; i <= 4u && steps != 0u; i++) {
        Param u = param_quarter(u0, u_level, along_u ? i : 4u * (line & 1u));
        Param v = param_quarter(v0, v_level, along_u ? 4u * (line & 1u) : i);
        steps = min(steps, shear_steps_at(u, v));
    }
    return ((steps & 1u) != 0u ? SHEAR_STEP : 1.0) / float(1u << (steps >> 1));
}

#else

float shear_scale(Subpatch subpatch, uint line, Line measured) { return 1.0; }

#endif

#endif
