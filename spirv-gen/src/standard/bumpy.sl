/* Displaces along the normal by a texture. */
displacement bumpy(float Km = 1, amplitude = 1; string texturename = "";)
{
    if (texturename != "") {
        P += Km * amplitude * float texture(texturename) * normalize(N);
        N = calculatenormal(P);
    }
}
