/* A glowing puff on a point: v runs from the middle of the disk to its rim. */
surface gas(float strength = 1;)
{
    float dense = pow(1 - v, 1.5);
    Oi = Os * dense;
    Ci = Cs * dense * strength;
}
