/* Glazed porcelain: a diffuse body under a clear coat that mirrors the studio. */
#include "studio.h"
surface glaze(float Ka = 1, Kd = 0.75, Kr = 1, eta = 1.5, blur = 0.02;)
{
    normal n = faceforward(normalize(N), I);
    vector d = normalize(I);
    float mirror, through;
    fresnel(d, n, 1 / eta, mirror, through);
    vector r = vtransform("world", reflect(d, n));
    Oi = Os;
    Ci = Os * (Cs * (Ka * ambient() + Kd * diffuse(n)) * (1 - mirror) + Kr * mirror * studio(normalize(r), blur));
}
