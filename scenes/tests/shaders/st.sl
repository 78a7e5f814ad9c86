/* s, t and their product as colour. */
surface st()
{
    Oi = Os;
    Ci = Os * color (mod(s, 1), mod(t, 1), mod(s, 1) * mod(t, 1));
}
