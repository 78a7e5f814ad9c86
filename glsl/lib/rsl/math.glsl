// Elementary functions within 2 ulp, made of exact and correctly rounded operations only (add, subtract, multiply,
// divide, root, floor, selects, bits), so that every device computes the same. No branches, no tables, no fused
// operations.
//
// Polynomials are interpolations at Chebyshev nodes, computed to 40 digits and rounded. vec2 holds a number as an
// unevaluated sum of two floats (Dekker 1971).

#define RSL_FLOAT_MAX 3.40282346638528859812e38
#define RSL_FLOAT_MIN 1.17549435082228750797e-38

// The upper twelve bits of a float's significand: products of two such parts are exact.
float rsl_head(const in float x) {
    return uintBitsToFloat(floatBitsToUint(x) & 0xfffff000u);
}

// 2^k for -126 <= k <= 127.
float rsl_power_of_two(const in int k) {
    return uintBitsToFloat(uint(k + 127) << 23);
}

// x with the sign of s.
float rsl_with_sign(const in float x, const in float s) {
    return uintBitsToFloat(floatBitsToUint(x) ^ (floatBitsToUint(s) & 0x80000000u));
}

vec2 rsl_two_sum(const in float a, const in float b) {
    float s = a + b;
    float t = s - a;
    return vec2(s, (a - (s - t)) + (b - t));
}

// The same where |a| >= |b|.
vec2 rsl_quick_sum(const in float a, const in float b) {
    float s = a + b;
    return vec2(s, b - (s - a));
}

// The product of a float and b, whose upper and lower parts are given too.
vec2 rsl_two_product_split(const in float a, const in float b, const in float bh, const in float bl) {
    float ah = rsl_head(a);
    float al = a - ah;
    float p = a * b;
    return vec2(p, ((ah * bh - p) + ah * bl + al * bh) + al * bl);
}

vec2 rsl_two_product(const in float a, const in float b) {
    float bh = rsl_head(b);
    return rsl_two_product_split(a, b, bh, b - bh);
}

// -- trigonometry

// An angle less a multiple n of pi/2: remainder within about pi/4, what the float remainder lacks, n. Exact to 2 ulp up
// to 3.2e6 (n < 2^21), where neighbouring floats are a quarter apart; of larger angles only an approximate remainder is
// taken.
vec3 rsl_reduce(const in float x) {
    const float fold = 1647099.3; // 2^18 turns
    float turned = min(max(x - fold * floor(x / fold + 0.5), -fold), fold);
    float y = abs(x) > 3.2e6 ? turned : x;
    float n = floor(y * 0.63661975 + 0.5);
    vec2 p = rsl_two_product_split(n, 1.5707963705, 1.5703125, 0.00048387050628662110);
    vec2 q = rsl_two_product_split(n, -4.371138828673793e-8, -4.3699401430785656e-8, -1.198685595227289e-11);
    vec2 s = rsl_two_sum(y - p.x, -p.y);
    vec2 t = rsl_two_sum(s.x, -q.x);
    float rest = (s.y + t.y) - (q.y + n * -1.7151245100058819e-15);
    return vec3(rsl_quick_sum(t.x, rest), n);
}

// Sine and cosine of a remainder, each with what the float lacks.
vec2 rsl_sine_of_remainder(const in vec2 r) {
    float z = r.x * r.x;
    float p = -0.16666667 + z * (0.0083333310 + z * (-0.00019839834 + z * 2.7218646e-6));
    return rsl_quick_sum(r.x, r.x * z * p + r.y * (1.0 - 0.5 * z));
}

vec2 rsl_cosine_of_remainder(const in vec2 r) {
    float z = r.x * r.x;
    float h = 0.5 * z;
    float w = 1.0 - h;
    float p = 0.041666668 + z * (-0.0013888887 + z * (2.4800389e-5 + z * -2.7274848e-7));
    return rsl_quick_sum(w, ((1.0 - w) - h) + (z * z * p - r.x * r.y));
}

// sin(r + n pi/2)
float rsl_sine_in_quadrant(const in vec2 r, const in int n) {
    float v = (n & 1) != 0 ? rsl_cosine_of_remainder(r).x : rsl_sine_of_remainder(r).x;
    return (n & 2) != 0 ? -v : v;
}

