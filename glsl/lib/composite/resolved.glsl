// Resolved samples: what each subpixel of a region has gathered. A subpixel has `resolved_records` records: (C, alpha),
// then (T, z) when the region has translucent grids, then one for each further output. T is what still shines through,
// per channel; |z| the depth of the nearest surface whose opacity passes Option "limits" "zthreshold", 0 when there is
// none; z < 0: the subpixel is stopped, nothing more shines through.

#ifndef RESOLVED_GLSL
#define RESOLVED_GLSL

bool stopped(vec4 through) { return through.w < 0.0; }

// Whether nothing was seen yet.
bool untouched(vec4 through) { return all(equal(through.xyz, vec3(1.0))); }

float mean3(vec3 x) { return (x.x + x.y + x.z) / 3.0; }

#endif
