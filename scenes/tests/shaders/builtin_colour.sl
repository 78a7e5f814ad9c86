/* Colour: spaces, mixing, components. The square is cut into cells; each shows one function. */
surface builtin_colour()
{
    float x = 2 * mod(s, 1) - 1, y = 2 * mod(t, 1) - 1;
    float cell = floor(s) + 3 * floor(t);
    color c = 0;
    color q = color (0.5 + 0.5 * x, 0.5 + 0.5 * y, 0.4);
    color swapped = q;
    setcomp(swapped, 0, comp(q, 2));
    if (cell == 0) c = ctransform("hsv", "rgb", q);
    else if (cell == 1) c = ctransform("hsl", "rgb", q);
    else if (cell == 2) c = ctransform("rgb", "YIQ", q) + color (0, 0.5, 0.5);
    else if (cell == 3) c = ctransform("rgb", "hsv", q);
    else if (cell == 4) c = ctransform("rgb", "XYZ", q);
    else if (cell == 5) c = mix(color (1, 0, 0), color (0, 0, 1), 0.5 + 0.5 * x);
    else if (cell == 6) c = swapped;
    else if (cell == 7) c = min(q, color (0.5, 0.6, 0.7));
    else if (cell == 8) c = color "hsv" (0.5 + 0.5 * x, 1, 0.5 + 0.5 * y);
    Oi = 1;
    Ci = clamp(c, color (0, 0, 0), color (1, 1, 1));
}
