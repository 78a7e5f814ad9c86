#!/usr/bin/env python3
"""Writes scenes/archives/hair.rib: strands on a unit sphere that hang down, combed by a few swirls."""

import math
import random

from rib import cross, flat, numbers, on_sphere, save, unit

rng = random.Random(3)
STRANDS = 7000
swirls = [(on_sphere(rng), rng.uniform(-1, 1)) for _ in range(9)]
points, widths, names = [], [], []
for strand in range(STRANDS):
    root = on_sphere(rng)
    comb = [0.0, 0.0, 0.0]
    for centre, strength in swirls:
        near = math.exp(-3 * math.dist(root, centre) ** 2)
        comb = [c + 2.2 * strength * near * x for c, x in zip(comb, cross(centre, root))]
    at, to, length = root, root, rng.uniform(0.5, 0.95)
    points.append(at)
    for piece in range(1, 4):
        fall = (comb[0], comb[1] - 0.9, comb[2])
        to = unit(tuple(0.8 * t + (0.25 + 0.15 * piece) * f + rng.gauss(0, 0.10) for t, f in zip(to, fall)))
        at = tuple(p + length / 3 * t for p, t in zip(at, to))
        far = math.dist(at, (0, 0, 0))
        at = tuple(p * max(1.02, far) / far for p in at)
        points.append(at)
    widths += [0.011, 0.003]
    names.append(strand)
text = 'Basis "bezier" 3 "bezier" 3\n'
for start in range(0, STRANDS, 250):
    part = slice(4 * start, 4 * (start + 250))
    text += f'Curves "cubic" [{" ".join(["4"] * 250)}] "nonperiodic" "P" [{numbers(flat(points[part]))}] '
    text += f'"varying float width" [{numbers(widths[2 * start : 2 * start + 500], 4)}] "uniform float strand" [{numbers(names[start : start + 250])}]\n'
save("hair.rib", text, packed=True)
