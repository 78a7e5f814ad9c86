#!/usr/bin/env python3
"""Writes scenes/archives/teapot.rib: Newell's teapot as bicubic Bezier patches, from its public profile curves.

y is up, and the foot is at 0.
"""

from rib import flat, numbers, save

QUARTER = [(1, 0), (1, 0.5522847), (0.5522847, 1), (0, 1)]
# Cubic profiles (radius, height) of rim, body above and below, lid and its knob, bottom.
PROFILES = [
    [(1.4, 2.4), (1.3375, 2.53125), (1.4375, 2.53125), (1.5, 2.4)],
    [(1.5, 2.4), (1.75, 1.875), (2, 1.35), (2, 0.9)],
    [(2, 0.9), (2, 0.45), (1.5, 0.225), (1.5, 0.15)],
    [(0, 3.15), (0.8, 3.15), (0, 2.7), (0.2, 2.7)],
    [(0.2, 2.7), (0.4, 2.55), (1.3, 2.55), (1.3, 2.4)],
    [(1.5, 0.15), (1.5, 0.075), (1.425, 0), (0, 0)],
]
# Two curves (x, y) in the plane z = 0 and half the width between them: handle, handle below, spout, its lip.
TUBES = [
    ([(-1.6, 2.025), (-2.3, 2.025), (-2.7, 2.025), (-2.7, 1.8)], [(-1.5, 2.25), (-2.5, 2.25), (-3, 2.25), (-3, 1.8)], [0.3] * 4),
    ([(-2.7, 1.8), (-2.7, 1.575), (-2.5, 1.125), (-2, 0.9)], [(-3, 1.8), (-3, 1.35), (-2.65, 0.9375), (-1.9, 0.6)], [0.3] * 4),
    ([(1.7, 1.425), (2.6, 1.425), (2.3, 2.1), (2.7, 2.4)], [(1.7, 0.6), (3.1, 0.825), (2.4, 2.025), (3.3, 2.4)], [0.66, 0.66, 0.25, 0.25]),
    ([(2.7, 2.4), (2.8, 2.475), (2.9, 2.475), (2.8, 2.4)], [(3.3, 2.4), (3.525, 2.49375), (3.45, 2.5125), (3.2, 2.4)], [0.25, 0.25, 0.15, 0.15]),
]


def patches():
    """Control points of all patches, 16 each."""
    for profile in PROFILES:
        for c, s in [(1, 0), (0, 1), (-1, 0), (0, -1)]:
            yield [(r * (x * c - y * s), height, r * (x * s + y * c)) for r, height in profile for x, y in QUARTER]
    for inner, outer, widths in TUBES:
        for side in (1, -1):
            rows = zip(inner, outer, widths)
            yield [p for (xa, ya), (xb, yb), w in rows for p in [(xa, ya, 0), (xa, ya, side * w), (xb, yb, side * w), (xb, yb, 0)]]


text = "".join(f'Patch "bicubic" "P" [{numbers(flat(patch), 5)}]\n' for patch in patches())
save("teapot.rib", 'Basis "bezier" 3 "bezier" 3\n' + text)
