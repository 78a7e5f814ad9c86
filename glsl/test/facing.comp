// A hand-written colour program with the interface of compiled ones (spirv-gen's abi.rs), one invocation = one vertex:
// grey by how much the surface faces the eye, times the colour in the instance block. For testing the pipeline without
// the compiler.
#version 460

layout(local_size_x = 256) in;
layout(std430, set = 0, binding = 0) readonly buffer Work { uvec4 work[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Arena { vec4 arena[]; };
layout(std430, set = 0, binding = 2) readonly buffer Params { vec4 params[]; };
layout(std430, set = 0, binding = 3) buffer Status { uint status[]; };
layout(std430, set = 0, binding = 4) readonly buffer Inputs { vec4 inputs[]; };
layout(push_constant) uniform Push {
    uint work_base;
    uint slot_log2;
    uint slot_count;
    uint input_base;
    uint output_base;
    uint channel_stride;
    uint space_table;
    uint trips;
    uint state_base;
    uint pass;
    uint pass_word;
};

void main() {
    uint g = gl_GlobalInvocationID.x, slot = g >> slot_log2, l = g & ((1u << slot_log2) - 1u);
    if (slot >= slot_count) return;
    uvec4 record = work[2u * (work_base + slot)];
    uint nu = record.x & 0xffu, nv = (record.x >> 8) & 0xffu;
    if (nu == 0u || l / (nu + 1u) > nv) return;
    vec3 p = inputs[input_base + g].xyz, n = inputs[input_base + channel_stride + g].xyz;
    float facing = abs(dot(normalize(p), normalize(n)));
    vec4 colour = params[record.y], opacity = params[record.y + 1u];
    arena[output_base + g] = vec4(opacity.xyz * colour.xyz * (0.15 + 0.85 * facing), 0.0);
    arena[output_base + channel_stride + g] = vec4(opacity.xyz, 0.0);
    if (status.length() == 0) arena[0] = vec4(0.0);
}
