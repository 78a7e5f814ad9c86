/* Matrices: built, multiplied, inverted, their determinant. The square is cut into cells; each shows one function. */
surface builtin_matrix()
{
    float x = 2 * mod(s, 1) - 1, y = 2 * mod(t, 1) - 1;
    float cell = floor(s) + 3 * floor(t);
    color c = 0;
    matrix turn = rotate(matrix 1, radians(50) * x, vector (0, 0, 1));
    matrix grow = scale(matrix 1, point (2, 0.5, 1));
    matrix moved = translate(matrix 1, vector (0.4, y, 0));
    matrix own = matrix (1, 0.5, 0, 0,  0, 1, 0, 0,  0, 0, 1, 0,  0.2, 0.1, 0, 1);
    point p = point (x, y, 0.25), a = transform(turn, p), b = transform(grow * turn, p), e = transform(moved, p), f = transform(own, p), g = transform(grow / own, p);
    vector h = vtransform(own, vector p);
    normal k = ntransform(own, normal p);
    if (cell == 0) c = color (0.5 + 0.5 * xcomp(a), 0.5 + 0.5 * ycomp(a), zcomp(a));
    else if (cell == 1) c = color (0.5 + 0.25 * xcomp(b), 0.5 + 0.25 * ycomp(b), zcomp(b));
    else if (cell == 2) c = color (0.5 + 0.25 * xcomp(e), 0.5 + 0.25 * ycomp(e), zcomp(e));
    else if (cell == 3) c = color (0.5 + 0.25 * xcomp(f), 0.5 + 0.25 * ycomp(f), zcomp(f));
    else if (cell == 4) c = color (0.5 + 0.2 * xcomp(g), 0.5 + 0.2 * ycomp(g), zcomp(g));
    else if (cell == 5) c = color (0.5 + 0.3 * xcomp(h), 0.5 + 0.3 * ycomp(h), zcomp(h));
    else if (cell == 6) c = color (0.5 + 0.3 * xcomp(k), 0.5 + 0.3 * ycomp(k), zcomp(k));
    else if (cell == 7) c = 0.5 + 0.25 * determinant(turn * grow * (0.5 + x));
    else if (cell == 8) c = comp(own, 0, 1) + 0.5 * comp(own * turn, 3, 0);
    Oi = 1;
    Ci = clamp(c, color (0, 0, 0), color (1, 1, 1));
}
