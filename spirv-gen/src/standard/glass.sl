/* Glass: by Fresnel's law it mirrors an environment map and lets through what is behind it, which it does not bend. */
surface glass(float Ka = 0.2, Kd = 0, Ks = 0.5, Kr = 1, Kt = 1, roughness = 0.05, eta = 1.5;
    color specularcolor = 1, transmitcolor = 1; string texturename = "";)
{
    vector ray = normalize(I);
    normal facing = faceforward(normalize(N), I);
    /* What is not bent leaves as it came in: a back mirrors as the front does. */
    float kr, kt;
    fresnel(ray, facing, 1 / clamp(eta, 0.01, 100), kr, kt);
    color mirrored = 0;
    if (texturename != "")
        mirrored = color environment(texturename, vtransform("world", reflect(ray, facing)));
    Oi = Os * (1 - Kt * (1 - kr) * transmitcolor);
    Ci = Os * (Cs * (Ka * ambient() + Kd * diffuse(facing)) + specularcolor * Ks * specular(facing, -ray, roughness)
        + Kr * kr * mirrored);
}
