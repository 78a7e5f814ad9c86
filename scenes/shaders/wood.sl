/* Wood: rings around the z axis of the shader's space, bent by noise, with pores along them. */
surface wood(
    float Ka = 1, Kd = 0.85, Ks = 0.25, roughness = 0.12, rings = 7, wander = 0.12;
    color early = color (0.62, 0.40, 0.20), late = color (0.30, 0.15, 0.06);)
{
    normal n = faceforward(normalize(N), I);
    point at = transform("shader", P);
    at += wander * (vector noise(at * point (1.5, 1.5, 0.35)) - vector (0.5, 0.5, 0.5));
    float r = sqrt(xcomp(at) * xcomp(at) + ycomp(at) * ycomp(at)) * rings;
    float year = r - floor(r);
    float ring = smoothstep(0.1, 0.75, year) - smoothstep(0.85, 1, year);
    float pore = float noise(at * point (60, 60, 3));
    color c = mix(early, late, ring * (0.7 + 0.3 * float cellnoise(floor(r))));
    c *= 0.85 + 0.3 * smoothstep(0.3, 0.6, pore);
    Oi = Os;
    Ci = Os * (c * (Ka * ambient() + Kd * diffuse(n)) + Ks * specular(n, -normalize(I), roughness));
}
