/* What a surface without a shader looks like: lit from the eye, so that something is seen without any light. */
surface defaultsurface(float Ka = 0.2, Kd = 0.8;)
{
    float facing = normalize(I) . normalize(N);
    Oi = Os;
    Ci = Os * Cs * (Ka + Kd * facing * facing);
}
