/* A table with a worn varnish: a texture over x and z of the world, and blurred reflections. */
surface tabletop(
    float Ka = 1, Kd = 0.9, Kr = 0.7, eta = 1.45, size = 5, blur = 0.06;
    string planks = "", surroundings = "";)
{
    normal n = faceforward(normalize(N), I);
    vector d = normalize(I);
    point at = transform("world", P) / size;
    color wood = 0.5;
    if (planks != "")
        wood = color texture(planks, xcomp(at), zcomp(at));
    float mirror, through;
    fresnel(d, n, 1 / eta, mirror, through);
    color seen = 0;
    if (surroundings != "")
        seen = color environment(surroundings, vtransform("world", reflect(d, n)), "blur", blur);
    Oi = Os;
    Ci = Os * (Cs * wood * (Ka * ambient() + Kd * diffuse(n)) + Kr * mirror * seen * (0.4 + wood));
}
