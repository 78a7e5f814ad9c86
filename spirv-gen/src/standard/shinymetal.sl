/* A metal that also mirrors an environment map. */
surface shinymetal(float Ka = 1, Ks = 1, Kr = 1, roughness = 0.1; string texturename = "";)
{
    vector ray = normalize(I);
    normal facing = faceforward(normalize(N), I);
    color mirrored = 0;
    if (texturename != "")
        mirrored = color environment(texturename, vtransform("world", reflect(ray, facing)));
    Oi = Os;
    Ci = Os * Cs * (Ka * ambient() + Ks * specular(facing, -ray, roughness) + Kr * mirrored);
}
