// Determinant and inverse of 4x4 matrices through 2x2 minors (Laplace expansion). A column of GLSL holds a row of RI;
// neither cares.

vec3 rsl_minors_first(const in vec4 a, const in vec4 b) {
    return vec3(a.x * b.y - a.y * b.x, a.x * b.z - a.z * b.x, a.x * b.w - a.w * b.x);
}

vec3 rsl_minors_rest(const in vec4 a, const in vec4 b) {
    return vec3(a.y * b.z - a.z * b.y, a.y * b.w - a.w * b.y, a.z * b.w - a.w * b.z);
}

float rsl_determinant_of_minors(const in vec3 u, const in vec3 v, const in vec3 s, const in vec3 t) {
    return (((u.x * t.z - u.y * t.y) + u.z * t.x) + (v.x * s.z - v.y * s.y)) + v.z * s.x;
}

float rsl_determinant(const in mat4 m) {
    return rsl_determinant_of_minors(rsl_minors_first(m[0], m[1]), rsl_minors_rest(m[0], m[1]),
                                     rsl_minors_first(m[2], m[3]), rsl_minors_rest(m[2], m[3]));
}

// The identity for singular matrices.
mat4 rsl_inverse(const in mat4 m) {
    vec4 a = m[0], b = m[1], c = m[2], d = m[3];
    vec3 u = rsl_minors_first(a, b), v = rsl_minors_rest(a, b);
    vec3 s = rsl_minors_first(c, d), t = rsl_minors_rest(c, d);
    float det = rsl_determinant_of_minors(u, v, s, t);
    float k = det == 0.0 ? 0.0 : 1.0 / det;
    vec4 r0 = vec4((b.y * t.z - b.z * t.y) + b.w * t.x, (a.z * t.y - a.y * t.z) - a.w * t.x,
                   (d.y * v.z - d.z * v.y) + d.w * v.x, (c.z * v.y - c.y * v.z) - c.w * v.x);
    vec4 r1 = vec4((b.z * s.z - b.x * t.z) - b.w * s.y, (a.x * t.z - a.z * s.z) + a.w * s.y,
                   (d.z * u.z - d.x * v.z) - d.w * u.y, (c.x * v.z - c.z * u.z) + c.w * u.y);
    vec4 r2 = vec4((b.x * t.y - b.y * s.z) + b.w * s.x, (a.y * s.z - a.x * t.y) - a.w * s.x,
                   (d.x * v.y - d.y * u.z) + d.w * u.x, (c.y * u.z - c.x * v.y) - c.w * u.x);
    vec4 r3 = vec4((b.y * s.y - b.x * t.x) - b.z * s.x, (a.x * t.x - a.y * s.y) + a.z * s.x,
                   (d.y * u.y - d.x * v.x) - d.z * u.x, (c.x * v.x - c.y * u.y) + c.z * u.x);
    return det == 0.0 ? mat4(1.0) : mat4(r0 * k, r1 * k, r2 * k, r3 * k);
}
