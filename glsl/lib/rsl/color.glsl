// Colour spaces of ctransform() (RISpec 15.4). Between operations colours are RGB; XYZ is that of the Rec. 709
// primaries with a D65 white, YIQ that of NTSC.

float rsl_largest(const in vec3 c) {
    return max(max(c.x, c.y), c.z);
}

float rsl_smallest(const in vec3 c) {
    return min(min(c.x, c.y), c.z);
}

// Hue in 0..1 of a colour whose largest component exceeds the smallest by `range`; 0 for greys.
float rsl_hue(const in vec3 c, const in float high, const in float range) {
    float d = range == 0.0 ? 1.0 : range;
    float h = c.x == high ? (c.y - c.z) / d : c.y == high ? 2.0 + (c.z - c.x) / d : 4.0 + (c.x - c.y) / d;
    h = h < 0.0 ? h + 6.0 : h;
    return range == 0.0 ? 0.0 : h * 0.16666667;
}

// The colour of full saturation and value of a hue.
vec3 rsl_pure(const in float hue) {
    float h = (hue - floor(hue)) * 6.0;
    float r = abs(h - 3.0) - 1.0;
    float g = 2.0 - abs(h - 2.0);
    float b = 2.0 - abs(h - 4.0);
    return min(max(vec3(r, g, b), 0.0), 1.0);
}

vec3 rsl_hsv_from_rgb(const in vec3 c) {
    float high = rsl_largest(c);
    float range = high - rsl_smallest(c);
    float s = high == 0.0 ? 0.0 : range / high;
    return vec3(rsl_hue(c, high, range), s, high);
}

vec3 rsl_rgb_from_hsv(const in vec3 c) {
    return c.z * (1.0 - c.y * (1.0 - rsl_pure(c.x)));
}

vec3 rsl_hsl_from_rgb(const in vec3 c) {
    float high = rsl_largest(c);
    float low = rsl_smallest(c);
    float sum = high + low;
    float range = high - low;
    float d = sum <= 1.0 ? sum : 2.0 - sum;
    return vec3(rsl_hue(c, high, range), d == 0.0 ? 0.0 : range / d, 0.5 * sum);
}

vec3 rsl_rgb_from_hsl(const in vec3 c) {
    float chroma = (1.0 - abs(2.0 * c.z - 1.0)) * c.y;
    return c.z + chroma * (rsl_pure(c.x) - 0.5);
}

// r x + g y + b z, in this order.
vec3 rsl_blend(const in vec3 c, const in vec3 r, const in vec3 g, const in vec3 b) {
    return (c.x * r + c.y * g) + c.z * b;
}

vec3 rsl_yiq_from_rgb(const in vec3 c) {
    return rsl_blend(c, vec3(0.299, 0.595716, 0.211456), vec3(0.587, -0.274453, -0.522591), vec3(0.114, -0.321263, 0.311135));
}

vec3 rsl_rgb_from_yiq(const in vec3 c) {
    return rsl_blend(c, vec3(1.0), vec3(0.9562957198, -0.2721220993, -1.106989017), vec3(0.6210244165, -0.6473805968, 1.704614998));
}

vec3 rsl_xyz_from_rgb(const in vec3 c) {
    return rsl_blend(c, vec3(0.4123907993, 0.2126390059, 0.01933081872), vec3(0.3575843394, 0.7151686788, 0.1191947798),
                     vec3(0.1804807884, 0.07219231536, 0.9505321522));
}

vec3 rsl_rgb_from_xyz(const in vec3 c) {
    return rsl_blend(c, vec3(3.240969942, -0.9692436363, 0.05563007970), vec3(-1.537383178, 1.875967502, -0.2039769589),
                     vec3(-0.4986107603, 0.04155505741, 1.056971514));
}

// Black has the chromaticity of white.
vec3 rsl_xyy_from_rgb(const in vec3 c) {
    vec3 v = rsl_xyz_from_rgb(c);
    float sum = (v.x + v.y) + v.z;
    return sum == 0.0 ? vec3(0.3127, 0.3290, 0.0) : vec3(v.xy / sum, v.y);
}

vec3 rsl_rgb_from_xyy(const in vec3 c) {
    float k = c.y == 0.0 ? 0.0 : c.z / c.y;
    return rsl_rgb_from_xyz(vec3(c.x * k, c.y == 0.0 ? 0.0 : c.z, ((1.0 - c.x) - c.y) * k));
}
