// Functions in place of their calls.

float square(float x) { return x * x; }
float sign_of(float x) { if (x > 0) return 1; if (x < 0) return -1; return 0; }
void swap(output float a, b) { float c = a; a = b; b = c; }
float total(float list[]) { float sum = 0, i; for (i = 0; i < 3; i += 1) sum += list[i]; return sum; }
void fill(output float list[3]; float x) { float i; for (i = 0; i < 3; i += 1) list[i] = x + i; }
float find(float x) { float i; for (i = 0; i < 10; i += 1) { if (i * i >= x) return i; } return -1; }
float locals(float x) { float a[3]; a[0] += x; float b; b += a[0] + a[1]; return b; }
point here() { extern point P; return P; }

surface functions(
    float Kd = square(3);
    output varying float result = 0, early = 0, output_ = 0, arrays = 0, loop = 0, twice = 0, outer = 0, global = 0,
        defaulted = 0, elements = 0, by_type = 0, deep = 0;)
{
    result = square(square(2)) == 16;
    early = sign_of(s - 2) == -1 && sign_of(0) == 0 && sign_of(t + 1) == 1;

    float a = 1, b = 2;
    swap(a, b);
    output_ = a == 2 && b == 1;

    float list[3];
    fill(list, 4);
    arrays = total(list) == 15 && list[1] == 5;

    float x;
    loop = 1;
    for (x = 0; x < 30; x += 7) loop = loop && find(x) == ceil(sqrt(x));

    // Variables of a function are new in every call.
    float i, sum = 0;
    for (i = 0; i < 3; i += 1) sum += locals(1);
    twice = locals(1) == 1 && locals(2) == 2 && sum == 3;

    float count = 0;
    void step() { extern float count; count += 1; }
    for (i = 0; i < 5; i += 1) { if (i > 1) step(); }
    outer = count == 3;

    global = here() == P;
    defaulted = Kd == 9;

    swap(list[0], list[2]);
    elements = list[0] == 6 && list[2] == 4;

    color which(color c) { return 1; }
    float which(float f) { return 2; }
    by_type = comp(which(Cs), 0) == 1 && which(s) == 2;

    float f1(float y) { return y + 1; }
    float f2(float y) { return f1(f1(y)); }
    float f3(float y) { return f2(f2(y)) + f1(y); }
    deep = f3(10) == 25;
}

// Output arguments are the caller's variables, whatever names they have.
void both(output float a, b) { a = 1; b = a + 1; a += b; }
void sums(output float a, b) { float i; for (i = 0; i < 3; i += 1) { a += 1; if (a > 2) b += a; } }
void through(output float a, b) { both(b, a); if (a > 3) a = a + b; }

surface aliases(output varying float two = 0, one = 0, looped = 0, nested = 0, outer = 0, parameter = 0, branch = 0;
    output float own = 1;)
{
    float x = 0, y = 0;
    both(x, y);
    two = x == 3 && y == 2;
    both(x, x);
    one = x == 4;
    x = 0;
    sums(x, x);
    looped = x == 6 && y == 2;
    through(y, y);
    nested = y == 8;
    float shared = 0;
    void again(output float a) { extern float shared; a = 5; if (shared == 5) shared = shared + 2; a += shared; }
    again(shared);
    outer = shared == 14;
    both(own, own);
    parameter = own == 4;
    own = 1;
    x = 9;
    if (s >= 0) both(x, x);
    branch = x == 4;
}

// Arrays whose values say how long they are.
float sum(float list[]) { float total = 0, i; for (i = 0; i < arraylength(list); i += 1) total += list[i]; return total; }
uniform float length_of(point list[]) { return arraylength(list); }

surface lengths(
    float knots[] = {1, 2, 4, 8, 16}; string names[] = {"a", "b"};
    output varying float given = 0, local = 0, handed = 0, kinds = 0, uniform_ = 0;)
{
    given = arraylength(knots) == 5 && knots[4] == 16 && arraylength(names) == 2 && names[1] == "b";
    float list[] = {s, 2 * s, 3 * s};
    local = arraylength(list) == 3 && list[2] == 3 * s;
    handed = sum(knots) == 31 && abs(sum(list) - 6 * s) < 1e-6;
    point places[7]; color paints[] = {Cs}; matrix moves[2];
    kinds = length_of(places) == 7 && arraylength(paints) == 1 && arraylength(moves) == 2;
    // What varies is in the array, not how much.
    uniform float count = arraylength(list);
    uniform_ = count == 3;
}
