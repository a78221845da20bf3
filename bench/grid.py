"""Tables of trainings: for every cell the step size that is best on validation seeds, then test seeds.

A cell that is in the results file already is not measured again (BENCH_FRESH=1 starts over).
"""
import concurrent.futures
import json
import math
import os
import pathlib
import subprocess
import tempfile

import common

KEPT = ["test_loss", "test_accuracy", "test_loss_mean_model", "test_accuracy_mean_model", "epsilon", "mu", "bytes_sent", "rounds", "gossip_steps"]


def arguments(options):
    """{"batch_size": 8, "common_variance": True} as command line."""
    words = []
    for name, value in options.items():
        words.append("--" + name.replace("_", "-"))
        if value is not True:
            words.append(str(value))
    return words


def record_level_options(settings, cell, step, seed, testing):
    """One training on MNIST: cell["plan"] is a mechanism and its utility, or what it is made over."""
    mechanism, _, detail = cell["plan"].partition(" ")
    options = {"task": settings["task"], "data": common.data_file("train-images-idx3-ubyte.gz"),
               "partition": "iid", "mechanism": mechanism, "adjacency": "record", "step_size": step,
               "seed": seed, "graph_seed": seed, "noise_seed": seed, "eval_every": settings["rounds"]}
    for name in ["agents", "rounds", "participation", "clip_norm", "delta"]:
        options[name] = settings[name]
    if mechanism != "none":
        options["epsilon"] = cell["epsilon"]
    if detail:
        options["spatial_mechanism" if mechanism == "space-time" else "utility"] = detail
    if testing:
        options["test_data"] = common.data_file("t10k-images-idx3-ubyte.gz")
    else:
        options["test_fraction"] = 0.1
    return options


def train(options):
    """Figures of one training on one thread, of last models unless the options say otherwise; nothing where it diverges."""
    options = {"final_gossip": 0} | options
    with tempfile.TemporaryDirectory() as folder:
        summary = pathlib.Path(folder) / "summary.json"
        command = [common.SOTTO, "train", "--quiet", "--json", summary, "--threads", 1,
                   "--run-directory", pathlib.Path(folder) / "run", *arguments(options)]
        process = subprocess.run([str(word) for word in command], stderr=subprocess.PIPE, text=True)
        if process.returncode != 0:
            if "diverged" in process.stderr:
                return None
            raise SystemExit(f"bench: sotto train failed: {process.stderr.strip()}")
        result = json.loads(summary.read_text())
        return {key: result[key] for key in KEPT} | {"loop_seconds": result["seconds"]["loop"]}


class Grid:
    """One results file of cells. A cell is a dictionary of what distinguishes it."""

    def __init__(self, name, settings, options_of, metric, largest_is_best, folder=None, searched=lambda cell: True):
        """options_of(cell, step, seed, testing): options of one training. folder: of the results file. searched: whether steps are
        chosen for a cell; if not, its step is None."""
        self.name, self.settings, self.options_of = name, settings, options_of
        self.metric, self.sign = metric, -1 if largest_is_best else 1
        self.searched = searched
        self.path = (folder or common.RESULTS) / f"{name}.json"
        self.cells = self._saved()

    def _saved(self):
        if os.environ.get("BENCH_FRESH") == "1" or not self.path.exists():
            return []
        saved = json.loads(self.path.read_text())
        if saved["settings"] != self.settings:
            raise SystemExit(f"bench: {self.path.name} was made with other settings; "
                             "BENCH_FRESH=1 starts over")
        return saved["cells"]

    def find(self, wanted):
        return next((cell for cell in self.cells
                     if all(cell[key] == value for key, value in wanted.items())), None)

    def value(self, runs):
        """Smaller is better; infinite where a run diverged."""
        if None in runs:
            return math.inf
        return self.sign * sum(run[self.metric] for run in runs) / len(runs)

    def choose_step(self, pool, cell):
        """The step size that is best on the validation seeds, and what was found. With settings["widen"] = F steps F times
        as large or small are tried until the best is at no edge."""
        steps, tried, found = sorted(self.settings["step_sizes"]), self.settings["validation_seeds"], {}
        while True:
            jobs = {(step, seed): pool.submit(train, self.options_of(cell, step, seed, False))
                    for step in steps if step not in found for seed in tried}
            found |= {step: [jobs[step, seed].result() for seed in tried] for step in steps if step not in found}
            best = min(steps, key=lambda step: self.value(found[step]))
            factor = self.settings.get("widen")
            if not factor or len(steps) > 20 or best not in (steps[0], steps[-1]):
                return best, found
            beside = steps[1] if best == steps[0] else steps[-2]
            if self.value(found[best]) == self.value(found[beside]):  # where nothing is learnt no step is better
                return beside, found
            steps = sorted([*steps, best * factor if best == steps[-1] else best / factor])

    def measure(self, wanted):
        """The cells that are missing, two trainings at a time."""
        commit = common.header()["commit"]
        steps = self.settings["step_sizes"]
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            for cell in wanted:
                if self.find(cell):
                    continue
                cell = dict(cell)
                step = steps[0] if self.searched(cell) else None
                if self.searched(cell) and len(steps) > 1:
                    step, cell["validation"] = self.choose_step(pool, cell)
                jobs = [pool.submit(train, self.options_of(cell, step, seed, True))
                        for seed in self.settings["seeds"]]
                runs = [job.result() for job in jobs]
                cell |= {"commit": commit, "step_size": step, "runs": runs, "mean": None,
                         "half_width_95": None}
                if runs and None not in runs:
                    cell["mean"], cell["half_width_95"] = common.interval95(
                        [run[self.metric] for run in runs])
                self.cells.append(cell)
                common.replace_file(self.path, json.dumps(
                    {"settings": self.settings, "cells": self.cells}, indent=1) + "\n")
                print(f"{self.describe(cell)}: {text_of(cell)}" + ("" if step is None else f", step {step}"), flush=True)

    @staticmethod
    def describe(cell):
        return ", ".join(f"{key} {value}" for key, value in cell.items()
                         if isinstance(value, (str, int, float)) and key not in
                         ["commit", "step_size", "mean", "half_width_95"])

    def difference(self, first, second):
        """Mean and half width of the 95% interval of first minus second, seed by seed."""
        runs = [self.find(wanted)["runs"] for wanted in (first, second)]
        return common.interval95([a[self.metric] - b[self.metric] for a, b in zip(*runs)])

    def write(self, text, **more):
        """more: what the results file holds beside the cells."""
        rows = [[self.describe(cell), text_of(cell), cell["step_size"] or "by the rule"] for cell in self.cells]
        common.write_results(self.name, more | {"settings": self.settings, "cells": self.cells},
                             text + "\n" + common.table(["cell", self.metric, "step size"], rows))


