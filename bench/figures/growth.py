"""Our own figure: how cost grows. bench/scaling.py and bench/scale.py measure; this draws their results."""
import math

from figure import Caption, Figure, Panel
from kept import results
from rows import Row

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
    grown = ". ".join(f"In {label}: " + "; ".join(f"{curve}: {power(table, panel, curve):.2g}" for curve in table.curves(panel))
                      for panel, label in PANELS.items())
    plans = "; ".join(f"{curve}: {next(iter(table.ys('plans', curve).values())):.3g} s" for curve in table.curves("plans"))
    return Caption(
        paper="",
        setting="median seconds on two cores (trainings: one thread, ten rounds) by `bench/run scaling`, which fits powers over all sizes "
                "([scaling](scaling.md)); (d): seconds of whole plans of `pairs` by `bench/run scale`.",
        claims=[],
        notes=f"exponents between the largest two sizes. {grown}. (d): {plans}.")


SECONDS = ("seconds", "seconds")
FIGURES = [Figure("SCALE", "how cost grows",
                  [Panel(key, f"({letter}) against {label}", (key, label), SECONDS, log_x=True, log_y=True) for letter,
                   (key, label) in zip("abc", PANELS.items())]
                  + [Panel("plans", "(d) plans of pairs", ("place", "case"), SECONDS, log_y=True, drawn=False)],
                  measure, caption)]
