/* Scales in rows around a body: each lies over the next, in s and t. */
displacement scales(float amplitude = 0.06, around = 24, along = 60;)
{
    float row = t * along;
    float shift = mod(floor(row), 2) * 0.5;
    float x = mod(s * around + shift, 1) - 0.5, y = mod(row, 1);
    float round_ = clamp(1 - 4 * x * x, 0, 1);
    float height = sqrt(round_) * (1 - y) * smoothstep(0, 0.12, y) + 0.1 * round_;
    normal out = normalize(ntransform("shader", N));
    P = transform("shader", "current", transform("shader", P) + amplitude * height * out);
    N = calculatenormal(P);
}
