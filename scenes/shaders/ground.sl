/* Small unevenness of a meadow: noise along the normal, in world space. */
#include "sky.h"
displacement ground(float amplitude = 0.06, frequency = 1.4;)
{
    point at = transform("world", P) * frequency;
    P += amplitude * fbm(at, 5, 2.1, 0.5) * normalize(N);
    N = calculatenormal(P);
}
