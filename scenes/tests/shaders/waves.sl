/* Waves along s, in the space of the shader. */
displacement waves(float amplitude = 0.1, frequency = 4;)
{
    normal out = normalize(ntransform("shader", N));
    P = transform("shader", "current", transform("shader", P) + amplitude * sin(2 * PI * frequency * s) * cos(2 * PI * frequency * t) * out);
    N = calculatenormal(P);
}
