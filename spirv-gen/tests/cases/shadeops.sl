// Shadeops against what they are known to give.

float near(float a, b) { return abs(a - b) < 1e-5; }
float near(vector a, b) { return distance(point a, point b) < 1e-5; }
float near(color a, b) { return distance(point a, point b) < 1e-5; }

surface mathematics(
    output varying float angles = 0, powers = 0, rounding = 0, bounds = 0, steps = 0, mixes = 0, splines = 0,
        equals = 0;)
{
    angles = near(radians(180), PI) && near(degrees(PI), 180) && near(sin(PI / 6), 0.5) && near(atan(1, -1), 3 * PI / 4)
        && near(acos(0), PI / 2) && near(tan(PI / 4), 1) && near(atan(1), PI / 4);
    powers = near(pow(2, 10), 1024) && near(exp(log(5)), 5) && near(log(8, 2), 3) && near(inversesqrt(4), 0.5)
        && near(pow(color (2, 3, 4), 2), color (4, 9, 16)) && near(pow(color s + 1, -1), 1 / color (s + 1))
        && near(pow((1, 2, 3), 3), color (1, 8, 27)) && pow(s, 2) == pow(comp(color s, 0), 2);
    rounding = floor(-1.5) == -2 && ceil(1.2) == 2 && round(2.4) == 2 && mod(-1, 3) == 2 && sign(-3) == -1 && abs(-3) == 3;
    bounds = min(3, 1, 2) == 1 && max(color (1, 0, 0), color (0, 1, 0)) == color (1, 1, 0) && clamp(5, 0, 1) == 1
        && clamp(s + 2, 0.5, 1) == 1 && clamp(s - 2, 0.5, 1) == 0.5 && clamp(s + 2, 1, 0.5) == 0.5 && clamp(s - 2, 1, 0.5) == 1
        && clamp(color (s - 2, 0.5, s + 2), color 0.25, color (1, 1, 0)) == color (0.25, 0.5, 0);
    steps = step(0.5, s) == (s >= 0.5) && smoothstep(0, 1, 0.5) == 0.5 && smoothstep(1, 1, 0) == 0;
    mixes = mix(1, 3, 0.5) == 2 && mix(color 0, color 1, color (0, 0.5, 1)) == color (0, 0.5, 1);
    // What is between equals is what they are, to the bit, and has no slope.
    float x = 0.1 + 0.7 * s, k;
    equals = 1;
    for (k = 0; k <= 1; k += 0.05) {
        color between = mix(color (x, 0, 1), color (x, 1, 1), k);
        equals = equals && mix(x, x, k) == x && mix(0.1, 0.3, 1) == 0.3
            && comp(between, 0) == x && comp(between, 2) == 1
            && comp(mix(color (x, x, 0), color (x, x, 1), color (k, 1 - k, k)), 1) == x
            && spline(k, x, x, x, x, x) == x && spline("bspline", k, x, x, x, x) == x
            && spline("linear", k, 0, x, x, 1) == x
            && spline("bezier", k, color x, color x, color x, color x) == color x;
    }
    equals = equals && Dv(mix(u, u, v)) == 0 && near(Deriv(P, mix(u, u, v)), vector (2, 0, 0));
    float knots[5] = {0, 0, 1, 2, 2};
    splines = near(spline(0.5, 0, 0, 1, 2, 2), 1) && near(spline("linear", 0.25, 9, 0, 1, 2, 9), 0.5)
        && near(spline(0.5, knots), 1) && near(spline("solvelinear", 1, 0, 0, 1, 2, 3), 0.5);
}

surface geometry(
    output varying float lengths = 0, lines = 0, turned = 0, faced = 0, mirrored = 0, split = 0, spaces = 0, matrices = 0,
        deep = 0;)
{
    lengths = distance(point (1, 0, 0), point (1, 3, 4)) == 5 && near(length(normalize(N)), 1);
    lines = ptlined(point 0, point (2, 0, 0), point (1, 3, 0)) == 3 && ptlined(point 0, point (1, 0, 0), point (4, 4, 0)) == 5;
    turned = near(vector rotate(point (1, 0, 0), PI / 2, point 0, point (0, 0, 1)), vector (0, 1, 0));
    faced = faceforward(N, I) == -N && faceforward(N, -I) == N && faceforward(N, I, -N) == N
        && faceforward(N, I, normal(0, 0, 0)) == -N && faceforward(N, -I, normal(0, 0, 0)) == N;
    mirrored = reflect(vector (1, -1, 0), normal (0, 1, 0)) == vector (1, 1, 0)
        && near(refract(vector (0, -1, 0), normal (0, 1, 0), 0.7), vector (0, -1, 0));
    float kr, kt; vector r, rt;
    fresnel(vector (0, 0, 1), normal (0, 0, -1), 1 / 1.5, kr, kt, r, rt);
    split = near(kr, 0.04) && near(kr + kt, 1) && near(r, vector (0, 0, -1)) && near(rt, vector (0, 0, 1));
    point p = point "shader" (1, 1, 1);
    spaces = p == point (2, 3, 4) && transform("shader", p) == point (1, 1, 1) && transform("current", p) == p
        && vtransform("shader", vector (1, 1, 1)) == vector (1, 1, 1) && transform("shader", "current", point 0) == point (1, 2, 3);
    string space = "shader";
    float same = transform(space, p) == point (1, 1, 1) && point space (1, 1, 1) == p;
    spaces = spaces && same;
    matrix m = translate(matrix 1, vector (1, 2, 3));
    matrix around = rotate(matrix 1, PI / 2, vector (0, 0, 1));
    matrices = transform(m, point 0) == point (1, 2, 3) && transform(scale(m, point (2, 2, 2)), point (1, 1, 1)) == point (3, 4, 5)
        && near(vector transform(around, point (1, 0, 0)), vector (0, 1, 0))
        && transform(matrix "shader" 1, point 0) == point (1, 2, 3) && mtransform("shader", matrix "shader" 1) == matrix 1;
    deep = depth(P) == 0.5;
}

