// Arrays whose length changes.

void grow(output color list[]; color x) { push(list, x); }
float sum(float list[])
{
    float total = 0, i;
    for (i = 0; i < arraylength(list); i += 1) total += list[i];
    return total;
}
float last(output float list[]) { return pop(list); }

surface arrays(output varying float pushed = 0, popped = 0, resized = 0, given = 0, copied = 0, full = 0, kept = 0, own = 0, listed = 0, texts = 0;)
{
    float a[], i, n = floor(4 * s) + 2;
    reserve(a, 10);
    for (i = 0; i < n; i += 1) push(a, i);
    pushed = arraylength(a) == n && a[0] == 0 && a[n - 1] == n - 1 && a[99] == n - 1 && sum(a) == n * (n - 1) / 2;

    popped = pop(a) == n - 1 && last(a) == n - 2 && arraylength(a) == n - 2;
    while (arraylength(a) > 0) pop(a);
    popped = popped && pop(a) == 0 && arraylength(a) == 0;

    point p[] = {};
    push(p, P);
    resize(p, 3);
    resized = arraylength(p) == 3 && p[0] == P && p[2] == point (0, 0, 0);
    p[2] = P + 1;
    resize(p, 1.9);
    resized = resized && arraylength(p) == 1 && p[0] == P;

    color c[];
    reserve(c, 1);
    illuminance (P) grow(c, Cl);
    for (i = 0; i < 3; i += 1) { if (s > 0.5) { grow(c, i); } else { push(c, 2 * i); push(c, Cs); } }
    given = arraylength(c) == (s > 0.5 ? 3 : 6) && c[2] == (s > 0.5 ? color 2 : color 2) && capacity(c) == 64;

    float b[] = {7, 8, 9}, d[];
    push(b, n);
    d = b;
    push(d, 1);
    copied = arraylength(b) == 4 && arraylength(d) == 5 && d[3] == n && sum(d) == 25 + n;

    float few[];
    reserve(few, 3);
    for (i = 0; i < 70; i += 1) push(few, 1);
    full = arraylength(few) == 64 && sum(few) == 64;

    float many[];
    reserve(many, 100);
    for (i = 0; i < 70; i += 1) push(many, 1);
    kept = arraylength(many) == 70 && sum(many) == 70 && capacity(many) == 100;

    float total = 0;
    for (i = 0; i < 3; i += 1) { float inner[]; push(inner, i + 1); total += arraylength(inner) * inner[0]; }
    own = total == 6;

    // One that is only read has the length of its list.
    float list[] = {3, 4};
    listed = arraylength(list) == 2 && sum(list) == 7 && list[5 * s + 1] == 4;

    string names[];
    push(names, "a");
    push(names, "b");
    matrix m[];
    push(m, 2);
    normal normals[];
    push(normals, N);
    texts = names[1] == "b" && pop(names) == "b" && arraylength(names) == 1 && comp(m[0], 1, 1) == 2 && normals[0] == N;
}
