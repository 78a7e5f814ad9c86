// The normal of patches of all kinds. Needs surface_row and surface_tangents.

vec3 surface_normal(Param u, Param v) {
    vec3 du, dv;
    surface_tangents(u, du, dv);
    vec3 n = cross(du, dv);
    // A collapsed edge (a teapot's lid) has no dP/du there: take the normal a little inside, towards the middle of the
    // patch.
    if (degenerate(n, du, dv)) {
        float tu = u.t + (0.5 - u.t) * 0.015625, tv = v.t + (0.5 - v.t) * 0.015625;
        surface_row(Param(1.0 - tv, tv));
        surface_tangents(Param(1.0 - tu, tu), du, dv);
        n = cross(du, dv);
        surface_row(v);
    }
    return n;
}
