// One invocation: cuts the depth buckets into batches of about equal numbers of vertices, nearest first.
// Reads histogram; writes the batch of each bucket, and behind them that no batch has any depth yet.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/records.glsl"
#include "lib/selection.glsl"

layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) readonly buffer Histogram { uint histogram[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Batches { uint batches[]; };
layout(push_constant) uniform Push { uint batch_count; };

void main() {
    float total = 0.0;
    for (uint i = 0u; i < DEPTH_BUCKETS; i++) total += float(histogram[i]);
    float before = 0.0, scale = float(batch_count) / max(total, 1.0);
    for (uint i = 0u; i < DEPTH_BUCKETS; i++) {
        batches[i] = min(uint(before * scale), batch_count - 1u);
        before += float(histogram[i]);
    }
    for (uint batch = 0u; batch < BATCHES; batch++) batches[DEPTH_BUCKETS + batch] = 0u;
}
