/* Plastic whose colour is multiplied by a texture. */
surface paintedplastic(
    float Ka = 1, Kd = 0.5, Ks = 0.5, roughness = 0.1;
    color specularcolor = 1;
    string texturename = "";)
{
    normal facing = faceforward(normalize(N), I);
    vector eye = -normalize(I);
    color paint = 1;
    if (texturename != "")
        paint = color texture(texturename);
    Oi = Os;
    Ci = Os * (Cs * paint * (Ka * ambient() + Kd * diffuse(facing))
        + specularcolor * Ks * specular(facing, eye, roughness));
}
