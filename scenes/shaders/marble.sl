/* Marble: veins where turbulence folds a plane, polished. */
#include "studio.h"
surface marble(
    float Ka = 1, Kd = 0.8, scale = 1;
    color stone = color (0.88, 0.86, 0.82), vein = color (0.20, 0.24, 0.27), warm = color (0.72, 0.55, 0.38);)
{
    normal n = faceforward(normalize(N), I);
    vector d = normalize(I);
    point at = transform("shader", P) * scale;
    float turbulence = 0, size = 1;
    uniform float i;
    for (i = 0; i < 6; i += 1) {
        turbulence += abs(2 * float noise(at * size + vector (3, 7, 5)) - 1) / size;
        size *= 2.03;
    }
    float fold = abs(sin(2.3 * xcomp(at) + 1.1 * ycomp(at) + 4.2 * turbulence));
    float line = pow(1 - fold, 4);
    color c = mix(stone, warm, 0.35 * smoothstep(0.3, 1, turbulence) * float noise(at * 1.7));
    c = mix(c, vein, clamp(line + 0.25 * smoothstep(0.75, 1.2, turbulence), 0, 1));
    float mirror, through;
    fresnel(d, n, 1 / 1.5, mirror, through);
    Oi = Os;
    Ci = Os * (c * (Ka * ambient() + Kd * diffuse(n)) + mirror * studio(normalize(vtransform("world", reflect(d, n))), 0.05));
}
