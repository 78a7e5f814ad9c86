/* A dull surface that scatters light evenly. */
surface matte(float Ka = 1, Kd = 1;)
{
    normal facing = faceforward(normalize(N), I);
    Oi = Os;
    Ci = Os * Cs * (Ka * ambient() + Kd * diffuse(facing));
}
