/* A picture of blue flowers and borders on porcelain, which continues along s. */
float disc(float x, y, r)
{
    return 1 - smoothstep(r - 0.008, r + 0.008, sqrt(x * x + y * y));
}

float petals(float x, y, size; uniform float count)
{
    float r = sqrt(x * x + y * y) / size;
    float turn = atan(y, x);
    float edge = 0.62 + 0.38 * cos(count * turn);
    float leaf = 1 - smoothstep(edge - 0.06, edge + 0.02, r);
    float vein = 1 - 0.3 * smoothstep(0.7, 1, cos(count * turn)) * smoothstep(0.1, 0.5, r);
    return leaf * vein * (0.75 + 0.25 * r);
}

surface paint_ornament(color ground = color (0.86, 0.88, 0.88), ink = color (0.03, 0.09, 0.36);)
{
    float mark = 0;
    /* Borders at the top and the bottom: two lines, and beads between them. */
    float edge = min(t, 1 - t);
    mark = max(mark, smoothstep(0.018, 0.024, edge) - smoothstep(0.034, 0.04, edge));
    mark = max(mark, smoothstep(0.118, 0.124, edge) - smoothstep(0.13, 0.136, edge));
    float bead = s * 12 - floor(s * 12) - 0.5;
    mark = max(mark, disc(bead / 12, edge - 0.079, 0.026) - 0.6 * disc(bead / 12, edge - 0.079, 0.012));
    /* A winding stem with large flowers, small ones and leaves. */
    float stem = 0.5 + 0.1 * sin(2 * PI * s);
    mark = max(mark, 0.8 * (1 - smoothstep(0.006, 0.012, abs(t - stem))));
    uniform float i;
    for (i = -1; i < 2; i += 1) {
        mark = max(mark, petals(s - 0.25 - i, t - 0.57, 0.17, 6));
        mark = max(mark, petals(s - 0.75 - i, t - 0.43, 0.17, 8));
        mark = max(mark, petals(s - 0.02 - i, t - 0.34, 0.09, 5));
        mark = max(mark, petals(s - 0.5 - i, t - 0.66, 0.09, 5));
        mark = max(mark, 0.85 * petals(s - 0.42 - i, t - 0.41, 0.075, 2));
        mark = max(mark, 0.85 * petals(s - 0.92 - i, t - 0.6, 0.075, 2));
    }
    float wash = 0.9 + 0.2 * (float noise(5 * cos(2 * PI * s), 5 * sin(2 * PI * s) + 30 * t) - 0.5);
    Oi = 1;
    Ci = mix(ground, ink * wash, clamp(mark, 0, 1));
}
