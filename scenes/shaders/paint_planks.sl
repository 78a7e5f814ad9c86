/* A picture of oak planks in 0 to 1 of s and t, which continues at its edges: four planks along t, joints along s. */
surface paint_planks(float planks = 4;)
{
    float row = floor(t * planks), across = t * planks - row;
    float shifted = s + 0.37 * row;
    float joint = shifted - floor(shifted);
    /* Grain: noise on a cylinder, so that it continues along s. */
    float turn = 2 * PI * s;
    point at = point (0.22 * cos(turn), 0.22 * sin(turn), 11 * t) + vector (0, 0, 7.3 * row);
    float waves = float noise(at * 2.2) + 0.25 * float noise(at * 5);
    float year = 4.5 * waves + 2 * across;
    float grain = smoothstep(0.15, 0.8, year - floor(year)) - smoothstep(0.86, 1, year - floor(year));
    float pores = float noise(point (9 * cos(turn), 9 * sin(turn), 330 * t));
    color tone = mix(color (0.52, 0.32, 0.16), color (0.27, 0.14, 0.065), float cellnoise(row + 8.5));
    color wood = mix(tone, tone * color (0.55, 0.47, 0.4), 0.75 * grain) * (0.85 + 0.3 * smoothstep(0.3, 0.65, pores));
    float seam = min(min(across, 1 - across) / planks * 1.6, min(joint, 1 - joint));
    Oi = 1;
    Ci = wood * (0.25 + 0.75 * smoothstep(0.0012, 0.005, seam));
}
