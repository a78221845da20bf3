"""Training without knobs: what the rule of --tune auto reaches at its first run, beside the best of a grid and beside --tune off.

One record protected, 20 agents (heart: four hospitals), delta = 1e-5. The grid (300 rounds, a tenth of the records in each, steps
that fall linearly as the rule's do) chooses clip and step size on held-out records, neither at an edge, which costs privacy that its
rows do not count; the rule's own measurement is in its epsilon. Epsilon, graph and partition vary one at a time around epsilon 1, ER .5
and iid; slow tasks have only these.

bench/run tune, or python3 bench/tune.py [--full] [a9a ...]: only these tasks; --full: every epsilon on every graph with every partition.
"""
import csv
import os
import random
import sys

import common
import features
import grid

HEART = {"data": "examples/heart/*.csv", "label": "target>0", "missing": "indicator", "bounds": "examples/heart/bounds",
         "categorical": "cp,restecg,slope,thal"}
TASKS = {
    "a9a": {"data": "a9a.gz", "test_data": "a9a.t.gz"},
    "w8a": {"data": "w8a.gz", "test_data": "w8a.t.gz"},
    "ijcnn1": {"data": "ijcnn1.gz"},
    "phishing": {"data": "phishing.gz"},
    "mushrooms": {"data": "mushrooms"},
    "softmax": {"slow": True, "task": "softmax", "data": "train-images-idx3-ubyte.gz", "test_data": "t10k-images-idx3-ubyte.gz"},
    "mlp": {"slow": True, "task": "mlp", "data": "train-images-idx3-ubyte.gz", "test_data": "t10k-images-idx3-ubyte.gz"},
    "cifar": {"slow": True, "task": "softmax", "data": "features of CIFAR-10"},
    "housing": {"task": "mlp", "data": "cal_housing.data.gz", "bounds": "examples/housing/bounds", "standardise": "private",
                "partition": None, "metric": "test_loss_mean_model"},
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
IN_SHORT = {"a9a": "a9a", "phishing": "phishing", "mlp": "MNIST, MLP", "cifar": "CIFAR-10 features", "housing": "housing (error)",
            "heart": "hospitals", "csv": "mixed units"}


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


def files_of(task):
    """Training records and test records; without the latter the program holds some out."""
    made = {"unscaled.csv": lambda: (unscaled(), None), "features of CIFAR-10": features.cifar_features}
    if task["data"] in made:
        return made[task["data"]]()
    if "examples" in task["data"]:
        return task["data"], None
    return common.data_file(task["data"]), "test_data" in task and common.data_file(task["test_data"])


def options_of(task, cell, step, seed, testing):
    """One training: cell["way"] of WAYS, or a clip of the grid with this step, or the best clip and step."""
    data, test_data = files_of(task)
    options = {"task": task.get("task", "logistic"), "adjacency": "record-add-remove", "delta": 1e-5, "epsilon": cell["epsilon"],
               "data": data, "seed": seed, "graph_seed": seed, "noise_seed": seed, "eval_every": 100000, "final_gossip": "auto"}
    options |= {name: task[name] for name in ("label", "missing", "bounds", "categorical", "standardise") if name in task}
    options |= GRAPHS[cell["graph"]]
    if task.get("agents", 20):
        options |= {"agents": 20, "partition": PARTITIONS[cell["partition"]]}
    if testing and test_data:
        options["test_data"] = test_data
    if cell["way"] in WAYS:
        # Batches of 128, the usual ones, are refused where a shard is smaller.
        fewer = {"batch_size": 0.1} if cell["way"] == "off" and (cell["partition"] != "iid" or not task.get("agents", 20)) else {}
        return options | WAYS[cell["way"]] | fewer
    return options | {"rounds": 300, "batch_size": 0.1, "clip_norm": cell["clip"], "step_size": cell.get("step", step),
                      "step_schedule": "linear"}


def places_of(task, full, small):
    """Every epsilon on every graph with every partition if `full`; otherwise one of the three varied at a time."""
    partitions = ["iid"] if task.get("partition", "") is None else list(PARTITIONS)
    if full:
        return [{"epsilon": epsilon, "graph": graph, "partition": partition}
                for epsilon in EPSILONS for graph in GRAPHS for partition in partitions]
    centre = {"epsilon": 1, "graph": "ER .5", "partition": "iid"}
    if small or task.get("slow"):
        return [centre]
    varied = {"epsilon": EPSILONS, "graph": GRAPHS, "partition": partitions}
    return [centre] + [centre | {name: value} for name, values in varied.items() for value in values if value != centre[name]]


def tables_of(name, full=False, small=common.QUICK):
    """Results of the rule and of --tune off, and of the grid at those of the places where it is measured."""
    task = TASKS[name]
    metric = task.get("metric", "test_accuracy_mean_model")
    places = places_of(task, full, small)
    gridded = places if full else [place for place in places if place["epsilon"] in (1, 8) and place["graph"] == "ER .5"]
    largest_is_best = metric != "test_loss_mean_model"
    validation = VALIDATION[:1] if small else VALIDATION
    shared = {"task": task, "validation_seeds": validation}
    tried = grid.Grid(f"tune_{name}_grid", shared | {"seeds": [], "step_sizes": [0.1, 0.4, 1.6], "widen": 4},
                      lambda *cell: options_of(task, *cell), metric, largest_is_best, folder=common.BUILD / "tune")
    plain = grid.Grid(f"tune_{name}", shared | {"seeds": SEEDS[:2] if small else SEEDS, "step_sizes": []},
                      lambda *cell: options_of(task, *cell), metric, largest_is_best,
                      folder=common.BUILD / "tune", searched=lambda cell: False)
    plain.measure([{"way": way} | place for place in places for way in WAYS])
    plain.measure([{"way": "best"} | best_of(tried, place) | place for place in gridded])
    return plain, places


def best_of(tried, place):
    """Clip and step that are best on held-out records: the best step of every clip at no edge, and the clip neither."""
    def value(cell):
        # JSON has made texts of the steps.
        return tried.value(next(runs for step, runs in cell["validation"].items() if float(step) == cell["step_size"]))

    clips = list(CLIPS)
    while True:
        tried.measure([{"way": "grid", "clip": clip} | place for clip in clips])
        cells = [tried.find({"clip": clip} | place) for clip in clips]
        best = min(cells, key=value)
        if len(clips) > 8 or best["clip"] not in (clips[0], clips[-1]):
            return {"clip": best["clip"], "step": best["step_size"]}
        clips = sorted([*clips, best["clip"] * (4 if best["clip"] == clips[-1] else 1 / 4)])


def regret(plain, place):
    """What the best of the grid is better than the rule, in points of accuracy, or hundredths of the loss: mean and half width."""
    best = plain.find({"way": "best"} | place)
    if best is None:
        return None
    mean, width = plain.difference({"way": "best"} | place, {"way": "auto"} | place)
    return 100 * mean * -plain.sign, 100 * width


def row_of(name, plain, place):
    best, lost = plain.find({"way": "best"} | place), regret(plain, place)
    return [name, *(grid.text_of(plain.find({"way": way} | place)) for way in WAYS), grid.text_of(best), f"{lost[0]:+.2f} ± {lost[1]:.2f}"]


def short(cell):
    return "" if cell is None else f"{cell['mean']:.3f}"


def lines_of(head, rows):
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in [head, ["---"] * len(head), *rows])


