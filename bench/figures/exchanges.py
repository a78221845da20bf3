"""Our own figure: what exchanges gain that cost no privacy. Trainings and results come from bench/free.py."""
import dataclasses

import free
from figure import Caption, Claim, Figure, Panel, Told
from kept import cell_row, mean_of
from verdicts import LOWER, verdict

GRAPHS = {"sparse": "20 agents, Erdős–Rényi p = 0.2", "ring": "ring of 64"}
STEPS = ["K = 1", "K = 2", "K = 4", "K = 8", "K auto"]
ENDS = {"final gossip": "gossip", "final gossip, tail mean": "gossip, tail mean", "K = 1, all": "all, K = 1",
        "K auto, all": "all, K auto"}
NAMES = {"pairs": "pairs q=1", "corn": "corn horizon", "cdp": "trusted aggregator"}
# What their curves and points are called in the picture.
LABELS = {"": "K = 1, 2, 4, 8, auto", ": gossip": "final gossip", ": gossip, tail mean": "final gossip, tail mean"}
NEEDS = ("a9a.gz", "a9a.t.gz")
SETTING = (f"agent adjacency, ε = 10, δ = 1e-5, T = 1000, mean of {len(free.SEEDS)} seeds, step size tuned on held-out training records")


def cell_of(table, mechanism, lever):
    return table.find({"mechanism": mechanism, "lever": lever})


def megabytes(cell):
    return mean_of(cell, "bytes_sent") / 1e6


def measure(size):
    rows = []
    for graph in GRAPHS:
        table = free.table_of(graph)
        spent = []
        for mechanism in free.MECHANISMS:
            for lever in [*STEPS, *ENDS]:
                cell = cell_of(table, mechanism, lever)
                spent.append(megabytes(cell))
                rows.append(cell_row(graph, NAMES[mechanism] + (f": {ENDS[lever]}" if lever in ENDS else ""), spent[-1], table, cell))
                rows.append(dataclasses.replace(rows[-1], panel=f"{graph}-levers", curve=f"{mechanism}, {lever}", x=0))
        cdp = cell_row(graph, NAMES["cdp"], min(spent), table, cell_of(table, "cdp", "K = 1"))
        rows += [cdp, dataclasses.replace(cdp, x=max(spent)), dataclasses.replace(cdp, panel=f"{graph}-levers", curve="cdp, K = 1", x=0)]
    return rows


def compared(table, graph, first, second):
    """The verdict on one lever against another, each named 'mechanism, lever'."""
    panel = f"{graph}-levers"
    return verdict(table.values(panel, first, 0), table.values(panel, second, 0))


def caption(table, size):
    shown = [graph for graph in GRAPHS if table.curves(graph)]
    cells = lambda first, second: [(GRAPHS[graph], compared(table, graph, first, second)) for graph in shown]
    return Caption(
        paper="",
        setting=f"test loss on a9a of the agents' final models against bytes sent by all agents; {SETTING}. Curves: last models after K "
                f"= 1, 2, 4, 8 and auto exchanges per round with Chebyshev weights. Single points, drawn side by side to the right of where "
                f"they are (K = 1): with final gossip (auto), and with the mean of the last half of the models too (tail mean). Only in the table: all of these with optimised mixing weights. Measured by "
                f"`bench/run free`.",
        claims=[Claim(f"`{NAMES[mechanism]}` with {text} has less loss than last models with K = 1",
                      cells(f"{mechanism}, {lever}", f"{mechanism}, K = 1"),
                      (LOWER,))
                for mechanism in free.MECHANISMS for lever, text in (("final gossip", "final gossip alone"), ("K auto", "K auto"))],
        ours=[Told("`pairs q=1` with K auto against the trusted aggregator", cells("pairs, K auto", "cdp, K = 1")),
              Told("`pairs q=1` with final gossip and tail mean against last models, both K = 1",
                   cells("pairs, final gossip, tail mean", "pairs, K = 1"))])


def panels(axis):
    found = []
    for key, title in GRAPHS.items():
        found += [Panel(key, title, axis, ("test_loss", "test loss"), log_x=True, left_out=tuple(
                      f"{name}: {end}" for name in NAMES.values() for end in ENDS.values() if end.startswith("all")),
                        names={NAMES[mechanism] + end: f"{NAMES[mechanism]}: {label}" for mechanism in free.MECHANISMS
                               for end, label in LABELS.items()}),
                  Panel(f"{key}-levers", "", ("none", ""), ("test_loss", "test loss"), drawn=False)]
    return found


FIGURES = [Figure("FREE", "what exchanges gain that cost no privacy", panels(("megabytes", "MB sent by all agents")), measure, caption,
                  needs=NEEDS)]
