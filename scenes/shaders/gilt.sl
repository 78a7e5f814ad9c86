/* Metal that mirrors the studio in its own colour. */
#include "studio.h"
surface gilt(float Ka = 0.3, Kr = 0.9, blur = 0.06;)
{
    normal n = faceforward(normalize(N), I);
    vector d = normalize(I);
    float edge = pow(1 - clamp(-(d . n), 0, 1), 5);
    vector r = normalize(vtransform("world", reflect(d, n)));
    Oi = Os;
    Ci = Os * (Cs * Ka * ambient() + mix(Cs, color (1, 1, 1), edge) * (Kr * studio(r, blur) + 0.35 * diffuse(n)));
}
