"""The loss table: a9a with every mechanism at one budget, step size chosen on a validation split.

Choosing: a9a is split at random, 80% to train and 20% to validate (other seeds than below); the step size with
the smallest mean validation loss is taken. Reporting: all of a9a to train, a9a.t to test, five seeds of graph,
shares, batches and noise. A cell that is in the results file already is not measured again
(BENCH_FRESH=1 starts over).
"""
import concurrent.futures
import json
import math
import os
import pathlib
import subprocess
import tempfile

import common

SETTINGS = {
    "agents": 20, "rounds": 5000, "clip_norm": 0.1, "epsilon": 10, "delta": 1e-5, "batch_size": 128,
    "probabilities": [0.2, 0.5, 1.0], "calibrations": ["exact", "paper"],
    "step_sizes": [0.1, 0.05, 0.02, 0.01, 0.005],
    "validation_seeds": [101, 102, 103], "seeds": [1, 2, 3, 4, 5],
    "plans": ["none", "ldp", "decor", "corn one-step", "corn horizon:50", "corn horizon:200",
              "corn horizon:1000", "corn trajectory", "cdp"],
}
if common.QUICK:
    SETTINGS |= {"rounds": 200, "probabilities": [0.2, 0.5], "step_sizes": [0.05, 0.02],
                 "validation_seeds": [101], "seeds": [1, 2],
                 "plans": ["none", "ldp", "corn horizon:200", "cdp"]}
RESULT = common.RESULTS / "loss.json"
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def train(cell, step, seed, testing):
    """Loss and accuracy of the agents' own models, averaged; nothing where the training diverges."""
    mechanism, _, utility = cell["plan"].partition(" ")
    with tempfile.TemporaryDirectory() as folder:
        summary = pathlib.Path(folder) / "summary.json"
        command = [common.SOTTO, "train", "--quiet", "--json", summary, "--threads", 1,
                   "--run-directory", pathlib.Path(folder) / "run", "--data", common.data_file("a9a.gz"),
                   "--mechanism", mechanism, "--calibration", cell["calibration"],
                   "--edge-probability", cell["p"], "--step-size", step,
                   "--seed", seed, "--graph-seed", seed, "--noise-seed", seed,
                   "--eval-every", SETTINGS["rounds"]]
        for name in ["agents", "rounds", "clip_norm", "epsilon", "delta", "batch_size"]:
            command += ["--" + name.replace("_", "-"), SETTINGS[name]]
        if utility:
            command += ["--utility", utility]
        if testing:
            command += ["--test-data", common.data_file("a9a.t.gz")]
        process = subprocess.run([str(word) for word in command], stderr=subprocess.PIPE, text=True,
                                 env=os.environ | ONE_THREAD)
        if process.returncode != 0:
            if "diverged" in process.stderr:
                return None
            raise SystemExit(f"bench: sotto train failed: {process.stderr.strip()}")
        result = json.loads(summary.read_text())
        return {key: result[key] for key in ["test_loss", "test_accuracy", "test_loss_mean_model", "epsilon"]}


def measure(cell, pool, commit):
    jobs = {(step, seed): pool.submit(train, cell, step, seed, False)
            for step in SETTINGS["step_sizes"] for seed in SETTINGS["validation_seeds"]}
    validation = {step: [jobs[step, seed].result() for seed in SETTINGS["validation_seeds"]]
                  for step in SETTINGS["step_sizes"]}

    def mean_loss(step):
        runs = validation[step]
        return math.inf if None in runs else sum(run["test_loss"] for run in runs) / len(runs)

    step = min(SETTINGS["step_sizes"], key=mean_loss)
    jobs = [pool.submit(train, cell, step, seed, True) for seed in SETTINGS["seeds"]]
    runs = [job.result() for job in jobs]
    cell |= {"commit": commit, "validation": validation, "step_size": step, "runs": runs, "mean": None,
             "half_width_95": None}
    if None not in runs:
        cell["mean"], cell["half_width_95"] = common.interval95([run["test_loss"] for run in runs])
        cell["mean_accuracy"], cell["half_width_95_accuracy"] = common.interval95(
            [run["test_accuracy"] for run in runs])
    return cell


def wanted_cells():
    """Without noise there is nothing to calibrate: one calibration stands for all."""
    return [{"plan": plan, "p": p, "calibration": calibration}
            for calibration in SETTINGS["calibrations"] for p in SETTINGS["probabilities"]
            for plan in SETTINGS["plans"] if plan != "none" or calibration == SETTINGS["calibrations"][0]]


def same(a, b):
    return all(a[key] == b[key] for key in ["plan", "p", "calibration"])


def saved_cells():
    if os.environ.get("BENCH_FRESH") == "1" or not RESULT.exists():
        return []
    saved = json.loads(RESULT.read_text())
    if saved["settings"] != SETTINGS:
        raise SystemExit(f"bench: {RESULT.name} was made with other settings; BENCH_FRESH=1 starts over")
    return saved["cells"]


def find(cells, plan, p, calibration):
    wanted = {"plan": plan, "p": p,
              "calibration": SETTINGS["calibrations"][0] if plan == "none" else calibration}
    return next(cell for cell in cells if same(cell, wanted))


def loss_text(cell):
    if cell["mean"] is None:
        return "diverged"
    return f"{cell['mean']:.4f} ± {cell['half_width_95']:.4f}"


def markdown(cells):
    s = SETTINGS
    text = (f"Test loss on a9a.t, mean over the agents' own models, {len(s['seeds'])} seeds with 95% intervals; "
            f"{s['agents']} agents, T = {s['rounds']}, C = {s['clip_norm']},\nepsilon = {s['epsilon']}, "
            f"delta = {s['delta']:g}, Erdos-Renyi graphs, step size chosen for every cell on a validation split. "
            "`none` spends no budget.\n")
    for calibration in s["calibrations"]:
        text += f"\nCalibration `{calibration}`:\n\n| | " + " | ".join(f"p = {p}" for p in s["probabilities"]) + " |\n"
        text += "|---|" + "---|" * len(s["probabilities"]) + "\n"
        for plan in s["plans"]:
            values = [loss_text(find(cells, plan, p, calibration)) for p in s["probabilities"]]
            text += f"| {plan} | " + " | ".join(values) + " |\n"
    return text


def plain_text(cells):
    rows = []
    for cell in cells:
        accuracy = f"{cell['mean_accuracy']:.4f}" if cell["mean"] is not None else ""
        rows.append([cell["plan"], cell["calibration"], cell["p"], loss_text(cell), accuracy, cell["step_size"]])
    return markdown(cells) + "\n" + common.table(
        ["plan", "calibration", "p", "test loss", "accuracy", "step size"], rows)


def main():
    commit = common.header()["commit"]
    cells = saved_cells()
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for cell in wanted_cells():
            if any(same(cell, done) for done in cells):
                continue
            cells.append(measure(cell, pool, commit))
            common.replace_file(RESULT, json.dumps({"settings": SETTINGS, "cells": cells}, indent=1) + "\n")
            print(f"{cell['plan']}, {cell['calibration']}, p={cell['p']}: {loss_text(cell)}, "
                  f"step {cell['step_size']}", flush=True)
    common.write_results("loss", {"settings": SETTINGS, "cells": cells}, plain_text(cells))
    common.replace_file(common.RESULTS / "loss.md", markdown(cells))


main()