surface neighbours(output varying float slopes = 0, vectors = 0, normal_ = 0, areas = 0, branch = 0, loop = 0, soft = 0;)
{
    slopes = near(Du(s), 1) && near(Dv(s), 0) && near(Du(3 * u + v), 3) && near(Deriv(u * 2 + v * 3, u + v * 3), 3);
    vectors = near(Du(P), dPdu) && near(Dv(P), dPdv);
    normal_ = near(vector calculatenormal(P), vector (0, 0, 4));
    areas = near(area(P), 4 * du * dv);
    // Under a condition that varies, neighbours count all the same.
    float d = 1;
    if (s > 0.5) { float square = s * s; d = Du(square) / (2 * s); }
    branch = abs(d - 1) < 0.2;
    float i, e = 0;
    for (i = 0; i < 3 * s; i += 1) e = Du(s);
    loop = near(e, s > 0);
    soft = filterstep(0.5, s) >= 0 && filterstep(2, s) == 0 && filterstep(-2, s) == 1;
}

surface ranges(output varying float tiny = 0, huge = 0, none = 0, usual = 0;)
{
    tiny = near(normalize(vector (3e-30, 0, 4e-30)), vector (0.6, 0, 0.8)) && near(length(normalize(vector (1e-19, 0, 0))), 1)
        && near(length(normalize(vector (1e-12, 1e-12, 0))), 1);
    huge = near(normalize(vector (3e30, 0, -4e30)), vector (0.6, 0, -0.8)) && near(length(normalize(vector (0, 2e19, 0))), 1)
        && near(length(normalize(vector (0, 1e12, 1e12))), 1);
    none = normalize(vector (0, 0, 0)) == vector (0, 0, 0);
    usual = normalize(vector (0, 3, 4)) == vector (0, 3, 4) * inversesqrt(25);
}

// What lies beyond an edge of a filter of which a width is 1.
surface filters(output varying float boxes = 0, tents = 0, gaussians = 0, splines = 0, named = 0, sharp = 0;)
{
    boxes = near(filterstep(0, -0.25, 0.75, "filter", "box"), 0.75) && filterstep(0, -1, 0, "filter", "box") == 0
        && filterstep(0, 0, 1, "filter", "box") == 1;
    tents = near(filterstep(0, 0, 1, "filter", "triangle"), 0.875) && near(filterstep(0, -1, 0, "filter", "triangle"), 0.125)
        && filterstep(0, 1, 2, "filter", "triangle") == 1;
    gaussians = near(filterstep(0, 0, 1, "filter", "gaussian"), 0.8576164) && near(filterstep(0, -0.5, 0.5, "filter", "gaussian"), 0.5)
        && near(filterstep(0, 0.5, 1.5, "filter", "gaussian"), 1);
    splines = near(filterstep(0, 0.5, 1.5, "filter", "catmull-rom"), 1.0416667) && filterstep(0, 2, 3, "filter", "catmull-rom") == 1
        && near(filterstep(0, 0, 1, "filter", "catmull-rom"), 0.9192708);
    string name = "box";
    if (s > 2) name = "triangle";
    named = near(filterstep(0, -0.25, 0.75, "filter", name), 0.75) && filterstep(0.5, 0, 1) == 0.5;
    sharp = filterstep(1, 1, 1, "filter", "box") == 1 && filterstep(1, 0, 0, "filter", "box") == 0;
}

surface colours(output varying float hsv = 0, back = 0, cast = 0, named = 0;)
{
    hsv = near(color "hsv" (0, 1, 1), color (1, 0, 0)) && near(color "hsv" (1 / 3, 1, 1), color (0, 1, 0));
    back = near(ctransform("hsv", "rgb", ctransform("hsv", Cs)), Cs);
    cast = near(ctransform("xyY", color "xyY" (0.3, 0.3, 0.5)), color (0.3, 0.3, 0.5));
    string space = "hsv";
    named = near(color space (0, 1, 1), color (1, 0, 0)) && ctransform("rgb", Cs) == Cs;
}

