/* A photographer's studio as shiny things mirror it: a large softbox above, a strip at the right, a dark floor. y is up. */
#ifndef STUDIO_H
#define STUDIO_H

/* A soft-edged rectangle in direction space. */
float window(vector d; uniform vector axis; uniform float width, height, blur)
{
    uniform vector a = normalize(axis);
    uniform vector right = normalize(a ^ vector (0.001, 1, 0.002));
    uniform vector up = right ^ a;
    float ahead = d . a;
    float x = abs(d . right) / max(ahead, 0.01), y = abs(d . up) / max(ahead, 0.01);
    float inside = (1 - smoothstep(width - blur, width + blur, x)) * (1 - smoothstep(height - blur, height + blur, y));
    return ahead > 0.01 ? inside : 0;
}

color studio(vector d; uniform float blur)
{
    color result = mix(color (0.05, 0.045, 0.04), color (0.16, 0.17, 0.19), smoothstep(-0.3, 0.6, ycomp(d)));
    result += 2.2 * window(d, vector (-0.5, 0.9, -0.35), 0.55, 0.4, 0.04 + blur);
    result += color (0.75, 0.9, 1.1) * window(d, vector (0.95, 0.25, -0.1), 0.16, 0.9, 0.03 + blur);
    result += color (0.5, 0.4, 0.3) * window(d, vector (-0.2, 0.1, 1), 0.9, 0.14, 0.1 + blur);
    return result;
}
#endif
