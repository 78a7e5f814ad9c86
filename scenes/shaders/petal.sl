/* A poppy's petal: glows when the sun is behind it. */
surface petal(float Ka = 0.8, Kd = 0.6, Kt = 0.7;)
{
    normal n = faceforward(normalize(N), I);
    color light_ = 0;
    illuminance (P, n, PI) {
        float d = normalize(L) . n;
        light_ += Cl * (d > 0 ? Kd * d : -Kt * d);
    }
    Oi = Os;
    Ci = Os * Cs * mix(0.55, 1, v) * (Ka * ambient() + light_);
}
