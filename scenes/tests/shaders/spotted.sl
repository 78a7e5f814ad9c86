/* A smooth pattern in s and t. */
surface spotted(float frequency = 3;)
{
    float k = 0.5 + 0.5 * sin(2 * PI * frequency * s) * sin(2 * PI * frequency * t);
    Oi = Os;
    Ci = Os * mix(color (0.1, 0.2, 0.5), color (1, 0.9, 0.6), k);
}
