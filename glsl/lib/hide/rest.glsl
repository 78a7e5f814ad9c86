// The second pass over the micropolygons of a piece, which goes on with those of many parts. Needs the buffer rest_*.

#ifndef REST_GLSL
#define REST_GLSL

// Workgroups along z that every device can run.
const uint WALK_GROUPS_MAX = 65535u;

// Arms the second pass over some workgroups of micropolygons, for one of `count` parts.
void arm_rest(uint groups, uint count, uint each_rest) {
    rest_groups_x = groups;
    atomicMax(rest_groups_z, min((count + each_rest - 1u) / each_rest, WALK_GROUPS_MAX));
}

#endif
