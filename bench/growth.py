#!/usr/bin/env python3
"""Renders a scene finer and finer, and prints how its cost grows, as a table.

    bench/growth.py [-n RUNS] [--anthill PROGRAM] [--rates R,R,... | --samples N,N,...] SCENE.rib... [-- FLAG...]

`--rates` are shading rates, the areas of a micropolygon in pixels; `--samples` are samples of a pixel along x and along
y. A row has the micropolygons and samples of a picture, the least render_s of the runs, what that is per micropolygon
or sample, and the seconds of each stage that takes 3% of the time somewhere. The growth is linear where the cost per
micropolygon or sample stays the same. Kernels are compiled by a run before, which is not counted.
"""

import argparse
import os
import shlex
import sys
import tempfile

from ways import draw


def least(program, scene, way, folder, runs):
    """The statistics of the fastest run."""
    return min((draw(program, scene, way, folder)[0] for _ in range(runs)), key=lambda stats: stats["render_s"])


def table(rows, counted):
    stages = [name for name in rows[0][1]["stages_s"] if any(stats["stages_s"][name] > 0.03 * stats["render_s"] for _, stats in rows)]
    print("|  | micropolygons | samples | render, s | ns each | " + " | ".join(stages) + " |")
    print("|---|" + "---:|" * (4 + len(stages)))
    for name, stats in rows:
        each = 1e9 * stats["render_s"] / max(stats[counted], 1)
        cells = [name, f"{stats['micropolygons']:.3g}", f"{stats['sample_points']:.3g}", f"{stats['render_s']:.3g}", f"{each:.0f}"]
        print("| " + " | ".join(cells + [f"{stats['stages_s'][stage]:.2g}" for stage in stages]) + " |", flush=True)


def main():
    words = sys.argv[1:]
    flags = shlex.join(words[words.index("--") + 1 :]) if "--" in words else ""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=1, help="runs of each (1)")
    parser.add_argument("--anthill", default="target/release/anthill", help="the program (target/release/anthill)")
    steps = parser.add_mutually_exclusive_group(required=True)
    steps.add_argument("--rates", help="shading rates, with commas")
    steps.add_argument("--samples", help="samples of a pixel along each side, with commas")
    parser.add_argument("scenes", nargs="+")
    arguments = parser.parse_args(words[: words.index("--")] if "--" in words else words)
    program = os.path.abspath(arguments.anthill)
    if arguments.rates:
        counted, ways = "micropolygons", [(rate, f"--shading-rate {rate}") for rate in arguments.rates.split(",")]
    else:
        counted, ways = "sample_points", [(f"{side}x{side}", f"--samples {side} {side}") for side in arguments.samples.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        for scene in arguments.scenes:
            draw(program, scene, f"warming: {ways[0][1]} {flags}", folder)
            print(f"\n{os.path.basename(scene)} {flags}\n")
            table([(name, least(program, scene, f"{name}: {way} {flags}", folder, arguments.n)) for name, way in ways], counted)


if __name__ == "__main__":
    main()
