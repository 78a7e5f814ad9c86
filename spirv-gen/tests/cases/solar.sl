// Light from a cone of directions.

light broad(string __category = "broad") { solar (vector (0, 0, 2), radians(30)) Cl = 1; }
light whole(string __category = "whole") { float half = PI; solar (vector (1, 0, 0), half) Cl = 1; }
light sharp(string __category = "sharp") { float none = 0; solar (vector (0, 3, 0), none) Cl = 1; }

surface cone(output varying float inside = 0, spread = 0, same = 0, parallel = 0, around = 0;)
{
    vector first = 0, second = 0;
    illuminance ("broad", P) { first = L; }
    float toward = -zcomp(normalize(first));
    inside = toward >= cos(radians(30)) - 1e-6 && abs(length(first) - 2) < 1e-5;
    spread = toward < 1;
    // The direction at a point does not depend on who asks.
    float n = 0;
    illuminance ("broad", P) { second = L; n += 1; }
    same = first == second && n == 1;
    illuminance ("sharp", P) { parallel = L == vector (0, -3, 0); }
    illuminance ("whole", P) { around = abs(length(L) - 1) < 1e-5; }
}

light everywhere(string __category = "everywhere") { solar() Cl = 1; }

float total(string which) { extern point P; float n = 0; illuminance (which, P) { n += 1; } return n; }

surface sky(output varying float units = 0, differ = 0, counted = 0, half = 0;)
{
    vector first = 0, second = 0;
    illuminance ("everywhere", P) { first = L; }
    units = abs(length(first) - 1) < 1e-5;
    differ = Du(xcomp(first)) != 0 || Dv(xcomp(first)) != 0;
    counted = total("everywhere") == 1;
    // One of the hemispheres has it.
    float n = 0;
    illuminance ("everywhere", P, vector (0, 0, 1), PI / 2) { n += 1; }
    illuminance ("everywhere", P, vector (0, 0, -1), PI / 2) { n += 1; }
    half = n == 1;
}
