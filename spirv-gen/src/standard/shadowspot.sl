/* A spotlight whose shadow map says where it is dark. */
light shadowspot(
    float intensity = 1;
    color lightcolor = 1;
    point from = point "shader" (0, 0, 0);
    point to = point "shader" (0, 0, 1);
    float coneangle = radians(30), conedeltaangle = radians(5), beamdistribution = 2;
    string shadowname = "";
    float samples = 16, width = 1, blur = 0, bias = 0.01;)
{
    uniform vector axis = normalize(to - from);
    uniform float edge = cos(coneangle);
    uniform float inside = cos(coneangle - conedeltaangle);
    illuminate (from, axis, coneangle) {
        float off_axis = L . axis / length(L);
        float beam = pow(max(0, off_axis), beamdistribution) * smoothstep(edge, inside, off_axis);
        Cl = intensity * lightcolor * beam / (L . L);
        if (shadowname != "")
            Cl *= 1 - shadow(shadowname, Ps, "samples", samples, "width", width, "blur", blur, "bias", bias);
    }
}
