#!/usr/bin/env python3
"""Measures shaders with many call sites, rolled into loops and not (docs/compiler.md): cold compile, memory, speed.

Each case is rendered with empty caches, then RUNS times with full ones, rolled and with ANTHILL_UNROLLED=1 in turn.
"Cold" is processor time of anthill and driver together beyond that of a shader without calls.
"""

import argparse
import json
import os
import pathlib
import statistics
import struct
import subprocess
import tempfile
import zlib

SHADERS = {
    "noise": "sum += {weight:.6f} * noise(P * {scale:.4f});",
    "independent": 'c += {weight:.6f} * color texture("m{number}.tx", s * {scale:.4f}, t * {scale:.4f});',
    "dependent": 'c = texture("m{number}.tx", s + {weight:.4f} * comp(c, 0), t + {scale:.4f});',
}


def shader(kind, count):
    """Returns a surface with so many calls."""
    lines = [SHADERS[kind].format(number=i % 64, weight=1 / (i + 2), scale=1 + i * 0.37) for i in range(count)]
    return "surface calls() {\n float sum = 0; color c = Cs;\n" + "\n".join(lines) + "\n Oi = Os; Ci = c + sum;\n}\n"


def picture(path, number):
    """Writes a PNG of 64 by 64 pixels."""
    pixel = lambda x, y: bytes([(4 * x * (number + 1) + y) % 256, (4 * y + 7 * number) % 256, (x * y + number) % 256])
    rows = b"".join(b"\0" + b"".join(pixel(x, y) for x in range(64)) for y in range(64))
    chunk = lambda tag, data: struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))
    head = struct.pack(">IIBBBBB", 64, 64, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + parts)


def render(program, folder, cache, environment):
    """Renders the scene of a folder; returns the statistics, processor seconds and MB."""
    stats = folder / "stats.json"
    caches = {"XDG_CACHE_HOME": str(cache), "MESA_SHADER_CACHE_DIR": str(cache / "mesa")}
    command = [program, "render", "scene.rib", "--stats", str(stats)]
    process = subprocess.Popen(command, cwd=folder, env={**os.environ, **caches, **environment},
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    messages = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{messages}")
    return json.loads(stats.read_text()), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def measure(arguments, folder, text):
    """Returns for the rolled and the unrolled form what compiling costs, and the pixels."""
    (folder / "calls.sl").write_text(text)
    found = {}
    forms = {"rolled": {}, "unrolled": {"ANTHILL_UNROLLED": "1"}}
    with tempfile.TemporaryDirectory() as caches:
        for form, environment in forms.items():
            if form == "unrolled" and arguments.rolled_only:
                continue
            cache = pathlib.Path(caches) / form
            cache.mkdir()
            _, seconds, megabytes = render(arguments.program, folder, cache, environment)
            found[form] = {"cold": seconds, "MB": megabytes, "warm": [], "shade": [], "environment": environment,
                           "cache": cache, "picture": (folder / "calls.exr").read_bytes()}
        for _ in range(arguments.runs):
            for form in found.values():
                stats, seconds, _ = render(arguments.program, folder, form["cache"], form["environment"])
                form["warm"].append(seconds)
                form["shade"].append(stats["stages_s"]["shade"])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default="anthill")
    parser.add_argument("--kinds", default=",".join(SHADERS))
    parser.add_argument("--counts", default="4,16,64")
    parser.add_argument("--resolution", type=int, default=256)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rolled-only", action="store_true", help="leave out the unrolled form, which may take minutes")
    arguments = parser.parse_args()
    arguments.program = os.path.abspath(arguments.program) if "/" in arguments.program else arguments.program
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for i in range(64):
            picture(folder / "m.png", i)
            subprocess.run([arguments.program, "texture", "make", "m.png", "-o", f"m{i}.tx"], cwd=folder, check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        r = arguments.resolution
        (folder / "scene.rib").write_text(
            f'Display "calls.exr" "file" "rgb"\nFormat {r} {r} 1\nPixelSamples 1 1\nProjection "orthographic"\n'
            'WorldBegin\nSurface "calls"\n'
            'Polygon "P" [-1 -1 1 1 -1 1 1 1 1 -1 1 1] "st" [0 0 1 0 1 1 0 1]\nWorldEnd\n')
        plain = measure(arguments, folder, shader("noise", 0))["rolled"]
        base, warm_base = plain["cold"], statistics.median(plain["warm"])
        print("| calls | form | cold s | MB | warm s | shade s |\n|---|---|---|---|---|---|")
        print(f"| none | | ({base:.2f}) | {plain['MB']:.0f} | ({warm_base:.2f}) | {min(plain['shade']):.3f} |")
        for kind in arguments.kinds.split(","):
            for count in map(int, arguments.counts.split(",")):
                found = measure(arguments, folder, shader(kind, count))
                for form, of in found.items():
                    warm = statistics.median(of["warm"]) - warm_base
                    print(f"| {count} {kind} | {form} | {of['cold'] - base:.2f} | {of['MB']:.0f} | {warm:.2f} | "
                          f"{min(of['shade']):.3f} |", flush=True)
                if len({of["picture"] for of in found.values()}) > 1:
                    raise SystemExit(f"{count} {kind}: the pictures differ")


if __name__ == "__main__":
    main()
