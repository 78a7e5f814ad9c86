/* The sky of the landscape, for what is sky and for what mirrors it. */
#ifndef SKY_H
#define SKY_H

/* Sum of octaves of noise around 0. */
float fbm(point at; uniform float octaves; float lacunarity, gain)
{
    uniform float i;
    float sum = 0, weight = 1;
    point p = at;
    for (i = 0; i < octaves; i += 1) {
        sum += weight * (2 * float noise(p) - 1);
        p = p * lacunarity + vector (17.3, 5.1, 9.7);
        weight *= gain;
    }
    return sum;
}

/* The clear sky in a direction of length 1, y up. */
color clearsky(vector d; uniform vector sun)
{
    float height = max(ycomp(d), 0);
    float toward = max(d . sun, 0);
    color zenith = color (0.11, 0.25, 0.55);
    color horizon = mix(color (0.62, 0.70, 0.80), color (0.98, 0.82, 0.60), pow(0.5 + 0.5 * (d . sun), 3));
    color result = mix(zenith, horizon, pow(1 - height, 5));
    result += color (0.9, 0.7, 0.4) * (0.35 * pow(toward, 12) + 0.5 * pow(toward, 120));
    return result;
}
#endif
