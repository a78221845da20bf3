"""Our own figure: how cost grows. bench/scaling.py and bench/scale.py measure; this draws their results."""
import math
import re

from figure import Caption, Figure, Panel
from kept import results
from rows import Row, span

# Panel and axis label of every size in scaling.json.
PANELS = {"n": "agents n", "hidden": "units of the hidden layer", "T": "rounds T"}


def measure(size):
    """Rows of seconds against sizes; memory is left out."""
    rows, subject = [], ""
    for entry in results("scaling")["growth"]:
        panel, what = entry["of"], entry["what"].replace("the same", subject)
        subject = what.split(",")[0]
        if panel in PANELS and "memory" not in what:
            rows += [Row(panel, what, x, seconds) for x, seconds in zip(entry["sizes"], entry["values"])]
    return rows + [Row("plans", row["name"], place + 1, row["median_seconds"]) for place, row in enumerate(results("scale")["rows"])]


def power(table, panel, curve):
    """The exponent between the largest two sizes."""
    a, b = table.xs(panel, curve)[-2:]
    return math.log(table.y(panel, curve, b) / table.y(panel, curve, a)) / math.log(b / a)


def caption(table, size):
    found = {panel: [power(table, panel, curve) for curve in table.curves(panel)] for panel in PANELS if table.curves(panel)}
    grown = "; ".join(f"in {PANELS[panel]} {span(exponents, '{:.1f}')}" for panel, exponents in found.items())
    return Caption(
        paper="",
        setting="median seconds on two cores (trainings: one thread, ten rounds) by `bench/run scaling`, which fits powers over all sizes "
                "([scaling](scaling.md)); (d): median seconds of whole plans by `bench/run scale`, of `pairs` unless "
                "another mechanism is named.",
        claims=[],
        notes=f"exponents of the growth between the largest two sizes: {grown}.")


SECONDS = ("seconds", "seconds")
# Cases of bench/scale.py with the words beside them, and a long name as the picture has it.
NAMES = [row["name"] for row in results("scale")["rows"]]
CASES = {place + 1: re.sub(r"^(\d+)", r"\1 agents", name).replace("p .", "p = 0.") for place, name in enumerate(NAMES)}
SHORT = {"plan of pairs along edges, 10 neighbours, gap .05": "plan of pairs, 10 neighbours"}
FIGURES = [Figure("SCALE", "how cost grows",
                  [Panel(key, f"({letter}) against {label}", (key, label), SECONDS, log_x=True, log_y=True, names=SHORT) for letter,
                   (key, label) in zip("abc", PANELS.items())]
                  + [Panel("plans", "(d) plans against curious agents", ("place", "case"), SECONDS, log_y=True,
                           rows=CASES, names=dict.fromkeys(NAMES, ""))],
                  measure, caption)]
