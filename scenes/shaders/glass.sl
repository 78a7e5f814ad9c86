/* Glass as layers see it: clear where it is seen straight on, more of a mirror and more of its tint where it is seen aslant. */
#include "studio.h"
surface glass(float eta = 1.5, density = 0.25, Kr = 1;)
{
    normal n = faceforward(normalize(N), I);
    vector d = normalize(I);
    float mirror, through;
    fresnel(d, n, 1 / eta, mirror, through);
    /* The way through a thin wall is longer where it is aslant. */
    float slant = 1 / max(-(d . n), 0.12);
    color clear = color (exp(-density * slant * (1 - comp(Cs, 0))), exp(-density * slant * (1 - comp(Cs, 1))),
        exp(-density * slant * (1 - comp(Cs, 2))));
    vector r = normalize(vtransform("world", reflect(d, n)));
    Oi = clamp(color (1, 1, 1) - clear * (1 - mirror), color (0, 0, 0), color (1, 1, 1));
    Ci = Kr * (mirror * studio(r, 0.01) + specular(n, -d, 0.01)) + 0.35 * Cs * (color (1, 1, 1) - clear) * (ambient() + 0.6 * diffuse(n));
}
