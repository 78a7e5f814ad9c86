// What bake3d and bake take, and what they do not.

surface good(string file = "a.ply"; float size = 1;)
{
    float done = bake3d(file, "area, Cs", P, N, "Cs", Cs, "area", area(P), "radiusscale", size);
    done += bake3d(concat(file, "b"), "", P, N, "coordsystem", "object", "interpolate", 1, "to", N);
    done *= bake(file, s, t, Cs) + bake("b.ply", s, t, size);
    Ci = done;
}

displacement moved() { bake3d("a.ply", "", P, N, "up", N); }
light lamp() { solar(vector (0, 0, 1), 0) { bake3d("a.ply", "", Ps, Ns, "bright", 1); } }

surface bad()
{
    matrix m = 1;
    // error: 21-25 the channel `a` gets no value
    bake3d("a.ply", "a,b", P, N, "b", 1);
    // error: 40-42 `c` is not in the list of channels
    bake3d("a.ply", "b", P, N, "b", 1, "c", 2);
    // error: 31-35 `a b` cannot be the name of a channel
    bake3d("a.ply", "", P, N, "a b", 1);
    // error: 36 a channel is a float, a color, a point, a vector or a normal
    bake3d("a.ply", "", P, N, "m", m);
    // error: 41-43 the parameter `radius` is a `float`
    bake3d("a.ply", "", P, N, "radius", "r", "b", 1);
}
