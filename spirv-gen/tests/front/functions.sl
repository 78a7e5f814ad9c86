// Functions.

float square(float x) { return x * x; }
color square(color x) { return x * x; }
void split(vector d; output float x, y) { x = xcomp(d); y = ycomp(d); }
float total(float list[]) { return list[0] + list[1]; }
float total3(float list[3]) { return list[0] + list[1] + list[2]; }
bare(output color c) { c = 0; }
float kd() { extern float Kd; return Kd; }
point place() { extern point P; return P; }
point place_without_extern() { return P; }
float early(float x) { if (x > 0) return 1; return 0; }
// error: 7-10 `none` must return a `float`
// warning: 23 this has no effect
float none(float x) { x; }
// error: 29 this function returns no value
void some(float x) { return x; }
// error: 31-39 expected `float`, found `point`
float wrong(point x) { return 1 * 2 + x; }
// error: 26-32 this function returns a `float`
float forgets(float x) { return; }
// error: 34-37 `self` calls itself
float self(float x) { return x * self(x - 1); }
// error: 32-36 `later` is called before it is defined
float before(float x) { return later(x); }
float later(float x) { return x; }
// error: 7-12 `square` is defined twice
float square(float y) { return y; }
// error: 29 an argument of a function cannot have a default
void with_default(float x = 1) { }
// warning: 24 the argument `c` is changed, and it is not `output`
void writes(color c) { c = 1; }

surface user(float Kd = 1;)
{
    float a = square(2);
    color c = square(Cs);
    float x, y, list[3], pair[2];
    split(N, x, y);
    split(N, list[0], pair[a]);
    a = total(list) + total(pair) + total3(list);
    bare(c);
    a = kd() * xcomp(place()) * early(a) + ycomp(place_without_extern());
    // error: 9-20 `total3` cannot be called with (an array of 2 float)
    a = total3(pair);
    // error: 5-18 `split` cannot be called with (normal, float, color)
    split(N, x, c);
    // error: 14 only variables can be assigned
    split(N, 1, y);
    // error: 9-19 `square` cannot be called with (string)
    a = square("a");
    // error: 9-16 `square` cannot be called with ()
    a = square() + 1;
    // error: 9-15 this call returns no value
    a = bare(c);
    float inner(float x) {
        extern float Kd;
        // error: 20 the variable `a` is not visible in this function
        return x + a + Kd;
    }
    float outer(float x) { extern float a; a = 2; return inner(x); }
    a = outer(1);
    { float hidden() { return 1; } a = hidden(); }
    // error: 9-14 unknown function `hidden`
    a = hidden();
    // error: 36 `a` is `float` in the shader
    float strange() { extern color a; return 1; }
    a = strange();
}

surface without_kd()
{
    // Called here, `kd` needs a parameter that this shader has not: the message stands in the function.
    Ci = square(2);
}

// error: 9-16 is too large after inlining all function calls
surface doubling()
{
    float f0(float x) { return x + x * x; }
    float f1(float x) { return f0(x) + f0(x) + f0(x) + f0(x) + f0(x) + f0(x) + f0(x) + f0(x); }
    float f2(float x) { return f1(x) + f1(x) + f1(x) + f1(x) + f1(x) + f1(x) + f1(x) + f1(x); }
    float f3(float x) { return f2(x) + f2(x) + f2(x) + f2(x) + f2(x) + f2(x) + f2(x) + f2(x); }
    float f4(float x) { return f3(x) + f3(x) + f3(x) + f3(x) + f3(x) + f3(x) + f3(x) + f3(x); }
    float f5(float x) { return f4(x) + f4(x) + f4(x) + f4(x) + f4(x) + f4(x) + f4(x) + f4(x); }
    float f6(float x) { return f5(x) + f5(x) + f5(x) + f5(x) + f5(x) + f5(x) + f5(x) + f5(x); }
    Ci = f6(1);
}

surface nested_lights()
{
    color lamps() { extern point P; extern color Cl; color sum = 0; illuminance (P) { sum += Cl; } return sum; }
    color twice() { return lamps() + lamps(); }
    Ci = twice();
    illuminance (P) {
        // error: 15-21 loops over the lights cannot be nested
        Ci += twice();
    }
}
