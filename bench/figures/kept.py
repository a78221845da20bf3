"""Rows from the results of benchmarks (bench/results): trainings by cell, with the value of every seed."""
import json

import common
from rows import mean_row


def file_of(name):
    return common.ROOT / "bench" / "results" / f"{name}.json"


def has_results(name):
    """Whether results of a benchmark are kept."""
    return file_of(name).exists()


def results(name):
    """Kept results of a benchmark."""
    return json.loads(file_of(name).read_text(encoding="utf-8"))


def by_seed(values):
    """{seed: value} of benchmarks whose seeds are 1, 2, 3 and so on."""
    return {str(seed): value for seed, value in enumerate(values, 1)}


def runs_of(table, figure, **wanted):
    """{seed: figure} of the cell of a kept grid with these entries. @throws LookupError if there is none, or several."""
    found = [cell for cell in table["cells"] if all(cell.get(key) == value for key, value in wanted.items())]
    if len(found) != 1:
        raise LookupError(f"kept results have {len(found)} cells with {wanted}, not one")
    return {str(seed): run[figure] for seed, run in zip(table["settings"]["seeds"], found[0]["runs"], strict=True)}


def less(first, second, scale=1.0):
    """{seed: scale * (first - second)}. @throws ValueError if they have different seeds, which cannot be paired."""
    if set(first) != set(second):
        raise ValueError(f"values of seeds {sorted(first)} and {sorted(second)} cannot be paired")
    return {seed: scale * (first[seed] - second[seed]) for seed in first}


def places(words):
    """Ticks of an axis of categories, which are at 1, 2, 3 and so on."""
    return dict(enumerate(words, 1))


def cell_row(panel, curve, x, table, cell, figure=None):
    """The row of one cell of a grid."""
    return mean_row(panel, curve, x, {str(seed): run[figure or table.metric] for seed, run in zip(table.settings["seeds"], cell["runs"])})


def mean_of(cell, figure):
    return sum(run[figure] for run in cell["runs"]) / len(cell["runs"])
