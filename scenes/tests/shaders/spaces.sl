/* Colour bands of a position in a named space. */
surface spaces(string space = "object"; float scale = 3;)
{
    point at = transform(space, P) * scale;
    Oi = 1;
    Ci = color (0.5 + 0.5 * sin(xcomp(at)), 0.5 + 0.5 * sin(ycomp(at)), 0.5 + 0.5 * sin(zcomp(at)));
}