float rsl_sin(const in float x) {
    vec3 r = rsl_reduce(x);
    return rsl_sine_in_quadrant(r.xy, int(r.z));
}

float rsl_cos(const in float x) {
    vec3 r = rsl_reduce(x);
    return rsl_sine_in_quadrant(r.xy, int(r.z) + 1);
}

float rsl_tan(const in float x) {
    vec3 r = rsl_reduce(x);
    vec2 s = rsl_sine_of_remainder(r.xy);
    vec2 c = rsl_cosine_of_remainder(r.xy);
    bool odd = (int(r.z) & 1) != 0;
    vec2 n = odd ? -c : s;
    vec2 d = odd ? s : c;
    float q = n.x / d.x;
    vec2 p = rsl_two_product(q, d.x);
    return q + (((n.x - p.x) - p.y) + (n.y - q * d.y)) / d.x;
}

// (asin(sqrt z) - sqrt z) / sqrt z for 0 <= z <= 1/4
float rsl_arc_sine_rest(const in float z) {
    return z * (0.16666666 + z * (0.075000942 + z * (0.044599403 + z * (0.031100662 + z * (0.017149238 + z * 0.033690847)))));
}

float rsl_asin(const in float x) {
    float a = min(abs(x), 1.0);
    bool outer = a > 0.5;
    // Beyond 1/2: pi/2 - 2 asin(sqrt((1 - a) / 2)), with the root's rounding error taken along.
    float z = outer ? 0.5 * (1.0 - a) : a * a;
    float r = rsl_arc_sine_rest(z);
    float s = sqrt(z);
    float h = rsl_head(s);
    float c = (z - h * h) / max(s + h, RSL_FLOAT_MIN);
    float p = 2.0 * s * r - (-4.371138828673793e-8 - 2.0 * c);
    float far = 0.78539819 - (p - (0.78539819 - 2.0 * h));
    return rsl_with_sign(outer ? far : a + a * r, x);
}

float rsl_acos(const in float x) {
    float a = min(abs(x), 1.0);
    bool outer = a > 0.5;
    float z = outer ? 0.5 * (1.0 - a) : a * a;
    float r = rsl_arc_sine_rest(z);
    float s = sqrt(z);
    float h = rsl_head(s);
    float c = (z - h * h) / max(s + h, RSL_FLOAT_MIN);
    float b = rsl_with_sign(a, x);
    float inner = 1.5707964 - (b - (-4.371138828673793e-8 - b * r));
    float near = 2.0 * (h + (s * r + c));
    float far = 2.0 * (1.5707964 - (s + (s * r + 4.371138828673793e-8)));
    return outer ? (x < 0.0 ? far : near) : inner;
}

// The angle of (x, y). The ratio of the smaller to the larger, or of their difference to their sum, is at most
// tan(pi/8).
float rsl_atan2(const in float y, const in float x) {
    float ax = abs(x), ay = abs(y);
    bool steep = ay > ax;
    float large = steep ? ay : ax;
    float small = steep ? ax : ay;
    bool middle = small > 0.41421357 * large;
    float divisor = middle ? small + large : large;
    float t = (middle ? small - large : small) / (divisor == 0.0 ? 1.0 : divisor);
    float z = t * t;
    float rest = t * z * (-0.33333331 + z * (0.19999540 + z * (-0.14263946 + z * (0.10743631 + z * -0.064515971))));
    // The angle is k pi/4 plus or minus atan(t).
    float k = middle ? 1.0 : 0.0;
    k = steep ? 2.0 - k : k;
    k = x < 0.0 ? 4.0 - k : k;
    float s = steep != (x < 0.0) ? -1.0 : 1.0;
    float angle = k * 0.785398006439209 + (s * t + (s * rest + k * 1.5695823663008923e-7));
    return rsl_with_sign(angle, y);
}

float rsl_atan(const in float x) {
    return rsl_atan2(x, 1.0);
}

// -- exponentials

// 2^k e^(r + rest) for |r| <= 0.35, -152 <= k <= 129; the largest float instead of more.
float rsl_scaled_exponential(const in float r, const in float rest, const in int k) {
    float p = 0.5 + r * (0.16666667 + r * (0.041666456 + r * (0.0083333105 + r * (0.0013934532 + r * 0.00019891970))));
    float e = 1.0 + (r + (r * r * p + rest));
    int low = k >> 1;
    return min(e * rsl_power_of_two(low) * rsl_power_of_two(k - low), RSL_FLOAT_MAX);
}

