#!/usr/bin/env python3
"""Writes the archives of scenes/landscape.rib: ground, grass, tree, rocks, poppies, forest.

The eye is at the origin of x and z.
"""

import math
import random

from rib import cross, flat, numbers, on_sphere, save, unit

WATER = -1.5
TREE = (5.6, 15.5)
FOOT = 0.75


def step(a, b, x):
    """smoothstep"""
    t = min(max((x - a) / (b - a), 0), 1)
    return t * t * (3 - 2 * t)


def meadow(x, z):
    """Height of the ground in front: rolling, with a basin for the lake, and hills behind it."""
    rolling = 0.42 * math.sin(0.21 * x + 0.4) * math.cos(0.16 * z + 0.3) + 0.16 * math.sin(0.47 * x - 0.39 * z) + 0.03 * x * step(0, 20, z)
    rolling = rolling * (1 - 0.6 * step(25, 60, z))
    knoll = 0.9 * math.exp(-((x - TREE[0]) ** 2 + (z - TREE[1]) ** 2) / 40)
    across = (x + 12 - 0.12 * (z - 60)) / 46
    along = (z - 62) / 30
    basin = 3.4 * math.exp(-((across * across + along * along) ** 1.5))
    behind = 19 * step(92, 190, z + 0.25 * abs(x)) * (0.75 + 0.35 * math.sin(0.043 * x + 1.2) + 0.2 * math.sin(0.11 * x + 0.03 * z))
    return rolling + knoll - basin + behind


def mountains(x, z):
    """Height of the range behind."""
    ridge = math.exp(-(((z - 470 - 40 * math.sin(x * 0.006)) / 130) ** 2))
    tops = 84 + 40 * math.sin(x * 0.0113 + 0.9) + 20 * math.sin(x * 0.027 + 2.0) + 45 * math.exp(-(((x + 95) / 60) ** 2))
    return -10 + 16 * step(200, 290, z) + ridge * tops


def mesh(height, columns, rows, width, depth):
    """A Catmull-Rom height mesh over the fan that is visible; rows are closer together in front."""
    points = []
    for j in range(rows):
        z = depth(j / (rows - 1))
        for i in range(columns):
            x = (2 * i / (columns - 1) - 1) * width(z)
            points.append((x, height(x, z), z))
    return f'PatchMesh "bicubic" {columns} "nonperiodic" {rows} "nonperiodic" "P" [{numbers(flat(points))}]\n'


def ground():
    """Two meshes."""
    text = 'Basis "catmull-rom" 1 "catmull-rom" 1\nAttributeBegin\nSurface "terrain"\nDisplacement "ground" "amplitude" [0.07]\n'
    text += 'Attribute "displacementbound" "sphere" [0.25] "coordinatesystem" ["world"]\n'
    text += mesh(meadow, 30, 44, lambda z: 6 + 0.78 * z, lambda t: 1.6 + 9 * t + 225 * t**2.6)
    text += 'AttributeEnd\nAttributeBegin\nSurface "terrain" "uniform float treeline" [44] "uniform float snowline" [84]\nDisplacement "ridges"\n'
    text += 'Attribute "displacementbound" "sphere" [45] "coordinatesystem" ["world"]\n'
    text += mesh(mountains, 26, 12, lambda z: 0.9 * z, lambda t: 215 + 400 * t)
    text += "AttributeEnd\n"
    save("landscape_ground.rib", text)


def slope(x, z):
    """dh/dx and dh/dz."""
    e = 0.05
    return (meadow(x + e, z) - meadow(x - e, z)) / (2 * e), (meadow(x, z + e) - meadow(x, z - e)) / (2 * e)


def on_ground(x, z, turn, size, height=1.0):
    """The matrix that places an object on the ground: upright, sheared along the slope."""
    c, s = math.cos(turn), math.sin(turn)
    a, b = slope(x, z)
    rows = [(size * c, size * (a * c + b * s), size * s), (0, size * height, 0), (-size * s, size * (b * c - a * s), size * c)]
    m = [*rows[0], 0, *rows[1], 0, *rows[2], 0, x, meadow(x, z), z, 1]
    return f"ConcatTransform [{numbers(m)}]"


