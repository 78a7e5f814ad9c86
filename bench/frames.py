#!/usr/bin/env python3
"""Times whole renders of one program against another, in turn, and prints ratios.

    bench/frames.py [-n PAIRS] [-o RESULTS.json] --a 'anthill render {} -o out.exr' --b 'other {}' SCENE.rib...

`{}` is replaced by the scene's name; commands run in the scene's folder. For each scene, one run of each command warms
caches and is not counted. Then the two run in turn, so that a machine whose speed drifts slows both alike. For each
scene it prints the median wall and CPU seconds of both, and the median and range of the pairs' ratios b / a. A run that
fails ends the program.
"""

import argparse
import json
import os
import resource
import shlex
import statistics
import subprocess
import sys
import time


def run(command, scene):
    """Wall and CPU seconds of one run."""
    arguments = [part.replace("{}", os.path.basename(scene)) for part in shlex.split(command)]
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(arguments, cwd=os.path.dirname(scene) or ".", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wall, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{arguments}: exit code {done.returncode}\n{done.stderr.decode(errors='replace')[-2000:]}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def pairs(arguments, scene):
    """All counted runs of a scene: pairs of (wall, CPU) seconds of a and b."""
    for command in (arguments.a, arguments.b):
        run(command, scene)
    return [(run(arguments.a, scene), run(arguments.b, scene)) for _ in range(arguments.n)]


def row(scene, runs):
    ratios = sorted(b[0] / a[0] for a, b in runs)
    middle = lambda side, figure: statistics.median(pair[side][figure] for pair in runs)
    return {
        "scene": os.path.basename(scene),
        "a_wall_s": middle(0, 0), "b_wall_s": middle(1, 0),
        "a_cpu_s": middle(0, 1), "b_cpu_s": middle(1, 1),
        "ratio": statistics.median(ratios), "ratio_min": ratios[0], "ratio_max": ratios[-1],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--a", required=True, help="the command to measure")
    parser.add_argument("--b", required=True, help="the command to compare it with")
    parser.add_argument("-n", type=int, default=5, help="pairs of runs for each scene (5)")
    parser.add_argument("-o", help="also write the table as JSON")
    parser.add_argument("scenes", nargs="+")
    arguments = parser.parse_args()
    print(f"{'scene':16} {'a wall':>9} {'b wall':>9} {'a cpu':>9} {'b cpu':>9} {'b / a':>8}  range")
    rows = []
    for scene in arguments.scenes:
        r = row(scene, pairs(arguments, scene))
        rows.append(r)
        print(f"{r['scene']:16} {r['a_wall_s']:8.2f}s {r['b_wall_s']:8.2f}s {r['a_cpu_s']:8.2f}s {r['b_cpu_s']:8.2f}s "
              f"{r['ratio']:8.2f}  {r['ratio_min']:.2f} to {r['ratio_max']:.2f}", flush=True)
    if arguments.o:
        with open(arguments.o, "w") as file:
            json.dump(rows, file, indent=1)


main()
