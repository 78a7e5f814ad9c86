// How far a subpatch reaches beyond the box of its points, and what of that splitting makes smaller.
//
// Needs surface.glsl, line.glsl and, where things move, passage.glsl.

#ifndef PADDING_GLSL
#define PADDING_GLSL

// How far a subpatch reaches beyond its points, whatever splitting does: displacement, and half of a curve's width.
float lasting_pad(Subpatch subpatch) {
#if KIND == KIND_CURVE
    uint v0 = subpatch.start >> 16, v_level = shape_v_level(subpatch.shape);
    Param first = param_quarter(v0, v_level, 0u), last = param_quarter(v0, v_level, 4u);
    return surface_instance.displacement_bound + curve_reach(1.0 / float(1u << v_level), first, last);
#else
    return surface_instance.displacement_bound;
#endif
}

// What the points of a subpatch do not show: what lasts, curvature, rounding.
vec3 pad_of(Subpatch subpatch, Box box, float lasting) {
    uint v0 = subpatch.start >> 16, v_level = shape_v_level(subpatch.shape);
    float hu = 1.0 / float(1u << shape_u_level(subpatch.shape)), hv = 1.0 / float(1u << v_level);
    vec3 pad = surface_pad(hu, hv, param_quarter(v0, v_level, 0u), param_quarter(v0, v_level, 4u));
    return pad + vec3(lasting) + 1e-5 * max(abs(box.low), abs(box.high));
}

// What splitting can do about a bound.
struct Padding {
    bool most; // it is mostly padding
    bool lasts; // at least half of it remains, however often it is split
};

// Pads the box of a subpatch's points.
Padding pad_box(Subpatch subpatch, inout Box box) {
    float depth = box.high.z - box.low.z, lasting = lasting_pad(subpatch);
    vec3 pad = pad_of(subpatch, box, lasting);
    box.low -= pad;
    box.high += pad;
    float padded = box.high.z - box.low.z;
    return Padding(padded > 2.0 * depth, 4.0 * lasting > padded);
}

#if MOVING
float reach_before; // the lasting reach at the keyframe before
#endif

// Takes how far the surface may be from its points, whatever splitting does.
void note_reach() {
    float reach = surface_instance.displacement_bound;
#if KIND == KIND_CURVE
    reach += curve_reach_most();
#endif
#if MOVING
    lasting_reach = larger_of_keyframes(reach, reach_before);
#else
    lasting_reach = reach;
#endif
    if (KIND == KIND_CURVE || lasting_reach > 0.0) note_border();
}

#endif
