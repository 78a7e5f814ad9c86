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

// A parameter with its complement, so that reversing an edge swaps them exactly.
struct Param {
    float s; // 1 - t
    float t;
};

// a / (65536 n), correctly rounded, for a <= 65536 n and n <= EDGE_RATE_MAX; inverse is about 1 / n. It is a quotient
// of integers, because GPUs do not round a quotient of floats correctly, and so would place one point differently for
// different n.
float param_ratio(uint a, uint n, float inverse) {
    if (a == 0u) return 0.0;
    uint bits = floatBitsToUint(float(a));
    int dividend = int((bits & 0x7fffffu) | 0x800000u) << 6;
    int quotient = int(float(dividend) * inverse); // off by less than a thousand
    float rest = float(dividend - quotient * int(n));
    quotient += int(floor((rest + 0.5) * inverse));
    // Of its 26 bits or more a float keeps 24, and none is halfway between two floats.
    int exponent = int(floatBitsToUint(float(quotient)) >> 23) - 150;
    int kept = (quotient + (1 << (exponent - 1))) >> exponent;
    return float(kept) * uintBitsToFloat((bits >> 23) + uint(exponent - 45) << 23);
}

// Point i of n on the dyadic interval that begins at start (in 1/65536) and has the given level.
struct ParamPoint {
    uint start;
    uint level;
    uint i;
    uint n;
};

Param param_at(ParamPoint point) {
    uint a = point.start * point.n + (65536u >> point.level) * point.i;
    float inverse = 1.0 / float(point.n);
    return Param(param_ratio(65536u * point.n - a, point.n, inverse), param_ratio(a, point.n, inverse));
}

// Point i of 4, exact.
const uint QUARTERS = 4u * 65536u;
const float QUARTER = 1.0 / 262144.0;
Param param_quarter(uint start, uint level, uint i) {
    uint a = start * 4u + (65536u >> level) * i;
    return Param(float(QUARTERS - a) * QUARTER, float(a) * QUARTER);
}

// Border vertex i of n: the nearest canonical point of the edge's range. A quotient of such small numbers is exact also
// where a quotient of floats is a few ulp off.
uint edge_index(uint edge, uint i, uint n) {
    return edge_i0(edge) + uint((float(2u * i * edge_count(edge) + n) + 0.5) / float(2u * n));
}
ParamPoint point_on_edge(uint edge, uint start, uint i, uint n) {
    uint level = edge_leaf_level(edge);
    uint leaf_start = start & ~((65536u >> level) - 1u);
    return ParamPoint(leaf_start, level, edge_index(edge, i, n), edge_rate(edge));
}

// Whether a border with n micropolygons has other points than the regular ones.
bool edge_snapped(uint edge, uint level, uint n) { return edge_count(edge) != n || edge_leaf_level(edge) != level; }

#endif