def tuft(rng, blades, width):
    """Blades of grass on a disk of radius 0.5."""
    points, widths, kinds = [], [], []
    for _ in range(blades):
        r, at = 0.5 * math.sqrt(rng.random()), rng.uniform(0, 2 * math.pi)
        x, z = r * math.cos(at), r * math.sin(at)
        lean, to = rng.uniform(0.05, 0.5), rng.gauss(0.4, 1.1)
        tall = rng.uniform(0.16, 0.42) * (1.25 - r)
        dx, dz = lean * tall * math.cos(to), lean * tall * math.sin(to)
        points += [(x, -0.04, z), (x + 0.1 * dx, 0.4 * tall, z + 0.1 * dz), (x + 0.5 * dx, 0.8 * tall, z + 0.5 * dz)]
        points += [(x + 1.5 * dx, tall * (1 - 0.4 * lean), z + 1.5 * dz)]
        widths += [width * rng.uniform(0.7, 1.3), 0.002]
        kinds.append(rng.randrange(1000))
    text = f'Curves "cubic" [{" ".join(["4"] * blades)}] "nonperiodic" "P" [{numbers(flat(points))}] '
    return text + f'"varying float width" [{numbers(widths, 4)}] "uniform float kind" [{numbers(kinds)}]\n'


def grass():
    """Tufts as objects and their instances: dense and fine in front, sparse and coarse behind."""
    rng = random.Random(4)
    text = 'Basis "bezier" 3 "bezier" 3\n'
    for name, blades, width in [(0, 64, 0.011), (1, 64, 0.012), (2, 56, 0.013), (3, 40, 0.022), (4, 40, 0.024)]:
        text += f'ObjectBegin "tuft{name}"\n{tuft(rng, blades, width)}ObjectEnd\n'
    placed = 0
    for count, near, far, names, size in [(1100, 2.4, 9, (0, 1, 2), 0.62), (2200, 8, 26, (0, 1, 2), 0.9), (1200, 24, 48, (3, 4), 1.4)]:
        for _ in range(count):
            z = math.sqrt(rng.uniform(near * near, far * far))
            x = rng.uniform(-1, 1) * (0.8 + 0.6 * z)
            grow = size * rng.uniform(0.7, 1.25)
            kind, turn = rng.choice(names), rng.uniform(0, 6.28)
            if meadow(x, z) < WATER + 0.3 or any(math.hypot(x - u, z - v) < r for u, v, r in PATH):
                continue
            placed += 1
            text += f'TransformBegin\n{on_ground(x, z, turn, grow, rng.uniform(0.7, 1.2))}\nObjectInstance "tuft{kind}"\nTransformEnd\n'
    print(placed, "tufts")
    save("landscape_grass.rib", text, packed=True)


# A footpath to the water: circles without grass.
PATH = [(-0.9 - 0.11 * z + 0.9 * math.sin(0.16 * z), z, 0.32 + 0.012 * z) for z in [2 + 0.5 * i for i in range(80)]]


def limb(a, b, ra, rb):
    """A tapered limb from a to b: a hyperboloid along z, turned."""
    z = unit(tuple(q - p for p, q in zip(a, b)))
    x = unit(cross((0.3, 0.2, 1) if abs(z[1]) > 0.7 else (0, 1, 0), z))
    y = cross(z, x)
    length = math.dist(a, b)
    m = [*x, 0, *y, 0, *z, 0, *a, 1]
    return f"TransformBegin\nConcatTransform [{numbers(m, 4)}]\nHyperboloid {numbers([ra, 0, 0, rb, 0, length], 4)} 360\nTransformEnd\n"


def grow(rng, at, to, length, radius, depth, wood, twigs):
    """A branch in pieces that bend, and the branches that grow from it."""
    for piece in range(3):
        to = unit(tuple(x + rng.gauss(0, 0.10) for x in to))
        end = tuple(p + length / 3 * x for p, x in zip(at, to))
        thin = radius * 0.88
        wood.append(limb(at, end, radius, thin))
        if depth < 2:
            twigs.append(end)
        elif piece > 0 or depth < 4:
            side = unit(tuple(0.75 * x + y for x, y in zip(to, on_sphere(rng))))
            side = unit((side[0], side[1] + 0.18, side[2]))
            grow(rng, end, side, length * rng.uniform(0.62, 0.8), radius * 0.55, depth - 1, wood, twigs)
        at, radius = end, thin
    if depth > 0:
        grow(rng, at, to, length * 0.7, radius * 0.85, depth - 1, wood, twigs)


