"""California housing: space-time against mafalda, seed by seed, with more seeds than the table of bench/housing.py.

The same runs; every plan is solved once and then used by all seeds. Step sizes are those the kept table chose for mafalda.
"""
import concurrent.futures
import json
import pathlib
import tempfile

import common
import grid
import housing

KEPT = json.loads((common.ROOT / "bench" / "results" / "housing.json").read_text())
SETTINGS = housing.SETTINGS | {"seeds": list(range(1, 21)), "plans": ["mafalda", "space-time corn"],
                               "steps": {cell["mu"]: cell["step_size"] for cell in KEPT["cells"] if cell["plan"] == "mafalda"}}
if common.QUICK:
    SETTINGS |= {"seeds": [1, 2], "steps": {1: 0.04}, "plans": ["ldp", "mafalda"]}


def solve(options, path):
    # 111 or 112 training records an agent: batches of ceil(N / 19) = 6.
    wanted = ["graph", "adjacency", "rounds", "participation", "clip_norm", "delta", "mechanism", "epsilon",
              "spatial_mechanism", "step_size"]
    common.output_of([common.SOTTO, "plan", "--quiet", "--out", path, "--batch-size", 6,
                      *grid.arguments({name: options[name] for name in wanted if name in options})])


def main():
    s = SETTINGS
    rows, kept = [], []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for mu, step in s["steps"].items():
            losses = {}
            for plan in s["plans"]:
                cell = {"plan": plan, "mu": mu, "epsilon": housing.epsilon_of(mu)}
                path = pathlib.Path(folder) / f"{plan} {mu}.json"
                solve(housing.options_of(cell, step, 1, True), path)
                jobs = [pool.submit(grid.train, housing.options_of(cell, step, seed, True) | {"plan": path})
                        for seed in s["seeds"]]
                losses[plan] = [job.result()["test_loss"] for job in jobs]
            first, second = (losses[plan] for plan in s["plans"])
            mean, width = common.interval95([b - a for a, b in zip(first, second)])
            lower = sum(b < a for a, b in zip(first, second))
            rows.append([mu, f"{sum(first) / len(first):.4f}", f"{sum(second) / len(second):.4f}",
                         f"{mean:.4f} ± {width:.4f}", f"{lower} of {len(first)}"])
            kept.append({"mu": mu, "step_size": step, "losses": losses})
            print(rows[-1], flush=True)
    text = (f"Test error on California housing in variances of the target, {len(s['seeds'])} seeds; everything else as in "
            f"housing.txt.\n\n" + common.table(["mu", *s["plans"], "difference, 95%", "seeds with less"], rows))
    common.write_results("housing_seeds", {"settings": {**s, "steps": list(s["steps"].items())}, "cells": kept}, text)


main()
