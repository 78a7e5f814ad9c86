/* The height of a relief: rings, and a star of eight rays. */
surface paint_relief()
{
    float x = 2 * s - 1, y = 2 * t - 1;
    float r = sqrt(x * x + y * y), turn = atan(y, x);
    float rays = smoothstep(0.02, 0.3, cos(8 * turn) * (0.62 - r)) * smoothstep(0.08, 0.2, r) * (1 - step(0.62, r));
    float rings = smoothstep(0.66, 0.7, r) - smoothstep(0.76, 0.8, r);
    float rim = smoothstep(0.86, 0.9, r) - smoothstep(0.96, 1, r);
    float dots = smoothstep(0.3, 0.8, cos(32 * turn)) * (smoothstep(0.8, 0.82, r) - smoothstep(0.84, 0.86, r));
    Oi = 1;
    Ci = 0.8 * rays + rings + rim + 0.6 * dots;
}
