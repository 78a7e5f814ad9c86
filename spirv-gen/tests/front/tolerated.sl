// What other compilers and renderers accept: a warning, and the shader is drawn.

surface degraded()
{
    float hits = 0;
    // warning: 12-43 `occlusion` is not supported: nothing is computed, the result is 0
    hits = occlusion(P, N, 16, "bias", 0.1);
    hits = occlusion("map.bkm", P, N, 0);
    // warning: 10-34 `indirectdiffuse` is not supported
    Ci = indirectdiffuse(P, N, 64);
    // warning: 11-35 `transmission` is not supported: nothing is ever hidden, the result is 1
    Ci += transmission(P, P + N, 4);
    // warning: 11-30 `visibility` is not supported
    Ci *= visibility(P, P + N);
    // warning: 9-18 `raylevel` is not supported
    if (raylevel() > 0) Ci = 0;
    // warning: 5-80 `gather` needs ray tracing
    gather ("", P, N, 1, 4, "surface:Ci", Ci) { hits += 1; } else { Ci = hits; }
    gather ("", P, N, 1, 4, "surface:Ci", Ci) { hits += 1; } else { Ci = hits; }
}

// A function of the shader's own is what is called.
color visibility(point a; point b) { return a . b; }
surface own() { Ci = visibility(P, P); }

surface accepted(float Kd = 1;)
{
    // warning: 20 a `point` becomes a color here without a cast
    float x = comp(P, 0);
    // warning: 26 a `point` becomes a color here without a cast
    point q = P; setcomp(q, 1, x);
    // warning: 10 a `vector` becomes a color here without a cast
    Ci = I;
    // warning: 22-23 `Ps` is not a variable of surface shaders: here it is `P`
    // warning: 34-35 `Ns` is not a variable of surface shaders: here it is `N`
    Ci += color (q - Ps) + color Ns;
    // warning: 5-6 the parameter `Kd` is changed, and it is not `output`
    Kd *= 0.5;
    Kd *= 0.5;
    // warning: 21-29 3 values for an array of 2: the last are ignored
    float list[2] = {1, 2, 3};
    // warning: 38-43 `filterstep` has no filter `boxy`
    x = filterstep(0.5, s, "filter", "boxy");
    // warning: 37-42 `texture` has no filter `boxy`
    x += texture("a.tex", "filter", "boxy");
    point corners[4];
    // warning: 40-48 `shadow` has no filter but `box`, which is taken
    x *= shadow("a.shad", P, "filter", "lanczos") + shadow("a.shad", P, "filter", "box");
    // warning: 30-37 the size of a light is not used: its shadows are those of one point
    x *= shadow("a.shad", P, "source", corners, "gapbias", 0.1) + shadow("a.shad", P, "source", q);
    Ci *= Kd * list[1] * x;
}

imager place()
{
    // warning: 17 `s` is not a variable of imager shaders: here it is the place in the picture
    // warning: 20 `t` is not a variable of imager shaders: here it is the place
    Ci = color (s, t, 0) * s;
}
