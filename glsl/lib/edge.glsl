// Canonical points of edges: what makes neighbouring grids meet without cracks.
//
// An edge is a curve on a primitive over a dyadic interval of u or v. It has *canonical points*: if the edge is short enough it is
// a *leaf* with rate T (1 to 15) and the T + 1 points at i/T of its interval; else its points are those of its two halves. T is a
// pure function of points that both sides of the edge compute with the same bits, so both agree. A grid's border may only have
// vertices at canonical points and must have all of them (degenerate micropolygons take up the difference); hence a subpatch whose
// edge is not a leaf yet must be split, and a subpatch that was split along a leaf edge covers a range [i0, i1] of its points.

#ifndef EDGE_GLSL
#define EDGE_GLSL

#define EDGE_RATE_MAX 15u
#define EDGE_OPEN 0u // not a leaf yet

uint edge_pack(uint leaf_level, uint rate, uint i0, uint i1) { return leaf_level | (rate << 5) | (i0 << 9) | (i1 << 13); }
uint edge_leaf_level(uint edge) { return edge & 31u; }
uint edge_rate(uint edge) { return (edge >> 5) & 15u; }
uint edge_i0(uint edge) { return (edge >> 9) & 15u; }
uint edge_i1(uint edge) { return (edge >> 13) & 15u; }
uint edge_count(uint edge) { return edge_i1(edge) - edge_i0(edge); }
bool edge_open(uint edge) { return edge_rate(edge) == 0u; }

// The edge's halves when its subpatch is split across it. Both subpatches use the same rule, so they share the point in between.
uint edge_lower_half(uint edge) {
    return edge_open(edge) ? EDGE_OPEN : edge_pack(edge_leaf_level(edge), edge_rate(edge), edge_i0(edge), (edge_i0(edge) + edge_i1(edge)) >> 1);
}
uint edge_upper_half(uint edge) {
    return edge_open(edge) ? EDGE_OPEN : edge_pack(edge_leaf_level(edge), edge_rate(edge), (edge_i0(edge) + edge_i1(edge)) >> 1, edge_i1(edge));
}

// A parameter with its complement: both correctly rounded quotients of integers, so that reversing an edge swaps them exactly.
struct Param {
    float s; // 1 - t
    float t;
};

Param param_ratio(uint numerator, uint denominator) {
    float d = float(denominator);
    return Param(float(denominator - numerator) / d, float(numerator) / d);
}

// Point i of n on the dyadic interval that begins at start (in 1/65536) and has the given level.
Param param_at(uint start, uint level, uint i, uint n) {
    return param_ratio(start * n + (65536u >> level) * i, 65536u * n);
}

// Border vertex i of n: the nearest canonical point of the edge's range.
Param param_on_edge(uint edge, uint start, uint i, uint n) {
    uint level = edge_leaf_level(edge);
    uint leaf_start = start & ~((65536u >> level) - 1u);
    uint index = edge_i0(edge) + (2u * i * edge_count(edge) + n) / (2u * n);
    return param_at(leaf_start, level, index, edge_rate(edge));
}

// Whether a border with n micropolygons has other points than the regular ones.
bool edge_snapped(uint edge, uint level, uint n) { return edge_count(edge) != n || edge_leaf_level(edge) != level; }

#endif
