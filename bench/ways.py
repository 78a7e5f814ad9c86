#!/usr/bin/env python3
"""Renders a scene in several ways, in turn, and compares their times. Ways differ in flags, devices or test aids.

    bench/ways.py [-n ROUNDS] [-o RESULTS.json] [--anthill PROGRAM] [--way 'NAME: VARIABLE=VALUE --flag VALUE']... SCENE.rib...

Each way is a name, then environment variables and flags of `render`. By default the ways are dynamic regions and fixed
buckets of 16 to 256 pixels (`ANTHILL_BUCKET`), with device 0 opened twice. The first round warms caches and is not
counted. For each way it prints the median of render_s, the median and range of its ratio to the first way in the same
round, the numbers of regions and steals, the share of the devices' time spent on scheduling, and how far apart the
devices finished, as a share of the drawing time. The exit code is 1 if pictures differ. On llvmpipe set
`LP_NUM_THREADS=0`; otherwise each opened device has threads for all cores, and they slow one another down.
"""

import argparse
import hashlib
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile

BUCKETS = ["dynamic: --devices 0,0"] + [f"{px} px: ANTHILL_BUCKET={px} --devices 0,0" for px in (16, 32, 64, 128, 256)]


def draw(program, scene, way, folder):
    """The statistics of one run, and a digest of its picture."""
    words = shlex.split(way.split(":", 1)[1])
    variables = dict(word.split("=", 1) for word in words if "=" in word and not word.startswith("-"))
    flags = [word for word in words if word.startswith("-") or "=" not in word]
    stats, picture = os.path.join(folder, "stats.json"), os.path.join(folder, "picture.exr")
    command = [program, "render", os.path.basename(scene), "--calibrate-after", "never", "--progress", "off", "--stats", stats, "-o", picture, *flags]
    done = subprocess.run(command, cwd=os.path.dirname(scene) or ".", env=os.environ | variables, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{way}: exit code {done.returncode}\n{done.stderr.decode(errors='replace')[-2000:]}")
    with open(picture, "rb") as file:
        return json.load(open(stats, encoding="utf-8")), hashlib.sha256(file.read()).hexdigest()


def figures(stats):
    """The figures of one run."""
    world, devices = stats["worlds"][0], stats["devices"]
    ends = [max((row["end_s"] for row in world["regions"] if row["device"] == number), default=0) for number in range(len(devices))]
    total = lambda key: sum(device[key] for device in devices)
    return {
        "render_s": stats["render_s"],
        "draw_s": world["draw_s"],
        "regions": total("regions"),
        "stolen": total("stolen"),
        "scheduling": total("scheduling_s") / max(total("busy_s") + total("idle_s"), 1e-9),
        "apart": (max(ends) - min(ends)) / max(world["draw_s"], 1e-9),
    }


def compare(program, scene, ways, rounds):
    runs, pictures = {way: [] for way in ways}, set()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds + 1):
            for way in ways:
                stats, picture = draw(program, scene, way, folder)
                pictures.add(picture)
                if number > 0:
                    runs[way].append(figures(stats))
    rows = []
    for way in ways:
        ratios = sorted(run["render_s"] / first["render_s"] for run, first in zip(runs[way], runs[ways[0]]))
        middle = {key: statistics.median(run[key] for run in runs[way]) for key in runs[way][0]}
        rows.append({"scene": os.path.basename(scene), "way": way, **middle, "ratio": statistics.median(ratios), "ratio_range": [ratios[0], ratios[-1]]})
    return rows, len(pictures)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=3, help="rounds that count (3)")
    parser.add_argument("-o", help="also write the table as JSON")
    parser.add_argument("--anthill", default="target/release/anthill", help="the program (target/release/anthill)")
    parser.add_argument("--way", action="append", help="'NAME: VARIABLE=VALUE --flag VALUE'")
    parser.add_argument("scenes", nargs="+")
    arguments = parser.parse_args()
    all_rows, differ = [], False
    print(f"{'scene':14} {'way':12} {'render_s':>9} {'ratio':>7} {'range':>13} {'regions':>8} {'stolen':>7} {'scheduling':>10} {'apart':>7}")
    for scene in arguments.scenes:
        rows, pictures = compare(os.path.abspath(arguments.anthill), os.path.abspath(scene), arguments.way or BUCKETS, arguments.n)
        for row in rows:
            low, high = row["ratio_range"]
            print(f"{row['scene']:14} {row['way'].split(':')[0]:12} {row['render_s']:9.2f} {row['ratio']:7.3f} {low:6.3f}-{high:6.3f} "
                  f"{row['regions']:8.0f} {row['stolen']:7.0f} {row['scheduling']:10.4%} {row['apart']:7.2%}")
        if pictures > 1:
            print(f"{os.path.basename(scene)}: {pictures} different pictures")
            differ = True
        all_rows += rows
    if arguments.o:
        with open(arguments.o, "w", encoding="utf-8") as file:
            json.dump(all_rows, file, indent=1)
    sys.exit(int(differ))


if __name__ == "__main__":
    main()