def text_of(cell):
    """Mean and interval of a cell; a text instead of a cell stays as it is."""
    if isinstance(cell, str):
        return cell
    if cell["mean"] is None:
        return "diverged"
    width = cell["half_width_95"]
    return f"{cell['mean']:.4f}" + (f" ± {width:.4f}" if width is not None else "")


def markdown(corner, rows, columns, cell_at):
    """A table of text_of(cell_at(row, column))."""
    text = f"| {corner} | " + " | ".join(str(column) for column in columns) + " |\n"
    text += "|---|" + "---|" * len(columns) + "\n"
    for row in rows:
        text += f"| {row} | " + " | ".join(text_of(cell_at(row, column)) for column in columns) + " |\n"
    return text


def differences(table, corner, rows, plans):
    """A table of each plan minus the one before it, seed by seed."""
    pairs = list(zip(plans[1:], plans))
    text = f"\nSeed by seed, with 95% intervals:\n\n| {corner} | " + " | ".join(
        f"{plan} - {before}" for plan, before in pairs) + " |\n|---|" + "---|" * len(pairs) + "\n"
    for row in rows:
        found = [table.difference({"plan": plan, corner: row}, {"plan": before, corner: row})
                 for plan, before in pairs]
        text += f"| {row} | " + " | ".join(f"{mean:.4f} ± {width:.4f}" for mean, width in found) + " |\n"
    return text


def mnist_table(name, model, s):
    """Test accuracy on MNIST by plan and epsilon: settings s, results file `name`."""
    table = Grid(name, s, lambda *cell: record_level_options(s, *cell), "test_accuracy", largest_is_best=True)
    table.measure([{"plan": "none", "epsilon": 0}] +
                  [{"plan": plan, "epsilon": epsilon} for epsilon in s["epsilons"] for plan in s["plans"]])
    steps = s["step_sizes"]
    chosen = f"step size {steps[0]}" if len(steps) == 1 else "step size chosen for every cell on held-out training records"
    table.write(
        f"Test accuracy on MNIST, {model}, mean over the agents' own models, {len(s['seeds'])} seeds with 95% "
        f"intervals; {s['agents']} agents,\nT = {s['rounds']}, adjacency record, participation {s['participation']}, "
        f"C = {s['clip_norm']}, delta = {s['delta']:g}, Erdos-Renyi graphs, p = 0.5;\n{chosen}. "
        f"Without noise (same clip): {text_of(table.find({'plan': 'none'}))}.\n\n" +
        markdown("epsilon", s["epsilons"], s["plans"],
                 lambda epsilon, plan: table.find({"plan": plan, "epsilon": epsilon})) +
        differences(table, "epsilon", s["epsilons"], s["plans"]))
