/* Meadow, sand at the water's edge, rock where it is steep, snow where it is high; heights are in world space. */
#include "sky.h"
surface terrain(float Ka = 1, Kd = 1, shore = -1.5, treeline = 45, snowline = 78;)
{
    normal n = faceforward(normalize(N), I);
    point at = transform("world", P);
    float steep = 1 - ycomp(normalize(ntransform("world", n)));
    float height = ycomp(at);
    float patchy = fbm(at * 0.35, 4, 2.1, 0.5);
    float fine = fbm(at * 3.1, 3, 2.2, 0.5);
    color grass = mix(color (0.10, 0.15, 0.035), color (0.27, 0.25, 0.08), smoothstep(-0.5, 0.7, patchy));
    grass = mix(grass, color (0.22, 0.16, 0.09), smoothstep(0.15, 0.9, fine) * 0.7);
    color forest = mix(color (0.035, 0.075, 0.035), color (0.09, 0.13, 0.05), smoothstep(-0.6, 0.6, fbm(at * 0.11, 4, 2.3, 0.6)));
    color rock = mix(color (0.22, 0.20, 0.19), color (0.42, 0.39, 0.36), smoothstep(-0.6, 0.6, fbm(at * point (0.05, 0.22, 0.05), 5, 2.1, 0.55)));
    color sand = color (0.48, 0.40, 0.28) * (1 + 0.15 * fine);
    color base = mix(sand, grass, smoothstep(shore + 0.05, shore + 0.45, height + 0.15 * patchy));
    base = mix(base, forest, smoothstep(6, 14, height + 4 * patchy));
    base = mix(base, rock, smoothstep(treeline - 14, treeline + 8, height + 12 * patchy));
    base = mix(base, rock, smoothstep(0.32, 0.5, steep) * smoothstep(4, 12, height));
    base = mix(base, color (0.88, 0.90, 0.95), smoothstep(snowline - 8, snowline + 10, height + 10 * patchy - 26 * steep));
    Oi = Os;
    Ci = Os * base * (Ka * ambient() + Kd * diffuse(n));
}
