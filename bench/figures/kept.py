"""Rows from the results of benchmarks (bench/results): trainings by cell, with the value of every seed."""
from rows import mean_row


def cell_row(panel, curve, x, table, cell, figure=None):
    """The row of one cell of a grid."""
    return mean_row(panel, curve, x, {str(seed): run[figure or table.metric] for seed, run in zip(table.settings["seeds"], cell["runs"])})


def mean_of(cell, figure):
    return sum(run[figure] for run in cell["runs"]) / len(cell["runs"])
