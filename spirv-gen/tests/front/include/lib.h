#ifndef LIB_H
#define LIB_H
#define LIB_RADIUS 2.5
#define LIB_SUM(a, b) a + b
float lib_scale(float x) { return x * LIB_RADIUS; }
#endif
