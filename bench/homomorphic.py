"""Noise that cancels in the network's mean: the experiment of [H] section 4, logistic regression with Laplace noise.

Every agent has a file of its own, written here: features h ~ N(label m, I), labels +1 and -1. Full batches, a
constant step; what is compared is the loss of the network's mean model above the lowest loss possible.
"""
import csv
import json
import pathlib
import random
import tempfile

import common
import grid

AGENTS, FEATURES, RECORDS = 20, 5, 100
SETTINGS = {
    "rounds": 20 if common.QUICK else 200, "step_size": 1, "l2": 0.1, "noise_stds": [1.4142, 0.4472, 0.1414], "clip_norm": 15,
    "edge_probability": 0.3, "graph_seed": 1, "mean": 0.5, "data_seed": 7,
    "noise_seeds": [1, 2] if common.QUICK else [1, 2, 3, 4, 5],
}


def write_records(path, count, source):
    """LIBSVM text; returns the largest L1 norm that a record's gradient of the logistic loss can have."""
    lines, longest = [], 0
    for _ in range(count):
        label = source.choice([1, -1])
        features = [source.gauss(label * SETTINGS["mean"], 1) for _ in range(FEATURES)]
        longest = max(longest, 1 + sum(abs(value) for value in features))  # the bias counts as 1
        lines.append(f"{label:+d} " + " ".join(f"{k + 1}:{value!r}" for k, value in enumerate(features)))
    path.write_text("\n".join(lines) + "\n")
    return longest


def measure(folder, mechanism, noise_std, seed):
    """Figures of one run; the gap averaged over its second half."""
    run = folder / f"{mechanism}-{noise_std}-{seed}"
    options = {"agents": AGENTS, "task": "logistic", "data": folder / "h-%r.svm",
               "test_data": folder / "test.svm", "batch_size": "all", "mechanism": mechanism, "eval_every": 1,
               "noise_seed": seed, "final_gossip": 0, "quiet": True, "threads": 1, "run_directory": run}
    for name in ["rounds", "step_size", "l2", "clip_norm", "edge_probability", "graph_seed"]:
        options[name] = SETTINGS[name]
    if noise_std > 0:
        options["noise_std"] = noise_std
    common.output_of([common.SOTTO, "train", *grid.arguments(options)])
    half = SETTINGS["rounds"] // 2
    with open(run / "metrics.csv", encoding="ascii") as file:
        gaps = [float(row["optimality_gap"]) for row in csv.DictReader(file) if int(row["round"]) > half]
    assert len(gaps) == SETTINGS["rounds"] - half
    summary = json.loads((run / "summary.json").read_text())
    ledger = json.loads((run / "ledger.json").read_text())
    return {"noise_seed": seed, "optimality_gap": sum(gaps) / len(gaps),
            "test_loss_mean_model": summary["test_loss_mean_model"], "test_loss": summary["test_loss"],
            "consensus_distance": summary["consensus_distance"], "epsilon": ledger["headline"]["epsilon"]}


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source = random.Random(SETTINGS["data_seed"])
        longest = max(write_records(folder / f"h-{agent}.svm", RECORDS, source) for agent in range(AGENTS))
        write_records(folder / "test.svm", 2000, source)
        if longest >= SETTINGS["clip_norm"]:
            raise SystemExit(f"bench: a gradient may be {longest:.1f} long, above the clip")
        ways = [("none", 0)] + [(mechanism, std) for std in SETTINGS["noise_stds"]
                                for mechanism in ["laplace", "homomorphic"]]
        cells = [{"mechanism": mechanism, "noise_std": std,
                  "runs": [measure(folder, mechanism, std, seed) for seed in SETTINGS["noise_seeds"]]}
                 for mechanism, std in ways]
    rows = []
    for cell in cells:
        row = [cell["mechanism"], cell["noise_std"]]
        for figure, digits in [("optimality_gap", 6), ("consensus_distance", 3)]:
            mean, half_width = common.interval95([run[figure] for run in cell["runs"]])
            row.append(f"{mean:.{digits}f} +- {half_width:.{digits}f}")
        epsilon = cell["runs"][0]["epsilon"]
        rows.append(row + ["infinite" if epsilon is None else f"{epsilon:.6g}"])
    s = SETTINGS
    text = (f"{AGENTS} agents (Erdos-Renyi p = {s['edge_probability']}), {RECORDS} records each, {FEATURES} features and "
            f"a bias, ridge {s['l2']}, step {s['step_size']}, full\nbatches, {s['rounds']} rounds, Laplace noise of "
            f"the given standard deviation on every message, {len(s['noise_seeds'])} noise seeds, 95% intervals.\n"
            f"Gap: loss of the mean model above the lowest loss possible, over the second half of the run. Epsilon: pure,\n"
            f"of the ledger, adjacency agent, L1 clip {s['clip_norm']}; no gradient is longer than {longest:.1f}, so nothing "
            "is clipped.\n\n")
    text += common.table(["mechanism", "noise std", "gap", "agents' distance from the mean", "epsilon"], rows)
    common.write_results("homomorphic", {"settings": s, "longest_gradient_l1": longest, "cells": cells}, text)


if __name__ == "__main__":
    main()
