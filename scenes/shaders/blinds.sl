/* A spotlight through a pattern of slats; a light of the category "pattern". */
light blinds(
    float intensity = 1;
    color lightcolor = 1;
    point from = point "shader" (0, 0, 0), to = point "shader" (0, 0, 1);
    float coneangle = 0.5, conedelta = 0.05, slats = 9;
    string __category = "pattern";)
{
    uniform vector axis = normalize(to - from);
    uniform vector right = normalize(axis ^ vtransform("world", "current", vector (0, 1, 0)));
    uniform vector up = right ^ axis;
    illuminate (from, axis, coneangle) {
        float ahead = (L . axis) / length(L);
        float y = (L . up) / (L . axis) / tan(coneangle) * slats;
        float slat = mod(y, 1);
        float open = smoothstep(0.2, 0.32, slat) - smoothstep(0.75, 0.87, slat);
        Cl = intensity * lightcolor / (L . L) * open * smoothstep(cos(coneangle), cos(coneangle - conedelta), ahead);
    }
}
