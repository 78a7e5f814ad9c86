/* Hair: light by the angle to the strand, two highlights, one of them in the colour of the hair. */
surface hair(
    float Ka = 0.4, Kd = 0.5, Ks = 0.55, roughness = 0.045;
    color root = color (0.16, 0.06, 0.02), tip = color (0.75, 0.42, 0.16);
    uniform float strand = 0;)
{
    vector along = normalize(dPdv), eye = -normalize(I);
    color body = 0, gloss = 0, glow = 0;
    illuminance (P) {
        vector l = normalize(L);
        float tl = along . l, tv = along . eye;
        float sine = sqrt(max(0, 1 - tl * tl)), sv = sqrt(max(0, 1 - tv * tv));
        body += Cl * sine;
        gloss += Cl * pow(max(0, sine * sv - (tl + 0.06) * tv), 1 / roughness);
        glow += Cl * pow(max(0, sine * sv - (tl - 0.12) * tv), 0.3 / roughness);
    }
    color c = mix(root, tip, smoothstep(0.1, 1, v)) * (0.7 + 0.6 * float cellnoise(strand));
    Oi = Os;
    Ci = Os * (c * (Ka * ambient() + Kd * body) * (0.35 + 0.65 * v) + Ks * (0.25 * gloss + 0.45 * c * glow));
}
