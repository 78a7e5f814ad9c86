// Uniform and varying.

float twice(float x) { return x + x; }
float chosen(float x; float y) { float r = y; if (x > 0) r = 1; return r; }
float fixed(uniform float x) { return x; }
void put(float x; output float y) { y = x; }

surface classes(
    float Kd = 1;
    varying float weight = 0;
    output varying color glow = 0;
    output float count = 0;
    // error: 18 cannot assign a varying value to the uniform variable `from`
    float from = s;
    varying float along = t;
    )
{
    uniform float a = Kd * 2;
    a = twice(a) + twice(3) + chosen(a, 2);
    float v = twice(s);
    a = twice(7);
    glow = Cs;
    // error: 5-13 cannot assign a varying value to the uniform variable `count`
    count = u;
    // error: 5-9 cannot assign a varying value to the uniform variable `a`
    a = s;
    // error: 5-14 cannot assign a varying value to the uniform variable `a`
    a = weight;
    // error: 5-16 cannot assign a varying value to the uniform variable `a`
    a = twice(v);
    // error: 5-20 cannot assign a varying value to the uniform variable `a`
    a = chosen(s, 2);
    // error: 11 cannot assign a varying value to the uniform variable `x`
    fixed(s);
    fixed(a);
    // error: 5-13 cannot assign a varying value to the uniform variable `a`
    put(s, a);
    put(Kd, a);
    uniform float i;
    illuminance (P) { for (i = 0; i < 2; i += 1) Ci += Cl; }
    uniform float nd = 0;
    illuminance (P) { if (lightsource("__nondiffuse", nd) == 0) Ci += Cl; }
    surface("Kd", nd);
    float n = 3;
    // warning: 23 is assigned from a variable that is varying by default
    uniform float m = n;
    float late = 0;
    if (s > 0.5) late = 1;
    // error: 23-26 cannot assign a varying value to the uniform variable `k`
    uniform float k = late;
    // A random number for a uniform variable is uniform.
    uniform float r = 1 + random();
    uniform float draw() { return random(); }
    r = draw();
    r = 2 * random();
    float vr = random();
    // error: 5-10 cannot assign a varying value to the uniform variable `r`
    r = vr;
    uniform float sp = length(vtransform("world", vector (0, 0, 1)));
    uniform string name = concat("a", "b");
    float list[2] = {1, 2};
    // error: 5-15 cannot assign a varying value to the uniform variable `a`
    a = list[u];
}
