/* Waves that tell their height. */
displacement telling(float amplitude = 0.15; output varying float height = 0;)
{
    height = amplitude * sin(12 * s);
    P += height * normalize(N);
    N = calculatenormal(P);
}
