/* Matte that takes the lights of one category only; "" takes all. */
surface tally(float Ka = 1, Kd = 0.9; string lights = "";)
{
    normal n = faceforward(normalize(N), I);
    color sum = 0;
    if (lights == "") {
        sum = diffuse(n);
    } else {
        illuminance (lights, P, n, PI / 2)
            sum += Cl * (normalize(L) . n);
    }
    Oi = Os;
    Ci = Os * Cs * (Ka * ambient() + Kd * sum);
}
