"""Our own figure: the cost of trusting no server. Trainings and results come from bench/price.py."""
import dataclasses

import price
from figure import Caption, Claim, Figure, Panel, Told
from kept import cell_row
from verdicts import HIGHER, SAME

TASKS = {"hospitals": "Four hospitals, whose patients differ", "softmax": "MNIST, softmax, 20 agents with iid data"}
NAMES = {"central": "one server, all data", "cdp": "trusted aggregator", "pairs, q = 1": "pairs q=1",
         "ldp": "ldp", "alone": "each agent alone"}
OURS = NAMES[price.OURS]
LEFT_OUT = ("none", NAMES["cdp"])  # in pictures
MARGIN = 0.01


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
    against = lambda task, curve, margin=None: table.cells(task, OURS, curve, margin=margin)
    return Caption(
        paper="",
        setting="test accuracy of the agents' own models, less that of one server with all data, with 95% intervals of the differences paired "
                "by seed (levels are in the table), against ε for one record (added or removed, δ = 1e-5), batches sampled in secret, "
                "each way's first run without knobs (`--tune auto`, whose measurement is in ε). Hospitals: four files of patients, of whom a fifth, "
                f"drawn anew for each of {len(price.TASKS['hospitals']['seeds'])} seeds, tests all ways; alone: one hospital after the other. MNIST: "
                f"{price.AGENTS} agents, Erdős–Rényi p = 0.5, {len(price.SEEDS)} seeds; alone: on one twentieth of the data. One server, all data: "
                "DP-SGD with the same sampling. Measured by `bench/run price`.",
        claims=[claim for task in shown for claim in (
            Claim(f"{TASKS[task]}: `{OURS}` is as good as one server with all data (margin: {MARGIN:g})",
                  against(task, NAMES["central"], MARGIN), (SAME, HIGHER)),
            Claim(f"{TASKS[task]}: `{OURS}` is better than `ldp`", against(task, NAMES["ldp"]), (HIGHER,)),
            Claim(f"{TASKS[task]}: `{OURS}` is better than each agent alone", against(task, NAMES["alone"]), (HIGHER,)))],
        ours=[Told(f"{TASKS[task]}: `{OURS}` against {NAMES['cdp']}", against(task, NAMES["cdp"])) for task in shown])


FIGURES = [Figure("SERVER", "the price of having no server",
                  [Panel(key, title, ("epsilon", "ε for one record"), ("test_accuracy", "test accuracy"), "ε", log_x=True,
                         ticks=[0.5, 1, 2, 4, 8], left_out=LEFT_OUT, against=NAMES["central"]) for key, title in TASKS.items()],
                  measure, caption,
                  needs=("train-images-idx3-ubyte.gz", "t10k-images-idx3-ubyte.gz"))]
