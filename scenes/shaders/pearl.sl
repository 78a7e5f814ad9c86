/* Mother of pearl: its colour turns with the angle under which it is seen. */
surface pearl(float Ka = 1, Kd = 0.7, Ks = 0.5, roughness = 0.06, turns = 1.3;)
{
    normal n = faceforward(normalize(N), I);
    vector d = normalize(I);
    float angle = clamp(-(d . n), 0, 1);
    color sheen = ctransform("hsv", "rgb", color (mod(0.55 + turns * angle + 0.15 * float noise(transform("shader", P) * 2), 1), 0.45, 1));
    Oi = Os;
    Ci = Os * (mix(Cs, Cs * sheen, 0.85) * (Ka * ambient() + Kd * diffuse(n)) + Ks * sheen * specular(n, -d, roughness));
}
