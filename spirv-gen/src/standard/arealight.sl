/* Light from a surface, equally bright from wherever its front is seen: weaker with the square of the distance and with
   the cosine of the angle at which it leaves. */
light arealight(float intensity = 1; color lightcolor = 1;)
{
    illuminate (P, N, PI / 2)
        Cl = intensity * lightcolor * (normalize(L) . normalize(N)) / (L . L);
}
