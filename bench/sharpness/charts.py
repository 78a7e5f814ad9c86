"""Charts as RIB: squares with patterns, as surfaces of several kinds, under a camera that maps a unit to a pixel."""

import math

import numpy

from patterns import SIDE, shader_name

# Pixels from a square to the next, squares a side, and the degrees by which squares are turned.
PITCH, SQUARES, TURN = 66, 4, 3.0
SIZE = PITCH * SQUARES
SURFACES = ("bilinear", "bicubic", "polygons", "subdivision", "ribbon", "hair")
# Ribbons of a square of hair: they are 1.7 pixels wide.
HAIRS = 35
TEXELS = 640  # along a square of SIDE
TEXTURE_SAMPLES = 4  # along a texel, of what jumps


class Square:
    """Where a pattern is in a chart: `centre` in pixels from the upper left, y down as in pictures."""

    def __init__(self, pattern, column, row):
        cells = 2 if pattern.side > PITCH else 1
        self.pattern, self.column, self.row, self.cells = pattern, column, row, cells
        # Squares begin at different parts of a pixel.
        number = column + SQUARES * row
        self.centre = (PITCH * (column + cells / 2) + 0.618 * number % 1 - 0.5,
                       PITCH * (row + cells / 2) + 0.414 * number % 1 - 0.5)
        self.cos, self.sin = math.cos(math.radians(TURN)), math.sin(math.radians(TURN))

    def of_raster(self, x, y):
        """Places in the square, in pixels from its corner."""
        x, y = x - self.centre[0], y - self.centre[1]
        half = self.pattern.side / 2
        return self.cos * x + self.sin * y + half, self.cos * y - self.sin * x + half

    def raster(self, x, y):
        x, y = x - self.pattern.side / 2, y - self.pattern.side / 2
        return self.cos * x - self.sin * y + self.centre[0], self.cos * y + self.sin * x + self.centre[1]

    def point(self, s, t):
        """A vertex in camera space: units are pixels, y is up."""
        x, y = self.raster(s * self.pattern.side, t * self.pattern.side)
        return f"{x - SIZE / 2:.6f} {SIZE / 2 - y:.6f} 1"

    def points(self, columns, rows):
        return " ".join(self.point(i / columns, j / rows) for j in range(rows + 1) for i in range(columns + 1))

    def geometry(self, surface):
        if surface == "bilinear":
            return f'Patch "bilinear" "P" [{self.points(1, 1)}]\n'
        if surface == "bicubic":
            return f'Patch "bicubic" "P" [{self.points(3, 3)}]\n'
        if surface in ("polygons", "subdivision"):
            return self.mesh(surface)
        count = 1 if surface == "ribbon" else HAIRS * self.cells
        ends = " ".join(f"{self.point((n + 0.5) / count, 0)} {self.point((n + 0.5) / count, 1)}" for n in range(count))
        s0, s1 = (" ".join(f"{(n + end) / count:.6f}" for n in range(count)) for end in (0, 1))
        return (f'Curves "linear" [{"2 " * count}] "nonperiodic" "P" [{ends}] "constantwidth" '
                f'[{self.pattern.side / count:.6f}] "uniform float s0" [{s0}] "uniform float s1" [{s1}]\n')

    def mesh(self, surface):
        n = 3 if surface == "polygons" else 4
        first = [(n + 1) * j + i for j in range(n) for i in range(n)]
        corners = " ".join(f"{k} {k + 1} {k + n + 2} {k + n + 1}" for k in first)
        st = " ".join(f"{i / n:.6f} {j / n:.6f}" for j in range(n + 1) for i in range(n + 1))
        counts = "4 " * (n * n)
        values = f'"P" [{self.points(n, n)}] "st" [{st}]\n'
        if surface == "polygons":
            return f"PointsPolygons [{counts}] [{corners}] {values}"
        values = values.replace('"st"', '"vertex float[2] st"')
        return f'SubdivisionMesh "catmull-clark" [{counts}] [{corners}] ["interpolateboundary"] [0 0] [] [] {values}'


def texture_name(pattern):
    return f"{pattern.name}.tex"


def texels(pattern):
    """The exact picture of a pattern as a texture: of what jumps, means over texels."""
    count = TEXELS * (1 if pattern.side == SIDE else 2)
    samples = TEXTURE_SAMPLES if pattern.kind in ("line", "edge") else 1
    places = (numpy.arange(count * samples, dtype="f4") + 0.5) / (count * samples) * pattern.side
    exact = pattern.value(places[None], places[:, None]).astype("f4")
    return exact.reshape(count, samples, count, samples).mean((1, 3))


def textures(patterns, levels):
    """A RIB that makes their textures, whose levels are filtered with a name and a width in texels."""
    name, width = levels
    return "".join(f'MakeTexture "{p.name}.tif" "{texture_name(p)}" "clamp" "clamp" "{name}" {width:g} {width:g}\n'
                   for p in patterns)


LOOKUP = """surface lookup(string name = ""; float wide = 1; string kind = "gaussian"; float s0 = 0; float s1 = 1;) {
    float value = texture(name, mix(s0, s1, s), t, "width", wide, "filter", kind);
    Oi = 1;
    Ci = color(value, value, value);
}
"""


def shade(pattern, way, lookup):
    if way == "texture":
        wide, kind = lookup
        return (f'Surface "lookup" "string name" ["{texture_name(pattern)}"] "float wide" [{wide}] '
                f'"string kind" ["{kind}"]\n')
    parameters = "".join(f' "float p{n}" [{x:.9f}]' for n, x in enumerate(pattern.parameters))
    return f'Surface "{shader_name(pattern, way == "filtered")}"{parameters}\n'


def chart(squares, surface, way, rate, options):
    """The RIB of a chart."""
    half = SIZE / 2
    text = [f"""Format {SIZE} {SIZE} 1
PixelSamples {options.samples} {options.samples}
PixelFilter "{options.filter[0]}" {options.filter[1]} {options.filter[1]}
Quantize "rgba" {options.quantize}
Display "{options.picture}" "{options.driver}" "rgb"
Projection "orthographic"
ScreenWindow {-half} {half} {-half} {half}
Clipping 0.1 10
ShadingRate {rate:g}
ShadingInterpolation "{options.interpolation}"
Declare "s0" "uniform float"
Declare "s1" "uniform float"
WorldBegin
"""]
    for square in squares:
        text.append(shade(square.pattern, way, options.lookup) + square.geometry(surface))
    return "".join(text) + "WorldEnd\n"
