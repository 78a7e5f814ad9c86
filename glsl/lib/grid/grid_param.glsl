// Parameters of a grid's vertices: regular inside, canonical points along the borders.

#ifndef GRID_PARAM_GLSL
#define GRID_PARAM_GLSL

#include "lib/grid/edge.glsl"

// A border vertex on the first or last point of its edge is the corner: that may have been moved along the border that
// meets it there.
uint corner_index(uint edge, uint i, uint n) {
    uint index = edge_index(edge, i, n);
    return index == edge_i0(edge) ? 0u : index == edge_i1(edge) ? n : i;
}

// The place of vertex (i, j) along u and v.
void grid_points(Subpatch grid, uint i, uint j, uint nu, uint nv, out ParamPoint along_u, out ParamPoint along_v) {
    bool v0 = j == 0u, v1 = j == nv;
    if (v0 || v1) i = corner_index(v0 ? grid.edges.x : grid.edges.y, i, nu);
    bool u0 = i == 0u, u1 = i == nu;
    if (u0 || u1) j = corner_index(u0 ? grid.edges.z : grid.edges.w, j, nv);
    v0 = j == 0u;
    v1 = j == nv;
    uint u_start = grid.start & 0xffffu, v_start = grid.start >> 16;
    along_u = ParamPoint(u_start, shape_u_level(grid.shape), i, nu);
    if (v0 || v1) along_u = point_on_edge(v0 ? grid.edges.x : grid.edges.y, u_start, i, nu);
    along_v = ParamPoint(v_start, shape_v_level(grid.shape), j, nv);
    if (u0 || u1) along_v = point_on_edge(u0 ? grid.edges.z : grid.edges.w, v_start, j, nv);
}

// (u, v) of vertex (i, j).
void grid_param(Subpatch grid, uint i, uint j, uint nu, uint nv, out Param u, out Param v) {
    ParamPoint along_u, along_v;
    grid_points(grid, i, j, nu, nv, along_u, along_v);
    u = param_at(along_u);
    v = param_at(along_v);
}

#endif
