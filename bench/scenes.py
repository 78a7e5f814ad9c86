#!/usr/bin/env python3
"""Generates scenes that test the limits of memory and scaling. They are too large to store and too slow for tests.

    bench/scenes.py FOLDER [hairs] [layers] [polygons] [cage] [irregular] [copies] [curves] [points] [planes] [smoke] [sparks]

hairs     600,000 translucent hairs: the scene at which RenderAnts runs out of memory (Zhou et al. 2009, section 7)
layers    a million translucent layers over one pixel, and half as many over its neighbour
polygons  a mesh of 500,000 quadrilaterals: primitives of about a pixel
cage      a subdivision mesh of 200,000 faces, eight of whose vertices are extraordinary
irregular 199,692 triangles that Catmull-Clark refines, at random around their vertices
copies    10,000 instances of one of 100,000 faces, of which some forty are in the picture
curves    a million curves, as one object
points    a million points, as one object
planes    forty planes that pass the eye and reach to the horizon
smoke     a wall and a sphere seen through smoke that a volume shader marches through, 60 steps a ray
sparks    100,000 points that fly over 20 to 150 pixels while the shutter is open
"""

import math
import pathlib
import random
import sys

HEAD = """Format {} {} 1
PixelSamples {} {}
PixelFilter "gaussian" 2 2
ShadingRate 1
Display "{}.exr" "file" "rgba"
Projection "perspective" "fov" 40
Translate 0 0 {}
WorldBegin
LightSource "ambientlight" 1 "intensity" 0.3
LightSource "distantlight" 2 "from" [1 2 -3] "to" [0 0 0] "intensity" 0.8
"""


def joined(values, digits=4):
    return " ".join(f"{value:.{digits}f}" for value in values)


