#!/usr/bin/env python3
"""Compares what `anthill profile` says that lines of RSL cost with what is saved where they are removed.

A card is lit by three lights, one of which is slow, and shaded by a surface of several lines. Each round profiles it
once with lines counted, once without counting, and once without counting for each variant from which a line (or a loop
with its body) is removed. What a line costs by the profile is compared with the difference of the time of the shading
pipeline without it, each the least of all rounds, because other programs can
only make it longer; of what the profile says, the median.

usage: bench/lines.py [--program anthill] [--rounds 5] [--size 256] [FLAG ...]   (flags go to `anthill profile`)
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

SURFACE = """surface wall(string map = "";) {
  color base = Cs * diffuse(N);
  color grain = 0;
  grain += 0.2 * noise(P * 7);
  grain += 0.1 * (noise(P * 13) + noise(P * 29) + noise(P * 57));
  grain += 0.1 * sin(40 * xcomp(P) + 9 * ycomp(P)) * cos(30 * ycomp(P));
  grain += 0.1 * pow(0.5 + 0.4 * mod(xcomp(P) * 5, 1), 3.3);
  grain += 0.2 * color texture(map, s, t);
  Ci = base + grain;
  Oi = 1;
}
"""
PLAIN = """light plain(point from = point "world" (0.5, 0.5, 0);) {
  illuminate (from) {
    Cl = 0.3;
  }
}
"""
STRIPED = """light striped(point from = point "world" (0.2, 0.5, 0);) {
  illuminate (from) {
    float d = length(L);
    Cl = 0.3 * smoothstep(0.2, 0.8, mod(xcomp(Ps) * 8, 1)) / (d * d);
    Cl += 0.1 * noise(Ps * 20);
  }
}
"""
SLOW = """light slow(point from = point "world" (0.8, 0.5, 0); float n = 12;) {
  illuminate (from) {
    float i, sum = 0;
    for (i = 0; i < n; i += 1)
      sum += noise(Ps * (i + 4));
    Cl = 0.3 * sum / n;
  }
}
"""
SHADERS = {"wall": SURFACE, "plain": PLAIN, "striped": STRIPED, "slow": SLOW}
# What is removed: the shader, and its lines.
REMOVED = [("wall", [4]), ("wall", [5]), ("wall", [6]), ("wall", [7]), ("wall", [8]), ("striped", [4]), ("striped", [5]),
           ("slow", [4, 5])]
SCENE = """PixelSamples 1 1
Hider "hidden" "jitter" [0]
ScreenWindow 0 1 0 1
Format {size} {size} 1
Display "a.exr" "exr" "rgb"
LightSource "plain" 1
LightSource "striped" 2
LightSource "slow" 3
WorldBegin
Surface "wall" "map" ["{map}"]
Patch "bilinear" "P" [0 1 1 1 1 1 0 0 1 1 0 1]
WorldEnd
"""
# A line costs something if its cost is at least this part of the pipeline, and then agrees within that.
COSTS, AGREES = 0.1, 0.2


def without(text, lines):
    return "".join(line if number not in lines else "\n" for number, line in
                   enumerate(text.splitlines(keepends=True), 1))


def prepare(folder, size, removed=None):
    """Writes a scene, from one shader of which lines are removed."""
    os.makedirs(folder, exist_ok=True)
    for name, text in SHADERS.items():
        if removed and removed[0] == name:
            text = without(text, removed[1])
        with open(os.path.join(folder, name + ".sl"), "w") as file:
            file.write(text)
    with open(os.path.join(folder, "a.rib"), "w") as file:
        file.write(SCENE.format(size=size, map=os.path.join(os.path.dirname(folder), "map.tx")))


def make_map(program, folder):
    """Makes a texture of a Targa picture of 64 x 64 pixels."""
    pixels = bytes((5 * x ^ 3 * y ^ 50 * channel) % 256 for y in range(64) for x in range(64) for channel in range(3))
    with open(os.path.join(folder, "map.tga"), "wb") as file:
        file.write(bytes([0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 64, 0, 24, 0x20]) + pixels)
    subprocess.run([program, "texture", "make", "map.tga", "-o", "map.tx"], cwd=folder, check=True)


def profile(program, folder, flags):
    ran = subprocess.run([program, "profile", "a.rib", "-q", "--json", *flags], cwd=folder, capture_output=True, text=True)
    if ran.returncode:
        sys.exit(f"{program} profile failed in {folder}:\n{ran.stderr}")
    return json.loads(ran.stdout)


def pipeline_s(found):
    return sum(row["device_s"] for row in found["pipelines"] if row["pipeline"].startswith("shade"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="anthill")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--size", type=int, default=256)
    args, flags = parser.parse_known_args()
    program = os.path.abspath(args.program) if os.sep in args.program else args.program
    with tempfile.TemporaryDirectory() as folder:
        make_map(program, folder)
        whole = os.path.join(folder, "whole")
        prepare(whole, args.size)
        variants = []
        for number, removed in enumerate(REMOVED):
            variants.append(os.path.join(folder, str(number)))
            prepare(variants[-1], args.size, removed)
        plain, counted, lines = [], [], []
        saved = [[] for _ in REMOVED]
        # Once more, for the caches of compiled kernels.
        for turn in range(args.rounds + 1):
            found = profile(program, whole, flags)
            full = pipeline_s(profile(program, whole, flags + ["--no-lines"]))
            rest = [pipeline_s(profile(program, variant, flags + ["--no-lines"])) for variant in variants]
            if turn == 0:
                continue
            plain.append(full)
            counted.append(pipeline_s(found))
            lines.append({tuple(row["place"].rsplit("/", 1)[-1].split(".sl:")): row["seconds"]
                          for row in found["lines"] if row["unit"] != "ns on the host"})
            for of_variant, seconds in zip(saved, rest):
                of_variant.append(seconds)
    least = min(plain)
    print(f"pipeline: {least * 1e3:.1f} ms without counting, {min(counted) * 1e3:.1f} ms with it; {args.rounds} rounds")
    print(f"{'removed':<14}{'profile':>12}{'share':>8}{'saved':>12}{'share':>8}{'ratio':>8}")
    misses = 0
    for (shader, numbers), of_variant in zip(REMOVED, saved):
        attributed = [sum(of_round.get((shader, str(number)), 0.0) for number in numbers) for of_round in lines]
        attributed, difference = sorted(attributed)[len(attributed) // 2], least - min(of_variant)
        ratio = attributed / difference if difference > 0 else float("inf")
        matters = difference > COSTS * least or attributed > COSTS * least
        misses += matters and not 1 - AGREES <= ratio <= 1 + AGREES
        name = f"{shader}:{'-'.join(map(str, numbers))}"
        print(f"{name:<14}{attributed * 1e3:>9.2f} ms{attributed / least:>8.1%}{difference * 1e3:>9.2f} ms"
              f"{difference / least:>8.1%}{ratio:>8.2f}{'' if matters else '   below 10%'}")
    print(f"{misses} lines of more than {COSTS:.0%} are off by more than {AGREES:.0%}")
    return misses > 0


if __name__ == "__main__":
    sys.exit(main())
