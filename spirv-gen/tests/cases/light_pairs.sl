// Pairs of names and values of `illuminance`: what lights are given, and what they are asked for.

float near(color a, b) { return distance(point a, point b) < 1e-5; }

light dimmed(float level = 2; color tint = color (1, 2, 3); string map = "none"; string __category = "dimmed"; output float half = 0;
    output color pair_[2] = {0, 0};)
{
    half = level / 2;
    pair_[1] = tint;
    solar (vector (0, 0, 1), 0) Cl = level * tint * (map == "set" ? 10 : 1);
}

// What an illuminance sends takes the place of the light's own parameters, and what it asks for is there in its body.
surface pairs_(output varying float own = 0, sent = 0, asked = 0, typed = 0, unknown = 0, apart = 0, named_ = 0;)
{
    color all = 0, pair2[2] = {0, 0};
    float half = 7, level = 7, none = 7;
    illuminance ("dimmed", P) all += Cl;
    own = all == color (2, 4, 6);

    all = 0;
    illuminance ("dimmed", P, N, PI, "send:light:level", 4 + s, "light:half", half, "light:level", level, "light:pair_", pair2) all += Cl;
    sent = near(all, (4 + s) * color (1, 2, 3));
    asked = half == (4 + s) / 2 && level == 4 + s && pair2[1] == color (1, 2, 3);

    // Of another type, or of no parameter.
    all = 0;
    illuminance ("dimmed", P, "send:light:level", color (1, 1, 1), "send:light:nothing", 3, "light:nothing", none) all += Cl;
    typed = all == color (2, 4, 6) && none == 7;

    all = 0;
    illuminance ("dimmed", P, "send:light:tint", Cs, "lightcache", "refresh") all += Cl;
    unknown = near(all, 2 * Cs);

    // Loops that send other values see other light.
    color one = 0, two = 0;
    illuminance ("dimmed", P, "send:light:level", 1) one += Cl;
    illuminance ("dimmed", P, "send:light:level", 2) two += Cl;
    apart = one == color (1, 2, 3) && two == 2 * one;

    all = 0;
    illuminance ("dimmed", P, "send:light:map", "set") all += Cl;
    named_ = all == color (20, 40, 60);
}

volume air(output varying float sent = 0;)
{
    color all = 0;
    illuminance ("dimmed", P, "send:light:level", 5) all += Cl;
    sent = all == color (5, 10, 15);
}
