#!/usr/bin/env python3
"""Compares how two programs read scenes: processor time and time of `PROGRAM render --check SCENE.rib`, in turn.

That reads the scenes, compiles their shaders and makes the pages of geometry, but draws nothing.

    bench/reading.py A B [-n 15] SCENE.rib...
"""

import argparse
import os
import resource
import statistics
import subprocess
import time


def measured(program, scene):
    """Returns the processor time, that in the system, and the time of one run, in milliseconds."""
    folder, name = os.path.split(os.path.abspath(scene))
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([program, "render", "--check", name], cwd=folder, check=True, capture_output=True)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    return [1e3 * (user + system), 1e3 * system, 1e3 * wall]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs=2, metavar="PROGRAM")
    parser.add_argument("scenes", nargs="+", metavar="SCENE")
    parser.add_argument("-n", type=int, default=15, help="pairs of runs")
    arguments = parser.parse_args()
    programs = [os.path.abspath(program) for program in arguments.programs]
    for scene in arguments.scenes:
        runs = [[], []]
        for program in programs:
            measured(program, scene)
        for pair in range(arguments.n):
            for which in (0, 1) if pair % 2 == 0 else (1, 0):
                runs[which].append(measured(programs[which], scene))
        ratio = statistics.median(b[0] / a[0] for a, b in zip(*runs))
        columns = [[statistics.median(run[i] for run in each) for each in runs] for i in range(3)]
        names = ("processor", "system", "wall")
        text = ", ".join(f"{name} {a:.0f} -> {b:.0f} ms" for name, (a, b) in zip(names, columns))
        print(f"{scene}: {ratio:.2f} ({text})", flush=True)


if __name__ == "__main__":
    main()
