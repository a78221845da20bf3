"""Our own figure: what exchanges buy that cost no privacy. Trainings and results are those of bench/free.py."""
import free
import shared
from shared import Caption, Figure, Panel

GRAPHS = {"sparse": "20 agents, Erdős–Rényi p = 0.2", "ring": "ring of 64"}
STEPS = ["K = 1", "K = 2", "K = 4", "K = 8", "K auto"]
ENDS = {"final gossip": "final gossip", "final gossip, tail mean": "final gossip and tail mean", "K = 1, all": "all, K = 1",
        "K auto, all": "all, K auto"}
NAMES = {"pairs": "pairs q=1", "corn": "corn horizon", "cdp": "trusted aggregator"}


def table_of(graph, size):
    return free.table_of(graph, folder=size.of(None, None, size.work), small=size.name == "tiny")


def megabytes(cell):
    return free.mean_of(cell, "bytes_sent") / 1e6


def measure(size):
    rows = []
    for graph in size.of(list(GRAPHS), list(GRAPHS), ["sparse"]):
        table = table_of(graph, size)
        losses = lambda cell: [run["test_loss"] for run in cell["runs"]]
        spent = []
        for mechanism in free.MECHANISMS:
            for lever in [*STEPS, *ENDS]:
                cell = table.find({"mechanism": mechanism, "lever": lever})
                curve = NAMES[mechanism] + (f": {ENDS[lever]}" if lever in ENDS else "")
                spent.append(megabytes(cell))
                rows.append(shared.mean_row(graph, curve, megabytes(cell), losses(cell)))
        cdp = table.find({"mechanism": "cdp", "lever": "K = 1"})
        rows += [shared.mean_row(graph, NAMES["cdp"], at, losses(cdp)) for at in (min(spent), max(spent))]
    return rows


def less(table, first, second):
    """Mean and half width of first less second, seed by seed; each a mechanism and a lever."""
    return table.difference(*({"mechanism": mechanism, "lever": lever} for mechanism, lever in (first, second)))


def caption(rows, size):
    shown = [graph for graph in GRAPHS if any(row.panel == graph for row in rows)]
    tables = {graph: table_of(graph, size) for graph in shown}
    below = lambda found: found[0] + found[1] < 0
    claims = []
    for graph in shown:
        table, where = tables[graph], GRAPHS[graph]
        claims += [(f"{where}: {NAMES[mechanism]} with {words} have a lower loss than with K = 1 and last models",
                    below(less(table, (mechanism, lever), (mechanism, "K = 1"))))
                   for mechanism in free.MECHANISMS for lever, words in (("final gossip", "final gossip alone"), ("K auto", "K auto"))]
    told = " ".join(
        f"{GRAPHS[graph]}, pairs: K auto less the trusted aggregator {text(less(tables[graph], ('pairs', 'K auto'), ('cdp', 'K = 1')))}; "
        f"final gossip and tail mean less last models, both K = 1, {text(less(tables[graph], ('pairs', 'final gossip, tail mean'), ('pairs', 'K = 1')))}."
        for graph in shown)
    return Caption(
        paper="",
        setting="test loss on a9a of what agents end up with, against what all agents send in a training; agent adjacency, ε = 10, δ = 1e-5, T = 1000, mean of "
                f"{len(free.SEEDS)} seeds with 95% intervals, step size chosen for every cell on held-out training records. Curves: K = 1, 2, 4, 8 and auto exchanges "
                "a round with Chebyshev weights, last models. Single points: with final gossip (auto), with the mean of the last half of the models besides, and with all "
                "of it and optimised mixing weights. `bench/run free` measures. Differences are paired by seed, with 95% intervals.",
        claims=claims, extra=told)


def text(found):
    return f"{found[0]:+.4f} ± {found[1]:.4f}"


FIGURES = [Figure("FREE", "what exchanges buy that cost no privacy",
                  [Panel(key, title, ("megabytes", "MB sent by all agents"), ("test_loss", "test loss"), log_x=True)
                   for key, title in GRAPHS.items()],
                  measure, caption, needs=("a9a.gz", "a9a.t.gz"))]