def lights(twigs):
    """The sun, shaded by the crown as five balls, two firs and the boulder.

    Leaves shade themselves, so that there is another sun for them.
    """
    balls = twigs[:: len(twigs) // 5][:5]
    for _ in range(12):
        groups = [[] for _ in balls]
        for twig in twigs:
            groups[min(range(5), key=lambda k: math.dist(twig, balls[k]))].append(twig)
        balls = [tuple(sum(p[k] for p in group) / len(group) for k in range(3)) for group in groups]
    x, z = TREE
    occluders = []
    for ball, group in zip(balls, groups):
        spread = math.sqrt(sum(math.dist(ball, p) ** 2 for p in group) / len(group))
        occluders += [ball[0] + x, ball[1] + FOOT, ball[2] + z, spread + 0.35]
    occluders += [-19.5, 2, 33, 1.6, -22.4, 2.6, 36, 1.9, -2.9, meadow(-2.9, 6.3) + 0.2, 6.3, 0.6]
    sun = '"intensity" [2.2] "lightcolor" [1 0.86 0.66] "uniform vector direction" [0.8 0.5 0.3]'
    text = f'LightSource "sun" "sun" {sun}\n  "uniform float count" [8] "uniform float[32] occluders" [{numbers(occluders, 2)}]\n'
    save("landscape_lights.rib", text + f'LightSource "sun" "sun on leaves" {sun}\nIlluminate "sun on leaves" 0\n')


def tree():
    """The tree on the knoll, its foot at the origin."""
    rng = random.Random(11)
    wood, twigs = [], []
    wood.append(limb((0, -0.4, 0), (0, 0.5, 0), 0.46, 0.34))
    grow(rng, (0, 0.45, 0), (0.0, 1, 0.0), 2.9, 0.34, 4, wood, twigs)
    centre = tuple(sum(p[k] for p in twigs) / len(twigs) for k in range(3))
    extent = [max(abs(p[k] - centre[k]) for p in twigs) + 0.5 for k in range(3)]
    positions, away, widths, tints = [], [], [], []
    for _ in range(22000):
        at = rng.choice(twigs)
        near = tuple(p + rng.gauss(0, 0.24) for p in at)
        out = tuple((p - c) / e for p, c, e in zip(near, centre, extent))
        # A cluster of leaves is lit as a ball of its own within the crown.
        own = tuple(0.75 * (p - q) for p, q in zip(near, at))
        positions.append(near)
        away.append(tuple(o + w for o, w in zip(out, own)))
        widths.append(rng.uniform(0.05, 0.10))
        tints.append(rng.random())
    text = 'AttributeBegin\nIlluminate "sun" 0\nIlluminate "sun on leaves" 1\n'
    text += f'Surface "leaf"\nPoints "P" [{numbers(flat(positions))}] "varying float width" [{numbers(widths)}] '
    text += f'"varying vector away" [{numbers(flat(away), 2)}] "varying float tint" [{numbers(tints, 2)}]\nAttributeEnd\n'
    print(len(wood), "limbs", len(twigs), "twigs")
    lights(twigs)
    save("landscape_wood.rib", 'Surface "bark"\n' + "".join(wood), packed=True)
    save("landscape_leaves.rib", text, packed=True)


def conifer(rng, tiers):
    """Stacked cones on a trunk, of height 1."""
    text = "TransformBegin\nRotate -90 1 0 0\nAttributeBegin\nColor [0.12 0.08 0.05]\nSurface \"matte\"\nCylinder 0.018 0 0.3 360\nAttributeEnd\n"
    for tier in range(tiers):
        low = 0.1 + 0.78 * tier / tiers
        wide = 0.24 * (1 - tier / tiers) ** 0.8 + 0.03
        text += f"TransformBegin\nTranslate {numbers((rng.gauss(0, 0.01), rng.gauss(0, 0.01), low))}\nCone {numbers((1.9 / tiers * 0.6 + 0.05, wide))} 360\nTransformEnd\n"
    return text + "TransformEnd\n"


def forest():
    """Conifers around the lake and on the hills behind."""
    rng = random.Random(23)
    text = 'Surface "needles"\nDisplacement "boulder" "amplitude" [0.06] "uniform float frequency" [9]\n'
    text += 'Attribute "displacementbound" "sphere" [0.12] "coordinatesystem" ["shader"]\n'
    for name, tiers in enumerate((6, 7, 9)):
        text += f'ObjectBegin "conifer{name}"\n{conifer(rng, tiers)}ObjectEnd\n'
    spots = [(-19.5, 33, 7.0), (-22.4, 36, 8.6), (-25, 33.5, 6.2), (-17.4, 37.6, 5.2)]
    while len(spots) < 300:
        z = rng.uniform(84, 200)
        x = rng.uniform(-1, 1) * 0.72 * z
        wooded = math.sin(0.06 * x + 1.5) + math.sin(0.05 * z + 0.04 * x) + rng.gauss(0, 0.5)
        if meadow(x, z) > WATER + 0.8 and wooded > -0.1:
            spots.append((x, z, rng.uniform(4.5, 9)))
    for x, z, tall in spots:
        kind = rng.randrange(3)
        m = f"Translate {numbers((x, meadow(x, z) - 0.1, z))}\nRotate {rng.randrange(360)} 0 1 0\nScale {numbers((tall * 0.95, tall, tall * 0.95))}"
        text += f'TransformBegin\n{m}\nObjectInstance "conifer{kind}"\nTransformEnd\n'
    save("landscape_forest.rib", text, packed=True)


def rocks():
    """Boulders by the path and at the shore."""
    rng = random.Random(5)
    text = 'Surface "stone"\n'
    spots = [(-2.9, 6.3, 0.62), (-3.7, 7.0, 0.36), (-2.25, 5.75, 0.2), (1.9, 10.5, 0.34), (8.6, 14.2, 0.55)]
    spots += [(-11, 33, 0.9), (-8.2, 36, 0.6), (4, 38.5, 0.8), (12, 41, 1.1), (-16, 40, 0.7)]
    for x, z, size in spots:
        text += f"AttributeBegin\nTranslate {numbers((x, meadow(x, z) + 0.25 * size, z))}\nRotate {rng.randrange(360)} 0.2 1 0.1\n"
        text += f'Scale {numbers((size * rng.uniform(1, 1.4), size * rng.uniform(0.65, 0.95), size))}\nDisplacement "boulder" "amplitude" [0.3]\n'
        text += 'Attribute "displacementbound" "sphere" [0.7] "coordinatesystem" ["shader"]\nRotate 90 1 0 0\nSphere 1 -1 1 360\nAttributeEnd\n'
    save("landscape_rocks.rib", text)


def poppies():
    """Flowers in the grass."""
    rng = random.Random(8)
    text = 'ObjectBegin "poppy"\nAttributeBegin\nSurface "blade" "uniform color tip" [0.2 0.3 0.08]\nBasis "bezier" 3 "bezier" 3\n'
    text += 'Curves "cubic" [4] "nonperiodic" "P" [0 0 0 0.02 0.2 0 0.06 0.35 0.01 0.05 0.47 0] "constantwidth" [0.012] "uniform float kind" [3]\nAttributeEnd\n'
    text += "Translate 0.05 0.46 0\nRotate -68 1 0 0\nRotate 15 0 1 0\nSurface \"petal\"\n"
    for petal in range(4):
        text += f"TransformBegin\nRotate {petal * 90} 0 0 1\nTranslate 0.012 0 0\nRotate {14 + 9 * (petal % 2)} 0 1 0\nScale 1.15 1 1\nParaboloid 0.062 0 0.05 130\nTransformEnd\n"
    text += "AttributeBegin\nColor [0.03 0.02 0.03]\nSurface \"matte\"\nTranslate 0 0 0.012\nSphere 0.014 -0.014 0.014 360\nAttributeEnd\nObjectEnd\n"
    centres = [(-1.9, 4.6, 0.9), (1.2, 4.4, 1.0), (2.4, 6.8, 1.3), (-4.6, 9.5, 1.7), (0.9, 9, 1.2), (4.5, 11, 2), (-6, 15, 2.6), (0, 17, 2.5)]
    for _ in range(260):
        x, z, spread = rng.choice(centres)
        x, z = x + rng.gauss(0, spread), z + rng.gauss(0, spread)
        if z < 3.1 or any(math.hypot(x - u, z - v) < r for u, v, r in PATH):
            continue
        red = (rng.uniform(0.72, 0.9), rng.uniform(0.05, 0.13), rng.uniform(0.02, 0.05))
        at = on_ground(x, z, rng.uniform(0, 6.28), rng.uniform(0.75, 1.15), rng.uniform(0.75, 1.1))
        text += f'AttributeBegin\nColor [{numbers(red, 2)}]\n{at}\nObjectInstance "poppy"\nAttributeEnd\n'
    save("landscape_poppies.rib", text)


ground()
grass()
tree()
forest()
rocks()
poppies()
