/* A lake: mirrors the sky and the dark of the far shore, with ripples that lie down with the distance. */
#include "sky.h"
surface water(uniform vector sun = vector (-0.8, 0.5, 0.2); float ripple = 0.06, frequency = 0.9, shoreheight = 0.09;)
{
    uniform vector tosun = normalize(sun);
    point at = transform("world", P);
    vector d = normalize(vtransform("world", I));
    float calm = ripple / (1 + 0.012 * length(I));
    point p = point (xcomp(at) * 0.6, 0, zcomp(at) * 1.6) * frequency;
    vector n = normalize(vector (calm * (fbm(p, 4, 2.1, 0.55)), 1, calm * fbm(p + vector (31, 7, 13), 4, 2.1, 0.55)));
    vector r = reflect(d, normal n);
    setycomp(r, abs(ycomp(r)));
    r = normalize(r);
    float mirror = 0.03 + 0.97 * pow(1 - clamp(-d . n, 0, 1), 5);
    color bank = color (0.05, 0.085, 0.05);
    /* Low rays meet the hills behind the lake, high ones the sky. */
    color seen = mix(bank, clearsky(r, tosun), smoothstep(shoreheight - 0.05, shoreheight + 0.05, ycomp(r) + 0.06 * fbm(at * 0.05, 3, 2, 0.5)));
    color deep = color (0.015, 0.05, 0.06);
    Oi = Os;
    Ci = Os * (mix(deep, seen, mirror) + color (1, 0.85, 0.6) * pow(max(r . tosun, 0), 400));
}
