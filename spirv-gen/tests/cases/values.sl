// Types, operators, arrays, components.

surface values(
    float params[3] = {1, 2, 3};
    output varying float spread = 0, triple = 0, products = 0, matrices = 0, inverse = 0, components = 0, zero = 0,
        assigns = 0, compare = 0, read_array = 0, index = 0, copy = 0, big = 0, strings = 0, texts = 0, constants = 0, setters = 0;)
{
    color c = 0.5;
    spread = c == color (0.5, 0.5, 0.5) && 2 * c == color (1, 1, 1) && c + 0.5 == 1;

    vector v = (1, 2, 3);
    triple = xcomp(v) == 1 && ycomp(v) == 2 && zcomp(v) == 3 && -v == vector (-1, -2, -3);

    vector w = vector (0, 1, 0);
    products = v . w == 2 && (v ^ w) == vector (-3, 0, 1) && length(vector (3, 4, 0)) == 5 && v * w == vector (0, 2, 0);

    matrix m = matrix (2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 1, 1, 1, 1);
    point p = transform(m, point (1, 2, 3));
    matrices = p == point (3, 5, 7) && comp(m, 3, 0) == 1 && determinant(matrix 2) == 16 && m * 1 == m;
    inverse = m / m == matrix 1 && transform(1 / m, p) == point (1, 2, 3);

    components = comp(Cs, 1) == comp(Cs, 1.7) && comp(Cs, 2) > comp(Cs, 0);

    // Nothing that a shader computes ends the picture.
    float none = 0;
    zero = 1 / none == 0 && sqrt(-1) == 0 && normalize(vector 0) == vector 0 && log(none) < -80 && pow(-2, 0.5) == 0
        && mod(3, none) == 0;

    float a = 1, b;
    b = a += 2;
    c *= 2;
    c -= color (1, 0, 0);
    assigns = a == 3 && b == 3 && c == color (0, 1, 1) && (a = 5) == 5;

    compare = (1 < 2) + (2 <= 2) + (3 > 2) + (2 >= 3) + (P != P) + (P == P) == 4;

    float i, sum = 0;
    for (i = 0; i < 3; i += 1) sum += params[i];
    read_array = sum == 6;

    float list[4] = {10, 20, 30, 40};
    list[1.9] += 1;
    index = list[1] == 21 && list[-5 + a] == 10 && list[99 * a] == 40;

    float other[4];
    other = list;
    other[0] = 0;
    copy = other[3] == 40 && list[0] == 10;

    float many[20], same[20];
    for (i = 0; i < 20; i += 1) many[i] = i;
    same = many;
    sum = 0;
    for (i = 0; i < 20; i += 1) { float fresh[12]; fresh[3] += same[i]; sum += fresh[3]; }
    big = sum == 190;

    string name = "ab";
    strings = name == concat("a", "b") && name != "b" && format("%d", 3) == "3" && match("b$", name) == 1;
    string shape = "%d", asked = "Format";
    float answer = 0;
    texts = format(concat(shape, "|%s"), 3, name) == "3|ab" && option(asked, answer) == option("Format", answer);
    constants = abs(PI - 3.1415927) < 1e-6 && ncomps == 3;

    setxcomp(p, 8);
    setcomp(c, 1, 7);
    setcomp(m, 0, 0, 9);
    setycomp(v, zcomp(v));
    setters = xcomp(p) == 8 && ycomp(p) == 5 && comp(c, 1) == 7 && comp(m, 0, 0) == 9 && v == vector (1, 3, 3);
}

surface starts(output varying float colour = 0, opacity = 0, local = 0, assigned = 0;)
{
    colour = Ci == Cs;
    opacity = Oi == Os;
    float x; color c; string text;
    local = x == 0 && c == 0 && text == "";
    P += N;
    s = 2 * t;
    assigned = P != point (0, 0, 0) && s == 2 * t;
}

point made(float x) { return point (x, 0, 0); }
point here() { return point "shader" (1, 1, 1); }
point moved_here() { point p = here(); return p + vector (0, 0, 1); }
point known_here() { return transform("shader", "current", point (0, 0, 1)); }
point seen() { return P + vector (0, 0, 1); }
point lifted(point p) { return p + vector (0, 0, 1); }

// Points of defaults that name no space are in shader space, which is moved by (1, 2, 3). A function that has a place,
// or calls one that has, gives points of the space in which shaders compute.
surface called(
    point a = made(1);
    point b = here();
    point c = moved_here();
    point d = known_here();
    varying point e = seen();
    point f = lifted(point (1, 1, 1));
    point g = lifted(here());
    point h = made(1) + (here() - made(0));
    output varying float placeless = 0, placed_ = 0, nested = 0, given = 0;)
{
    placeless = a == point (2, 2, 3);
    placed_ = b == point (2, 3, 4) && d == point (1, 2, 4) && e == P + vector (0, 0, 1);
    nested = c == point (2, 3, 5) && h == point (3, 3, 4);
    given = f == point (2, 3, 5) && g == point (2, 3, 5);
}

// Points of defaults that name no space are in shader space, which is moved by (1, 2, 3).
surface placed(
    point corners[2] = {point "shader" (0, 0, 0), (1, 1, 1)};
    vector along = normalize(vector (0, 3, 4));
    point above = point "current" (0, 0, 0) + 2 * vector (0, 0, 1);
    point computed = point (cos(0), 0, 0);
    point from = corners[1] + vector (0, 0, 1);
    matrix moved = scale(matrix 1, vector (2, 2, 2));
    float apart = distance(point (0, 3, 4), point 0);
    point known = transform("shader", "current", point (0, 0, 1));
    output varying float arrays = 0, computed_ = 0, mixed = 0, others = 0;)
{
    arrays = corners[0] == point (1, 2, 3) && corners[1] == point (2, 3, 4);
    computed_ = distance(point along, point (0, 0.6, 0.8)) < 1e-6 && computed == point (2, 2, 3) && apart == 5;
    mixed = above == point (0, 0, 2) && from == point (2, 3, 5);
    others = transform(moved, point (1, 1, 1)) == point (3, 4, 5) && known == point (1, 2, 4);
}

void paint(output color c) { c = 1; }

surface begins(output varying float colour = 0, opacity = 0, summed = 0;)
{
    colour = Ci == color 0;
    opacity = Oi == Os;
    if (s > 2) Oi = 0;
    Ci += Cs;
    summed = Ci == Cs;
}

surface painted(output varying float colour = 0;)
{
    colour = Ci == color 0;
    if (s > 0.5) paint(Ci);
    colour = colour && Ci == (s > 0.5);
}