def write(names, full):
    found = {name: tables_of(name, full) for name in names}
    title = {"epsilon": lambda place: f"epsilon {place['epsilon']}", "graph": lambda place: place["graph"],
             "partition": lambda place: place["partition"]}
    text, lost = "", []
    gridded = {}
    for name, (plain, places) in found.items():
        for place in places:
            if plain.find({"way": "best"} | place):
                gridded.setdefault(tuple(place.items()), []).append(name)
                lost.append(regret(plain, place)[0])
    for place, tasks in gridded.items():
        words = ", ".join(title[key](dict(place)) for key in title)
        text += f"\nBeside the best of a grid: {words}\n\n" + lines_of(
            ["task", "`--tune auto`", "`--tune off`", "best of the grid", "regret"], [row_of(name, found[name][0], dict(place)) for name in tasks])
    columns = max((places for _, places in found.values()), key=len)
    text += "\nThe rule elsewhere: " + "; ".join(", ".join(title[key](place) for key in title) for place in columns) + "\n\n" + lines_of(
        ["task", *(", ".join(title[key](place) for key in title if place is columns[0] or place[key] != columns[0][key]) for place in columns)],
        [[name, *(grid.text_of(plain.find({"way": "auto"} | place)) if plain.find({"way": "auto"} | place) else "" for place in columns)]
         for name, (plain, _) in found.items()])
    centre = columns[0]
    told = {name: found[name][0] for name in IN_SHORT if name in found}
    text += f"\nIn short: {', '.join(title[key](centre) for key in title)}\n\n" + lines_of(
        ["", *(IN_SHORT[name] for name in told)],
        [[row, *(short(plain.find({"way": way} | centre)) for plain in told.values())] for row, way in
         (("first run", "auto"), ("best of a grid", "best"))])
    seeds = len(next(iter(found.values()))[0].settings["seeds"])
    common.write_results(
        "tune", {name: {"settings": plain.settings, "cells": plain.cells} for name, (plain, _) in found.items()},
        f"Accuracy (housing: squared error) of the mean model on test records, mean of {seeds} seeds with 95% intervals. Regret of the\n"
        f"rule in points, paired by seed (housing: hundredths): mean {sum(lost) / len(lost):+.2f}, worst {max(lost):+.2f}.\n" + text)


if __name__ == "__main__":
    words = sys.argv[1:]
    write([word for word in words if word != "--full"] or (["phishing"] if common.QUICK else list(TASKS)), "--full" in words)
