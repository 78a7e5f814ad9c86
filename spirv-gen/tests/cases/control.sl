// Control flow: every output must end as 1.

surface conditions(
    output varying float both = 0, nested = 0, merged = 0, uniform_ = 0, chosen = 0, logic = 0, effects = 0;)
{
    float x = 0;
    if (s > 0.5) x = 1;
    else x = 2;
    both = x == (s > 0.5 ? 1 : 2);

    float y = 0;
    if (s > 0.3) { if (t > 0.3) y = 3; else y = 2; } else if (t > 0.3) y = 1;
    nested = y == 2 * (s > 0.3) + (t > 0.3);

    float z = 5;
    if (s > 0.5) { float inner = 7; z = inner; }
    merged = z == (s > 0.5 ? 7 : 5);

    if (1) uniform_ = 1;
    if (0) uniform_ = 2;

    color c = s > 0.5 ? Cs : 0;
    chosen = comp(c, 1) == (s > 0.5) * comp(Cs, 1);

    logic = !(s < 0) && (s >= 0 || 1 / 0 > 0) && !0 && 2 && !(s > 2 && t > 2);

    // A choice with effects does one side only.
    float a = 0, b = 0;
    float f(output float place;) { place += 1; return place; }
    float got = s > 0.5 ? f(a) : f(b);
    effects = a == (s > 0.5) && b == (s <= 0.5) && got == 1;
}

surface loops(
    output varying float counted = 0, varied = 0, whiled = 0, nested = 0, skipped = 0, empty = 0, condition = 0, declared = 0;)
{
    float i, sum = 0;
    for (i = 0; i < 10; i += 1) sum += i;
    counted = sum == 45 && i == 10;

    float n = 0;
    for (i = 0; i < 3 + 4 * s; i += 1) n += 1;
    varied = n == ceil(3 + 4 * s);

    float w = 100;
    while (w > 1) w /= 3;
    whiled = w > 0.4 && w < 1.3;

    float j, pairs = 0;
    for (i = 0; i < 4; i += 1)
        for (j = 0; j < i; j += 1) pairs += 1;
    nested = pairs == 6;

    float odd = 0;
    for (i = 0; i < 10; i += 1) {
        if (mod(i, 2) == 0) continue;
        odd += i;
    }
    skipped = odd == 25;

    float trips = 0;
    while (0) trips += 1;
    for (i = 5; i < 5; i += 1) trips += 1;
    empty = trips == 0;

    // What a condition changes counts, also when it ends the loop.
    float k = 0;
    while ((k += 1) < 5) ;
    condition = k == 5;

    // A variable that is declared in a loop is new in every trip.
    float fresh_sum = 0;
    for (i = 0; i < 4; i += 1) { float fresh; fresh += 1; fresh_sum += fresh; }
    declared = fresh_sum == 4;
}

surface jumps(
    output varying float broken = 0, broken_2 = 0, continued_2 = 0, rest = 0, varying_break = 0, step = 0, many = 0,
        three = 0;)
{
    float i, j, k, n = 0;
    for (i = 0; i < 10; i += 1) { if (i == 3) break; n += 1; }
    broken = n == 3 && i == 3;

    n = 0;
    for (i = 0; i < 10; i += 1) {
        for (j = 0; j < 10; j += 1) { if (i == 2 && j == 5) break 2; n += 1; }
        n += 100;
    }
    broken_2 = n == 225 && i == 2 && j == 5;

    n = 0;
    for (i = 0; i < 5; i += 1) {
        for (j = 0; j < 5; j += 1) { if (j == 2) continue 2; n += 1; }
        n += 1000;
    }
    continued_2 = n == 10;

    // What stands behind a jump is skipped, what was declared before it is seen behind it.
    n = 0;
    for (i = 0; i < 4; i += 1) {
        if (i == 1) continue;
        float twice = 2 * i;
        if (i == 3) continue;
        float thrice = twice + i;
        n += thrice;
    }
    rest = n == 6;

    n = 0;
    for (i = 0; i < 20; i += 1) { if (i > 6 * s) break; n += 1; }
    varying_break = n == floor(6 * s) + 1;

    // `continue` does the step, `break` does not.
    for (i = 0; i < 7; i += 1) continue;
    for (j = 0; j < 7; j += 1) break;
    step = i == 7 && j == 0;

    n = 0;
    for (i = 0; i < 3; i += 1) {
        if (s > 2) break;
        n += 1;
        if (t > 2) continue;
        n += 10;
        if (s + t > 5) break;
        n += 100;
    }
    many = n == 333;

    n = 0;
    for (i = 0; i < 3; i += 1)
        for (j = 0; j < 3; j += 1)
            for (k = 0; k < 3; k += 1) { n += 1; if (k == 1) continue 2; if (i == 1) break 3; }
    three = n == 7;
}

surface returns(output varying float early = 0, last = 1;)
{
    early = 1;
    if (s >= 0) return;
    early = 0;
    last = 0;
}

surface returns_somewhere(output varying float where = 1;)
{
    float i;
    for (i = 0; i < 5; i += 1) {
        if (i == 3 && s > 0.5) { where = i == 3; return; }
        if (s > 0.5) continue;
        where = 1;
    }
    if (s > 0.5) where = 7;
}

// Loops whose counter is set, not counted.
surface set(output varying float once = 0, never = 0;)
{
    float i, n = 0;
    for (i = 0; i < 1; i = 2) n += 1;
    once = n == 1;
    for (i = 3; i <= 1; i = 1) n += 1;
    never = n == 1;
}
