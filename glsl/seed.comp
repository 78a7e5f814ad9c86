// Seed: one invocation = one primitive of one drawable of a chunk: the first subpatches of bound/split, the whole (u,v)
// square each, in the order of the drawables. Reads the chunk's drawables (sorted by their first number), writes list
// and open.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/records.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"

// Consecutive primitives of one instance, numbered from `first` inside the chunk.
struct Drawable {
    uint first;
    uint primitive;
    uint instance;
    uint step; // from a primitive to the next: 1, or -1 modulo 2^32 where the last one comes first
};

layout(std430, set = 0, binding = 0) readonly buffer Drawables { Drawable drawables[]; };
layout(std430, set = 0, binding = 1) writeonly buffer List { Subpatch list[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Open { uint open[]; };
layout(push_constant) uniform Push {
    uint drawable_base;
    uint drawable_count;
    uint first; // number of the chunk's first primitive
    uint count; // primitives in the chunk
};

void main() {
    uint index = invocation();
    if (index >= count) return;
    uint number = first + index, low = 0u, high = drawable_count;
    while (high - low > 1u) {
        uint middle = (low + high) >> 1;
        if (drawables[drawable_base + middle].first <= number) low = middle; else high = middle;
    }
    Drawable drawable = drawables[drawable_base + low];
    list[index] = Subpatch(drawable.instance, drawable.primitive + drawable.step * (number - drawable.first), 0u, 0u, uvec4(0u));
    open[index] = index;
}
