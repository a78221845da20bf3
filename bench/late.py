"""Rounds that go on without late and silent agents (--round-deadline auto), beside the same training undisturbed: 20 ranks on three
emulated hosts, MNIST, one record protected at epsilon 1. Every agent is silent in a fifth of the rounds; one computes seven times as
long, which is some ten rounds where ten ranks share a core. Names of graphs as arguments: those alone."""
import json
import pathlib
import statistics
import sys
import tempfile

import common
import hosts

HOSTS, RANKS = 3, 4 if common.QUICK else 20
ROUNDS = 50 if common.QUICK else 1000
SEEDS = [1, 2, 3]
LATENCY, BITS = 0.0002, 1e9
GRAPHS = {"ring": ["--topology", "ring"], "Erdos-Renyi, p 0.5": ["--topology", "erdos-renyi", "--edge-probability", "0.5"]}
GRAPHS = {graph: GRAPHS[graph] for graph in sys.argv[1:]} or GRAPHS
DEADLINE = ["--round-deadline", "auto"]
CASES = {
    "undisturbed, all wait": [],
    "undisturbed": DEADLINE,
    "one slow": DEADLINE + ["--faults", "slow:3:7"],
    "silent": DEADLINE + ["--faults", "silent:0.2"],
    "silent, one slow": DEADLINE + ["--faults", "silent:0.2,slow:3:7"],
}


def training(launcher, folder, graph, case, seed):
    result = pathlib.Path(folder) / "result.json"
    with tempfile.TemporaryDirectory() as directory:
        common.output_of(
            launcher + ["train", "--quiet", "--json", result, "--task", "softmax", "--data", common.data_file("train-images-idx3-ubyte.gz"),
                        "--test-data", common.data_file("t10k-images-idx3-ubyte.gz"), "--partition", "iid", "--adjacency",
                        "record-add-remove", "--epsilon", 1, "--rounds", ROUNDS, "--gossip-steps", 1, "--precision", "float32",
                        "--eval-every", ROUNDS // 2, "--optimality-gap", "off", "--seed", seed, "--graph-seed", seed, "--noise-seed", seed,
                        "--run-directory", directory + "/run"] + GRAPHS[graph] + CASES[case],
            SOTTO_PROGRAM=str(common.SOTTO))
    summary = json.loads(result.read_text())
    ranks = [rank for rank in summary["ranks"] if "messages" in rank]
    share = lambda part, whole: part / whole if whole else 0
    return {"accuracy": summary["test_accuracy"], "epsilon": summary["epsilon"], "seconds": summary["seconds"]["loop"],
            "missing": share(sum(r["messages"]["missing"] for r in ranks), sum(r["messages"]["expected"] for r in ranks)),
            "skipped": max((r["rounds_skipped"] for r in ranks), default=0)}


def row(results, graph, case):
    runs, plain = results[graph][case], results[graph]["undisturbed, all wait"]
    median = lambda key: statistics.median(run[key] for run in runs)
    mean = statistics.mean(run["accuracy"] for run in runs)
    less = [run["accuracy"] - other["accuracy"] for run, other in zip(runs, plain)]
    ratio = statistics.median(run["seconds"] / other["seconds"] for run, other in zip(runs, plain))
    return [graph, case, f"{mean:.4f}", "" if runs is plain else f"{statistics.mean(less):+.4f}", f"{median('seconds'):.1f}", f"{ratio:.2f}",
            f"{100 * median('missing'):.0f}%", f"{median('skipped'):.0f}", f"{max(run['epsilon'] for run in runs):.4g}"]


def measure():
    switch, _ = hosts.make_switch(HOSTS, LATENCY, BITS)
    results = {graph: {case: [] for case in CASES} for graph in GRAPHS}
    try:
        with tempfile.TemporaryDirectory() as folder:
            launcher = hosts.make_launcher(folder, HOSTS, RANKS)
            for seed in SEEDS:
                for graph in GRAPHS:
                    for case in CASES:
                        results[graph][case].append(training(launcher, folder, graph, case, seed))
                        print(graph, case, results[graph][case][-1], flush=True)
    finally:
        switch.kill()
    text = (f"MNIST, softmax, pairs, epsilon 1 for one record, {RANKS} ranks on {HOSTS} emulated hosts of this machine ({1e3 * LATENCY:g} ms, "
            f"{1e-9 * BITS:g} Gbit/s), {ROUNDS} rounds, {len(SEEDS)} seeds.\nAccuracy of agents' own models, and less undisturbed training; "
            "loop, and times the undisturbed one, medians; messages missing; rounds missed by the\nslowest agent; epsilon.\n\n")
    text += common.table(["graph", "", "accuracy", "difference", "loop, s", "times", "missing", "rounds missed", "epsilon"],
                         [row(results, graph, case) for graph in GRAPHS for case in CASES])
    common.write_results("late", {"latency": LATENCY, "bits": BITS, "rounds": ROUNDS, "results": results}, text)


hosts.in_own_namespaces()
measure()