surface noises(float drawn = random(), drawn_too = random(); output varying float range = 0, fixed = 0, cells = 0, periods = 0, random_ = 0, fresh = 0, shared = 0;)
{
    float n = noise(P * 3.7);
    color c = noise(s * 5, t * 5);
    vector v = noise(P, time);
    range = n >= 0 && n <= 1 && comp(c, 0) >= 0 && comp(c, 0) <= 1 && comp(c, 0) != comp(c, 1) + 2 && xcomp(v) <= 1;
    fixed = noise(point (3, 4, 5)) == 0.5 && noise(2) == 0.5 && float noise(P) == float noise(P);
    cells = cellnoise(1.2, 3.4) == cellnoise(1.9, 3.1);
    periods = near(pnoise(s + 4, 4), pnoise(s, 4)) && near(pnoise(P + point (2, 2, 2), point (2, 2, 2)), pnoise(P, point (2, 2, 2)));
    float a = random(), b = random();
    random_ = a >= 0 && a < 1 && a != b;
    // Every trip of a loop draws another number.
    float i, last = -1;
    fresh = 1;
    for (i = 0; i < 4; i += 1) { float r = random(); fresh = fresh && r != last; last = r; }
    uniform float one = random(), two = random();
    shared = near(Du(one), 0) && near(Dv(one), 0) && one != two && drawn != drawn_too;
}

surface questions(output varying float answered = 0, missing = 0, arrays = 0, nothing = 0;)
{
    float size[3] = {1, 2, 3};
    answered = option("Format", size) == 1 && size[0] == 640 && size[1] == 480;
    float x = 5;
    missing = attribute("user:none", x) == 0 && x == 5 && surface("none", x) == 0 && x == 5;
    float other[2] = {8, 9};
    arrays = option("Format", other) == 0 && other[0] == 8;
    nothing = textureinfo("none.tex", "resolution", other) == 0 && other[1] == 9 && texture("none.tex", s, t) == 0
        && shadow("none.shd", P, "bias", 0.1) == 0 && shadername() == "";
}

// The error function and its complement, from both sides of where their ways of computing them meet.
surface errors(output varying float values = 0, odd = 0, sums = 0, far = 0, tails = 0, meet = 0;)
{
    float close(float a, b) { return abs(a - b) <= 3e-7 * abs(b); }
    float z = 0 * s;
    values = close(erf(z + 0.001), 0.0011283788) && close(erf(z + 0.5), 0.52049988) && close(erf(z + 1), 0.84270079)
        && close(erf(z + 2), 0.99532227) && close(erf(z + 0.99), 0.83850810) && erf(z) == 0;
    odd = erf(-s) == -erf(s) && erf(-s - 1) == -erf(s + 1) && close(erfc(z - 2), 1.9953223) && close(erfc(z - 0.5), 1.5204999);
    sums = close(erf(4 * s) + erfc(4 * s), 1);
    far = erf(z + 1e30) == 1 && erf(z - 1e30) == -1 && erfc(z + 1e30) == 0 && erfc(z - 1e30) == 2;
    // The exponential rounds the square of its argument.
    tails = abs(erfc(z + 3) / 2.2090497e-5 - 1) < 3e-6 && abs(erfc(z + 5) / 1.5374597e-12 - 1) < 6e-6;
    meet = abs(erf(z + 1) - erf(z + 0.99999994)) < 1e-6 && abs(erfc(z + 1) - erfc(z + 0.99999994)) < 1e-6;
}

// Numbers of other renderers that are random and always the same.
surface numbers(output varying float hashed = 0, kinds = 0, zeros = 0, drawn = 0, again = 0, same = 0;)
{
    float z = 0 * s;
    float a = hashnoise(z + 1), b = hashnoise(z + 1.0000001), c = hashnoise(z + 1, 2), d = hashnoise(point (1, 2, z + 3), 4);
    hashed = a >= 0 && a < 1 && b >= 0 && b < 1 && c >= 0 && c < 1 && d >= 0 && d < 1 && a != b && a != c && c != d
        && hashnoise(P) != hashnoise(P + vector (0, 0, 1)) && hashnoise(z + 1) == a && hashnoise(z + 1, 2) == c;
    color tint = hashnoise(z + 1); point place = hashnoise(z + 1, 2);
    kinds = comp(tint, 0) == a && comp(tint, 1) != a && xcomp(place) == c && vector hashnoise(P) == vector color hashnoise(P)
        && normal hashnoise(P, 1) != normal hashnoise(P, 2);
    zeros = hashnoise(z) == hashnoise(-z) && hashnoise(z) == hashnoise(z + 1e-44);
    uniform float first = urandom(), second = urandom();
    uniform color three = urandom();
    drawn = first >= 0 && first < 1 && second >= 0 && second < 1 && first != second && comp(three, 0) != comp(three, 1);
    uniform float i, last = 2;
    again = 1;
    for (i = 0; i < 4; i += 1) { uniform float next = urandom(); again = again && next != last; last = next; }
    // Points of a grid have the same number: it has no slope.
    same = Du(urandom()) == 0 && Dv(urandom()) == 0;
}
