// Resolved samples: what each subpixel of a region has gathered. A subpixel has `resolved_records` records: (C, alpha), then (T, stopped)
// when the region has translucent grids (T: what still shines through, per channel), then one for each further output.

#ifndef RESOLVED_GLSL
#define RESOLVED_GLSL

float mean3(vec3 x) { return (x.x + x.y + x.z) / 3.0; }

#endif
