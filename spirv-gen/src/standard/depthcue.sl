/* Fades to a background between two depths, counted from the near to the far clipping plane; at once where they are
   equal. */
volume depthcue(float mindistance = 0, maxdistance = 1; color background = 0;)
{
    float range = maxdistance - mindistance, beyond = depth(P) - mindistance;
    float fade = range == 0 ? step(0, beyond) : clamp(beyond / range, 0, 1);
    Ci = mix(Ci, background, fade);
    Oi = mix(Oi, color (1, 1, 1), fade);
}
