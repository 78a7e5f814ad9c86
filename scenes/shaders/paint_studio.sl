/* The studio around the scene as a picture by longitude and latitude, as environment() reads it. */
#include "studio.h"
surface paint_studio(float blur = 0.01;)
{
    float turn = 2 * PI * (s - 0.5), down = PI * t;
    vector d = vector (sin(down) * cos(turn), sin(down) * sin(turn), cos(down));
    Oi = 1;
    Ci = studio(d, blur);
}
