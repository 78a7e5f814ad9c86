/* Light from a point whose six shadow maps, towards both ends of the axes of the world, say where it is dark. */
light shadowpoint(
    float intensity = 1;
    color lightcolor = 1;
    point from = point "shader" (0, 0, 0);
    string sfpx = "", sfnx = "", sfpy = "", sfny = "", sfpz = "", sfnz = "";
    float samples = 16, width = 1, blur = 0, bias = 0.01;)
{
    illuminate (from) {
        vector away = vtransform("world", L);
        float x = abs(xcomp(away)), y = abs(ycomp(away)), z = abs(zcomp(away));
        float dark = 0;
#define LOOK(name) \
    if (name != "") \
        dark = shadow(name, Ps, "samples", samples, "width", width, "blur", blur, "bias", bias)
        if (x > y && x > z) {
            if (xcomp(away) > 0) {
                LOOK(sfpx);
            } else {
                LOOK(sfnx);
            }
        } else if (y > z) {
            if (ycomp(away) > 0) {
                LOOK(sfpy);
            } else {
                LOOK(sfny);
            }
        } else {
            if (zcomp(away) > 0) {
                LOOK(sfpz);
            } else {
                LOOK(sfnz);
            }
        }
        Cl = intensity * lightcolor * (1 - dark) / (L . L);
    }
}
