// What is accepted with a warning, and what it gives.

float doubled(float x) { x *= 2; return x; }

surface degraded(float Kd = 3; float level = raylevel(); output varying float none = 0, all = 0, missed = 0, own = 0;)
{
    color c = indirectdiffuse(P, N, 16);
    none = occlusion(P, N, 16) == 0 && c == 0 && level == 0;
    color t = transmission(P, P + N), v = visibility(P, P + N);
    all = t == 1 && v == 1;
    float hits = 0, misses = 0;
    gather ("", P, N, 1, 4) hits += 1; else misses += 1;
    missed = hits == 0 && misses == 1;
    float before = Kd;
    Kd *= 2;
    own = before == 3 && Kd == 6 && doubled(Kd) == 12 && Kd == 6;
}

surface accepted(output varying float components = 0, stored = 0, colour = 0, places = 0, list = 0;)
{
    components = comp(P, 2) == 5 && comp(P, 0) == 2 * s;
    point q = P;
    setcomp(q, 1, 7);
    stored = ycomp(q) == 7 && zcomp(q) == 5;
    color c = N;
    colour = c == color (0, 0, 4);
    places = Ps == P && Ns == N;
    float some[2] = {1, 2, 3};
    list = some[0] == 1 && some[1] == 2;
}

light glow(output varying float facing = 0;)
{
    facing = Ns == normal (0, 0, 4);
    Cl = facing;
}

surface lit(output varying float normals = 0;)
{
    normals = ambient() == 1;
}
