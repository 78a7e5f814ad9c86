/* Asks the displacement, the lights, its attributes and the options. */
surface asking(output varying float told = 0;)
{
    float height = 0, marked = 0;
    color tint = 0;
    float size[2] = {0, 0};
    displacement("amplitude", height);
    illuminance (P) { float mark = 0; lightsource("intensity", mark); marked += mark; }
    attribute("user:tint", tint);
    uniform float format[3] = {0, 0, 0};
    option("Format", format);
    Oi = Os;
    Ci = Os * color (2 * height, marked, format[0] / 128) * tint;
}
