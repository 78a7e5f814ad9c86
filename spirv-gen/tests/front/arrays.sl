// Arrays whose length changes.

void grow(output float list[]; float x) { push(list, x); }
void keep(float list[]) {
    // error: 10-13 the argument `list` cannot be changed: it is not `output`
    push(list, 1);
}
float curve(float list[]; float x) {
    // error: 12-26 the length of `open2` is not known here
    return spline(x, list);
}

surface resizable(float listed[] = {1, 2};)
{
    float open[], none[] = {}, open2[] = {1, 2, 3}, fixed[2] = {1, 2};
    push(open, 1);
    grow(open, 2);
    keep(open);
    reserve(none, 100);
    // error: 18-21 an array has at most 4096 elements, not 5000
    resize(none, 5000);
    // error: 5-18 the length of `fixed` is fixed
    push(fixed, 1);
    // error: 5-18 the length of `fixed` is fixed
    grow(fixed, 1);
    // warning: 10-15 the parameter `listed` is changed, and it is not `output`
    // error: 5-19 the length of `listed` is fixed
    push(listed, 3);
    // error: 5-23 `push` cannot be called with (a resizable array of float, color)
    push(open, color 1);
    push(open2, 1);
    Ci = curve(open2, s) + curve(fixed, s);
    // error: 5-16 a resizable array of `float` cannot be assigned to an array of 2 `float`
    fixed = open;
    open = fixed;
    open2 = fixed;
}

surface grows()
{
    uniform float i;
    float small[], large[], given[], list[] = {1, 2};
    // warning: 33-46 `small` has room for 64 elements: more are dropped
    for (i = 0; i < 9; i += 1) {push(small, i); }
    reserve(large, 200);
    for (i = 0; i < 9; i += 1) push(large, i);
    // warning: 32-45 `given` has room for 64 elements: more are dropped
    for (i = 0; i < 9; i += 1) grow(given, i);
    // warning: 5-23 `list` has room for 64 elements: more are dropped
    resize(list, 3 * s);
    for (i = 0; i < 9; i += 1) { float inner[]; push(inner, 1); }
    uniform float count = arraylength(large);
    // error: 34-59 cannot assign a varying value to the uniform variable `count`
    if (s > 0.5) push(small, 1); count = arraylength(small);
}
