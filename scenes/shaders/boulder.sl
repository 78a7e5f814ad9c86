/* Lumps and cracks of a stone, in the space of the shader. */
#include "sky.h"
displacement boulder(float amplitude = 0.2, frequency = 1.6;)
{
    point at = transform("shader", P) * frequency;
    float lumps = fbm(at, 5, 2.1, 0.5);
    float cracks = abs(2 * float noise(at * 1.3 + vector (5, 3, 1)) - 1);
    normal out = normalize(ntransform("shader", N));
    float height = amplitude * (lumps + 0.5 * smoothstep(0, 0.3, cracks) - 0.5);
    P = transform("shader", "current", transform("shader", P) + height * out);
    N = calculatenormal(P);
}