def hairs(file, count=600_000, bunch=500):
    """Strands that stand on a sphere and fall, opacity 0.3, in Curves of 500."""
    rng = random.Random(11)
    file.write(HEAD.format(640, 480, 4, 4, "hairs", 5))
    file.write('Surface "plastic" "roughness" 0.2\nOpacity [0.3 0.3 0.3]\nBasis "bezier" 3 "bezier" 3\n')
    for _ in range(count // bunch):
        points, colours = [], []
        for _ in range(bunch):
            z, turn = rng.uniform(-1, 1), rng.uniform(0, 2 * math.pi)
            flat = math.sqrt(1 - z * z)
            at = [flat * math.cos(turn), flat * math.sin(turn), z]
            way, length = at, rng.uniform(0.2, 0.5)
            points += at
            for _ in range(3):
                way = [0.8 * w + rng.gauss(0, 0.15) + fall for w, fall in zip(way, (0, -0.35, 0))]
                at = [a + length / 3 * w for a, w in zip(at, way)]
                points += at
            shade = rng.uniform(0.6, 1)
            colours += [0.9 * shade, 0.6 * shade, 0.3 * shade]
        file.write(f'Curves "cubic" [{"4 " * bunch}] "nonperiodic" "P" [{joined(points)}] "constantwidth" 0.002 ')
        file.write(f'"uniform color Cs" [{joined(colours, 2)}]\n')


def layers(file, count=1_000_000, bunch=10_000):
    """Squares across a pixel, each farther away than the last and with opacity 0.00001, in meshes of 10,000."""
    file.write(HEAD.format(16, 16, 2, 2, "layers", 2))
    file.write('Surface "constant"\nOpacity [0.00001 0.00001 0.00001]\n')
    # The picture is 2 tan 20 degrees high at distance 1: a pixel is 16 times less.
    pixel = 2 * math.tan(math.radians(20)) / 16
    for first in range(0, count, bunch):
        points, colours = [], []
        for layer in range(first, first + bunch):
            far = layer / count
            side = pixel * (2 + far)
            left, right = 0.1 * side, (0.9 if layer % 2 else 1.9) * side
            points += [left, 0.1 * side, far, left, 0.9 * side, far, right, 0.9 * side, far, right, 0.1 * side, far]
            colours += [far, 1 - far, 0.5]
        corners = " ".join(str(corner) for corner in range(4 * bunch))
        file.write(f'PointsPolygons [{"4 " * bunch}] [{corners}] "P" [{joined(points, 7)}] "uniform color Cs" [{joined(colours)}]\n')


def polygons(file, side=707, bunch=101):
    """A torus with waves, of quadrilaterals, in meshes of 101 rows."""
    file.write(HEAD.format(1024, 768, 4, 4, "polygons", 5))
    file.write('Rotate -55 1 0 0\nSurface "plastic"\nColor [0.5 0.6 0.8]\n')
    turn = [2 * math.pi * step / side for step in range(side + 1)]

    def point(u, v):
        thick = 0.7 + 0.04 * math.sin(31 * u) * math.sin(29 * v)
        ring = 1.2 + thick * math.cos(v)
        return [ring * math.cos(u), ring * math.sin(u), thick * math.sin(v)]

    width = side + 1
    for first in range(0, side, bunch):
        rows = min(bunch, side - first)
        points = [x for row in range(first, first + rows + 1) for u in turn for x in point(u, turn[row])]
        corners = [
            corner for row in range(rows) for column in range(side)
            for corner in (row * width + column, row * width + column + 1, (row + 1) * width + column + 1, (row + 1) * width + column)
        ]
        text = " ".join(map(str, corners))
        file.write(f'PointsPolygons [{"4 " * (rows * side)}] [{text}] "P" [{joined(points, 5)}]\n')


def cube(side):
    """The corners of the faces of a cube whose sides are cut into squares, and its vertices, blown up to a sphere."""
    number, points, corners = {}, [], []

    def vertex(place):
        if place not in number:
            number[place] = len(points)
            x = [2 * c / side - 1 for c in place]
            # Squares of about the same size.
            x = [math.tan(c * math.pi / 4) for c in x]
            length = math.sqrt(sum(c * c for c in x))
            wave = 1 + 0.02 * math.sin(9 * x[0] / length) * math.sin(11 * x[1] / length)
            points.append([wave * c / length for c in x])
        return number[place]

    for axis in range(3):
        for end in (0, side):
            for i in range(side):
                for j in range(side):
                    square = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
                    places = [(u, v, end) for u, v in (square if end else reversed(square))]
                    corners += [vertex(p[3 - axis:] + p[:3 - axis]) for p in places]
    return corners, [c for p in points for c in p]


def mesh(side):
    corners, points = cube(side)
    faces = 6 * side * side
    text = " ".join(map(str, corners))
    return f'SubdivisionMesh "catmull-clark" [{"4 " * faces}] [{text}] [] [] [] [] "P" [{joined(points, 5)}]\n'


def cage(file, side=183):
    """A sphere with waves."""
    file.write(HEAD.format(640, 480, 4, 4, "cage", 3))
    file.write('Surface "plastic"\n' + mesh(side))


def irregular(file, side=129):
    """The same of triangles, cut at random, which Catmull-Clark makes irregular everywhere."""
    corners, points = cube(side)
    rng, cut = random.Random(11), []
    for face in range(6 * side * side):
        a, b, c, d = corners[4 * face:4 * face + 4]
        cut += [a, b, c, a, c, d] if rng.random() < 0.5 else [a, b, d, b, c, d]
    text = " ".join(map(str, cut))
    file.write(HEAD.format(640, 480, 4, 4, "irregular", 3))
    file.write(f'Surface "plastic"\nSubdivisionMesh "catmull-clark" [{"3 " * (12 * side * side)}] [{text}] [] [] [] [] ')
    file.write(f'"P" [{joined(points, 5)}]\n')


def copies(file, side=129, count=10_000):
    """Such spheres all around, most of them beside the picture."""
    file.write(HEAD.format(640, 480, 4, 4, "copies", 30))
    file.write('Surface "plastic"\nObjectBegin 1\n' + mesh(side) + "ObjectEnd\n")
    rng = random.Random(5)
    for _ in range(count):
        at = [rng.uniform(-300, 300), rng.uniform(-300, 300), rng.uniform(-30, 60)]
        file.write(f"TransformBegin\nTranslate {joined(at)}\nScale 0.2 0.2 0.2\nObjectInstance 1\nTransformEnd\n")


def curves(file, count=1_000_000):
    """Short curves on a sphere, in one request."""
    rng = random.Random(7)
    file.write(HEAD.format(640, 480, 4, 4, "curves", 4))
    file.write(f'Surface "plastic"\nBasis "bezier" 3 "bezier" 3\nCurves "cubic" [{"4 " * count}] "nonperiodic" "P" [')
    for _ in range(count):
        z, turn = rng.uniform(-1, 1), rng.uniform(0, 2 * math.pi)
        flat = math.sqrt(1 - z * z)
        way = [flat * math.cos(turn), flat * math.sin(turn), z]
        file.write(joined([w * (1 + 0.02 * k) for k in range(4) for w in way]) + "\n")
    file.write('] "constantwidth" 0.002\n')


def points(file, count=1_000_000):
    """Disks in a ball, in one request."""
    rng = random.Random(9)
    file.write(HEAD.format(640, 480, 4, 4, "points", 4))
    file.write('Surface "plastic"\nPoints "P" [')
    for _ in range(count):
        file.write(joined([rng.gauss(0, 0.5) for _ in range(3)]) + "\n")
    file.write('] "constantwidth" 0.004\n')


def planes(file, count=20):
    """Floors below the eye and walls beside it."""
    rng = random.Random(1)
    file.write(HEAD.format(640, 480, 3, 3, "planes", 0))
    file.write('Surface "matte"\n')
    for number in range(count):
        y, x = -0.02 - 0.05 * number, 0.03 + 0.3 * number
        floor = [-1e4, y, -1e4, 1e4, y, -1e4, 1e4, y, 1e4, -1e4, y, 1e4]
        wall = [x, -50, -1e3, x, 50, -1e3, x, 50, 5e3, x, -50, 5e3]
        colour = joined([rng.random() for _ in range(3)])
        file.write(f'Color [{colour}]\nPolygon "P" [{joined(floor)}]\nPolygon "P" [{joined(wall)}]\n')


SMOKE = """volume smoke(float density = 0.4, steps = 60, frequency = 1.5;)
{
    float length_of_ray = length(I), step = length_of_ray / steps, t = 0;
    vector way = normalize(I);
    point eye = P - I;
    color Cv = 0, Ov = 0;
    while (t < length_of_ray) {
        point at = eye + t * way;
        float thick = density * smoothstep(0.45, 0.75, noise(frequency * transform("world", at))) * step;
        color lit = 0;
        illuminance (at) { lit += Cl; }
        Cv += (1 - Ov) * lit * thick;
        Ov += (1 - Ov) * thick;
        t += step;
    }
    Ci = Cv + (1 - Ov) * Ci;
    Oi = Ov + (1 - Ov) * Oi;
}
"""


def smoke(file):
    """All of the picture is seen through smoke."""
    pathlib.Path(file.name).with_name("smoke.sl").write_text(SMOKE, encoding="ascii")
    file.write(HEAD.format(640, 480, 3, 3, "smoke", 6))
    file.write('LightSource "pointlight" 3 "from" [3 4 -3] "intensity" 20\nSurface "matte"\nAtmosphere "smoke"\n')
    file.write('Polygon "P" [-9 -9 4 9 -9 4 9 9 4 -9 9 4]\nSphere 1 -1 1 360\n')


def sparks(file, count=100_000):
    """Disks in a ball, in one request, each on its own way."""
    rng = random.Random(13)
    starts = [[rng.gauss(0, 1) for _ in range(3)] for _ in range(count)]
    ends = [[x * rng.uniform(1.1, 1.6) + 0.1 for x in start] for start in starts]
    file.write("Shutter 0 1\n" + HEAD.format(640, 480, 3, 3, "sparks", 6))
    file.write('Surface "matte"\nMotionBegin [0 1]\n')
    for places in (starts, ends):
        file.write('Points "P" [' + "\n".join(joined(place) for place in places) + '] "constantwidth" 0.02\n')
    file.write("MotionEnd\n")


ALL = ["hairs", "layers", "polygons", "cage", "irregular", "copies", "curves", "points", "planes", "smoke", "sparks"]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder, wanted = pathlib.Path(sys.argv[1]), sys.argv[2:] or ALL
    folder.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        with open(folder / f"{name}.rib", "w", encoding="ascii") as file:
            globals()[name](file)
            file.write("WorldEnd\n")


main()
