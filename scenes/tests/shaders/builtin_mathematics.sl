/* Trigonometry, powers, rounding. The square is cut into cells; each shows one function. */
surface builtin_mathematics()
{
    float x = 2 * mod(s, 1) - 1, y = 2 * mod(t, 1) - 1;
    float cell = floor(s) + 3 * floor(t);
    color c = 0;
    if (cell == 0) c = 0.5 + 0.5 * sin(PI * x) * cos(PI * y);
    else if (cell == 1) c = 0.5 + atan(y, x) / (2 * PI);
    else if (cell == 2) c = acos(x) / PI;
    else if (cell == 3) c = pow(abs(x), 0.5 + abs(y));
    else if (cell == 4) c = exp(2 * x) / 8;
    else if (cell == 5) c = log(2 + x);
    else if (cell == 6) c = sqrt(abs(x * y));
    else if (cell == 7) c = floor(4 * x) / 8 + 0.5;
    else if (cell == 8) c = color (sign(x), abs(y), ceil(2 * x) / 4);
    Oi = 1;
    Ci = clamp(c, color (0, 0, 0), color (1, 1, 1));
}
