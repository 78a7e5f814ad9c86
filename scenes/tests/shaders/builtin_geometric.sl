/* Geometric functions: lengths, reflection, refraction, rotation. The square is cut into cells; each shows one function. */
surface builtin_geometric()
{
    float x = 2 * mod(s, 1) - 1, y = 2 * mod(t, 1) - 1;
    float cell = floor(s) + 3 * floor(t);
    color c = 0;
    vector d = normalize(vector (x, y, 1.2));
    normal n = normal normalize(vector (0.3 * y, 0.2, -1));
    float kr = 0, kt = 0;
    vector r = 0, refracted = 0;
    fresnel(d, n, 0.7, kr, kt, r, refracted);
    point p = rotate(point (x, y, 0.5), radians(40), point (0, 0, 0), point (0.3, 1, 0.2));
    vector mirrored = reflect(d, n), bent = refract(d, n, 1.4), across = d ^ vector n;
    if (cell == 0) c = length(vector (x, y, 0));
    else if (cell == 1) c = distance(point (x, y, 0), point (0.5, 0.2, 0));
    else if (cell == 2) c = ptlined(point (-0.5, -0.5, 0), point (0.6, 0.3, 0), point (x, y, 0));
    else if (cell == 3) c = color (0.5 + 0.5 * xcomp(mirrored), 0.5 + 0.5 * ycomp(mirrored), 0.5 - 0.5 * zcomp(mirrored));
    else if (cell == 4) c = color (0.5 + 0.5 * xcomp(bent), 0.5 + 0.5 * ycomp(bent), zcomp(bent));
    else if (cell == 5) c = color (kr, kt, 0.5 + 0.5 * xcomp(refracted));
    else if (cell == 6) c = color (0.5 + 0.5 * xcomp(p), 0.5 + 0.5 * ycomp(p), 0.5 + 0.5 * zcomp(p));
    else if (cell == 7) c = color (0.5 + 0.5 * xcomp(across), 0.5 + 0.5 * ycomp(across), 0.5 + 0.5 * zcomp(across));
    else if (cell == 8) c = 0.5 + 0.5 * (d . vector n);
    Oi = 1;
    Ci = clamp(c, color (0, 0, 0), color (1, 1, 1));
}
