// The normal of patches of all kinds. Needs surface_row and surface_tangents, which are called once each: calls are
// inlined, and drivers take seconds to compile large functions.

vec3 surface_normal(Param u, Param v) {
    Param at = u;
    vec3 n;
    for (uint attempt = 0u; attempt < 2u; attempt++) {
        vec3 du, dv;
        surface_tangents(at, du, dv);
        n = cross(du, dv);
        if (attempt == 0u && !degenerate(n, du, dv)) break;
        // A collapsed edge (a teapot's lid) has no dP/du there: take the normal a little inside, towards the middle of
        // the patch, and go back to the row.
        float tu = u.t + (0.5 - u.t) * 0.015625, tv = v.t + (0.5 - v.t) * 0.015625;
        at = Param(1.0 - tu, tu);
        surface_row(attempt == 0u ? Param(1.0 - tv, tv) : v);
    }
    return n;
}
