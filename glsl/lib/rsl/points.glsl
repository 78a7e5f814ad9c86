// Point clouds (spirv-gen/src/abi.rs, "points"): the nodes of a tree, in an order that only the file decides.

#define RSL_POINTS_VISITS_MAX 4096u
#define RSL_POINTS_MERGE 16.0

uint rsl_points_slot(const in uint texture, const in uint word) {
    return tile_slot(texture, 0u, 0u, uvec2(word >> 28, (word >> 12) & 0xffffu));
}

uint rsl_points_word(const in uint slot, const in uint word) {
    return slot_word(slot, word & 4095u);
}

float rsl_points_float(const in uint slot, const in uint word) {
    return uintBitsToFloat(rsl_points_word(slot, word));
}

vec3 rsl_points_triple(const in uint slot, const in uint word) {
    return vec3(rsl_points_float(slot, word), rsl_points_float(slot, word + 1u), rsl_points_float(slot, word + 2u));
}

// A channel's place in nodes and its floats: none if there is no such channel. The slot is that of the first tile.
uvec2 rsl_points_channel(const in uint slot, const in uvec2 name) {
    uint count = rsl_points_word(slot, 1u);
    uvec2 found = uvec2(0u);
    rsl_trips = rsl_trips + count;
    for (uint i = 0u; i < count; i++) {
        uint at = 2u + 4u * i;
        if (rsl_points_word(slot, at) != name.x || rsl_points_word(slot, at + 1u) != name.y) continue;
        found = uvec2(rsl_points_word(slot, at + 2u), rsl_points_word(slot, at + 3u));
    }
    return found;
}

// The radius that is given if it is above 0 (reach.x), else the point's own, scaled.
float rsl_points_radius(const in vec2 reach, const in float own) {
    return reach.x > 0.0 ? reach.x : min(own * reach.y, 1e15);
}

// texture3d(): the mean of a channel over the points about p whose normals do not face away from n, and 1; or 0. A
// point at the distance d weighs (1 - (d / r)^2)^3. reach: the radius, 0 for the points' own, and a factor of these.
// Points that are much closer together than r count as one, with their mean. After a limit of nodes, all that are left
// count as they are, so that a lookup ends before CPU drivers end its loop. These are fewer, as no tree is so deep; a
// file whose nodes follow each other in a circle is left after twice as many.
vec4 rsl_points(const in uint token, const in vec3 p, const in vec3 n, const in vec2 reach, const in uvec2 channel) {
    uint texture = texture_of(token);
    if (texture == TEXTURE_NONE || texture == TEXTURE_UNKNOWN) return vec4(0.0);
    TextureShape shape = texture_shape(texture);
    bool defined = rsl_is_finite(p.x) && rsl_is_finite(p.y) && rsl_is_finite(p.z);
    if (shape.kind != RSL_KIND_POINTS || !defined) return vec4(0.0);
    uint slot = rsl_points_slot(texture, 0u);
    if (slot == TILE_MISSING) return vec4(0.0);
    uvec2 place = rsl_points_channel(slot, channel);
    vec3 here = rsl_bounded3(p, 1e15);
    vec3 facing = rsl_bounded3(n, 1e15);
    bool any_side = rsl_inner(facing, facing) < RSL_SMALLEST;
    vec2 radii = vec2(rsl_bounded(reach.x, 1e15), rsl_bounded(reach.y, 1e9));
    vec3 origin = vec3(0.0);
    vec3 sum = vec3(0.0);
    float total = 0.0;
    uint held = 0u;
    uint visits = 0u;
    uint node = rsl_points_word(slot, 0u);
    while (node != 0u) {
        visits = visits + 1u;
        if ((node >> 12) != held) {
            held = node >> 12;
            slot = rsl_points_slot(texture, node);
        }
        if (slot == TILE_MISSING || visits > 2u * RSL_POINTS_VISITS_MAX) break;
        uint at = node;
        node = rsl_points_word(slot, at);
        vec3 d = here - rsl_points_triple(slot, at + 3u);
        float square = rsl_inner(d, d);
        float far = rsl_points_radius(radii, rsl_points_float(slot, at + 7u));
        float limit = far + rsl_points_float(slot, at + 6u);
        if (!(far > 0.0 && square < limit * limit)) continue;
        float radius = rsl_points_radius(radii, rsl_points_float(slot, at + 8u));
        bool whole = rsl_points_float(slot, at + 9u) * RSL_POINTS_MERGE <= radius || visits > RSL_POINTS_VISITS_MAX;
        if (!whole) {
            node = rsl_points_word(slot, at + 1u);
            continue;
        }
        vec3 normal = rsl_points_triple(slot, at + 10u);
        bool faces = any_side || rsl_inner(normal, normal) < RSL_SMALLEST || rsl_inner(facing, normal) > RSL_SMALLEST;
        radius = max(radius, 1e-15);
        float keep = 1.0 - square * rsl_reciprocal(radius * radius);
        if (!(keep > 0.0 && faces)) continue;
        float weight = rsl_points_float(slot, at + 2u) * ((keep * keep) * keep);
        vec3 value = vec3(0.0);
        if (place.y > 0u) {
            float first = rsl_points_float(slot, at + place.x);
            value = vec3(first);
            if (place.y > 1u) {
                value = vec3(first, rsl_points_float(slot, at + place.x + 1u), rsl_points_float(slot, at + place.x + 2u));
            }
        }
        origin = total == 0.0 ? value : origin;
        sum = sum + (value - origin) * weight;
        total = total + weight;
    }
    // The loop, and the one that finds its tiles.
    rsl_trips = rsl_trips + 2u * visits;
    if (!(total > 0.0)) return vec4(0.0);
    return vec4(origin + sum * rsl_reciprocal(total), 1.0);
}
