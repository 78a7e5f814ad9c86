// Types and conversions.

surface conversions()
{
    // Floats spread; points, vectors and normals stand for each other.
    color c = 1;
    point p = 0;
    vector d = P;
    normal n = d;
    matrix m = 1;
    p = n + d;
    c = (0.1, 0.2, 0.3);
    d = (1, 0, 0) * 2;
    c = color P;
    p = point c;
    c = (color) N;
    m = matrix (1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1);
    float f = c == color (1, 1, 1);
    f = !f;
    f += p . p;
    c *= f;
    d = p - P;
    d = p ^ P;
    m = m * m / m;
    m = 1 / m;
    m *= 2;
    p = point "world" (0, 0, 1);
    c = color "hsv" (0.5, 1, 1);
    string space = "shader";
    p = point space (1, 2, 3);
    p = point space P;
    m = matrix "world" 1;
    string s1 = "a" "b";
    f = s1 == space;
    c = f > 0 ? 1 : c;
    f = f > 0 && f < 1 || !f;
}

surface bad_conversions()
{
    // error: 15-16 expected `float`, found `color`
    float f = Cs;
    // warning: 15 a `point` becomes a color here without a cast
    color c = P;
    // error: 15-16 expected `point`, found `color`
    point p = Cs;
    // error: 17-19 expected `string`, found `float`
    string s1 = 1.5;
    // error: 15-17 expected `float`, found `string`
    float g = "a";
    // error: 15-19 `string` cannot be cast to `color`
    c = color ("a");
    // error: 9-14 `+` cannot be applied to `color` and `point`
    f = Cs + P;
    // error: 9-15 `.` cannot be applied to `float` and `float`
    f = 1.5 . g;
    // error: 9-15 `^` cannot be applied to `color` and `color`
    f = Cs ^ Os;
    // error: 9-13 `<` compares floats, not `point`
    f = P < N;
    // error: 9-16 the operands have incompatible types, `point` and `string`
    f = P == "a";
    // error: 9-12 a string cannot be negated
    f = -"a";
    // error: 9-24 `*` cannot be applied to `matrix` and `point`
    p = 1 * matrix 1 * P;
    // error: 5-11 `float` cannot be updated with `color`
    f *= Cs;
    // error: 9 a condition must be a comparison or a float, not `point`
    if (P) f = 1;
    // error: 15-21 a `float` has no coordinate space
    f = float "world" 1;
    // error: 15-19 unknown color space `hvs`
    c = color "hvs" (1, 1, 1);
    // warning: 35 a `point` becomes a color here without a cast
    c = f > 0 ? color (1, 1, 1) : P;
}

surface names()
{
    // error: 10-11 unknown variable `Cd`
    Ci = Cd;
    // error: 10-13 unknown variable `true`
    Ci = true;
    // error: 9-17 unknown function `normalise`
    N = normalise(N);
    float x = 1;
    // error: 11 `x` is declared twice
    color x = 2;
    { float x = 3; Ci = x; }
    // A local may have the name of a function, and hide a predefined variable.
    float noise = noise(P);
    vector L = P;
    Ci = noise * length(L);
}

surface arrays(float list[3] = {1, 2, 3}; string names[2] = {"a", "b"};
    // error: 20-25 2 values for an array of 3
    color bad[3] = {1, 2};
    // error: 22 an array must be initialized with a list of values
    float worse[2] = 1;
    // error: 19-21 a list of values can only initialize an array
    float worst = {1};
    )
{
    float a[4];
    float b[4] = {0, 1, 2, 3};
    a = b;
    a[0] = list[1] + b[a[2]];
    a[list[0]] += 1;
    Ci = spline(u, a);
    Ci = texture(names[0], s, t);
    Ci = texture(names[0][2], s, t);
    // error: 10 expected one value, found an array of 4 `float`
    Ci = a + 1;
    // error: 12 index 4 is out of range for an array of 4
    Ci = a[4];
    // error: 12-13 index -1 is out of range for an array of 4
    Ci = a[-1];
    // error: 10 `point` has no elements
    Ci = P[0];
    // error: 5-12 an array of 3 `float` cannot be assigned to an array of 4 `float`
    a = list;
    // error: 13 the length of an array must be known when the shader is compiled
    float n[u];
    // error: 15-18 an array has 1 to 4096 elements, not 5000
    float big[5000];
    // error: 16-18 an array has 1 to 4096 elements, not 1.5
    float half[1.5];
}
