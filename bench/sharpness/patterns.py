"""Patterns whose exact values are known: as functions of pixels, and as RSL shaders that compute the same.

A pattern fills a square of `side` pixels. Its functions take places x and y in pixels from the square's corner, where
s = t = 0, and numpy arrays of them.
"""

import dataclasses
import math

import numpy

# Pixels along a square. The edges of micropolygons are 0.995 of what ShadingRate 0.25, 1 and 4 allow.
SIDE = 59.7
PERIODS = (3, 4, 5, 6, 8, 12, 16)
# Octaves of noise, by their shortest and longest period in pixels.
OCTAVES = ((8, 16), (4, 8), (2, 4), (1, 2), (0.5, 1))
WAVES = 12
LINE_SPACING, LINE_START = 11.3, 4
# Cycles per pixel, and pixel from the centre, of the zone plate.
ZONE_RISE = 0.02

# What all shaders begin with. s0 and s1 are where a ribbon of hair is in its square.
HEAD = """
float place_x(float side; float s0; float s1) {{ extern float s; return side * mix(s0, s1, s); }}
float place_y(float side) {{ extern float t; return side * t; }}
float sinc(float x) {{
    float y = PI * abs(x);
    return y < 0.001 ? 1 : sin(y) / y;
}}
"""
# A wave over a micropolygon: the plain one, and its mean over what it covers.
WAVE = {
    False: "float wave(float turns) { return sin(2 * PI * turns); }\n",
    True: "float wave(float turns) { extern float du, dv;\n"
          "    return sin(2 * PI * turns) * sinc(Du(turns) * du) * sinc(Dv(turns) * dv); }\n",
}
# The part of a step that is above `edge`: sharp, or its mean over what a micropolygon covers.
STEP = {
    False: "float above(float edge; float x) { return step(edge, x); }\n",
    True: "float above(float edge; float x) { extern float du, dv;\n"
          "    float wide = max(abs(Du(x) * du) + abs(Dv(x) * dv), 1e-6);\n"
          "    return clamp((x - edge) / wide + 0.5, 0, 1); }\n",
}


@dataclasses.dataclass
class Pattern:
    """A pattern: `value(x, y)` is between 0 and 1; `code` computes `value` of `x`, `y` and parameters in RSL."""
    name: str
    value: object
    family: str  # the name of its shader
    code: str
    kind: str  # grating, line, edge, noise or zone
    parameters: tuple = ()  # p0, p1 and so on of the shader
    side: float = SIDE
    period: float = 0.0  # of a grating
    direction: tuple = (1.0, 0.0)  # in which the value changes

    def shader(self, filtered):
        """The RSL of the surface that computes it, or the mean over a micropolygon."""
        return (HEAD.format() + WAVE[filtered] + STEP[filtered]
                + f"surface {shader_name(self, filtered)}(float s0 = 0; float s1 = 1;"
                + "".join(f" float p{n} = 0;" for n in range(len(self.parameters))) + ") {\n"
                + f"    float x = place_x({self.side}, s0, s1), y = place_y({self.side}), value = 0;\n"
                + f"    {self.code}\n    Oi = 1;\n    Ci = color(value, value, value);\n}}\n")


def shader_name(pattern, filtered):
    return f"{'filtered' if filtered else 'plain'}_{pattern.family}"


def grating(period, degrees, name, contrast):
    """A sine of x, of y (90 degrees) or across both, from black to white if `contrast` is 1."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    phase = 0.13 * period
    turns = lambda x, y: (c * x + s * y) / period + phase
    half = 0.5 * contrast
    return Pattern(name, lambda x, y: 0.5 + half * numpy.sin(2 * math.pi * turns(x, y)), "grating",
                   f"value = 0.5 + {half} * wave(p0 * x + p1 * y + p2);", "grating",
                   (c / period, s / period, phase), period=period, direction=(c, s))


def lines(width, axis):
    """Dark lines, `width` pixels wide, nearly across x or y: grids see them at all parts of a micropolygon."""
    degrees = 2 if axis == "u" else 88
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))

    def value(x, y):
        place = numpy.mod(c * x + s * y, LINE_SPACING)
        return ((place < LINE_START) | (place >= LINE_START + width)).astype(float)
    # Derivatives of what jumps are of no use: the lines are counted first.
    code = f"""float across = p0 * x + p1 * y, start = floor(across / {LINE_SPACING}) * {LINE_SPACING} + {LINE_START};
    value = 1 - above(start, across) + above(start + p2, across);"""
    return Pattern(f"line_{width}_{axis}", value, "line", code, "line", (c, s, width), direction=(c, s))


def edge(degrees):
    """A step across a line at an angle to v."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    offset = 0.5 * SIDE * (c + s) + 0.37
    return Pattern(f"edge_{degrees}", lambda x, y: (c * x + s * y >= offset).astype(float), "edge",
                   "value = above(p2, p0 * x + p1 * y);", "edge", (c, s, offset), direction=(c, s))


