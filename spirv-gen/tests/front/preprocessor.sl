// The preprocessor, seen from a shader.
#include "lib.h"
#include <lib.h>
#define AREA(x) ((x) * (x))
#define GLUE(a, b) a ## b
#if defined(ANTHILL) && ANTHILL >= 100 && !defined(PI)
#define KNOWN 1
#endif

surface uses()
{
    float GLUE(va, lue) = AREA(LIB_RADIUS) + KNOWN + lib_scale(2);
    Ci = value * PI;
    // error: 18-22 `+` cannot be applied to `color` and `point`
    Ci = LIB_SUM(Cs, P);
    // error: 10-19 unknown variable `gone`
    Ci = AREA(gone);
}
