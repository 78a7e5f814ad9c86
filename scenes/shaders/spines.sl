/* Spines of a sea urchin: sharp cones on a jittered raster of s and t. */
displacement spines(float amplitude = 0.5, around = 18, along = 9, sharpness = 3;)
{
    float x = s * around, y = t * along;
    float cx = mod(floor(x), around), cy = floor(y);
    float ox = 0.3 * (float cellnoise(cx, cy) - 0.5), oy = 0.3 * (float cellnoise(cx + 31, cy + 17) - 0.5);
    float r = 2.1 * sqrt(pow(mod(x, 1) - 0.5 - ox, 2) + pow(mod(y, 1) - 0.5 - oy, 2));
    float height = pow(clamp(1 - r, 0, 1), sharpness) * smoothstep(0, 0.12, t) * smoothstep(0, 0.12, 1 - t);
    normal out = normalize(ntransform("shader", N));
    P = transform("shader", "current", transform("shader", P) + amplitude * height * out);
    N = calculatenormal(P);
}
