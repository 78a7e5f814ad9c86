#!/usr/bin/env python3
"""Predicts the figures of bench/sharpness for other ways of shading, without a renderer.

    bench/sharpness/model.py [--rates 1] [--ways texture,plain] [--levels lanczos] [--contrast 0.8] [SCHEME ...]

A square is a grid of micropolygons of one colour each. A scheme is `PLACE[:SHARP][/WIDTH[/LEVELS[/RANGE]]]`:

PLACE   vertices   colours of vertices; of a micropolygon the mean of its four
        centres    colours of the centres of micropolygons
        smooth     colours of vertices, interpolated in a micropolygon
SHARP   how much more the nearest colours weigh along each axis, and those beyond them less: 0 if not given. Of centres
        the neighbours on both sides, of vertices the two beyond the nearest two
WIDTH   of lookups, in those of today: 1 if not given
LEVELS  how much more the levels of a lookup weigh, and the ones after them less: 0 if not given
RANGE   what lookups are kept within: `any` if not given, `unit` is 0 to 1, `read` the range of the texels read in the
        finer two levels

Without schemes it prints those that were compared. `vertices/1/1/unit` is today's, if textures' levels are made with
`lanczos`: the measure and the model agree on it.
"""

import argparse
import math

import numpy

import charts
import measures
import patterns
import tables

# The width of a probe in footprints (glsl/lib/rsl/texture.glsl).
PROBE = 0.96
SCHEMES = ["vertices/1/1/unit", "vertices/1/1/read", "vertices", "vertices/0.7", "vertices/0.5", "vertices/0",
           "vertices/1/1", "smooth", "smooth/0.6", "smooth/1.1/0.8", "centres", "centres/0.7", "centres/0.6",
           "centres/0.5", "centres/0.4", "centres/1/0.3", "centres/1.1/0.6", "centres:0.13", "vertices:0.0625",
           "vertices:0.1/1/0.3", "vertices:0.13", "vertices:0.165"]


class Scheme:
    def __init__(self, text):
        self.text = text
        place, *rest = text.split("/")
        self.place, _, sharp = place.partition(":")
        self.sharp = float(sharp or 0)
        width, levels, self.range = rest + ["1", "0", "any"][len(rest):]
        self.width, self.levels = float(width), float(levels)
        if self.place not in ("vertices", "centres", "smooth") or self.range not in ("any", "unit", "read"):
            raise argparse.ArgumentTypeError(f"{text}: must begin with vertices, centres or smooth, and its range be "
                                             "any, unit or read")


def halved(values, kind):
    """The next level of a texture along its columns."""
    if kind == "box":
        return values.reshape(-1, 2, values.shape[1]).mean(1)
    # Six texels of the smaller level wide, as "lanczos" of MakeTexture.
    at = (numpy.arange(12) - 5.5) / 2
    weights = numpy.sinc(at) * numpy.sinc(at / 3)
    padded = numpy.pad(values, ((5, 5), (0, 0)), "edge")
    count = values.shape[0]
    return sum(weight * padded[n:n + count:2] for n, weight in enumerate(weights / weights.sum()))


def levels(pattern, kind):
    """The levels of a texture."""
    found = [charts.texels(pattern)]
    while found[-1].shape[0] % 2 == 0:
        found.append(halved(halved(found[-1], kind).T, kind).T)
    return found


def bilinear(values, x, y):
    """Values between those of a grid, at places counted in its steps; the nearest outside."""
    last = values.shape[0] - 1
    x, y = x.clip(0, last - 1e-6), y.clip(0, last - 1e-6)
    i, j = x.astype(int), y.astype(int)
    u, v = x - i, y - j
    upper, lower = ((1 - u) * values[row, i] + u * values[row, i + 1] for row in (j, j + 1))
    return (1 - v) * upper + v * lower


def extremes(values, x, y):
    """The least and the largest of the four texels beside places, counted in texels."""
    last = values.shape[0] - 1
    i, j = (place.clip(0, last - 1e-6).astype(int) for place in (x, y))
    texels = [values[j + down, i + right] for down in (0, 1) for right in (0, 1)]
    return numpy.minimum.reduce(texels), numpy.maximum.reduce(texels)


