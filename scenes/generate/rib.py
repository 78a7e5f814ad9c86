"""Functions shared by the generators: numbers as text, archives as files.

They use only plain Python, so that every machine writes the same bytes.
"""

import gzip
import io
import math
import pathlib
import random

SCENES = pathlib.Path(__file__).resolve().parent.parent
ARCHIVES = SCENES / "archives"


def numbers(values, digits=3):
    """Floats as short text."""
    texts = []
    for value in values:
        text = f"{value:.{digits}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        texts.append("0" if text in ("-0", "") else text)
    return " ".join(texts)


def flat(points):
    """Coordinates one after the other."""
    return [x for point in points for x in point]


def save(name, text, packed=False):
    """Writes scenes/archives/NAME, gzipped if wanted, without date or name inside."""
    ARCHIVES.mkdir(exist_ok=True)
    data = text.encode()
    if packed:
        stream = io.BytesIO()
        with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as file:
            file.write(data)
        data = stream.getvalue()
    (ARCHIVES / name).write_bytes(data)
    print(f"{name}: {len(data)} bytes")


def unit(v):
    """The vector at length 1."""
    length = math.sqrt(sum(x * x for x in v))
    return tuple(x / length for x in v)


def cross(a, b):
    """Vector product."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def on_sphere(rng: random.Random):
    """A direction, all equally likely."""
    y = rng.uniform(-1, 1)
    angle = rng.uniform(0, 2 * math.pi)
    r = math.sqrt(1 - y * y)
    return (r * math.cos(angle), y, r * math.sin(angle))
