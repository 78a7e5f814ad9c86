/* Plastic that gives its parts to displays of their own. */
#include "studio.h"
surface passes(
    float Ka = 1, Kd = 0.8, Ks = 0.5, roughness = 0.08, eta = 1.45;
    output varying color diffuse_ = 0, specular_ = 0, mirror_ = 0;
    output varying float facing = 0;)
{
    normal n = faceforward(normalize(N), I);
    vector d = normalize(I);
    float mirror, through;
    fresnel(d, n, 1 / eta, mirror, through);
    facing = -(d . n);
    diffuse_ = Cs * (Ka * ambient() + Kd * diffuse(n));
    specular_ = Ks * specular(n, -d, roughness);
    mirror_ = mirror * studio(normalize(vtransform("world", reflect(d, n))), 0.02);
    Oi = Os;
    Ci = Os * (diffuse_ + specular_ + mirror_);
}
