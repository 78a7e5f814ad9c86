// Light.

float near(float a, b) { return abs(a - b) < 1e-5; }
float near(color a, b) { return distance(point a, point b) < 1e-5; }

light sky(color lightcolor = color (0.1, 0.2, 0.3); string __category = "soft") { Cl = lightcolor; }

light sun(string __category = "hard,sun"; output float marker = 3; output color tones[2] = {1, 2}; float shares[3] = {1, 2, 4};)
{
    tones[1] = color (3, 4, 5);
    solar (vector (0, 0, 2), 0) Cl = color (1, 0.5, 0.25);
    marker = 4;
}

light lamp(float __nonspecular = 1; string __category = "lamp";)
{
    // At the point of the square's corner, 5 in front of it.
    illuminate (point (0, 0, 0)) Cl = 25 / (L . L);
}

light spot()
{
    // Sees what lies near (0, 0, 5) only.
    illuminate (point (0, 0, 0), vector (0, 0, 1), radians(1)) {
        Cl = 1;
        if (xcomp(Ps) > 1) Cl = 1000;
    }
}

surface sums(output varying float ambient_ = 0, all = 0, categories = 0, cone = 0, behind = 0, lambert = 0, asked = 0, asked_arrays = 0, left = 0,
    skipped = 0, one_sided = 0, highlight = 0, narrow = 0, mirrored = 0, carried = 0, changed = 0;)
{
    ambient_ = near(ambient(), color (0.1, 0.2, 0.3));

    float n = 0;
    illuminance (P) n += 1;
    float corner = s == 0 && t == 0;
    all = n == 2 + corner;

    n = 0;
    illuminance ("hard", P) n += 1;
    illuminance ("-hard,-lamp", P) n += 10;
    illuminance ("none", P) n += 100;
    categories = n == 1 + 10 * corner;

    // Light comes from in front of the square, at smaller z.
    n = 0;
    illuminance (P, vector (0, 0, -1), radians(5)) n += 1;
    cone = n >= 1 && n <= 3;
    n = 0;
    illuminance (P, vector (0, 0, 1), PI / 2) n += 1;
    behind = n == 0;

    color byhand = 0;
    normal Nf = faceforward(normalize(N), I);
    illuminance (P, Nf, PI / 2) byhand += Cl * (normalize(L) . Nf);
    lambert = near(diffuse(Nf), byhand) && comp(byhand, 0) > 1;

    // What a body makes of L and Cl is of that light alone.
    color twice = 0;
    void change() { extern vector L; extern color Cl; L = normalize(L); if (s >= 0) Cl *= 2; }
    illuminance (P, Nf, PI / 2) { change(); twice += Cl * (L . Nf); }
    color again = 0;
    illuminance (P, Nf, PI / 2) again += 2 * Cl * (normalize(L) . Nf);
    changed = near(twice, 2 * byhand) && near(again, twice);

    float marker = 0, answers = 0;
    illuminance ("sun", P) { answers = lightsource("marker", marker); }
    asked = answers == 1 && marker == 4;

    color tones[2] = {0, 0};
    float shares[3] = {0, 0, 0}, few[2] = {8, 9}, none = 0;
    color more[3] = {0, 0, 0};
    illuminance ("sun", P) {
        answers = lightsource("tones", tones) + lightsource("shares", shares);
        none = lightsource("shares", few) + lightsource("shares", none) + lightsource("tones", shares) + lightsource("tones", more);
    }
    asked_arrays = answers == 2 && none == 0 && tones[0] == 1 && tones[1] == color (3, 4, 5)
        && shares[0] + 10 * shares[1] + 100 * shares[2] == 421 && few[0] == 8 && few[1] == 9;

    // After the first light nothing more is added.
    n = 0;
    illuminance (P) { n += 1; break; }
    left = n == 1;
    n = 0;
    illuminance (P) { if (comp(Cl, 1) == 0.5) continue; n += 1; }
    skipped = n == 1 + corner;
    one_sided = comp(diffuse(-Nf), 0) == 0;

    // The lamp withdraws from highlights.
    vector V = -normalize(I);
    color shine = 0;
    illuminance ("-lamp", P, Nf, PI / 2) shine += Cl * specularbrdf(normalize(L), Nf, V, 0.1);
    highlight = near(specular(Nf, V, 0.1), shine) && near(specular(3 * Nf, 5 * V, 0.1), shine);
    // A highlight of no width is none, and however narrow one is, it is no brighter than the light.
    vector half = normalize(V + 1e-4 * vector (1, 1, 0));
    narrow = specular(Nf, V, 0) == color 0 && specular(Nf, V, -1) == color 0
        && comp(specularbrdf(half, normal half, half, 1e-9), 0) <= 1
        && comp(specularbrdf(V, normal V, V, 1e-20), 0) <= 1;
    color phongs = 0;
    vector R = reflect(-V, Nf);
    illuminance ("-lamp", P, Nf, PI / 2) phongs += Cl * pow(max(0, R . normalize(L)), 20);
    mirrored = near(phong(Nf, V, 20), phongs);

    float log[3], i = 0;
    illuminance ("hard", P) { log[0] = comp(Cl, 0); i += 1; }
    carried = log[0] == 1 && i == 1;
}

volume air(output varying float seen = 0, found = 0;)
{
    float n = 0;
    illuminance (P) n += 1;
    seen = n >= 2;
    found = Ci == color (0.1, 0.2, 0.3) && Oi == 0.5;
    Ci = mix(Ci, color (1, 1, 1), 0.5);
}

imager plate(output varying float given = 0;)
{
    given = alpha == 0.5;
    Ci += 1 - alpha;
}

displacement bulge(output varying float moved = 0;)
{
    point before = P;
    P += normalize(N);
    N = calculatenormal(P);
    moved = near(zcomp(P), zcomp(before) + 1) && near(zcomp(N), 4);
}
