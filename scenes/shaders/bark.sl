/* Bark: furrows along the trunk, as colour. */
surface bark(float Ka = 1, Kd = 0.9; color dark = color (0.05, 0.035, 0.025), light_ = color (0.26, 0.20, 0.15);)
{
    normal n = faceforward(normalize(N), I);
    point at = transform("object", P);
    float furrow = abs(2 * float noise(point (xcomp(at) * 9, ycomp(at) * 1.6, zcomp(at) * 9)) - 1)
        + 0.5 * abs(2 * float noise(point (xcomp(at) * 23, ycomp(at) * 5, zcomp(at) * 23)) - 1);
    Oi = Os;
    Ci = Os * mix(dark, light_, smoothstep(0.05, 0.7, furrow)) * (Ka * ambient() + Kd * diffuse(n));
}
