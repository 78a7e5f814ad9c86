/* Fades to a background between two depths, counted from the near to the far clipping plane. */
volume depthcue(float mindistance = 0, maxdistance = 1; color background = 0;)
{
    float fade = clamp((depth(P) - mindistance) / (maxdistance - mindistance), 0, 1);
    Ci = mix(Ci, background, fade);
    Oi = mix(Oi, color (1, 1, 1), fade);
}
