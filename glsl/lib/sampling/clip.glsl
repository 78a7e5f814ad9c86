// Clipping planes (RISpec 4.1.1 ClippingPlane) at a sample. A plane removes points with f > 0, where for a point of
// depth z at raster position (x, y) in 1/1024 pixel f is z (A x + B y + C) + D in perspective and A x + B y + C z + D
// else; (A, B, C, D) is its record. Needs clip_planes[] where CLIPPED is 1.

#ifndef CLIP_GLSL
#define CLIP_GLSL

// How many of `most` parts an invocation may do, which takes `trips` loop trips at each of their samples, where planes
// take their own: as many trips in all.
uint clip_share(uint most, uint trips) {
#if CLIPPED
    return max(most * trips / (trips + uint(clip_planes.length())), 1u);
#else
    return most;
#endif
}

// Parts that an invocation may do where planes allow some, and trim loops others.
uint clip_and_trim_share(uint of_planes, uint of_loops) {
#if CLIPPED
    return max(of_planes * of_loops / (of_planes + of_loops), 1u);
#else
    return min(of_planes, of_loops);
#endif
}

bool clipped(ivec2 at, float z) {
#if CLIPPED
    for (int i = 0; i < clip_planes.length(); i++) {
        vec4 plane = clip_planes[i];
        float across = plane.x * float(at.x) + plane.y * float(at.y);
        float f = frame_perspective(frame) ? z * (across + plane.z) + plane.w : across + plane.z * z + plane.w;
        if (f > 0.0) return true;
    }
#endif
    return false;
}

#endif
