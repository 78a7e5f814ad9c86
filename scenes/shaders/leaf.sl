/* Leaves of a crown, drawn as points: `away` points out of the crown, its length says how far out they sit (0 to 1). */
surface leaf(
    float Ka = 1, Kd = 0.9;
    color shade = color (0.05, 0.09, 0.02), lit = color (0.42, 0.47, 0.10);
    varying vector away = vector (0, 1, 0);
    varying float tint = 0.5;)
{
    normal n = normalize(normal vtransform("object", "current", away));
    float out = min(length(away), 1);
    color light_ = 0;
    illuminance (P, n, PI)
        light_ += Cl * clamp(0.25 + 0.75 * (normalize(L) . n), 0, 1);
    color c = mix(shade, lit, tint);
    Oi = Os;
    Ci = Os * c * (Ka * (0.25 + 0.75 * out * out) * ambient() + Kd * light_ * (0.3 + 0.7 * out * out));
}
