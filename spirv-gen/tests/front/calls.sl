// Calls of shadeops: overloads, outputs, named parameters, formats (FN-01 to FN-75).

surface overloads()
{
    float f = noise(s) + noise(s, t) + noise(P) + noise(P, time);
    color c = noise(P) * 0.5;
    point p = P + noise(P);
    c = color cellnoise(s, t) + pnoise(s, 2) + color pnoise(P, point (1, 1, 1));
    f = float random();
    c = random();
    f = atan(s, t) + atan(s) + log(2) + log(2, 10) + min(1, 2, 3, 4);
    c = min(Cs, 1, Os);
    p = max(P, point (0, 0, 0));
    c = mix(Cs, Os, 0.5) + mix(Cs, Os, Cs) + clamp(Cs, 0, 1);
    f = spline(s, 0, 1, 2, 3, 4) + spline("bspline", s, 0, 1, 2, 3);
    c = spline(s, Cs, Cs, Os, 1);
    f = comp(Cs, 0) + comp(matrix 1, 0, 3) + determinant(matrix 2);
    vector d = Du(P) + Dv(N) + Deriv(P, s);
    f = Du(s) + area(P) + area(P, "dicing") + depth(P) + ptlined(P, p, E);
    p = rotate(P, PI, E, p);
    matrix m = rotate(matrix 1, PI, vector (0, 0, 1));
    m = mtransform("world", translate(scale(m, point (1, 1, 1)), d));
    p = transform("world", P) + transform("world", "shader", P) + transform(m, P) + transform("world", m, P);
    d = vtransform("world", d) + ntransform("world", N) + reflect(I, N) + refract(I, N, 1.5);
    float kr, kt;
    vector r, rt;
    fresnel(I, N, 1.5, kr, kt);
    fresnel(I, N, 1.5, kr, kt, r, rt);
    setxcomp(p, 1);
    setcomp(c, 0, 1);
    setcomp(m, 0, 1, 2);
    c = ctransform("hsv", c) + ctransform("hsv", "rgb", c);
    c = ambient() + diffuse(N) + specular(N, -I, 0.1) + phong(N, -I, 10) + specularbrdf(I, N, I, 0.1);
    // warning: 9-19 ray tracing is not supported
    c = trace(P, N);
    // warning: 9-19 ray tracing is not supported
    f = trace(P, N);
    f = filterstep(0.5, s) + filterstep(0.5, s, t, "width", 2) + step(0, s) + smoothstep(0, 1, s);
    c = texture("a.tex") + texture("a.tex"[1], s, t, "blur", 0.1, "filter", "box");
    c = texture("a.tex", s, t, s, t, s, t, s, t);
    f = texture("a.tex"[3]);
    c = environment("b.env", r, "width", 2) + environment("b.env", r, r, r, r);
    f = shadow("c.shd", P, "samples", 16, "bias", 0.1) + shadow("c.shd", P, P, P, P);
    N = bump("d.tex", N, dPdu, dPdv);
    float size[2];
    f = textureinfo("a.tex", "resolution", size);
    // warning: 79-94 volumes inside and outside of objects
    // warning: 98-113 volumes inside and outside of objects
    f = surface("Kd", f) + displacement("Km", f) + atmosphere("density", f) + incident("x", c) + opposite("x", c);
    f = attribute("ShadingRate", f) + option("Format", size) + rendererinfo("version", size);
    string name = concat(shadername(), shadername("surface"), format("%f", f));
    f = match("a*", name);
    printf("%f %p %c %m %s %% %d %5.2f\n", f, P, Cs, m, name, f, s);
    illuminance (P) { f = lightsource("intensity", f); }
}

surface wrong()
{
    float f;
    // error: 38-40 the parameter `source` is 1, 2 or 4 points, not
    f = shadow("a.shd", P, "source", "a");
    point three[3];
    // error: 38-42 the parameter `source` is 1, 2 or 4 points, not
    f = shadow("a.shd", P, "source", three);
    // error: 9-13 `sin` cannot be called with ()
    f = sin();
    // error: 9-19 `normalize` cannot be called with ()
    N = normalize() * 2;
    // error: 9-15 `sin` cannot be called with (color)
    f = sin(Cs) * 1;
    // error: 9-17 `sin` cannot be called with (float, float)
    f = sin(1, 2) * 1;
    // error: 16-29 `normalize` cannot be called with (string)
    vector d = normalize("a");
    // error: 9-14 `min` cannot be called with (float)
    f = min(1);
    // error: 22 only variables can be assigned
    f = surface("a", 1);
    // error: 17-32 needs a literal name
    f = surface(concat("a", "b"), f);
    // error: 12-15 the format takes 1 value, got 0
    printf("%f");
    // error: 12-15 `%q` is not a format
    printf("%q", f);
    // error: 12-16 `%` is not a format
    printf("5 %", f);
    // warning: 18 `%f` does not match `point`
    printf("%f", P);
    // error: 12-23 the format of `printf` must be a literal
    printf(shadername());
    // warning: 28-34 `texture` has no parameter `smear`
    color c = texture("a", "smear", 1);
    // error: 30-34 the parameter `blur` is a `float`, not `string`
    c = texture("a", "blur", "0.1");
    // error: 9-34 `texture` cannot be called with
    c = texture("a", s, t, "blur");
    // warning: 9-27 `occlusion` is not supported: nothing is computed, the result is 0
    f = occlusion(P, N, 16);
    // warning: 9-21 `caustic` is not supported: nothing is computed, the result is 0
    c = caustic(P, N);
    c += caustic(P, -N);
    // warning: 9-28 `photonmap` is not supported: nothing is computed, the result is 0
    c = photonmap("a", P, N);
    // error: 9-16 unknown function `textures`
    c = textures("a");
    // error: 9-30 `transform` cannot be called with (string, color)
    c = transform("world", Cs);
    // error: 5-23 `fresnel` cannot be called with
    fresnel(I, N, 1, f);
    // error: 9-26 `spline` cannot be called with (float, float, float, float)
    f = spline(s, 0, 1, 2);
    // error: 20-24 unknown color space `foo`
    c = ctransform("foo", c);
}
