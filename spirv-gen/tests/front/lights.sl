// Lights that describe light more than once: it adds up, but of the trips of a loop the last counts.

light two(float k = 1;)
{
    illuminate (point 0) Cl = 1;
    solar (vector (0, 0, 1), 0) Cl = k;
}

light three(float k = 1;)
{
    if (k > 1) { solar (vector (0, 0, 1), 0) Cl = 1; }
    if (k > 2) illuminate (point 0) { Cl = 1; }
    illuminate (point 1) Cl = 1;
}

light again()
{
    float i;
    // warning: 34-70 of the trips of a loop, only the last `illuminate` or `solar` counts
    for (i = 0; i < 3; i += 1) { illuminate (point (i, 0, 0)) Cl += i; }
}

void shine(float k) { extern color Cl; illuminate (point k) Cl = k; }
light called()
{
    shine(1);
    shine(2);
}

// Only one of them is ever executed.
light chosen(string kind = "spot"; float k = 1;)
{
    if (kind == "spot") { illuminate (point 0, vector (0, 0, 1), 0.5) Cl = 1; }
    else if (kind == "sun") solar (vector (0, 0, 1), 0) Cl = 1;
    else { illuminate (point 0) Cl = 1; }
}

light left(float k = 1;)
{
    if (k > 1) { illuminate (point 0) Cl = 1; return; }
    solar () Cl = 1;
}

surface unlit() { Ci = Cs; }
