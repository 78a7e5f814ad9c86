/* Derivatives: Du, Dv, Deriv, area, calculatenormal. The square is cut into cells; each shows one function. */
surface builtin_derivatives()
{
    float x = 2 * mod(s, 1) - 1, y = 2 * mod(t, 1) - 1;
    float cell = floor(s) + 3 * floor(t);
    color c = 0;
    float wave = sin(3 * x) * cos(2 * y);
    normal n = normalize(calculatenormal(P + 0.3 * wave * normalize(N)));
    if (cell == 0) c = 0.5 + 0.1 * Du(wave) / 6;
    else if (cell == 1) c = 0.5 + 0.1 * Dv(wave) / 6;
    else if (cell == 2) c = 0.5 + 0.1 * Deriv(wave, x + 0.7 * y);
    else if (cell == 3) c = color (0.5 + 0.5 * xcomp(n), 0.5 + 0.5 * ycomp(n), 0.5 - 0.5 * zcomp(n));
    else if (cell == 4) c = 200 * area(P);
    else if (cell == 5) c = length(dPdu) / 5;
    else if (cell == 6) c = length(Du(P)) / 5;
    else if (cell == 7) c = 100 * du * dv;
    else if (cell == 8) c = 0.5 + 0.2 * Deriv(y * x, x + 0.6 * y);
    Oi = 1;
    Ci = clamp(c, color (0, 0, 0), color (1, 1, 1));
}
