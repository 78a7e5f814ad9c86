// The vertices of a row of a grid, one after the other, for all kernels that dice.

#ifndef GRID_ROW_GLSL
#define GRID_ROW_GLSL

#include "lib/grid/grid_param.glsl"
#include "lib/surface/surface.glsl"

struct RowVertex {
    ParamPoint along_u;
    ParamPoint along_v;
    Param u;
    Param v;
};

// Vertex i of row j, after which the surface is at its v. row_v is the v of the vertex before, below 0 at first.
RowVertex row_vertex(Subpatch grid, uint i, uint j, uint nu, uint nv, inout float row_v) {
    RowVertex vertex;
    grid_points(grid, i, j, nu, nv, vertex.along_u, vertex.along_v);
    vertex.u = param_at(vertex.along_u);
    vertex.v = param_at(vertex.along_v);
#if KIND == KIND_POINT
    if (is_octagon(grid.shape)) octagon_param(i, j, vertex.u, vertex.v);
#endif
    // Inside, the whole row has one v; at both ends it is a point of the edge that the neighbour shares.
    if (vertex.v.t != row_v) surface_row(vertex.v);
    row_v = vertex.v.t;
    return vertex;
}

// The place of a vertex.
vec3 row_vertex_position(RowVertex at) { return surface_vertex(at.along_u, at.along_v, at.u, at.v); }

#endif
