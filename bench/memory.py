#!/usr/bin/env python3
"""Measures from outside how much device memory is used on a CPU driver, where it is part of the process's memory.

    bench/memory.py [--anthill PROGRAM] [--devices 0,0] [--limits 96M,256M,1G] [--least 8M] SCENE.rib...

For each scene and limit it compares the peak resident size of a render, less what the process needs without device
memory, with the sum of the devices' limits. What the process needs without device memory is measured in two parts: a
render of the same scene, thinned to the first primitive of each kind under each surface shader (so that devices are
opened, every kernel is compiled and the film exists), less the small limit that it was given; and what reading the
scene adds (`--check` of the scene, less `--check` of the thinned one). A world without primitives would not do: CPU
drivers compile at the first dispatch, and the tens of megabytes per device that they keep are not device memory. Scenes
must be plain text in one file, without motion blocks. The exit code is 1 if a limit is exceeded by more than a tenth.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
PRIMITIVES = set(
    "Polygon GeneralPolygon PointsPolygons PointsGeneralPolygons Patch PatchMesh NuPatch Sphere Cone Cylinder Hyperboloid Paraboloid "
    "Disk Torus Curves Points SubdivisionMesh Blobby Procedural ReadArchive Geometry ObjectInstance".split()
)


def size(text):
    number, unit = re.fullmatch(r"(\d+)([KMG])", text).groups()
    return int(number) * UNITS[unit]


def peak(arguments, folder):
    """Peak resident bytes of one run."""
    process = subprocess.Popen(arguments, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{arguments}: {said.decode(errors='replace')[-1000:]}")
    return usage.ru_maxrss << 10


def requests(text):
    """The requests of a RIB file in order, each as its name and its text up to the next request."""
    starts = [found for found in re.finditer(r'"(?:[^"\\]|\\.)*"|#[^\n]*|\b([A-Za-z]\w*)', text) if found[1]]
    ends = [found.start() for found in starts[1:]] + [len(text)]
    return [(found[1], text[found.start() : end]) for found, end in zip(starts, ends)]


def thinned(scene, folder):
    """Writes the scene with only the first primitive of each kind under each surface shader, and returns its path."""
    with open(scene, encoding="latin-1") as file:
        text = file.read()
    surface, seen, kept = None, set(), []
    for name, request in requests(text):
        if name == "Surface":
            surface = request.split('"')[1]
        if name not in PRIMITIVES or (surface, name) not in seen:
            kept.append(request)
        seen.add((surface, name))
    path = tempfile.NamedTemporaryFile("w", encoding="latin-1", suffix=".rib", dir=folder, delete=False)
    path.write("".join(kept))
    path.close()
    return path.name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--anthill", default="target/release/anthill")
    parser.add_argument("--devices", default="0")
    parser.add_argument("--limits", default="128M,256M,512M")
    parser.add_argument("--least", default="8M", help="the limit of the thinned scene")
    parser.add_argument("scenes", nargs="+")
    arguments = parser.parse_args()
    program, worst = os.path.abspath(arguments.anthill), 0.0
    devices = arguments.devices.count(",") + 1
    print(f"{'scene':14} {'limit':>7} {'render':>9} {'read':>9} {'compiled':>9} {'taken':>9} {'of limits':>9}   (MiB)")
    for scene in map(os.path.abspath, arguments.scenes):
        folder = os.path.dirname(scene)
        with tempfile.TemporaryDirectory() as out:
            picture = ["--calibrate-after", "never", "--progress", "off", "-o", os.path.join(out, "a.exr"), "--devices", arguments.devices]
            # In a separate process, because a child's peak size includes its parent's size when it was forked.
            with concurrent.futures.ProcessPoolExecutor(1) as apart:
                thin = apart.submit(thinned, scene, folder).result()
            try:
                compiled = peak([program, "render", thin, *picture, "--memory", arguments.least], folder)
                compiled -= size(arguments.least) * devices
                read = peak([program, "render", scene, "--check"], folder) - peak([program, "render", thin, "--check"], folder)
            finally:
                os.unlink(thin)
            for limit in arguments.limits.split(","):
                allowed = size(limit) * devices
                whole = peak([program, "render", scene, "--memory", limit, *picture], folder)
                taken = whole - compiled - read
                worst = max(worst, taken / allowed)
                mib = [value / (1 << 20) for value in (whole, read, compiled, taken)]
                print(f"{os.path.basename(scene):14} {limit:>7} " + " ".join(f"{value:9.0f}" for value in mib) + f" {taken / allowed:9.2f}")
    sys.exit(int(worst > 1.1))


main()
