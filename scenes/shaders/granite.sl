/* Granite: grains of three minerals, cells of noise. */
surface granite(float Ka = 1, Kd = 0.85, Ks = 0.5, roughness = 0.06, scale = 9;)
{
    normal n = faceforward(normalize(N), I);
    point at = transform("shader", P) * scale;
    at += 0.8 * (vector noise(at * 1.7) - vector (0.5, 0.5, 0.5));
    float grain = float cellnoise(at), fine = float cellnoise(at * 2.7 + vector (9, 4, 2));
    color c = mix(color (0.62, 0.48, 0.42), color (0.80, 0.76, 0.72), step(0.45, grain));
    c = mix(c, color (0.12, 0.11, 0.12), step(0.74, 0.6 * grain + 0.4 * fine));
    Oi = Os;
    Ci = Os * (c * (Ka * ambient() + Kd * diffuse(n)) + Ks * (0.4 + 0.6 * fine) * specular(n, -normalize(I), roughness));
}
