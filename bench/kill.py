#!/usr/bin/env python3
"""Kills renders with SIGKILL at random moments, resumes them from their checkpoints, and compares the pictures.

    bench/kill.py [-n TIMES] [--anthill PROGRAM] [--interval 1s] [--flags '--memory 128M'] SCENE.rib...

Each render with a checkpoint is killed one to three times before it may finish. The exit code is 1 if a picture differs
from that of a render that was not killed. Less memory makes more and smaller regions, so that checkpoints have
something to save.
"""

import argparse
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time


def render(program, scene, picture, flags):
    command = [program, "render", os.path.basename(scene), "-o", picture, "--calibrate-after", "never", "--progress", "off", *flags]
    return subprocess.Popen(command, cwd=os.path.dirname(scene), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def finish(process, what):
    if process.wait() != 0:
        sys.exit(f"{what}: exit code {process.returncode}")


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=20, help="times for each scene (20)")
    parser.add_argument("--anthill", default="target/release/anthill")
    parser.add_argument("--interval", default="1s", help="time between two checkpoints")
    parser.add_argument("--flags", default="", help="flags of every render")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("scenes", nargs="+")
    arguments = parser.parse_args()
    common = shlex.split(arguments.flags)
    program, rng, wrong = os.path.abspath(arguments.anthill), random.Random(arguments.seed), 0
    for scene in map(os.path.abspath, arguments.scenes):
        with tempfile.TemporaryDirectory() as folder:
            picture, checkpoint = os.path.join(folder, "a.exr"), os.path.join(folder, "a.checkpoint")
            begin = time.monotonic()
            finish(render(program, scene, picture, common), scene)
            whole, took = contents(picture), time.monotonic() - begin
            kills = resumed = 0
            for _ in range(arguments.n):
                flags = [*common, "--checkpoint", checkpoint, "--checkpoint-interval", arguments.interval]
                os.unlink(picture)
                for _ in range(rng.randint(1, 3)):
                    process = render(program, scene, picture, flags)
                    try:
                        process.wait(rng.uniform(0.05, 0.95) * took)
                        break
                    except subprocess.TimeoutExpired:
                        process.send_signal(signal.SIGKILL)
                        process.wait()
                        kills += 1
                    if os.path.exists(checkpoint) and "--resume" not in flags:
                        flags.append("--resume")
                if not os.path.exists(picture):
                    resumed += "--resume" in flags
                    finish(render(program, scene, picture, flags), scene)
                same = contents(picture) == whole
                wrong += not same
                if os.path.exists(checkpoint):
                    os.unlink(checkpoint)
            print(f"{os.path.basename(scene):14} {arguments.n} renders, {kills} kills, {resumed} finished from a checkpoint, {wrong} differ")
    sys.exit(int(wrong > 0))


main()
