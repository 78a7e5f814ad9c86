/* Parallel light, shaded by spheres: (x, y, z, radius) each, in world space. Their rims are broken as those of crowns are. */
light sun(
    float intensity = 1;
    color lightcolor = 1;
    uniform vector direction = vector (-0.8, 0.5, 0.2);
    uniform float count = 0, softness = 0.25, ragged = 0.9;
    uniform float occluders[32] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};)
{
    uniform vector tosun = normalize(direction);
    solar (-vtransform("world", "current", tosun), 0) {
        point at = transform("world", Ps);
        float clear = 1;
        uniform float i;
        for (i = 0; i < count; i += 1) {
            vector way = point (occluders[4 * i], occluders[4 * i + 1], occluders[4 * i + 2]) - at;
            float along = way . tosun;
            vector off = way - along * tosun;
            float radius = occluders[4 * i + 3] * (1 + ragged * (float noise(at * 1.3 + off) - 0.5));
            if (along > 0)
                clear *= smoothstep(radius * (1 - softness), radius * (1 + softness), length(off));
        }
        Cl = intensity * lightcolor * clear;
    }
}
