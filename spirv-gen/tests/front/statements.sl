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
    // error: 20-30 `continue 2` inside only one loop
    while (i > 0) {continue 2;}
    // error: 14-16 unknown variable `k`
    Ci = i + (k);
    if (u > 0.5) return;
    // error: 12 a shader cannot return a value
    return 1;
    return;
    // warning: 5-11 this statement is unreachable
    Ci = 1;
}

surface strange()
{
    float a = 1, b = 2;
    // warning: 9-13 an assignment is used as a condition
    if (a = b) Ci = 1;
    // warning: 5-10 this has no effect
    a == b;
    // warning: 5-9 this has no effect
    a + b;
    // warning: 5-10 this has no effect
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
    float told = 0, pair_[2] = {0, 0};
    illuminance (P, normalize(N), 1, "send:light:x", 1, "light:y", told) { }
    // warning: 38-45 `illuminance` has no parameter `volume`
    illuminance (P, normalize(N), 1, "volume", 1) { }
    // error: 32-39 only variables can be assigned to
    illuminance (P, "light:y", 1 + told) { }
    // error: 37-41 expected one value, found an array of 2 `float`
    illuminance (P, "send:light:x", pair_) { }
    string unknown = "lightcache";
    // error: 38-44 the name of a parameter must be a literal
    illuminance (P, "light:y", told, unknown, 1) { }
    // error: 5-24 an axis and an angle
    illuminance (P, N) ;
    // error: 5-20 `illuminance` needs a position
    illuminance () ;
    // error: 5-23 `illuminance` needs a position
    illuminance ("a") ;
    // error: 18-19 expected `point`, found `color`
    illuminance (Cs) ;
    illuminance (P) {
        // error: 9-25 loops over the lights cannot be nested
        illuminance (P) ;
        // error: 15-21 loops over the lights cannot be nested
        Ci += diffuse(N);
        break;
    }
    // warning: 10-11 `Cl` is zero outside `illuminance`
    Ci = Cl;
    // error: 5-32 `illuminate` is not allowed in surface shaders
    illuminate (P, N, 1) Ci = 1;
    float x;
    // error: 5-15 `lightsource` can only be used inside `illuminance`
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
    solar () Cl = 1;
    solar (axis, 0) {
        // error: 9-24 `illuminate` cannot be inside `illuminate` or `solar`
        illuminate (P) ;
    }
    // error: 5-21 `illuminance` is not allowed in light shaders
    illuminance (P) ;
    // error: 10-16 `diffuse` is not allowed in light shaders
    Cl = diffuse(N);
    // error: 5-6 `Ci` does not exist in light shaders
    Ci = 1;
}

surface gathering()
{
    color hit = 0;
    // warning: 5-89 `gather` needs ray tracing
    gather ("illuminance", P, N, 1, 4, "surface:Ci", hit) { Ci += hit; } else { Ci = 1; }
}
