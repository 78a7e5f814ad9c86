/* Fades to a background with the distance from the eye. At the distance 0 nothing else is left. */
volume fog(float distance = 1; color background = 0;)
{
    float fade = distance > 0 ? 1 - exp(-length(I) / distance) : 1;
    Ci = mix(Ci, background, fade);
    Oi = mix(Oi, color (1, 1, 1), fade);
}