def looked_up(textures, side, step, scheme):
    """A lookup of places in pixels, where micropolygons are squares of `step` pixels."""
    size = textures[0].shape[0]
    texels = max(PROBE * scheme.width * step / side * size, 1)
    level = min(int(math.log2(texels)), len(textures) - 3)
    coarser, more = texels / 2 ** level - 1, scheme.levels
    weights = ((1 + more) * (1 - coarser), (1 + more) * coarser - more * (1 - coarser), -more * coarser)

    def look(x, y):
        found = [(values, x / side * values.shape[0] - 0.5, y / side * values.shape[0] - 0.5)
                 for values in textures[level:level + 3]]
        value = sum(weight * bilinear(*at) for weight, at in zip(weights, found) if weight)
        if scheme.range == "read":
            ranges = [extremes(*at) for at in found[:2]]
            value = value.clip(numpy.minimum(*(low for low, _ in ranges)), numpy.maximum(*(high for _, high in ranges)))
        return value.clip(0, 1) if scheme.range == "unit" else value
    return look


def micropolygons(side, rate):
    """Micropolygons along a square: grids of at most 15, as equal parts of a surface that is halved."""
    wanted, grids = side / math.sqrt(rate), 1
    while wanted / grids > 15.5:
        grids *= 2
    return grids * max(1, round(wanted / grids))


def drawn(truth, textures, scheme, rate):
    """The picture of a square: a chart with it alone."""
    pattern, side = truth.square.pattern, truth.square.pattern.side
    count = micropolygons(side, rate)
    step = side / count
    value = looked_up(textures, side, step, scheme) if textures else pattern.value
    # Two more on each side.
    at = (numpy.arange(-2, count + 3) + (0.5 if scheme.place == "centres" else 0)) * step
    colours = value(*numpy.meshgrid(at, at))
    x, y = truth.square.of_raster(truth.left + truth.along[None], truth.top + truth.along[:, None])
    x, y = x / step, y / step
    if scheme.place == "smooth":
        values = bilinear(colours, x + 2, y + 2)
    else:
        b = scheme.sharp
        taps = (0, -b, 1 + 2 * b, -b, 0) if scheme.place == "centres" else (0, -b, 0.5 + b, 0.5 + b, -b)
        for _ in range(2):
            colours = sum(tap * colours[n:n + count] for n, tap in enumerate(taps)).T
        values = colours[y.astype(int).clip(0, count - 1), x.astype(int).clip(0, count - 1)]
    picture = numpy.zeros((charts.SIZE, charts.SIZE, 1))
    picture[truth.top:truth.top + truth.size, truth.left:truth.left + truth.size, 0] = (
        truth.filter @ values @ truth.filter.T)
    return picture


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rates", type=lambda x: [float(r) for r in x.split(",")], default=[1])
    parser.add_argument("--ways", default="texture,plain")
    parser.add_argument("--levels", choices=("box", "lanczos"), default="box", help="how levels are filtered (box)")
    parser.add_argument("--contrast", type=float, default=1, help="of gratings (1)")
    parser.add_argument("schemes", nargs="*", type=Scheme)
    options = parser.parse_args()
    found = patterns.charts(charts.PITCH, options.contrast)
    truths = [measures.Truth(charts.Square(*cell), ("gaussian", 2.0)) for name in found for cell in found[name]]
    textures = {truth.square.pattern.name: levels(truth.square.pattern, options.levels) for truth in truths}
    cases = []
    for way in options.ways.split(","):
        schemes = options.schemes or [Scheme(text) for text in SCHEMES if way == "texture" or "/" not in text]
        for scheme in schemes:
            for rate in options.rates:
                squares = {}
                for truth in truths:
                    name = truth.square.pattern.name
                    picture = drawn(truth, textures[name] if way == "texture" else None, scheme, rate)
                    squares[name] = vars(measures.measure(truth, picture))
                cases.append({"surface": scheme.text, "way": way, "rate": rate, "squares": squares})
    print(tables.summary(cases))


if __name__ == "__main__":
    main()
