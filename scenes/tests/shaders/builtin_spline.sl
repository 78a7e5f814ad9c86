/* Splines of floats and colours, steps, clamps. The square is cut into cells; each shows one function. */
surface builtin_spline()
{
    float x = 2 * mod(s, 1) - 1, y = 2 * mod(t, 1) - 1;
    float cell = floor(s) + 3 * floor(t);
    color c = 0;
    float u01 = 0.5 + 0.5 * x;
    if (cell == 0) c = spline(u01, 0, 0, 0.8, 0.2, 1, 1);
    else if (cell == 1) c = spline(u01, color (0, 0, 0), color (1, 0, 0), color (0, 1, 0), color (0, 0, 1), color (1, 1, 1));
    else if (cell == 2) c = spline("linear", u01, 0, 0, 0.8, 0.2, 1, 1);
    else if (cell == 3) c = spline("bezier", u01, 0, 0.1, 1, 0.3);
    else if (cell == 4) c = step(0.1, x);
    else if (cell == 5) c = smoothstep(-0.6, 0.6, x);
    else if (cell == 6) c = clamp(2 * x, 0.2, 0.8);
    else if (cell == 7) c = mod(3 * x, 1);
    else if (cell == 8) c = filterstep(0, x + 0.3 * y);
    Oi = 1;
    Ci = clamp(c, color (0, 0, 0), color (1, 1, 1));
}
