/* Mountains: ridged noise along the normal, in world space, stronger the higher the ground already is. */
displacement ridges(float amplitude = 22, frequency = 0.018, octaves = 7, foot = 0, peak = 70;)
{
    point at = transform("world", P);
    float strength = smoothstep(foot, peak, ycomp(at));
    point p = at * frequency;
    float sum = 0, weight = 1, i;
    for (i = 0; i < octaves; i += 1) {
        float ridge = 1 - abs(2 * float noise(p) - 1) * 2;
        sum += weight * ridge;
        weight *= 0.47;
        p = p * 2.07 + vector (3.7, 11.1, 7.9);
    }
    P += amplitude * (0.15 + 0.85 * strength) * (sum - 0.7) * normalize(N);
    N = calculatenormal(P);
}
