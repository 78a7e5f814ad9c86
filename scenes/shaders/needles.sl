/* A conifer's needles: dark, tipped with light. */
surface needles(float Ka = 1, Kd = 0.9; color deep = color (0.02, 0.045, 0.022), tip = color (0.11, 0.17, 0.06);)
{
    normal n = faceforward(normalize(N), I);
    point at = transform("shader", P);
    float f = float noise(at * 14) * 0.6 + float noise(at * 31) * 0.4;
    Oi = Os;
    Ci = Os * mix(deep, tip, smoothstep(0.3, 0.75, f)) * (Ka * ambient() + Kd * diffuse(n));
}