def waves(octave, weight):
    """Plane waves (cycles per pixel along x and y, phase, amplitude) of an octave, in all directions."""
    short, long = octave
    found = []
    for n in range(WAVES):
        # Directions, frequencies and phases that are spread evenly, and the same every time.
        turn, step = (n + 0.5) / WAVES * math.pi, (0.618034 * n + 0.31) % 1
        frequency = 1 / long * (long / short) ** step
        found.append((frequency * math.cos(turn), frequency * math.sin(turn), (0.7548777 * n + 0.11) % 1, weight))
    return found


def noise(name, octaves):
    """A sum of plane waves, of standard deviation 0.15."""
    found = [wave for octave, weight in octaves for wave in waves(octave, weight)]
    scale = 0.15 / math.sqrt(sum(0.5 * a * a for *_, a in found))
    found = [(fx, fy, phase, a * scale) for fx, fy, phase, a in found]

    def value(x, y):
        return 0.5 + sum(a * numpy.sin(2 * math.pi * (fx * x + fy * y + phase)) for fx, fy, phase, a in found)
    terms = "\n    ".join(f"value += {a:.9f} * wave({fx:.9f} * x + {fy:.9f} * y + {phase:.9f});"
                          for fx, fy, phase, a in found)
    return Pattern(name, value, name, "value = 0.5;\n    " + terms, "noise")


def zone(side):
    """Rings whose frequency grows with the distance from the centre."""
    middle = 0.5 * side
    turns = lambda x, y: 0.5 * ZONE_RISE * ((x - middle) ** 2 + (y - middle) ** 2) + 0.25
    code = f"""float dx = x - {middle}, dy = y - {middle};
    value = 0.5 + 0.5 * wave({0.5 * ZONE_RISE} * (dx * dx + dy * dy) + 0.25);"""
    return Pattern("zone", lambda x, y: 0.5 + 0.5 * numpy.sin(2 * math.pi * turns(x, y)), "zone", code, "zone",
                   side=side)


def zone_frequency(pattern, x, y):
    """Cycles per pixel of the zone plate."""
    return ZONE_RISE * numpy.hypot(x - 0.5 * pattern.side, y - 0.5 * pattern.side)


def octave_name(octave):
    return f"noise_{octave[1]:g}"


def charts(pitch, contrast):
    """The pictures: names, and patterns with their columns and rows among cells of `pitch` pixels."""
    gratings = [grating(period, 90 * way, f"{period}_{'uv'[way]}", contrast) for period in PERIODS for way in (0, 1)]
    gratings += [grating(4, 31, "4_oblique", contrast), grating(8, 31, "8_oblique", contrast)]
    details = [lines(width, axis) for width in (1, 2) for axis in "uv"] + [edge(7), edge(23)]
    details += [noise(octave_name(octave), [(octave, 1)]) for octave in OCTAVES]
    details += [noise("fbm", [(octave, octave[1]) for octave in OCTAVES])]
    # The zone plate takes the four cells at the lower right.
    free = [(k % 4, k // 4) for k in range(16) if k % 4 < 2 or k // 4 < 2]
    return {
        "gratings": [(pattern, k % 4, k // 4) for k, pattern in enumerate(gratings)],
        "details": [(pattern, *at) for pattern, at in zip(details, free)] + [(zone(SIDE + pitch), 2, 2)],
    }
