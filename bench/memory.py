#!/usr/bin/env python3
"""Measures from outside how much memory devices take on a CPU driver, where device memory is the process's own.

    bench/memory.py [--anthill PROGRAM] [--devices 0,0] [--limits 96M,256M,1G] SCENE.rib...

For each scene and limit: the peak resident size of a render, less what the process takes without device memory, against the sum of the
devices' limits. Without device memory it takes: an empty world in a picture of 16x16 pixels (opens devices, compiles kernels), and
what reading the scene adds (`--check` of the scene, less `--check` of the empty one). Exit code 1 if more than a tenth over the limits.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def peak(arguments, folder):
    """Peak resident bytes of one run."""
    process = subprocess.Popen(arguments, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{arguments}: {said.decode(errors='replace')[-1000:]}")
    return usage.ru_maxrss << 10


def emptied(scene, folder):
    """The scene's options with an empty world, in its folder."""
    with open(scene, encoding="latin-1") as file:
        head = file.read(1 << 16).split("WorldBegin")[0]
    path = tempfile.NamedTemporaryFile("w", suffix=".rib", dir=folder, delete=False)
    path.write(head + "WorldBegin\nWorldEnd\n")
    path.close()
    return path.name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--anthill", default="target/release/anthill")
    parser.add_argument("--devices", default="0")
    parser.add_argument("--limits", default="128M,256M,512M")
    parser.add_argument("scenes", nargs="+")
    arguments = parser.parse_args()
    program, worst = os.path.abspath(arguments.anthill), 0.0
    devices = arguments.devices.count(",") + 1
    print(f"{'scene':14} {'limit':>7} {'render':>9} {'read':>9} {'empty':>9} {'taken':>9} {'of limits':>9}   (MiB)")
    for scene in map(os.path.abspath, arguments.scenes):
        folder = os.path.dirname(scene)
        with tempfile.TemporaryDirectory() as out:
            picture = ["--progress", "off", "-o", os.path.join(out, "a.exr"), "--devices", arguments.devices]
            empty = emptied(scene, folder)
            try:
                opened = peak([program, "render", empty, *picture, "--format", "16", "16"], folder)
                nothing = peak([program, "render", empty, "--check"], folder)
            finally:
                os.unlink(empty)
            read = peak([program, "render", scene, "--check"], folder) - nothing
            for limit in arguments.limits.split(","):
                number, unit = re.fullmatch(r"(\d+)([KMG])", limit).groups()
                allowed = int(number) * UNITS[unit] * devices
                whole = peak([program, "render", scene, "--memory", limit, *picture], folder)
                taken = whole - opened - read
                worst = max(worst, taken / allowed)
                mib = [value / (1 << 20) for value in (whole, read, opened, taken)]
                print(f"{os.path.basename(scene):14} {limit:>7} " + " ".join(f"{value:9.0f}" for value in mib) + f" {taken / allowed:9.2f}")
    sys.exit(int(worst > 1.1))


main()
