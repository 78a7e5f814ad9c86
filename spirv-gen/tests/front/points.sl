// `texture3d`: parameters, channels and what they are written to.

surface found(string file = "a.ptc", space = "object", channel = "_c"; output varying color stored = 0;)
{
    float f, list[3];
    point p;
    normal n;
    float hit = texture3d("a.ptc", P, N, "_f", f, "_p", p, "_n", n, "_e", list[1], "_s", stored);
    hit = texture3d(concat(file, ".ptc"), transform("world", P), N, "coordsystem", space, "filterradius", 0.1 * s,
        "filterscale", 2, "maxdepth", 3, "interpolate", 1, "lerp", 0, channel, Ci);
    if (texture3d(file, P, vector N) > 0) Ci += hit + stored;
}

surface wrong(string file = "a.ptc"; varying color given = 0;)
{
    float f, list[3];
    string text;
    matrix m;
    // error: 14-40 `texture3d` cannot be called with (string, point, normal, string)
    Ci = 1 + texture3d(file, P, N, "_f");
    // error: 47-48 the parameter `filterradius` is a `float`, not
    f = texture3d(file, P, N, "filterradius", Cs);
    // error: 33-36 a channel is a number or three, not
    texture3d(file, P, N, "_f", list);
    // error: 33-36 a channel is a number or three, not
    texture3d(file, P, N, "_f", text);
    // error: 33 a channel is a number or three, not
    texture3d(file, P, N, "_f", m);
    // warning: 31-42 `texture3d` has no parameter
    f = texture3d(file, P, N, "filterwide", 2);
}

surface uneven(string file = "a.ptc";)
{
    uniform float u;
    // error: 5-34 cannot assign a varying value to the uniform variable `u`
    texture3d(file, P, N, "_f", u);
}
