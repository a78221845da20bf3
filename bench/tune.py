"""Training without knobs: what the rule of --tune auto reaches at its first run, beside the best of a grid and beside --tune off.

One record protected, 20 agents (heart: four hospitals), delta = 1e-5. The grid chooses clip and step size on held-out training
records, which costs privacy that its rows do not count; the rule's own measurement is in its epsilon.

bench/run tune, or python3 bench/tune.py a9a ...: only these tasks.
"""
import csv
import os
import random
import sys

import common
import grid

HEART = {"data": "examples/heart/*.csv", "label": "target>0", "missing": "indicator", "bounds": "examples/heart/bounds",
         "categorical": "cp,restecg,slope,thal"}
TASKS = {
    "a9a": {"data": "a9a.gz", "test_data": "a9a.t.gz"},
    "w8a": {"data": "w8a.gz", "test_data": "w8a.t.gz"},
    "ijcnn1": {"data": "ijcnn1.gz"},
    "phishing": {"data": "phishing.gz"},
    "mushrooms": {"data": "mushrooms"},
    "softmax": {"task": "softmax", "data": "train-images-idx3-ubyte.gz", "test_data": "t10k-images-idx3-ubyte.gz"},
    "mlp": {"task": "mlp", "data": "train-images-idx3-ubyte.gz", "test_data": "t10k-images-idx3-ubyte.gz"},
    "housing": {"task": "mlp", "data": "cal_housing.data.gz", "bounds": "examples/housing/bounds", "standardise": "private",
                "metric": "test_loss_mean_model"},
    "heart": HEART | {"agents": None, "partition": None},
    "csv": {"data": "unscaled.csv", "label": "y", "bounds": "income=0:500000,age=0:110,rate=0:1,count=0:1000",
            "standardise": "private"},
}
EPSILONS = [0.5, 1, 2, 8]
GRAPHS = {"complete": {"topology": "complete"}, "ER .5": {"edge_probability": 0.5}, "ER .2": {"edge_probability": 0.2},
          "ring": {"topology": "ring"}}
PARTITIONS = {"iid": "iid", "Dirichlet .5": "dirichlet:0.5"}
SEEDS, VALIDATION = [1, 2, 3, 4, 5], [101, 102]
CLIPS = [0.1, 0.5, 2, 8]
WAYS = {"auto": {}, "off": {"tune": "off"}}


def unscaled():
    """Records whose columns have very different units; made once."""
    path = common.BUILD / "unscaled.csv"
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    dice = random.Random(1)
    with open(path.with_suffix(".new"), "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["income", "age", "rate", "count", "y"])
        for _ in range(20000):
            income, age = dice.lognormvariate(10.5, 0.6), min(dice.gauss(45, 15), 100)
            rate, count = dice.betavariate(2, 30), dice.expovariate(1 / 20)
            score = (income - 43000) / 25000 + (45 - age) / 15 + (rate - 0.06) / 0.03 - (count - 20) / 20
            rows.writerow([f"{income:.0f}", f"{max(age, 0):.0f}", f"{rate:.4f}", f"{min(count, 1000):.0f}",
                           "yes" if score + dice.gauss(0, 1) > 0 else "no"])
    os.replace(path.with_suffix(".new"), path)
    return path


def options_of(task, cell, step, seed, testing):
    """One training: cell["way"] of WAYS, or a clip of the grid."""
    data = task["data"]
    options = {"task": task.get("task", "logistic"), "adjacency": "record-add-remove", "delta": 1e-5, "epsilon": cell["epsilon"],
               "data": unscaled() if data == "unscaled.csv" else data if "examples" in data else common.data_file(data),
               "seed": seed, "graph_seed": seed, "noise_seed": seed, "eval_every": 100000, "final_gossip": "auto"}
    options |= {name: task[name] for name in ("label", "missing", "bounds", "categorical", "standardise") if name in task}
    options |= GRAPHS[cell["graph"]]
    if task.get("agents", 20):
        options |= {"agents": 20, "partition": PARTITIONS[cell["partition"]]}
    if testing and "test_data" in task:
        options["test_data"] = common.data_file(task["test_data"])
    if cell["way"] in WAYS:
        return options | WAYS[cell["way"]]
    return options | {"rounds": 300, "batch_size": 0.1, "clip_norm": cell["clip"], "step_size": step, "step_schedule": "linear"}


def tables_of(name, small=common.QUICK):
    """Results of the rule and of --tune off, and of the grid."""
    task = TASKS[name]
    metric = task.get("metric", "test_accuracy_mean_model")
    epsilons = [1] if small else EPSILONS
    graphs = ["ER .5"] if small else list(GRAPHS)
    partitions = ["iid"] if small or task.get("partition", "") is None else list(PARTITIONS)
    seeds = SEEDS[:2] if small else SEEDS
    places = [{"epsilon": epsilon, "graph": graph, "partition": partition}
              for epsilon in epsilons for graph in graphs for partition in partitions]
    shared = {"task": task, "seeds": seeds, "validation_seeds": VALIDATION[:1] if small else VALIDATION}
    plain = grid.Grid(f"tune_{name}", shared | {"step_sizes": [0]}, lambda *cell: options_of(task, *cell), metric,
                      largest_is_best=metric != "test_loss_mean_model")
    plain.measure([{"way": way} | place for place in places for way in WAYS])
    best = grid.Grid(f"tune_{name}_grid", shared | {"step_sizes": [0.1, 0.4, 1.6], "widen": 4},
                     lambda *cell: options_of(task, *cell), metric, largest_is_best=metric != "test_loss_mean_model")
    best.measure([{"way": "grid", "clip": clip} | place for place in places for clip in (CLIPS[1:3] if small else CLIPS)])
    return plain, best, places


def best_of(table, place):
    """The clip that is best on held-out records; not the smallest or largest unless no other is better."""
    cells = [cell for cell in table.cells if cell["way"] == "grid" and all(cell[key] == value for key, value in place.items())]

    def validated(cell):
        # JSON has made texts of the steps.
        runs = next(runs for step, runs in cell["validation"].items() if float(step) == cell["step_size"])
        return table._value(runs)

    return min(cells, key=validated)


def regret(plain, best, place):
    """What the best of the grid is better than the rule, in points of accuracy, or hundredths of the loss."""
    rule, tuned = plain.find({"way": "auto"} | place), best_of(best, place)
    if rule["mean"] is None or tuned["mean"] is None:
        return None
    return 100 * (tuned["mean"] - rule["mean"]) * (1 if plain.sign < 0 else -1)


def write(name):
    plain, best, places = tables_of(name)
    rows, lost = [], []
    for place in places:
        found = regret(plain, best, place)
        lost.append(found)
        rows.append([place["epsilon"], place["graph"], place["partition"],
                     *(grid.text_of(plain.find({"way": way} | place)) for way in WAYS), grid.text_of(best_of(best, place)),
                     "diverged" if found is None else f"{found:+.2f}"])
    known = [value for value in lost if value is not None]
    common.write_results(f"tune_{name}", {"settings": plain.settings, "cells": plain.cells, "grid": best.cells},
                         f"{name}: {plain.metric}, {len(plain.settings['seeds'])} seeds with 95% intervals.\n\n" +
                         common.table(["epsilon", "graph", "partition", "--tune auto", "--tune off", "best of the grid",
                                       "regret"], rows) +
                         f"\nRegret: mean {sum(known) / len(known):+.2f}, worst {max(known):+.2f}.\n")


if __name__ == "__main__":
    for chosen in sys.argv[1:] or (["phishing"] if common.QUICK else TASKS):
        write(chosen)