float rsl_exp(const in float x) {
    float y = min(max(x, -105.0), 89.0);
    float n = floor(y * 1.4426950 + 0.5);
    float r = y - n * 0.693145751953125;
    float l = n * 1.428606765330187e-6;
    vec2 s = rsl_quick_sum(r, -l);
    return rsl_scaled_exponential(s.x, s.y, int(n));
}

// A positive normal float as m 2^e with sqrt(1/2) <= m < sqrt(2): m, e.
vec2 rsl_mantissa(const in float x) {
    uint bits = floatBitsToUint(x) + (0x3f800000u - 0x3f3504f3u);
    float e = float(int(bits >> 23) - 127);
    return vec2(uintBitsToFloat((bits & 0x007fffffu) + 0x3f3504f3u), e);
}

float rsl_log(const in float x) {
    vec2 me = rsl_mantissa(min(max(x, RSL_FLOAT_MIN), RSL_FLOAT_MAX));
    float f = me.x - 1.0;
    float t = f / (2.0 + f);
    float z = t * t;
    float r = z * (0.66666669 + z * (0.40000123 + z * (0.28550732 + z * 0.23332913)));
    float h = 0.5 * f * f;
    return me.y * 0.693145751953125 + (f - (h - (t * (h + r) + me.y * 1.428606765330187e-6)));
}

// log2 of a positive normal float to about 40 bits.
vec2 rsl_log2_twice(const in float x) {
    vec2 me = rsl_mantissa(x);
    float f = me.x - 1.0;
    // t = f / (m + 1), log m = 2t + 2/3 t^3 + t^5 (2/5 + 2/7 t^2 + ...)
    vec2 d = rsl_two_sum(me.x, 1.0);
    float t = f / d.x;
    vec2 p = rsl_two_product(t, d.x);
    float tl = (((f - p.x) - p.y) - t * d.y) / d.x;
    vec2 u = rsl_two_product(t, t);
    float ul = u.y + 2.0 * t * tl;
    vec2 w = rsl_two_product_split(u.x, 0.66666668653, 0.66650390625, 0.0001627802848815918);
    float tail = u.x * u.x * (0.40000015 + u.x * (0.28562197 + u.x * 0.23049964));
    float wl = w.y + (ul * 0.66666669 + (u.x * -1.98682155e-8 + tail));
    vec2 s = rsl_quick_sum(2.0, w.x);
    vec2 s2 = rsl_quick_sum(s.x, s.y + wl);
    vec2 l = rsl_two_product(t, s2.x);
    float ll = l.y + (t * s2.y + tl * s2.x);
    vec2 b = rsl_two_product_split(l.x, 1.4426950216, 1.4423828125, 0.0003122091293334961);
    float bl = b.y + (ll * 1.4426950 + l.x * 1.925963033500011e-8);
    vec2 r = rsl_two_sum(me.y, b.x);
    return rsl_quick_sum(r.x, r.y + bl);
}

float rsl_pow(const in float x, const in float y) {
    vec2 l = rsl_log2_twice(min(max(abs(x), RSL_FLOAT_MIN), RSL_FLOAT_MAX));
    // Exponents beyond 2^14 overflow or vanish whatever the base but 1.
    float e = min(max(y, -1.0e10), 1.0e10);
    vec2 p = rsl_two_product(e, l.x);
    float pl = p.y + e * l.y;
    bool inside = abs(p.x) < 200.0;
    float n = floor((inside ? p.x : 0.0) + 0.5);
    float f = inside ? (p.x - n) + pl : 0.0;
    float power = rsl_scaled_exponential(f * 0.69314718, 0.0, int(min(max(n, -152.0), 129.0)));
    power = inside ? power : p.x > 0.0 ? RSL_FLOAT_MAX : 0.0;
    bool whole = floor(y) == y;
    bool odd = whole && floor(y * 0.5) * 2.0 != y;
    float negative = whole ? (odd ? -power : power) : 0.0;
    float v = x < 0.0 ? negative : power;
    v = x == 0.0 ? 0.0 : v;
    return y == 0.0 ? 1.0 : v;
}
