// A walk over the grids of a page that may meet a region: those of the clusters that do. One invocation (SERIAL) or one
// workgroup = one cluster. The including file defines `visit`.

#ifndef CLUSTERS_GLSL
#define CLUSTERS_GLSL

#include "lib/records.glsl"

#if SERIAL
layout(local_size_x = 8) in;
#else
layout(local_size_x = CLUSTER_GRIDS) in;
#endif
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer Clusters { Cluster clusters[]; };

void visit(uint grid);

// Clusters [first, last) of a page of `count` grids, for a region of half-open pixels x0, y0, x1, y1.
void visit_clusters(uint first, uint last, uint count, ivec4 pixels) {
#if SERIAL
    uint cluster = first + invocation();
#else
    uint cluster = first + invocation() / CLUSTER_GRIDS;
#endif
    if (cluster >= last || !ranges_meet(clusters[cluster].x, clusters[cluster].y, pixels)) return;
    uint grid = cluster * CLUSTER_GRIDS;
#if SERIAL
    for (uint end = min(grid + CLUSTER_GRIDS, count); grid < end; grid++) visit(grid);
#else
    grid += gl_LocalInvocationID.x;
    if (grid < count) visit(grid);
#endif
}

#endif
