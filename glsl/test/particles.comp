// One invocation moves one particle and counts it. Test of record structs, specialisation constants and float
// arithmetic that must not be contracted.
#version 460

layout(local_size_x = 32) in;

struct Particle {
    vec3 position;
    float mass;
    uint id;
    vec2 speed;
};

struct Totals {
    uint moved;
    uint heavy;
};

layout(constant_id = 0) const uint STEPS = 1;
layout(constant_id = 1) const float HEAVY = 2.0;

layout(std430, set = 0, binding = 0) buffer Particles { Particle particles[]; };
layout(std430, set = 0, binding = 1) buffer TotalsBlock { Totals totals; };

layout(push_constant) uniform Push { uint count; float dt; mat4 world_from_object; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count) return;
    Particle p = particles[i];
    for (uint step = 0; step < STEPS; step++) p.position.xy = p.speed * dt + p.position.xy;
    p.position = (world_from_object * vec4(p.position, 1)).xyz;
    particles[i] = p;
    atomicAdd(totals.moved, 1);
    if (p.mass > HEAVY) atomicAdd(totals.heavy, 1);
}
