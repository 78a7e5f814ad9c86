#!/usr/bin/env python3
"""Measures how sharp pictures are: charts of patterns against the exact picture, filtered by the same pixel filter.

    bench/sharpness [--renderer 'anthill render -q {rib} --stats {stats}'] [--surfaces bilinear,hair]
                    [--ways texture,plain,filtered] [--rates 0.25,1] [--only 'REGEX'] [--save FOLDER] [-o TABLE.md]

Two charts have squares with sine gratings of 3 to 16 pixels, dark lines of 1 and 2 pixels, edges at 7 and 23 degrees,
octaves of noise from 16 to 0.5 pixels, and a zone plate of up to 1.25 cycles a pixel at its sides. Squares are turned
by 3 degrees and begin at different parts of a pixel. Each is drawn as a surface of each kind (`bilinear` and `bicubic`
patches, `polygons`, `subdivision`, one wide `ribbon`, `hair`: ribbons of 1.7 pixels side by side), by a `texture`, by a
`plain` procedure and by one that is `filtered`: it knows its mean over du and dv. Figures for each square:

contrast  of gratings: the amplitude as a part of the exact picture's. Of others: the slope of differences between
          neighbouring pixels against the exact ones, of the zone plate within 0.33 cycles a pixel
shift     in pixels, along the direction in which the pattern changes, or the larger of those along both sides; in the
          summary the largest of the patterns that have a contrast of 0.3 or more
error     root mean square of the difference
alias     the same where the exact picture shows hardly anything: noise of less than two pixels, and the zone plate
          beyond half a cycle a pixel

Another renderer is measured by its command; `{rib}` is the scene, `{stats}` a JSON file with anthill's statistics. It
must write the picture that the scene's Display names, as TIFF or PNG. `--compile` and `--texture` are commands for
shaders and textures, where these are not made of what the scene names. Needs python3-numpy.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time
import types

import numpy

import charts
import measures
import patterns
import pictures
import tables

WAYS = ("texture", "plain", "filtered")


def names(text, known):
    """A list of names that must be known."""
    found = text.split(",")
    for name in found:
        if name not in known:
            raise argparse.ArgumentTypeError(f"{name}: must be one of {', '.join(known)}")
    return found


def pixel_filter(text):
    name, width = text.split(",")
    measures.weights(name, float(width))
    return name, float(width)


def level_filter(text):
    name, width = text.split(",")
    return name, float(width)


def parse():
    parser = argparse.ArgumentParser(prog="bench/sharpness", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--renderer", default="anthill render -q {rib} --stats {stats}", help="the command that renders a scene")
    add("--compile", help="a command that compiles the shader {sl}, for renderers that need that")
    add("--texture", help="a command that makes the texture {tex} of {tif}, instead of a scene with MakeTexture")
    add("--texture-bits", type=int, choices=(8, 32), default=32, help="of the pictures of which textures are made")
    add("--contrast", type=float, default=1, help="of gratings (1: from black to white)")
    add("--driver", default="tiff", help="of the Display (tiff)")
    add("--extension", default="tif", help="of the picture's name (tif)")
    add("--quantize", default="0 0 0 0", help="the numbers of Quantize (0 0 0 0: floats)")
    add("--surfaces", type=lambda x: names(x, charts.SURFACES), default=list(charts.SURFACES))
    add("--ways", type=lambda x: names(x, WAYS), default=list(WAYS))
    add("--rates", type=lambda x: [float(r) for r in x.split(",")], default=[0.25, 0.5, 1, 2, 4])
    add("--charts", type=lambda x: names(x, ("gratings", "details")), default=["gratings", "details"])
    add("--only", default="", help="a regular expression that the names of patterns must contain")
    add("--samples", type=int, default=8, help="along a pixel (8)")
    add("--interpolation", choices=("constant", "smooth"), default="constant", help="of colours (constant)")
    add("--filter", type=pixel_filter, default=("gaussian", 2.0), help="of pixels: NAME,WIDTH; box, triangle, gaussian")
    add("--width", type=float, default=1, help="of lookups: texture()'s width (1)")
    add("--lookup-filter", default="gaussian", help="of lookups: texture()'s filter (gaussian)")
    add("--levels", type=level_filter, default=("box", 1.0), help="how levels of textures are filtered: NAME,WIDTH")
    add("--folder", help="keep scenes and rendered pictures here, and use the textures that are here")
    add("--save", help="write pictures to this folder: exact beside rendered")
    add("-o", "--output", help="also write the tables to this file")
    add("--json", help="write all figures to this file")
    return parser.parse_args()


def run(command, folder, **values):
    """Runs a command in a folder; wall seconds."""
    parts = [part.format(**values) for part in shlex.split(command)]
    begin = time.monotonic()
    done = subprocess.run(parts, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f"{parts}: exit code {done.returncode}\n{done.stderr.decode(errors='replace')[-2000:]}")
    sys.stderr.write(done.stderr.decode(errors="replace"))
    return time.monotonic() - begin


def chosen(options):
    """Squares by chart."""
    found = {}
    for name, cells in patterns.charts(charts.PITCH, options.contrast).items():
        squares = [charts.Square(*cell) for cell in cells if re.search(options.only, cell[0].name)]
        if name in options.charts and squares:
            found[name] = squares
    return found


def prepare(options, folder, squares):
    """Writes shaders and textures."""
    found = [square.pattern for square in squares]
    sources = {"lookup": charts.LOOKUP}
    for pattern in found:
        for filtered in (False, True):
            sources[patterns.shader_name(pattern, filtered)] = pattern.shader(filtered)
    for name, source in sources.items():
        (folder / f"{name}.sl").write_text(source)
        if options.compile:
            run(options.compile, folder, sl=f"{name}.sl", name=name)
    if "texture" not in options.ways:
        return
    missing = [pattern for pattern in found if not (folder / charts.texture_name(pattern)).exists()]
    for pattern in missing:
        pictures.write_tiff(folder / f"{pattern.name}.tif", charts.texels(pattern), options.texture_bits)
        if options.texture:
            run(options.texture, folder, tif=f"{pattern.name}.tif", tex=charts.texture_name(pattern))
    if missing and not options.texture:
        (folder / "textures.rib").write_text(charts.textures(missing, options.levels))
        run(options.renderer, folder, rib="textures.rib", stats="textures.json")


def statistics(path):
    """Shading points, micropolygons and seconds of shading, if the renderer counts them."""
    try:
        stats = json.loads(path.read_text())
    except OSError:
        return {}
    stages = stats["stages_s"]
    return {"points": stats["shaded_vertices"], "micropolygons": stats["micropolygons"], "shade_s": stages["shade"]}


def save(options, truths, picture, name):
    """Writes the exact chart beside the rendered one."""
    exact = numpy.zeros(picture.shape[:2])
    for truth in truths:
        exact[truth.top:truth.top + truth.size, truth.left:truth.left + truth.size] = truth.picture
    folder = pathlib.Path(options.save)
    folder.mkdir(parents=True, exist_ok=True)
    pictures.write_png(folder / f"{name}.png", numpy.hstack([exact, picture[..., 0]]))


def cases(options, folder, truths):
    """Renders all charts and yields what is found."""
    for surface in options.surfaces:
        for way in options.ways:
            for rate in options.rates:
                found = {"surface": surface, "way": way, "rate": rate, "wall_s": 0.0, "squares": {}}
                for chart, exact in truths.items():
                    name = f"{chart}_{surface}_{way}_{rate:g}"
                    settings = types.SimpleNamespace(
                        samples=options.samples, filter=options.filter, quantize=options.quantize,
                        driver=options.driver, lookup=(options.width, options.lookup_filter),
                        interpolation=options.interpolation, picture=f"{name}.{options.extension}")
                    text = charts.chart([truth.square for truth in exact], surface, way, rate, settings)
                    (folder / f"{name}.rib").write_text(text)
                    stats = folder / f"{name}.json"
                    found["wall_s"] += run(options.renderer, folder, rib=f"{name}.rib", stats=stats.name)
                    for key, value in statistics(stats).items():
                        found[key] = found.get(key, 0) + value
                    picture = pictures.read(folder / settings.picture)
                    if options.save:
                        save(options, exact, picture, name)
                    for truth in exact:
                        found["squares"][truth.square.pattern.name] = vars(measures.measure(truth, picture))
                yield found


def main():
    options = parse()
    squares = chosen(options)
    if not squares:
        sys.exit(f"no pattern's name contains {options.only}")
    truths = {name: [measures.Truth(square, options.filter) for square in some] for name, some in squares.items()}
    found = []
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(options.folder or place)
        folder.mkdir(parents=True, exist_ok=True)
        prepare(options, folder, [square for some in squares.values() for square in some])
        for case in cases(options, folder, truths):
            found.append(case)
            print(tables.details([case]), flush=True)
    print(tables.summary(found))
    if options.output:
        pathlib.Path(options.output).write_text(tables.summary(found) + "\n" + tables.details(found))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(found, indent=1))


main()
