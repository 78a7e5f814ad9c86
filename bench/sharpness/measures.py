"""Figures of a picture against the exact one."""

import dataclasses
import functools
import math

import numpy

from charts import PITCH
from patterns import zone_frequency

SUBSAMPLES = 16  # along a pixel, of exact pictures; of smooth patterns half as many
MARGIN = 2.5  # pixels at the edge of a square that do not count
STEP = 0.25  # pixels by which exact pictures are moved for their derivatives
NYQUIST = 0.5  # cycles per pixel
# Pixels whose local frequency is up to this count for the contrast of the zone plate.
ZONE_SEEN = 0.33


def weights(name, width, subsamples=SUBSAMPLES):
    """A pixel filter along x or y at subsamples, from the left edge of its support: all on offer are products."""
    reach = int(math.ceil(width / 2 * subsamples))
    at = (numpy.arange(2 * reach) + 0.5 - reach) / subsamples
    if abs(reach - width / 2 * subsamples) > 1e-9:
        raise ValueError(f"the filter's width must be a multiple of {4 / SUBSAMPLES}")
    found = {"box": numpy.ones_like(at), "triangle": 1 - abs(2 * at / width),
             "gaussian": numpy.exp(-2 * (2 * at / width) ** 2)}[name]
    return found / found.sum()


class Truth:
    """The exact picture of a square, in the pixels of its cell."""

    def __init__(self, square, pixel_filter):
        size = PITCH * square.cells
        self.square, self.left, self.top, self.size = square, PITCH * square.column, PITCH * square.row, size
        subsamples = SUBSAMPLES // 2 if square.pattern.kind == "noise" else SUBSAMPLES
        each = weights(*pixel_filter, subsamples)
        # Subsamples from the filter's reach before the first pixel's centre to that behind the last one's.
        count = subsamples * (size - 1) + len(each)
        self.along = (numpy.arange(count) + 0.5 - len(each) // 2) / subsamples + 0.5
        self.filter = numpy.zeros((size, count), "f4")
        for n in range(size):
            self.filter[n, subsamples * n:subsamples * n + len(each)] = each
        x, y = numpy.meshgrid(self.left + numpy.arange(size) + 0.5, self.top + numpy.arange(size) + 0.5)
        self.x, self.y = square.of_raster(x, y)
        side = square.pattern.side
        inside = numpy.minimum(numpy.minimum(self.x, side - self.x), numpy.minimum(self.y, side - self.y))
        self.inside = inside > MARGIN + pixel_filter[1] / 2
        self.picture = self.at(0, 0)

    def at(self, dx, dy):
        """The picture if the pattern is moved by (dx, dy) pixels along the square's sides."""
        x, y = self.square.of_raster(self.left + self.along[None], self.top + self.along[:, None])
        values = self.square.pattern.value((x - dx).astype("f4"), (y - dy).astype("f4"))
        return (self.filter @ values.astype("f4") @ self.filter.T).astype(float)

    @functools.cached_property
    def slopes(self):
        """Derivatives of the picture by the place of the pattern, along the square's sides."""
        return [(self.at(dx, dy) - self.at(-dx, -dy)) / (2 * STEP) for dx, dy in ((STEP, 0), (0, STEP))]

    def part(self, picture):
        """The same pixels of a chart, of its first channel."""
        return picture[self.top:self.top + self.size, self.left:self.left + self.size, 0]


@dataclasses.dataclass
class Figures:
    """What a square shows; None where it has no such figure."""
    contrast: float = None
    shift: float = None  # in pixels, along the direction in which the pattern changes, or the larger of both
    error: float = None  # root mean square
    alias: float = None  # the error where the exact picture shows hardly anything


def root_mean_square(values):
    return float(numpy.sqrt(numpy.mean(values ** 2)))


def of_grating(truth, got):
    """Amplitude and phase at the grating's frequency, by least squares within a window that fades to the edges."""
    pattern, inside = truth.square.pattern, truth.inside
    c, s = pattern.direction
    turns = 2 * math.pi * (c * truth.x + s * truth.y)[inside] / pattern.period
    window = (numpy.sin(math.pi * truth.x / pattern.side) * numpy.sin(math.pi * truth.y / pattern.side))[inside]
    basis = numpy.stack([numpy.ones_like(turns), numpy.cos(turns), numpy.sin(turns)], -1) * window[:, None]

    def amplitude(picture):
        _, a, b = numpy.linalg.lstsq(basis, picture[inside] * window, rcond=None)[0]
        return complex(a, -b)
    ratio = amplitude(got) / amplitude(truth.picture)
    # A pattern that is moved by d has the phase -2 pi d / period.
    return abs(ratio), -math.atan2(ratio.imag, ratio.real) / (2 * math.pi) * pattern.period


def gain(got, exact, where):
    """How large differences between neighbouring pixels are, as a part of the exact ones."""
    above = below = 0.0
    for axis in (0, 1):
        both = numpy.delete(where, 0, axis) & numpy.delete(where, -1, axis)
        a, b = numpy.diff(got, axis=axis)[both], numpy.diff(exact, axis=axis)[both]
        above, below = above + float(a @ b), below + float(b @ b)
    return above / below


def shifts(truth, got, contrast, where):
    """By how much the picture is moved along the square's sides, by least squares."""
    exact, slopes = truth.picture, truth.slopes
    mean = exact[where].mean()
    rest = (got - mean - contrast * (exact - mean))[where] / max(contrast, 0.1)
    basis = numpy.stack([slope[where] for slope in slopes], -1)
    return numpy.linalg.lstsq(basis, rest, rcond=1e-3)[0]


def measure(truth, picture):
    """The figures of a square in a chart."""
    got, exact, inside = truth.part(picture), truth.picture, truth.inside
    pattern = truth.square.pattern
    figures = Figures(error=root_mean_square((got - exact)[inside]))
    if pattern.kind == "grating":
        figures.contrast, figures.shift = of_grating(truth, got)
        return figures
    seen = inside
    if pattern.kind == "zone":
        frequency = zone_frequency(pattern, truth.x, truth.y)
        seen = inside & (frequency < ZONE_SEEN)
        figures.alias = root_mean_square((got - exact)[inside & (frequency > NYQUIST)])
    elif pattern.name in ("noise_1", "noise_2"):
        # Finer than two pixels: the exact picture is nearly even.
        figures.alias = figures.error
        return figures
    figures.contrast = gain(got, exact, seen)
    moved = shifts(truth, got, figures.contrast, seen)
    if pattern.kind in ("line", "edge"):
        figures.shift = float(numpy.dot(moved, pattern.direction))
    else:
        figures.shift = float(max(moved, key=abs))
    return figures
