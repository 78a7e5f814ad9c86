// Parameters of a grid's vertices: regular inside, canonical points along the borders.

#ifndef GRID_PARAM_GLSL
#define GRID_PARAM_GLSL

Param grid_u(Subpatch grid, uint i, uint j, uint nu, uint nv) {
    uint start = grid.start & 0xffffu;
    if (j == 0u) return param_on_edge(grid.edges.x, start, i, nu);
    if (j == nv) return param_on_edge(grid.edges.y, start, i, nu);
    return param_at(start, shape_u_level(grid.shape), i, nu);
}

Param grid_v(Subpatch grid, uint i, uint j, uint nu, uint nv) {
    uint start = grid.start >> 16;
    if (i == 0u) return param_on_edge(grid.edges.z, start, j, nv);
    if (i == nu) return param_on_edge(grid.edges.w, start, j, nv);
    return param_at(start, shape_v_level(grid.shape), j, nv);
}

#endif
