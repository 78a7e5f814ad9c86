"""Figures of cases as tables in markdown."""

import re

import numpy

import patterns

# The least contrast of patterns whose shift counts in summaries.
SHIFT_CONTRAST = 0.3


def cell(value, digits):
    return "" if value is None else f"{value:.{digits}f}"


def table(title, heads, rows):
    lines = [f"**{title}**", "", "| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def summary(found):
    """One row a case: means by kind of pattern, and the largest shift."""
    heads = ["surface", "way", "rate"] + [f"{period} px" for period in patterns.PERIODS]
    heads += ["line 1", "edges", "fbm", "shift", "error", "zone alias", "noise 2", "noise 1"]
    heads += ["points", "micropolygons", "shade s"]
    rows = []
    for case in found:
        squares = case["squares"]

        def mean(figure, pattern):
            values = [f[figure] for name, f in squares.items() if re.fullmatch(pattern, name) and f[figure] is not None]
            return float(numpy.mean(values)) if values else None
        # What is hardly there has no place.
        seen = [f for f in squares.values() if f["shift"] is not None and f["contrast"] >= SHIFT_CONTRAST]
        shifts = [abs(f["shift"]) for f in seen]
        rows.append([case["surface"], case["way"], f"{case['rate']:g}"]
                    + [cell(mean("contrast", f"{period}_[uv]"), 3) for period in patterns.PERIODS]
                    + [cell(mean("contrast", of), 3) for of in ("line_1_.", "edge_.*", "fbm")]
                    + [cell(max(shifts, default=None), 3), cell(mean("error", ".*"), 4)]
                    + [cell(mean("alias", of), 4) for of in ("zone", "noise_2", "noise_1")]
                    + [str(case.get("points", "")), str(case.get("micropolygons", "")), cell(case.get("shade_s"), 2)])
    return table("Contrast by pattern, the largest shift, errors", heads, rows)


def details(found):
    """One table a case: every square."""
    texts = []
    for case in found:
        rows = [[name, cell(f["contrast"], 3), cell(f["shift"], 3), cell(f["error"], 4), cell(f["alias"], 4)]
                for name, f in case["squares"].items()]
        title = f"{case['surface']}, {case['way']}, rate {case['rate']:g}: {case['wall_s']:.1f} s"
        texts.append(table(title, ["pattern", "contrast", "shift", "error", "alias"], rows))
    return "\n".join(texts)
