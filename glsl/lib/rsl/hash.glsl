// Integer hashing: what noise, cellnoise and random are made of. No tables, 32-bit integers only.

// A bijection of 32-bit integers whose result bits all depend on all argument bits (two rounds of multiply and shift).
uint rsl_scramble(const in uint x) {
    uint h = x;
    h = (h ^ (h >> 16)) * 0x7feb352du;
    h = (h ^ (h >> 15)) * 0x846ca68bu;
    return h ^ (h >> 16);
}

// A hash of two integers.
uint rsl_hash(const in uint a, const in uint b) {
    return rsl_scramble(a + rsl_scramble(b + 0x9e3779b9u) * 0x85ebca6bu);
}

// The upper 24 bits as a float in [0, 1).
float rsl_unit(const in uint h) {
    return float(h >> 8) * 5.9604644775390625e-8;
}

// Three floats in [0, 1).
vec3 rsl_unit3(const in uint h) {
    return vec3(rsl_unit(h), rsl_unit(rsl_scramble(h + 0x68bc21ebu)), rsl_unit(rsl_scramble(h + 0x02e5be93u)));
}

uint rsl_random_bits(const in uint seed, const in uint vertex, const in uint site, const in uint count) {
    return rsl_hash(rsl_hash(seed, vertex), rsl_hash(site, count));
}

float rsl_random(const in uint seed, const in uint vertex, const in uint site, const in uint count) {
    return rsl_unit(rsl_random_bits(seed, vertex, site, count));
}

vec3 rsl_random3(const in uint seed, const in uint vertex, const in uint site, const in uint count) {
    return rsl_unit3(rsl_random_bits(seed, vertex, site, count));
}
