// The tiles of textures that a device holds, and the list of those that were missed: bindings 5 to 14 of compiled
// shaders (spirv-gen/src/abi.rs, "Textures"). Nothing here can be seen in a picture: a run that missed a tile is
// discarded and made again.

#define TEXTURE_NONE 0xffffffffu
#define TEXTURE_UNKNOWN 0xfffffffeu
#define TILE_MISSING 0xffffffffu
#define TILE_PROBES_MAX 32u
#define MISSES_PASSES 8u
#define MISSES_CLAIMS 72u
#define MISSES_CLAIMS_MAX 16384u
#define MISSES_ENTRIES 16456u
#define MISSES_CLAIM_PROBES 4u
#define MISSES_MARKS 32840u

layout(set = 0, binding = 5) uniform utextureBuffer textures;
layout(std430, set = 0, binding = 6) buffer Misses { uint misses[]; };
layout(set = 0, binding = 7) uniform itextureBuffer tiles0;
layout(set = 0, binding = 8) uniform itextureBuffer tiles1;
layout(set = 0, binding = 9) uniform itextureBuffer tiles2;
layout(set = 0, binding = 10) uniform itextureBuffer tiles3;
layout(set = 0, binding = 11) uniform itextureBuffer tiles4;
layout(set = 0, binding = 12) uniform itextureBuffer tiles5;
layout(set = 0, binding = 13) uniform itextureBuffer tiles6;
layout(set = 0, binding = 14) uniform itextureBuffer tiles7;

// The number of the last buffer of tiles that there is; more than 1 stands for all.
layout(constant_id = 0) const uint TILES_LAST = 7u;
// What textures there are: bits of TEXTURE_* (texture.glsl).
layout(constant_id = 1) const uint TEXTURE_FORMS = 127u;

// What a texture is like. `matrices` is a record of `Textures`, 0 for none.
struct TextureShape {
    uint width;
    uint height;
    uint levels;
    uint channels;
    uint format;
    uint kind;
    uint wrap_s;
    uint wrap_t;
    uint matrices;
    float fov;
};

// A record of Textures.
uvec4 textures_record(const in uint i) {
    return texelFetch(textures, int(i));
}

uint tiles_hash(const in uvec2 key) {
    uint h = (key.x * 0x9e3779b1u) ^ (key.y * 0x85ebca6bu);
    h = (h ^ (h >> 15)) * 0xc2b2ae35u;
    return h ^ (h >> 13);
}

// The number of the pass that runs, and where the first one is kept that missed tiles; 0 for nowhere.
uint rsl_pass;
uint rsl_pass_word;

// Begins a pass. Returns whether an earlier one missed tiles, after which nothing is worth computing.
bool rsl_begin_pass(const in uint pass, const in uint word) {
    rsl_pass = pass;
    rsl_pass_word = word;
    return word != 0u && misses[MISSES_PASSES + word] < pass;
}

// Asks for a tile, or a texture: once for all invocations of a dispatch. Where hashes crowd, in a later round.
void tiles_request(const in uvec2 key) {
    if (rsl_pass_word != 0u) atomicMin(misses[MISSES_PASSES + rsl_pass_word], rsl_pass);
    uint hash = tiles_hash(key);
    uint claim = hash | 1u;
    for (uint i = 0u; i < MISSES_CLAIM_PROBES; i++) {
        uint place = MISSES_CLAIMS + (((hash >> 8) + i) & (MISSES_CLAIMS_MAX - 1u));
        uint before = atomicCompSwap(misses[place], 0u, claim);
        if (before == claim) return;
        if (before != 0u) continue;
        uint at = atomicAdd(misses[0], 1u);
        if (at >= misses[1]) return;
        misses[MISSES_ENTRIES + 2u * at] = key.x;
        misses[MISSES_ENTRIES + 2u * at + 1u] = key.y;
        return;
    }
}

// The texture that a string names.
uint texture_of(const in uint token) {
    uint entry = 0u;
    if (token < textures_record(1u).x) {
        uvec4 four = textures_record(textures_record(0u).x + (token >> 2));
        uint i = token & 3u;
        entry = i == 0u ? four.x : i == 1u ? four.y : i == 2u ? four.z : four.w;
    }
    if (entry > 1u) return entry - 2u;
    if (entry == 1u || token == 0u) return TEXTURE_NONE;
    tiles_request(uvec2(0xffffffffu, token));
    return TEXTURE_UNKNOWN;
}

TextureShape texture_shape(const in uint number) {
    uint record = textures_record(0u).y + 4u * number;
    uvec4 size = textures_record(record);
    uvec4 more = textures_record(record + 1u);
    TextureShape shape;
    shape.width = size.x;
    shape.height = size.y;
    shape.levels = size.z & 255u;
    shape.channels = (size.z >> 8) & 255u;
    shape.format = (size.z >> 16) & 15u;
    shape.kind = (size.z >> 20) & 15u;
    shape.wrap_s = size.w & 15u;
    shape.wrap_t = (size.w >> 4) & 15u;
    shape.matrices = more.x;
    shape.fov = uintBitsToFloat(more.y);
    return shape;
}

// Four columns from a record on.
mat4 texture_matrix(const in uint record) {
    return mat4(uintBitsToFloat(textures_record(record)), uintBitsToFloat(textures_record(record + 1u)),
                uintBitsToFloat(textures_record(record + 2u)), uintBitsToFloat(textures_record(record + 3u)));
}

// The slot that holds a tile, which is marked as used.
uint tile_slot(const in uint number, const in uint level, const in uint plane, const in uvec2 tile) {
    uvec2 key = uvec2(number | (level << 20) | (plane << 25), tile.x | (tile.y << 16));
    uvec4 head = textures_record(0u);
    uint mask = (1u << head.w) - 1u;
    uint place = tiles_hash(key);
    for (uint i = 0u; i < TILE_PROBES_MAX; i++) {
        uvec4 entry = textures_record(head.z + ((place + i) & mask));
        if (entry.z == 0u) break;
        if (entry.xy == key) {
            uint slot = entry.z - 1u;
            misses[MISSES_MARKS + slot] = 1u;
            rsl_trips = rsl_trips + i;
            return slot;
        }
    }
    rsl_trips = rsl_trips + TILE_PROBES_MAX;
    tiles_request(key);
    return TILE_MISSING;
}

// The place of a texel's word in the slot of its tile.
uint tile_word(const in uvec2 texel) {
    return ((texel.y & 63u) << 6) | (texel.x & 63u);
}

// A word of a slot: 64 x 64 words, row by row; 8,192 slots a buffer. CPU drivers read from all buffers of a switch.
uint slot_word(const in uint slot, const in uint inside) {
    int word = int((slot & 8191u) * 4096u + inside);
    if (TILES_LAST == 0u) return uint(texelFetch(tiles0, word).x);
    if (TILES_LAST == 1u) {
        if (slot < 8192u) return uint(texelFetch(tiles0, word).x);
        return uint(texelFetch(tiles1, word).x);
    }
    switch (slot >> 13) {
    case 1u: return uint(texelFetch(tiles1, word).x);
    case 2u: return uint(texelFetch(tiles2, word).x);
    case 3u: return uint(texelFetch(tiles3, word).x);
    case 4u: return uint(texelFetch(tiles4, word).x);
    case 5u: return uint(texelFetch(tiles5, word).x);
    case 6u: return uint(texelFetch(tiles6, word).x);
    case 7u: return uint(texelFetch(tiles7, word).x);
    default: return uint(texelFetch(tiles0, word).x);
    }
}
