// Bilinear facet: four corners in object space; a triangle repeats its last corner.

vec3 corner[4];
vec3 facet_normal; // object space; zero for bilinear patches
vec3 row[2];
vec3 row_derivative[2];

void surface_load(Instance instance, Primitive primitive) {
    surface_instance = instance;
    for (uint i = 0u; i < 4u; i++) corner[i] = data[primitive.data + primitive.corners[i]].xyz;
    facet_normal = (primitive.kind_flags & PRIMITIVE_POLYGON) != 0u ? data[primitive.extra + primitive.face].xyz : vec3(0.0);
}

void surface_row(Param v) {
    row[0] = between(v, corner[0], corner[2]);
    row[1] = between(v, corner[1], corner[3]);
    row_derivative[0] = corner[2] - corner[0];
    row_derivative[1] = corner[3] - corner[1];
}

vec3 surface_position(Param u) { return camera_from_object(surface_instance, between(u, row[0], row[1])); }

void surface_tangents(Param u, out vec3 du, out vec3 dv) {
    du = camera_from_object_vector(surface_instance, row[1] - row[0]);
    dv = camera_from_object_vector(surface_instance, between(u, row_derivative[0], row_derivative[1]));
}

vec3 surface_normal(Param u, Param v) {
    if (facet_normal != vec3(0.0)) return camera_from_object_normal(surface_instance, facet_normal);
    vec3 du, dv;
    surface_tangents(u, du, dv);
    vec3 n = cross(du, dv);
    // A collapsed corner or edge: the normal of the diagonals.
    if (degenerate(n, du, dv)) n = camera_from_object_normal(surface_instance, cross(corner[3] - corner[0], corner[2] - corner[1]));
    return n;
}

// A bilinear facet is inside the hull of its corners.
vec3 surface_pad(float hu, float hv, Param v0, Param v1) { return vec3(0.0); }
