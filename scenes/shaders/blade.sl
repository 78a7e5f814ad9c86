/* A blade of grass: darker at its root, lit through from behind. Its tint comes from where it stands. */
surface blade(
    float Ka = 1, Kd = 0.75, Kt = 0.6;
    color root = color (0.05, 0.085, 0.02), tip = color (0.40, 0.47, 0.12), dry = color (0.62, 0.52, 0.24);
    uniform float kind = 0;)
{
    normal n = faceforward(normalize(N), I);
    point at = transform("world", transform("object", "current", point (0, 0, 0)));
    float sere = smoothstep(0.35, 0.75, float noise(at * 0.35) * 0.8 + 0.5 * (float cellnoise(kind * 7.3) - 0.35));
    color c = mix(root, mix(tip, dry, sere), smoothstep(0, 0.9, v));
    c *= 0.75 + 0.5 * float cellnoise(kind * 3.7 + 11);
    color front = 0, through = 0;
    illuminance (P, n, PI) {
        /* A thin blade is round enough to catch light from any side. */
        float d = 0.35 + 0.65 * (normalize(L) . n);
        if (d > 0)
            front += Cl * d;
        else
            through -= Cl * d;
        through += Cl * 0.25;
    }
    Oi = Os;
    Ci = Os * c * (Ka * (0.35 + 0.65 * v) * ambient() + Kd * front + Kt * through);
}
