#!/usr/bin/env python3
"""Renders every scene with the given binary and prints the table of scenes/README.md from --stats."""

import json
import pathlib
import subprocess
import sys
import tempfile

from rib import SCENES

WHAT = {
    "teapot": ("32 bicubic patches, glaze that mirrors a studio in the shader, filtered chequers", "teapot.py: profile curves of Newell's teapot, public data"),
    "quadrics": ("all seven quadrics, whole and cut; marble, wood, granite, metal", "typed by hand"),
    "materials": ("object instances; solid noise: marble, wood, granite", "teapot.py"),
    "stage": ("spotlights, a light shader with slats, categories, Illuminate", "typed by hand"),
    "chess": ("objects within objects, 32 instances; archives in a file and inline", "typed by hand"),
    "passes": ("seven displays: output variables, N, depth", "typed by hand, teapot.py"),
    "urchin": ("displacement with scales and spines, fog", "typed by hand"),
    "glass": ("translucent layers with coloured opacity, fresnel", "typed by hand"),
    "hair": ("7000 translucent Bezier curves, a hair shader", "hair.py"),
    "nebula": ("3500 translucent points, many layers in a pixel", "nebula.py"),
    "wax": ("light that one world bakes to a file of points (`bake3d`) and the next spreads (`texture3d`)", "typed by hand, teapot.py"),
    "porcelain": ("worlds that paint textures, an environment and depths, from which the scene makes what its last world uses", "typed by hand, teapot.py"),
    "landscape": ("displaced mountains and meadow, 190,000 blades of grass as instances, leaves as points, water, haze", "landscape.py"),
}


def count(number):
    """Formats a count briefly."""
    return f"{number / 1e6:.1f} M" if number >= 1e6 else f"{number / 1e3:.0f} k"


binary = pathlib.Path(sys.argv[1]).resolve()
print("| scene | what it shows | where its data comes from | micropolygons | time |\n|---|---|---|---|---|")
for scene, (what, source) in WHAT.items():
    with tempfile.TemporaryDirectory() as folder:
        command = [binary, "render", SCENES / f"{scene}.rib", "--stats", "stats.json", "--progress", "off", "--strict"]
        subprocess.run(command, cwd=folder, check=True, stderr=subprocess.DEVNULL)
        stats = json.loads((pathlib.Path(folder) / "stats.json").read_text())
    print(f"| `{scene}.rib` | {what} | {source} | {count(stats['micropolygons'])} | {stats['wall_s']:.1f} s |")
