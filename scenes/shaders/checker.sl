/* A chequered floor whose edges are as soft as the shading is coarse; it darkens towards the given spots. */
/* 1 from 0.5 to 1.5, 0 from 1.5 to 2.5, and so on, averaged over the distance to the next shading points. */
float band(float x)
{
    float width = max(abs(Du(x) * du) + abs(Dv(x) * dv), 1e-5);
    float at = mod(x, 2);
    float inside = clamp((at - 0.5) / width + 0.5, 0, 1) - clamp((at - 1.5) / width + 0.5, 0, 1);
    return mix(inside, 0.5, smoothstep(0.7, 1.8, width));
}

surface checker(
    float Ka = 1, Kd = 0.8, size = 1;
    color light_ = color (0.82, 0.80, 0.76), dark = color (0.20, 0.21, 0.24);
    uniform float spots = 0;
    uniform float spot[32] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};)
{
    normal n = faceforward(normalize(N), I);
    point at = transform("world", P) / size;
    float a = band(xcomp(at)), b = band(zcomp(at));
    float odd = a + b - 2 * a * b;
    /* The dark under things: each spot is x, z, radius, strength. */
    float open = 1;
    uniform float i;
    point where = transform("world", P);
    for (i = 0; i < spots; i += 1) {
        float off = distance(point (xcomp(where), 0, zcomp(where)), point (spot[4 * i], 0, spot[4 * i + 1]));
        open *= 1 - spot[4 * i + 3] * (1 - smoothstep(0.35 * spot[4 * i + 2], 1.5 * spot[4 * i + 2], off));
    }
    Oi = Os;
    Ci = Os * mix(dark, light_, odd) * open * (Ka * ambient() + Kd * diffuse(n));
}
