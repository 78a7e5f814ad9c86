/* Noise of every dimension, periodic noise and cells. The square is cut into cells; each shows one function. */
surface builtin_noise()
{
    float x = 2 * mod(s, 1) - 1, y = 2 * mod(t, 1) - 1;
    float cell = floor(s) + 3 * floor(t);
    color c = 0;
    if (cell == 0) c = float noise(x * 4);
    else if (cell == 1) c = float noise(x * 4, y * 4);
    else if (cell == 2) c = float noise(point (x, y, 0.3) * 4);
    else if (cell == 3) c = float noise(point (x, y, 0.3) * 4, 1.7);
    else if (cell == 4) c = color noise(point (x, y, 0.7) * 3);
    else if (cell == 5) c = float pnoise(x * 4, y * 4, 2, 2);
    else if (cell == 6) c = float cellnoise(x * 3, y * 3);
    else if (cell == 7) c = color cellnoise(point (x, y, 0.5) * 3);
    else if (cell == 8) c = color pnoise(point (x, y, 0.2) * 4, point (2, 2, 2));
    Oi = 1;
    Ci = clamp(c, color (0, 0, 0), color (1, 1, 1));
}
