// After a fault the next statement and the next shader are read; a fault is told once.

// error: 41 expected a value, found `;`
surface broken(float Kd = 1; float Ks = ; float Kx = 1;)
{
    Ci = Kd;
}

surface second()
{
    // error: 10 expected a value, found `;`
    Ci = ;
    // error: 15-20 unknown variable `absent`
    float a = absent;
    // What depends on a fault is not told again.
    float b = a + 1;
    Ci = b;
    // error: 16 expected `;` here
    Ci = Ci * 2
    Oi = 1;
    // error: 14-20 unknown variable `missing`
    // error: 24-34 unknown variable `unknown_too`
    Ci = P * missing + unknown_too;
    // error: 17 expected `)`, found `{`
    if (Ci == 0 { Ci = 1; } else { Ci = 2; }
    Ci = 3;
}
