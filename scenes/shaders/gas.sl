/* A glowing puff: densest in its middle, by u and v of the point that carries it. */
surface gas(float strength = 1;)
{
    float r = 2 * sqrt((u - 0.5) * (u - 0.5) + (v - 0.5) * (v - 0.5));
    float dense = pow(clamp(1 - r, 0, 1), 1.5);
    Oi = Os * dense;
    Ci = Cs * dense * strength;
}
