/* Clear sky and clouds on the inside of a sphere around the world. */
#include "sky.h"
surface sky(uniform vector sun = vector (-0.8, 0.5, 0.2); float cover = 0.5, scale = 1.6;)
{
    uniform vector tosun = normalize(sun);
    vector d = normalize(vtransform("world", I));
    color result = clearsky(d, tosun);
    float height = ycomp(d);
    if (height > 0.01) {
        /* Clouds lie on a plane above the eye, so that they shrink towards the horizon. */
        point at = point (xcomp(d), 0, zcomp(d)) / (height + 0.12) * scale;
        float thick = fbm(at + 0.35 * vector noise(at * 1.7), 6, 2.03, 0.52) + cover - 0.55;
        /* How much thinner it is towards the sun tells the lit side from the shaded one. */
        float beyond = fbm(at + vector (xcomp(tosun), 0, zcomp(tosun)) * 0.18, 4, 2.03, 0.52) + cover - 0.55;
        float density = smoothstep(0, 0.55, thick) * smoothstep(0.01, 0.2, height);
        float lit = clamp(0.55 + 0.9 * (thick - beyond), 0, 1);
        color cloud = mix(color (0.50, 0.53, 0.62), color (1.0, 0.95, 0.87), lit);
        cloud += color (0.3, 0.22, 0.1) * pow(max(d . tosun, 0), 6);
        result = mix(result, cloud, 0.92 * density);
    }
    Oi = 1;
    Ci = result;
}
