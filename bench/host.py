#!/usr/bin/env python3
"""Processor time of the host, by phase of a render, apart from that of a driver which computes on the CPU.

    bench/host.py [-n RUNS] [--program anthill] [-o RESULTS.json] [--top COUNT] SCENE.rib...

Needs `perf` (Debian: linux-perf). Each scene is rendered once to warm caches, then RUNS times under `perf record`, with
a trace that says when its phases ran. Each sample of the processor belongs to one kind:

    device    threads of the driver that run kernels, on a CPU
    compile   threads that compile kernels, or load them from caches
    driver    its queue, and its code on threads of anthill: submitting, allocating, waiting
    system    the operating system on other threads: page faults, files, locks
    own       the rest: anthill and the libraries it is made of

A phase that runs while another does (reading, opening devices) counts where its own threads are not told apart: `begin`
is all until the first world is prepared, `end` all after the last display is written. The table has milliseconds,
medians of the runs; `host` is own + system. `--top` also lists the functions that take most, of programs with
symbols (`cargo build --profile profiling`).
"""

import argparse
import collections
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERTZ = 4000
KINDS = ["own", "system", "driver", "compile", "device"]
PHASES = ["begin", "prepare", "count", "draw", "write", "between", "end"]
DRIVERS = ("libLLVM", "libvulkan", "libGLX", "libnvidia", "libdrm")
# An open trace begins about so long after the program: loading it and reading its flags.
START_S = 0.003


def run(arguments, scene, folder):
    """Renders a scene under perf; returns its samples and its trace."""
    data, trace, picture = (os.path.join(folder, name) for name in ("perf", "trace", "picture.exr"))
    program = [arguments.program, "render", os.path.basename(scene), "-o", picture, "--trace", trace]
    record = ["perf", "record", "-q", "-F", str(HERTZ), "-k", "CLOCK_MONOTONIC", "-o", data, "--"]
    done = subprocess.run(record + program, cwd=os.path.dirname(scene) or ".", capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{program}: exit code {done.returncode}\n{done.stderr.decode(errors='replace')[-2000:]}")
    script = ["perf", "script", "-i", data, "-F", "comm,tid,time,ip,sym,dso"]
    lines = subprocess.run(script, capture_output=True, text=True, check=True).stdout.splitlines()
    with open(trace) as file:
        return [sample(line) for line in lines if line.strip()], json.load(file)["traceEvents"]


def sample(line):
    """Thread, name of the thread, seconds, function and object of a line `comm tid time: address function (object)`."""
    before, after = line.split(": ", 1)
    comm, tid, seconds = before.rsplit(None, 2)
    function, object_ = after.rsplit(" (", 1)
    return int(tid), comm.strip(), float(seconds), function.split(None, 1)[-1], object_.rstrip(")")


def intervals(events, start):
    """The phases of a trace in order: (name, begin, end), in the seconds of samples."""
    row = next(event["tid"] for event in events if event["ph"] == "M" and event.get("args", {}).get("name") == "phases")
    slices = [e for e in events if e["ph"] == "X" and e["tid"] == row and e["name"] in PHASES]
    return sorted(((e["name"], start + e["ts"] / 1e6, start + (e["ts"] + e["dur"]) / 1e6) for e in slices),
                  key=lambda phase: phase[1])


def phase_of(seconds, phases):
    if not phases or seconds < phases[0][1]:
        return "begin"
    if seconds > phases[-1][2]:
        return "end"
    return next((name for name, begin, end in phases if begin <= seconds <= end), "between")


def is_jitted(object_):
    """Whether a sample is in code that was compiled while the program ran: perf looks for a map of its symbols."""
    return os.path.basename(object_).startswith("perf-") and object_.endswith(".map")


def kinds(samples, program):
    """The kind of each thread that has only one."""
    count, jitted, driver, own = (collections.Counter() for _ in range(4))
    kinds = {}
    for tid, comm, _, _, object_ in samples:
        name = os.path.basename(object_)
        count[tid] += 1
        jitted[tid] += is_jitted(object_)
        driver[tid] += name.startswith(DRIVERS)
        own[tid] += name == program
        if comm.startswith("compile"):
            kinds[tid] = "compile"
        elif comm.startswith("llvmpipe"):
            kinds[tid] = "device"
    for tid in count:
        if tid not in kinds and jitted[tid] > 0.2 * count[tid]:
            kinds[tid] = "device"
        elif tid not in kinds and driver[tid] and not own[tid]:
            # Its queue, which hands work to the threads above.
            kinds[tid] = "driver"
    return kinds


def kind_of(sample, threads):
    tid, _, _, _, object_ = sample
    if tid in threads:
        return threads[tid]
    name = os.path.basename(object_)
    if name.startswith(DRIVERS):
        return "driver"
    return "system" if "kernel" in name else "own"


def tally(samples, events, program):
    """Milliseconds by phase and kind, and wall milliseconds by phase; milliseconds by function of the host."""
    start = min(sample[2] for sample in samples) + START_S
    phases, threads = intervals(events, start), kinds(samples, program)
    spent, wall, functions = collections.Counter(), collections.Counter(), collections.Counter()
    for one in samples:
        phase, kind = phase_of(one[2], phases), kind_of(one, threads)
        spent[phase, kind] += 1000 / HERTZ
        if kind in ("own", "system"):
            functions[phase, one[1], one[3]] += 1000 / HERTZ
    for name, begin, end in phases:
        wall[name] += 1000 * (end - begin)
    last = max(sample[2] for sample in samples)
    if phases:
        wall["begin"] = 1000 * (phases[0][1] - start)
        wall["end"] = max(0, 1000 * (last - phases[-1][2]))
    return spent, wall, functions


def table(scene, tallies):
    middle = lambda figures: statistics.median(figures)
    rows = []
    for phase in PHASES + ["all"]:
        some = PHASES if phase == "all" else [phase]
        row = {"scene": os.path.basename(scene), "phase": phase}
        row["wall"] = middle([sum(wall[p] for p in some) for _, wall, _ in tallies])
        for kind in KINDS:
            row[kind] = middle([sum(spent[p, kind] for p in some) for spent, _, _ in tallies])
        row["host"] = middle([sum(spent[p, k] for p in some for k in KINDS[:2]) for spent, _, _ in tallies])
        rows.append(row)
    return rows


def show(rows, tallies, top):
    columns = ["wall", "host"] + KINDS
    print(f"{rows[0]['scene']:16}" + "".join(f"{column:>9}" for column in columns))
    for row in rows:
        print(f"  {row['phase']:14}" + "".join(f"{row[column]:9.0f}" for column in columns), flush=True)
    functions = collections.Counter()
    for _, _, some in tallies:
        functions.update(some)
    for (phase, comm, function), spent in functions.most_common(top):
        print(f"  {spent / len(tallies):7.1f}  {phase:8} {comm:16} {function}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="anthill", help="the program to measure (anthill)")
    parser.add_argument("-n", type=int, default=3, help="runs of each scene (3)")
    parser.add_argument("-o", help="also write the table as JSON")
    parser.add_argument("--top", type=int, default=0, help="functions to list (0)")
    parser.add_argument("scenes", nargs="+")
    arguments = parser.parse_args()
    rows, program = [], os.path.basename(arguments.program)
    for scene in arguments.scenes:
        with tempfile.TemporaryDirectory() as folder:
            runs = [tally(*run(arguments, scene, folder), program) for _ in range(arguments.n + 1)][1:]
        some = table(scene, runs)
        show(some, runs, arguments.top)
        rows += some
    if arguments.o:
        with open(arguments.o, "w") as file:
            json.dump(rows, file, indent=1)


main()
