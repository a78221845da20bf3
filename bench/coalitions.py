"""What protection against colluding agents costs: time to solve the plans, and test loss on a9a."""
import concurrent.futures
import json
import pathlib
import subprocess
import tempfile

import common
from common import median

PROBABILITY, ROUNDS, UTILITY = 0.5, 1000, "horizon:50"
STEPS = [0.05, 0.02] if common.QUICK else [0.1, 0.05, 0.02, 0.01, 0.005]
SEEDS = [1, 2] if common.QUICK else [1, 2, 3, 4, 5]
SIZES = [0, 1, 2]
# name, sizes of coalitions, options; ldp is the same for all, corn withstands none
HORIZON = ["--utility", UTILITY, "--mechanism"]
PLANS = [("ldp", [0], HORIZON + ["ldp"]), ("decor", SIZES, HORIZON + ["decor"]),
         ("pairs over edges", SIZES, HORIZON + ["pairs", "--seed-groups", "edges"]),
         ("pairs over all pairs", SIZES, HORIZON + ["pairs", "--seed-groups", "all-pairs"]),
         ("corn one-step", [0], ["--mechanism", "corn", "--utility", "one-step"]),
         ("corn", [0], HORIZON + ["corn"])]
SOLVES = [("pairs", 20, 1, 3), ("pairs", 20, 2, 20), ("pairs", 50, 1, 60), ("corn-hbc", 20, 1, None)]
TARGET_GAP = 1e-3


def solve(mechanism, agents, size):
    """Seconds of `sotto plan`'s solver, its certified gap and what it leaves."""
    runs = [json.loads(common.output_of(
        [common.SOTTO, "plan", "--json", "-", "--quiet", "--mechanism", mechanism, "--agents", agents,
         "--coalition-size", size, "--seed-groups", "all-pairs"])) for _ in range(1 if common.QUICK else 3)]
    return {"seconds": median([run["seconds"] for run in runs]), "gap": runs[0]["relative_gap"],
            "objective": runs[0]["objective"], "streams": runs[0]["streams_per_agent"]}


def train(options, step, seed):
    with tempfile.TemporaryDirectory() as folder:
        summary = pathlib.Path(folder) / "summary.json"
        command = [common.SOTTO, "train", "--quiet", "--json", summary, "--threads", 1, "--run-directory",
                   pathlib.Path(folder) / "run", "--data", common.data_file("a9a.gz"), "--agents", 20,
                   "--edge-probability", PROBABILITY, "--rounds", ROUNDS, "--epsilon", 10,
                   "--delta", 1e-5, "--calibration", "rdp", "--clip-norm", 0.1, "--step-size", step,
                   "--seed", seed, "--graph-seed", seed, "--noise-seed", seed, "--eval-every", ROUNDS, "--final-gossip", 0] + options
        process = subprocess.run([str(word) for word in command], stderr=subprocess.PIPE, text=True)
        if process.returncode != 0:
            if "diverged" in process.stderr:
                return None
            raise SystemExit(f"bench: sotto train failed: {process.stderr.strip()}")
        return json.loads(summary.read_text())["test_loss"]


def measure(pool, options):
    jobs = {(step, seed): pool.submit(train, options, step, seed) for step in STEPS for seed in SEEDS}
    losses = {step: [jobs[step, seed].result() for seed in SEEDS] for step in STEPS}
    step = min((s for s in STEPS if None not in losses[s]), key=lambda s: sum(losses[s]))
    mean, half_width = common.interval95(losses[step])
    return {"step_size": step, "mean": mean, "half_width_95": half_width, "losses": losses}


def main():
    solves = [{"mechanism": m, "agents": n, "coalition_size": q, "target_seconds": target} | solve(m, n, q)
              for m, n, q, target in SOLVES if not common.QUICK or n <= 20]
    cells = []
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for name, sizes, options in PLANS:
            for size in sizes:
                cells.append({"plan": name, "coalition_size": size} |
                             measure(pool, options + ["--coalition-size", size]))
    text = ("Plans over all pairs, horizon:200, Erdos-Renyi p=0.5: seconds, median of three; certified gap (target "
            f"{TARGET_GAP:g}).\n\n")
    text += common.table(["", "agents", "q", "seconds", "target", "gap", "objective", "streams an agent"],
                         [[s["mechanism"], s["agents"], s["coalition_size"], f"{s['seconds']:.2f}",
                           s["target_seconds"] or "", f"{s['gap']:.1e}", f"{s['objective']:.3f}", s["streams"]]
                          for s in solves])
    text += (f"\nTest loss on held-out a9a, {len(SEEDS)} seeds with 95% intervals, each at its best step size; 20 "
             f"agents, p={PROBABILITY},\nepsilon 10, delta 1e-5, rdp calibration, {ROUNDS} rounds, {UTILITY}.\n\n")
    text += common.table(["plan", "q", "test loss", "step size"],
                         [[c["plan"], c["coalition_size"], f"{c['mean']:.4f} ± {c['half_width_95']:.4f}",
                           c["step_size"]] for c in cells])
    common.write_results("coalitions", {"solves": solves, "cells": cells}, text)


main()
