/* Shows primitive variables of its own. */
surface banded(varying float band = 0; varying color tint = 1; uniform float id = 0; varying vector way = vector (0, 0, 0);)
{
    Oi = Os;
    Ci = Os * tint * (0.5 + 0.5 * sin(8 * band)) * (0.4 + 0.3 * id) + 0.3 * color (abs(xcomp(way)), abs(ycomp(way)), 0);
}
