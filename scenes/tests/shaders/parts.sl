/* Matte that gives its parts to displays. */
surface parts(output varying color lit = 0; output varying float slope = 0;)
{
    normal n = faceforward(normalize(N), I);
    lit = diffuse(n);
    slope = abs(normalize(I) . n);
    Oi = Os;
    Ci = Os * Cs * (ambient() + lit);
}
