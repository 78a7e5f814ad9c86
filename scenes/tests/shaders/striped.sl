/* Parallel light in stripes, of the category "stripes". */
light striped(float intensity = 1; vector way = vector "shader" (0, 0, 1); string __category = "stripes";)
{
    solar (way, 0) {
        point at = transform("shader", Ps);
        Cl = intensity * smoothstep(-0.2, 0.2, sin(6 * xcomp(at)));
    }
}
