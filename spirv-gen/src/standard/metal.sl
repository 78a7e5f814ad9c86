/* A metal: its highlights have its own colour. */
surface metal(float Ka = 1, Ks = 1, roughness = 0.1;)
{
    normal facing = faceforward(normalize(N), I);
    vector eye = -normalize(I);
    Oi = Os;
    Ci = Os * Cs * (Ka * ambient() + Ks * specular(facing, eye, roughness));
}
