/* Writes the light at each point to the file `bake`, or shows what the file `read` has around it: on the left what is
   near, on the right what is farther. */
surface baked(string bake = "", read = "";)
{
    color light = 0.1 + diffuse(normalize(N)) * mod(floor(6 * s) + floor(6 * t), 2);
    if (bake != "")
        bake3d(bake, "", P, N, "interpolate", 1, "light", light);
    if (read != "")
        texture3d(read, P, N, "light", light, "filterradius", s < 0.5 ? 0.05 : 0.5);
    Oi = Os;
    Ci = Os * light;
}
