// What may be assigned.

surface writes(float Kd = 1; output color Cd = 1;)
{
    Ci = 1; Oi = 1; P += N; N = 0; Cd = Kd; s = 1; Cs = 0;
    // warning: 5-6 the parameter `Kd` is changed, and it is not `output`
    Kd = 2;
    Kd = 3;
    // error: 5-6 surface shaders cannot change `Ng`
    Ng = 1;
    // error: 5 surface shaders cannot change `L`
    L = 1;
    illuminance (P) { L = 1; Cl *= 2; Ol = 0; }
    // error: 5 only variables can be assigned
    1 = 2;
    // error: 5-11 only variables can be assigned
    (P + N) = 2;
    // error: 5-6 only variables can be assigned
    PI = 3;
    // error: 5-9 `alpha` does not exist in surface shaders
    alpha = 1;
}

displacement moves()
{
    P += N; N = calculatenormal(P);
    // error: 5-6 `Ci` does not exist in displacement shaders
    Ci = 1;
    // error: 5-6 displacement shaders cannot change `Cs`
    // error: 10-16 `diffuse` is not allowed in displacement shaders
    Cs = diffuse(N);
}

volume smoke()
{
    Ci = mix(Ci, color (1, 1, 1), length(I)); Oi = 1;
    // error: 5 volume shaders cannot change `P`
    P = 0;
}

imager plate()
{
    Ci += (1 - alpha) * color (1, 0, 0); Oi = 1; alpha = 1;
    // error: 16 `N` does not exist in imager shaders
    Ci = color N;
}

light glow()
{
    Cl = 1; Ol = 0; L = Ps - P;
    // error: 5-6 light shaders cannot change `Ps`
    Ps = 0;
}

// A function of the file counts for the shaders that call it.
// error: 29-30 `Cs` does not exist in imager shaders
color tint() { extern color Cs; return Cs; }
color unused() { extern color Cl; return Cl; }

imager tinted() { Ci = tint(); }
surface tinted_too() { Ci = tint(); }
