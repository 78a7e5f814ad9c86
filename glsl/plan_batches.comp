// One invocation: cuts the depth buckets into batches of about equal numbers of vertices, nearest first: as many as
// allowed, but not more than there are vertices for, because small batches leave most of a GPU idle.
// Reads histogram; writes the batch of each bucket, and behind them that no batch has any depth yet.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/records.glsl"
#include "lib/lists/selection.glsl"

layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) readonly buffer Histogram { uint histogram[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Batches { uint batches[]; };
layout(push_constant) uniform Push {
    uint batch_count;
    float batches_per_vertex; // at most
};

void main() {
    float total = 0.0;
    for (uint i = 0u; i < DEPTH_BUCKETS; i++) total += float(histogram[i]);
    float count = clamp(floor(total * batches_per_vertex), 1.0, float(batch_count));
    float before = 0.0, scale = count / max(total, 1.0);
    for (uint i = 0u; i < DEPTH_BUCKETS; i++) {
        batches[i] = min(uint(before * scale), uint(count) - 1u);
        before += float(histogram[i]);
    }
    for (uint batch = 0u; batch < BATCHES; batch++) batches[DEPTH_BUCKETS + batch] = 0u;
}
