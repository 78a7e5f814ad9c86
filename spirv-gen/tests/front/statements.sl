// Statements.

surface loops()
{
    float i, j;
    for (i = 0; i < 3; i += 1) {
        for (j = 0; j < 3; j += 1) {
            if (i == j) continue 2;
            if (i > j) break;
            break 2;
        }
    }
    while (i > 0) i -= 1;
    for (;;) { break; }
    for (float k = 0; k < 2; k += 1) Ci += k;
    // error: 5-10 `break` outside a loop
    break;
    // error: 20-30 `continue 2` inside one loop only
    while (i > 0) {continue 2;}
    // error: 14-16 no variable `k`
    Ci = i + (k);
    if (u > 0.5) return;
    // error: 12 a shader returns no value
    return 1;
    return;
    // warning: 5-11 this is never reached
    Ci = 1;
}

surface strange()
{
    float a = 1, b = 2;
    // warning: 9-13 an assignment as a condition
    if (a = b) Ci = 1;
    // warning: 5-10 this does nothing
    a == b;
    // warning: 5-9 this does nothing
    a + b;
    // warning: 5-10 this does nothing
    sin(a);
    printf("%f\n", a);
    setcomp(Ci, 0, 1);
    a = b;
    ;
}

surface lit()
{
    illuminance (P) Ci += Cl;
    illuminance (P, N, PI / 2) Ci += Cl * normalize(L) . N;
    illuminance ("a,-b", P) { Ci += Ol; }
    illuminance ("a", P, N, 1, "lightcache", "refresh") { }
    // warning: 38-51 messages of `illuminance` to lights are not supported
    illuminance (P, normalize(N), 1, "send:light:x", 1) { }
    // error: 5-24 an axis and an angle
    illuminance (P, N) ;
    // error: 5-20 `illuminance` needs a position
    illuminance () ;
    // error: 5-23 `illuminance` needs a position
    illuminance ("a") ;
    // error: 18-19 expected `point`, found `color`
    illuminance (Cs) ;
    illuminance (P) {
        // error: 9-25 an illuminance inside an illuminance
        illuminance (P) ;
        // error: 15-21 an illuminance inside an illuminance
        Ci += diffuse(N);
        break;
    }
    // warning: 10-11 `Cl` is zero outside `illuminance`
    Ci = Cl;
    // error: 5-32 `illuminate` cannot stand in a surface shader
    illuminate (P, N, 1) Ci = 1;
    float x;
    // error: 5-15 `lightsource` can only be asked inside `illuminance`
    lightsource("intensity", x);
}

light lamp(point from = point "shader" (0, 0, 0); uniform vector axis = vector "shader" (0, 0, 1);)
{
    illuminate (from) Cl = 1 / (L . L);
    illuminate (from, axis, radians(20)) Cl += 1;
    // error: 5-29 an axis and an angle
    illuminate (from, axis) ;
    // error: 5-19 takes a position, or a position, an axis and an angle
    illuminate () ;
    // warning: 5-20 light from all directions is not supported
    solar () Cl = 1;
    solar (axis, 0) {
        // error: 9-24 `illuminate` inside `illuminate` or `solar`
        illuminate (P) ;
    }
    // error: 5-21 `illuminance` cannot stand in a light shader
    illuminance (P) ;
    // error: 10-16 `diffuse` cannot stand in a light shader
    Cl = diffuse(N);
    // error: 5-6 light shaders do not know `Ci`
    Ci = 1;
}

surface gathering()
{
    color hit = 0;
    // warning: 5-89 `gather` needs ray tracing
    gather ("illuminance", P, N, 1, 4, "surface:Ci", hit) { Ci += hit; } else { Ci = 1; }
}
