/* Air: with the distance everything takes the colour of the sky behind it. */
#include "sky.h"
volume haze(uniform vector sun = vector (-0.8, 0.5, 0.2); float distance = 260;)
{
    vector d = normalize(vtransform("world", I));
    setycomp(d, max(ycomp(d), 0.08));
    float fade = 1 - exp(-length(I) / distance);
    Ci = mix(Ci, Oi * clearsky(normalize(d), normalize(sun)) * 0.92, fade);
}
