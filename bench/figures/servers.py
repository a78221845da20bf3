"""Our own figure: the cost of trusting no server. Trainings and results come from bench/price.py."""
import dataclasses

import price
from figure import Caption, Claim, Figure, Panel, Told
from kept import cell_row
from verdicts import HIGHER, LOWER, SAME

TASKS = {"a9a": "a9a, logistic regression", "housing": "California housing, 8-64-1"}
NAMES = {"central": "one server, all data", "cdp": "trusted aggregator", "pairs, q = 1": "pairs q=1",
         "pairs, q = 2": "pairs q=2", "corn": "corn horizon", "ldp": "ldp", "alone": "each agent alone",
         "pairs, cyclic": "pairs, records in turn"}
OURS = NAMES[price.OURS]
LEFT_OUT = ("pairs q=2", "corn horizon", "none")
MARGINS = {"test_accuracy": 0.005, "test_loss": 0.02}


def measure(size):
    rows = []
    for name in TASKS:
        table = price.table_of(name)
        rows += [cell_row(name, NAMES[cell["way"]], cell["epsilon"], table, cell) for cell in table.cells if cell["way"] != "none"]
        free = cell_row(name, "none", 0, table, table.find({"way": "none"}))
        rows += [dataclasses.replace(free, x=epsilon) for epsilon in table.settings["epsilons"]]
    return rows


def caption(table, size):
    shown = [task for task in TASKS if table.curves(task)]
    metric = {task: price.TASKS[task]["metric"] for task in TASKS}
    better = {task: HIGHER if metric[task] == "test_accuracy" else LOWER for task in TASKS}
    against = lambda task, curve, margin=None: table.cells(task, OURS, curve, margin=margin)
    return Caption(
        paper="",
        setting="test accuracy (housing: mean squared error) of the agents' own models against ε for one record (added or removed, δ = "
                f"1e-5), batches sampled in secret; {price.AGENTS} agents, Erdős–Rényi p = 0.5, mean of {len(price.SEEDS)} seeds, each way's first "
                "run without knobs (`--tune auto`, whose measurement is in ε). One server, all data: DP-SGD with the same sampling. Each agent alone: "
                "DP-SGD on one twentieth of the data. Records in turn: pairs without secret sampling, T = 200, step size chosen on held-out training records. Only in the table: "
                f"{', '.join(LEFT_OUT)}. Measured by `bench/run price`.",
        claims=[claim for task in shown for claim in (
            Claim(f"{TASKS[task]}: `{OURS}` is as good as one server with all data (margin: {MARGINS[metric[task]]:g})",
                  against(task, NAMES["central"], MARGINS[metric[task]]), (SAME, better[task])),
            Claim(f"{TASKS[task]}: `{OURS}` is better than `ldp`", against(task, NAMES["ldp"]), (better[task],)),
            Claim(f"{TASKS[task]}: `{OURS}` is better than each agent alone", against(task, NAMES["alone"]), (better[task],)))],
        ours=[Told(f"{TASKS[task]}: `{OURS}` against {NAMES[way]}", against(task, NAMES[way])) for task in shown
              for way in ("cdp", "pairs, cyclic")])



LABELS = {"test_accuracy": "test accuracy", "test_loss": "mean squared error"}
FIGURES = [Figure("SERVER", "the price of having no server",
                  [Panel(key, title, ("epsilon", "ε for one record"), (metric, LABELS[metric]), "ε", log_x=True, ticks=[0.5, 1, 2, 4, 8],
                         left_out=LEFT_OUT)
                   for key, title in TASKS.items() for metric in [price.TASKS[key]["metric"]]],
                  measure, caption,
                  needs=("a9a.gz", "a9a.t.gz", "cal_housing.data.gz"))]
