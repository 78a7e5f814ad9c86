/* Wax: light enters it and comes out elsewhere, red farthest (after Hery 2003). One world writes the light that falls on
   it to the file `bake`; the next reads it from the file `baked`, averaged over a distance of its own for each colour. */
surface wax(
    string bake = "", baked = "";
    float Ka = 1, Kd = 1, Ks = 0.35, roughness = 0.12, eta = 1.4;
    color depth = color (0.6, 0.26, 0.12);)
{
    normal n = normalize(N);
    color light = Ka * ambient() + Kd * diffuse(n);
    if (bake != "") {
        /* Without a normal, so that light goes through what is thin. */
        bake3d(bake, "", P, normal (0, 0, 0), "interpolate", 1, "light", light);
    }
    if (baked != "") {
        color r = 0, g = 0, b = 0;
        texture3d(baked, P, n, "light", r, "filterradius", comp(depth, 0));
        texture3d(baked, P, n, "light", g, "filterradius", comp(depth, 1));
        texture3d(baked, P, n, "light", b, "filterradius", comp(depth, 2));
        light = color (comp(r, 0), comp(g, 1), comp(b, 2));
    }
    normal shown = faceforward(n, I);
    vector d = normalize(I);
    float mirror, through;
    fresnel(d, shown, 1 / eta, mirror, through);
    Oi = Os;
    Ci = Os * (Cs * light + Ks * specular(shown, -d, roughness) + 0.25 * mirror * color (0.7, 0.8, 1));
}
