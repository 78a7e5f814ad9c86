#!/usr/bin/env python3
"""Writes scenes/archives/nebula.rib: a spiral of glowing points, and stars."""

import math
import random

from rib import flat, numbers, save

rng = random.Random(17)


def mix(a, b, t):
    """Interpolates between two colours."""
    return tuple(x + (y - x) * t for x, y in zip(a, b))


def cloud(count, size, opacity, spread):
    """Puffs along two arms, warm in the middle, blue and magenta outside."""
    positions, widths, colours, opacities = [], [], [], []
    for i in range(count):
        out = rng.random() ** 0.65
        turn = 5.2 * out + math.pi * (i % 2) + rng.gauss(0, 0.28)
        r = 3.4 * out + 0.1
        x, z = r * math.cos(turn) + rng.gauss(0, spread), r * math.sin(turn) + rng.gauss(0, spread)
        y = rng.gauss(0, 0.10 + 0.35 * math.exp(-3 * out))
        positions.append((x, y, z))
        cold = mix((0.25, 0.42, 1.0), (0.95, 0.25, 0.62), min(max(rng.gauss(0.35, 0.3), 0), 1))
        colour = mix((1.0, 0.78, 0.45), cold, min(1, out * 1.7))
        colours.append(mix(colour, (0.9, 0.95, 1), 0.15))
        widths.append(size * rng.uniform(0.5, 1.5) * (0.5 + out))
        opacities.append((opacity * rng.uniform(0.4, 1.2),) * 3)
    text = f'Points "P" [{numbers(flat(positions))}] "varying float width" [{numbers(widths)}] '
    return text + f'"varying color Cs" [{numbers(flat(colours), 2)}] "varying color Os" [{numbers(flat(opacities), 3)}]\n'


def stars(count):
    """Small points far behind the nebula and inside it."""
    positions, widths, colours = [], [], []
    for _ in range(count):
        z = rng.uniform(6, 14)
        positions.append((rng.uniform(-0.85, 0.85) * (z + 8), rng.uniform(-0.62, 0.62) * (z + 8), z))
        bright = rng.random() ** 3
        widths.append((0.02 + 0.06 * bright) * (z + 8) / 12)
        colours.append(mix((1, 0.8, 0.6), (0.7, 0.82, 1), rng.random()))
    return f'Points "P" [{numbers(flat(positions))}] "varying float width" [{numbers(widths)}] "varying color Cs" [{numbers(flat(colours), 2)}]\n'


text = 'AttributeBegin\nSurface "constant"\n' + stars(700) + "AttributeEnd\n"
text += "AttributeBegin\nRotate -58 1 0 0\nRotate 12 0 0 1\nRotate 20 0 1 0\n"
text += 'Surface "gas" "uniform float strength" [0.17]\n' + cloud(1300, 0.60, 0.17, 0.17)
text += 'Surface "constant"\n' + cloud(2200, 0.04, 0.8, 0.24) + "AttributeEnd\n"
save("nebula.rib", text, packed=True)
