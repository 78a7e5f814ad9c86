/* Fades to a background with the distance from the eye. */
volume fog(float distance = 1; color background = 0;)
{
    float fade = 1 - exp(-length(I) / distance);
    Ci = mix(Ci, background, fade);
    Oi = mix(Oi, color (1, 1, 1), fade);
}
