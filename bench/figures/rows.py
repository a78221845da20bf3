"""Rows of a figure: measurements with the value of every seed. The CSV holds them; pictures and captions are made from them."""
import csv
import dataclasses
import io
import math

import common
import verdicts
from verdicts import Values

COLUMNS = ["panel", "curve", "x_name", "x", "y_name", "y", "low", "high", "seeds"]
EXACT = "exact"


@dataclasses.dataclass(frozen=True)
class Row:
    """y and the ends of its interval or spread. seeds: ((seed, value), ...) with the mean y, or None if computed without chance."""
    panel: str
    curve: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    seeds: tuple | None = None


class OldTable(Exception):
    """A table without the values of every seed, from which nothing can be concluded."""


def mean_row(panel, curve, x, values):
    """The mean of {seed: value} with its 95% interval."""
    mean, half_width = common.interval95(list(values.values()))
    ends = (None, None) if half_width is None else (mean - half_width, mean + half_width)
    return Row(panel, curve, x, mean, *ends, tuple(values.items()))


def geometric_row(panel, curve, x, values):
    """The geometric mean with its interval, or the arithmetic mean if a value is not positive."""
    if min(values.values()) <= 0:
        return mean_row(panel, curve, x, values)
    row = mean_row(panel, curve, x, {seed: math.log(value) for seed, value in values.items()})
    exp = lambda value: None if value is None else math.exp(value)
    return Row(panel, curve, x, exp(row.y), exp(row.low), exp(row.high), tuple(values.items()))


def number(value):
    """A number as text, with up to ten digits."""
    return "" if value is None else f"{value:.10g}"


def write_csv(path, figure, rows):
    panels = {panel.key: panel for panel in figure.panels}
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    for row in rows:
        panel = panels[row.panel]
        seeds = EXACT if row.seeds is None else " ".join(f"{seed}={number(value)}" for seed, value in row.seeds)
        table.writerow([row.panel, row.curve, panel.x[0], number(row.x), panel.y[0], number(row.y), number(row.low),
                        number(row.high), seeds])
    common.replace_file(path, text.getvalue())


def read_csv(path):
    """Rows of a table. @throws OldTable without the values of every seed."""
    value = lambda text: float(text) if text else None
    with open(path, encoding="utf-8") as file:
        lines = csv.DictReader(file)
        if "seeds" not in lines.fieldnames:
            raise OldTable(f"{path.name} has no values of seeds: measure {path.stem} again")
        return [Row(line["panel"], line["curve"], float(line["x"]), float(line["y"]), value(line["low"]), value(line["high"]),
                    seeds_of(line["seeds"], path)) for line in lines]


def seeds_of(text, path):
    if text == EXACT:
        return None
    if not text:
        raise OldTable(f"{path.name} has a row without values of seeds: measure {path.stem} again")
    return tuple((seed, float(value)) for seed, value in (pair.split("=") for pair in text.split(" ")))


class Table:
    """Rows with the axes of their panels, for captions."""

    def __init__(self, figure, rows):
        self.rows = rows
        self.panels = {panel.key: panel for panel in figure.panels}
        self.at = {(row.panel, row.curve, row.x): row for row in rows}

    def curves(self, panel):
        return list(dict.fromkeys(row.curve for row in self.rows if row.panel == panel))

    def xs(self, panel, *curves):
        """The x at which all curves have points."""
        found = sorted({row.x for row in self.rows if row.panel == panel and (not curves or row.curve in curves)})
        return [x for x in found if all((panel, curve, x) in self.at for curve in curves)]

    def y(self, panel, curve, x):
        return self.at[panel, curve, x].y

    def ys(self, panel, curve):
        """{x: y} of a curve."""
        return {x: self.y(panel, curve, x) for x in self.xs(panel, curve)}

    def values(self, panel, curve, x):
        row = self.at[panel, curve, x]
        return verdicts.exact(row.y) if row.seeds is None else Values(by_seed=dict(row.seeds))

    def label(self, panel, x):
        """'p = 0.2'."""
        shown = self.panels[panel]
        return f"{shown.symbol or shown.x[0]} = {x:g}"

    def compare(self, panel, first, second, x, margin=None):
        """The verdict on the first curve against the second: by ratios on a logarithmic axis, else by differences."""
        return verdicts.verdict(self.values(panel, first, x), self.values(panel, second, x), self.panels[panel].log_y, margin)

    def graphs(self, panel, first, second, xs=None, margin=None):
        """As cells, of numbers that do not depend on chance but on the graph: compared graph by graph."""
        return [(self.label(panel, x), verdicts.by_graph(self.values(panel, first, x), self.values(panel, second, x),
                                                         self.panels[panel].log_y, margin))
                for x in self.xs(panel, first, second) if xs is None or xs(x)]

    def equal_graphs(self, panel, first, second):
        """'6 of 10 at p = 0.2, 1 of 10 at p = 0.4': on how many graphs both curves are the same, where they are on any."""
        found = []
        for x in self.xs(panel, first, second):
            a, b = (self.at[panel, curve, x].seeds for curve in (first, second))
            same = [verdicts.verdict(verdicts.exact(u), verdicts.exact(v)).word == verdicts.SAME for (_, u), (_, v) in zip(a, b)]
            found += [f"{sum(same)} of {len(same)} at {self.label(panel, x)}"] if any(same) else []
        return ", ".join(found) or "none"

    def cells(self, panel, first, second, xs=None, margin=None):
        """Labelled verdicts where both curves have points. xs: a function that chooses among them, or all."""
        return [(self.label(panel, x), self.compare(panel, first, second, x, margin)) for x in self.xs(panel, first, second)
                if xs is None or xs(x)]

    def against(self, panel, curve, number, xs=None, margin=None):
        """Labelled verdicts on a curve against a number."""
        return [(self.label(panel, x), verdicts.against(self.values(panel, curve, x), number, self.panels[panel].log_y, margin))
                for x in self.xs(panel, curve) if xs is None or xs(x)]

    def gaps(self, panel, first, second, x):
        """first over second at x on a logarithmic axis, else first less second."""
        how = verdicts.ratio if self.panels[panel].log_y else verdicts.difference
        return how(self.values(panel, first, x), self.values(panel, second, x))

    def gap_cells(self, panel, first, second, at, others, as_difference=False):
        """Labelled verdicts on the distance of two curves at `at` against that at every x in others."""
        log = self.panels[panel].log_y and not as_difference
        how = (lambda x: verdicts.difference(self.values(panel, first, x), self.values(panel, second, x))) if as_difference else (
            lambda x: self.gaps(panel, first, second, x))
        return [(f"{self.label(panel, at)} against {x:g}", verdicts.verdict(how(at), how(x), log)) for x in others]


def span(values, form="{:.3g}"):
    """'1.2 to 3.4' of some values."""
    low, high = form.format(min(values)), form.format(max(values))
    return low if low == high else f"{low} to {high}"
