// Canonical points of edges: what makes neighbouring grids meet without cracks.
//
// An edge is a curve on a primitive over a dyadic interval of u or v. It has *canonical points*: if the edge is short
// enough it is a *leaf* with rate T (1 to 15) and the T + 1 points at i/T of its interval; else its points are those of
// its two halves. T is a pure function of points that both sides of the edge compute with the same bits, so both agree.
// A grid's border may only have vertices at canonical points and must have all of them (degenerate micropolygons take
// up the difference); hence a subpatch whose edge is not a leaf yet must be split, and a subpatch that was split along
// a leaf edge covers a range [i0, i1] of its points.

#ifndef EDGE_GLSL
#define EDGE_GLSL

const uint EDGE_RATE_MAX = 15u;
const uint EDGE_OPEN = 0u; // not a leaf yet

// Where the parts of a packed edge begin, above the level.
const int EDGE_RATE = 5;
const int EDGE_I0 = 9;
const int EDGE_I1 = 13;
const uint EDGE_LEVEL_MASK = 31u;
const uint EDGE_INDEX_MASK = 15u;

uint edge_pack(uint leaf_level, uint rate, uint i0, uint i1) {
    return leaf_level | (rate << EDGE_RATE) | (i0 << EDGE_I0) | (i1 << EDGE_I1);
}
uint edge_leaf_level(uint edge) { return edge & EDGE_LEVEL_MASK; }
uint edge_rate(uint edge) { return (edge >> EDGE_RATE) & EDGE_INDEX_MASK; }
uint edge_i0(uint edge) { return (edge >> EDGE_I0) & EDGE_INDEX_MASK; }
uint edge_i1(uint edge) { return (edge >> EDGE_I1) & EDGE_INDEX_MASK; }
uint edge_count(uint edge) { return edge_i1(edge) - edge_i0(edge); }
bool edge_open(uint edge) { return edge_rate(edge) == 0u; }

// The point at which the edge is cut when its subpatch is split across it: where the line in between ends. The
// neighbour may cut the edge elsewhere: it has the same points. A leaf's ends may have been moved along the lines that
// pass there (they are canonical points of those), which the far side of the cut would not know: so a point between
// them is chosen where there is one, else the end that was not moved.
uint edge_cut(uint edge, bool first_moved) {
    uint i0 = edge_i0(edge), i1 = edge_i1(edge);
    if (i1 > i0 + 1u) return (i0 + i1) >> 1;
    return i0 == 0u && (i1 < edge_rate(edge) || first_moved) ? i1 : i0;
}
uint edge_lower_half(uint edge, bool first_moved) {
    return edge_open(edge) ? EDGE_OPEN : edge_pack(edge_leaf_level(edge), edge_rate(edge), edge_i0(edge), edge_cut(edge, first_moved));
}
uint edge_upper_half(uint edge, bool first_moved) {
    return edge_open(edge) ? EDGE_OPEN : edge_pack(edge_leaf_level(edge), edge_rate(edge), edge_cut(edge, first_moved), edge_i1(edge));
}

// Whether an edge's first point (of a subpatch that begins at `at`) or last point (that ends there) is not the
// subpatch's own corner.
bool edge_moved(uint edge, uint index, uint at) {
    if (edge_open(edge)) return false;
    uint size = 65536u >> edge_leaf_level(edge);
    return size * index != (at & (size - 1u)) * edge_rate(edge) && !((at & (size - 1u)) == 0u && index == edge_rate(edge));
}

// A parameter with its complement: both correctly rounded quotients of integers, so that reversing an edge swaps them
// exactly.
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
uint edge_index(uint edge, uint i, uint n) { return edge_i0(edge) + (2u * i * edge_count(edge) + n) / (2u * n); }
Param param_on_edge(uint edge, uint start, uint i, uint n) {
    uint level = edge_leaf_level(edge);
    uint leaf_start = start & ~((65536u >> level) - 1u);
    return param_at(leaf_start, level, edge_index(edge, i, n), edge_rate(edge));
}

// Whether a border with n micropolygons has other points than the regular ones.
bool edge_snapped(uint edge, uint level, uint n) { return edge_count(edge) != n || edge_leaf_level(edge) != level; }

#endif
