#!/usr/bin/env python3
"""Interrupts renders (SIGINT) at random moments, and measures when they say so and when they end.

    bench/interrupt.py [-n TIMES] [--anthill PROGRAM] [--flags '--memory 128M'] SCENE.rib...

A whole render of each scene with --progress percent comes first: its time, and the largest gap between two lines that it
prints. Each other one is interrupted at a random moment of that time. The exit code is 1 if a render that was interrupted
does not exit with 130.
"""

import argparse
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time


class Render:
    """A render, and when it printed each line."""

    def __init__(self, program, scene, folder, flags):
        command = [program, "render", os.path.basename(scene), "-o", os.path.join(folder, "a.exr"), "--calibrate-after", "never", "--progress", "percent", *flags]
        self.begin, self.lines = time.monotonic(), []
        self.process = subprocess.Popen(command, cwd=os.path.dirname(scene), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            self.lines.append((time.monotonic(), line))

    def end(self):
        code = self.process.wait()
        ended = time.monotonic()
        self.reader.join()
        return code, ended


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=20, help="interrupts of each scene (20)")
    parser.add_argument("--anthill", default="target/release/anthill")
    parser.add_argument("--flags", default="", help="flags of every render")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("scenes", nargs="+")
    arguments = parser.parse_args()
    flags, program, rng, wrong = shlex.split(arguments.flags), os.path.abspath(arguments.anthill), random.Random(arguments.seed), 0
    for scene in map(os.path.abspath, arguments.scenes):
        with tempfile.TemporaryDirectory() as folder:
            whole = Render(program, scene, folder, flags)
            code, ended = whole.end()
            if code != 0:
                sys.exit(f"{scene}: exit code {code}")
            times = [whole.begin, *(at for at, _ in whole.lines), ended]
            took, gap = ended - whole.begin, max(b - a for a, b in zip(times, times[1:]))
            said, ends, late = [], [], 0
            for _ in range(arguments.n):
                render = Render(program, scene, folder, flags)
                time.sleep(rng.uniform(0.02, 0.98) * took)
                sent = time.monotonic()
                render.process.send_signal(signal.SIGINT)
                code, ended = render.end()
                messages = [at - sent for at, line in render.lines if "interrupted" in line and at >= sent]
                if code != 130 or not messages:
                    late += code == 0
                    wrong += code != 0
                    continue
                said.append(messages[0])
                ends.append(ended - sent)
            if ends:
                print(f"{os.path.basename(scene):28} {took:6.1f} s, largest gap {gap:.2f} s; {len(ends)} interrupts: slowest message "
                      f"{max(said):.3f} s, slowest end {max(ends):.2f} s, {late} too late, {wrong} wrong")
    sys.exit(int(wrong > 0))


main()
