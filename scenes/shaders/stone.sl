/* Weathered stone with lichen on what looks up. */
#include "sky.h"
surface stone(float Ka = 1, Kd = 0.9; color base = color (0.30, 0.29, 0.28), lichen = color (0.42, 0.43, 0.20);)
{
    normal n = faceforward(normalize(N), I);
    point at = transform("world", P);
    float spots = fbm(at * 4, 4, 2.2, 0.55);
    float up = ycomp(normalize(ntransform("world", n)));
    color c = base * (1 + 0.5 * spots);
    c = mix(c, lichen, smoothstep(0.1, 0.5, fbm(at * 6.5, 3, 2.2, 0.5) + 0.4 * up) * 0.7);
    Oi = Os;
    Ci = Os * c * (Ka * (0.5 + 0.5 * up) * ambient() + Kd * diffuse(n));
}
