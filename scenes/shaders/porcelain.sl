/* Painted porcelain under a glaze that mirrors an environment map. The picture goes around with s, and up with the height. */
surface porcelain(
    float Ka = 1, Kd = 0.8, Kr = 1, eta = 1.5, around = 2, low = 0.35, high = 2.25, blur = 0;
    string ornament = "", surroundings = "";)
{
    normal n = faceforward(normalize(N), I);
    vector d = normalize(I);
    float height = ycomp(transform("shader", P));
    color paint = 1;
    if (ornament != "")
        paint = color texture(ornament, around * s, (high - height) / (high - low));
    float mirror, through;
    fresnel(d, n, 1 / eta, mirror, through);
    color seen = 0;
    if (surroundings != "")
        seen = color environment(surroundings, vtransform("world", reflect(d, n)), "blur", blur);
    Oi = Os;
    Ci = Os * (Cs * paint * (Ka * ambient() + Kd * diffuse(n)) * (1 - mirror) + Kr * mirror * seen);
}
