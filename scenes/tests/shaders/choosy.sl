/* Takes lights of one category within a cone around the normal. */
surface choosy(string lights = "stripes"; float angle = 1.5;)
{
    normal n = faceforward(normalize(N), I);
    color sum = 0;
    illuminance (lights, P, n, angle)
        sum += Cl * (normalize(L) . n);
    Oi = Os;
    Ci = Os * Cs * sum;
}
