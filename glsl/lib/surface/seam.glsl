// Seams: borders of a limit patch beyond which the mesh was refined once more, so that two patches, half as long, share
// the border. Both sides must compute the same points: the patch holds the border's two halves as those neighbours have
// them, and uses them instead of its own. Needs data[].

#ifndef SEAM_GLSL
#define SEAM_GLSL

#define SURFACE_SEAMS

uint seam[4]; // first record of each border's seam (along u at v = 0 and 1, along v at u = 0 and 1), 0: none

void seam_load(Primitive primitive) {
    for (uint i = 0u; i < 4u; i++) seam[i] = primitive.face_corners[i];
}

// The border that a point is on and that is a seam; 4 if none.
uint seam_at(Param u, Param v) {
    if (v.t == 0.0 && seam[0] != 0u) return 0u;
    if (v.s == 0.0 && seam[1] != 0u) return 1u;
    if (u.t == 0.0 && seam[2] != 0u) return 2u;
    if (u.s == 0.0 && seam[3] != 0u) return 3u;
    return 4u;
}

// Half of a border, and the place of a point in it, made of the same integers as the neighbour's.
struct SeamPoint {
    uint second; // 1 in the second half
    ParamPoint at;
};

SeamPoint seam_point(ParamPoint p) {
    if (p.level == 0u) { // measured, but never diced
        uint second = 2u * p.i > p.n ? 1u : 0u;
        return SeamPoint(second, ParamPoint(0u, 0u, 2u * p.i - second * p.n, p.n));
    }
    return SeamPoint(p.start >> 15, ParamPoint((2u * p.start) & 0xffffu, p.level - 1u, p.i, p.n));
}

// Whether a line of a subpatch must be cut because it is all of a seam. Lines are those of bound_split.glsl.
bool seam_whole(Subpatch subpatch, uint line) {
    if (line >= 4u || seam[line] == 0u) return false;
    bool along_u = line < 2u;
    uint u_level = shape_u_level(subpatch.shape), v_level = shape_v_level(subpatch.shape);
    uint across = along_u ? subpatch.start >> 16 : subpatch.start & 0xffffu;
    uint end = (line & 1u) == 0u ? 0u : 65536u - (65536u >> (along_u ? v_level : u_level));
    return (along_u ? u_level : v_level) == 0u && across == end;
}

// Raises second differences along u and v to those of seams, whose halves are curves of a degree. By the whole border's
// parameter they are four times as large.
void seam_bend(uint degree, inout vec3 uu, inout vec3 vv) {
    for (uint border = 0u; border < 4u; border++) {
        for (uint k = 0u; k < 2u * (degree - 1u) && seam[border] != 0u; k++) {
            uint at = seam[border] + (k < degree - 1u ? k : k + 1u);
            vec3 bend = 4.0 * abs((data[at].xyz + data[at + 2u].xyz) - 2.0 * data[at + 1u].xyz);
            if (border < 2u) uu = max(uu, bend); else vv = max(vv, bend);
        }
    }
}

#endif
