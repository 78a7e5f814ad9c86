/* A coloured body under a clear, shining coat. */
surface plastic(float Ka = 1, Kd = 0.5, Ks = 0.5, roughness = 0.1; color specularcolor = 1;)
{
    normal facing = faceforward(normalize(N), I);
    vector eye = -normalize(I);
    Oi = Os;
    Ci = Os * (Cs * (Ka * ambient() + Kd * diffuse(facing)) + specularcolor * Ks * specular(facing, eye, roughness));
}
