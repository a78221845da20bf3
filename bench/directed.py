"""Directed graphs: what push-sum comes to without noise, beside the undirected graph and the lowest loss possible; and what
noise is left of corn's and ldp's, beside what the plan says.

The first part trains logistic regression on a9a with full batches, and takes the best of a grid of step sizes whose best value is
not at its edge. In the second a training with noise (softmax regression on 10 000 MNIST images, 7850 parameters) is compared with
the same training without: on these steps gradients hardly depend on where models are, so the difference of models is
the noise that mixing has left: a coordinate of it has the objective of the plan for the last round (`--utility final`) over
kappa and agents, times the step size squared. `bench/run directed noise` measures the second part only.
"""
import json
import math
import pathlib
import sys
import tempfile

import common
import grid

import numpy

AGENTS = 20
GRAPHS = {
    "ring": ({"topology": "ring"}, [1, 2, 3]),
    "exponential": ({"topology": "exponential"}, [1, 2, 3]),
    "random, p = .2": ({"edge_probability": 0.2}, [1, 2, 3]),
}
ROUNDS = 50 if common.QUICK else 2000
STEPS = [0.5, 1, 2, 4, 8]
NOISE = {"rounds": 20 if common.QUICK else 100, "step_size": 1e-5, "epsilon": 10, "seeds": 3 if common.QUICK else 10}


def summary_of(options):
    return json.loads(common.output_of([common.SOTTO, "train", "--quiet", "--json", "-", *grid.arguments(options)]))


def without_noise(graph, directed, seed, step, folder):
    options = {"data": common.data_file("a9a.gz"), "test_data": common.data_file("a9a.t.gz"), "agents": AGENTS, "mechanism": "none",
               "batch_size": "all", "clip_norm": 100, "rounds": ROUNDS, "step_size": step, "graph_seed": seed, "seed": seed,
               "optimality_gap": "on", "final_gossip": 0, "eval_every": ROUNDS, "run_directory": folder / "run"} | GRAPHS[graph][0]
    if directed:
        options["directed"] = True
    summary = summary_of(options)
    return {"step_size": step, "optimality_gap": summary["optimality_gap"], "test_loss": summary["test_loss"],
            "consensus_distance": summary["consensus_distance"]}


def best_without_noise(graph, directed, seed):
    """Over step sizes, more of them where the best is at an edge."""
    runs = {}
    steps = list(STEPS[1:-1])
    while True:
        for step in steps:
            if step not in runs:
                with tempfile.TemporaryDirectory() as name:
                    runs[step] = without_noise(graph, directed, seed, step, pathlib.Path(name))
        order = sorted(runs)
        best = min(order, key=lambda step: runs[step]["optimality_gap"] if math.isfinite(runs[step]["optimality_gap"]) else math.inf)
        if best == order[0]:
            steps = [best / 2]
        elif best == order[-1]:
            steps = [best * 2]
        else:
            return {"graph": graph, "directed": directed, "seed": seed, "tried": order} | runs[best]


def models_of(directory):
    return numpy.array([numpy.load(directory / "agents" / str(u) / "model.npy") for u in range(AGENTS)])


def noise_left(graph, mechanism, mixing, folder):
    """Mean square of what noise adds to the agents' models, by seed, and what the plan says."""
    seed = GRAPHS[graph][1][0]
    common_options = {"agents": AGENTS, "directed": True, "mixing": mixing, "rounds": NOISE["rounds"], "graph_seed": seed} | GRAPHS[graph][0]
    planned = {"mechanism": mechanism, "utility": "final", "epsilon": NOISE["epsilon"], "clip_norm": 1}
    plan = json.loads(common.output_of([common.SOTTO, "plan", "--quiet", "--json", "-", *grid.arguments(
        common_options | planned | {"step_size": NOISE["step_size"]})]))
    training = common_options | {"task": "softmax", "data": common.data_file("t10k-images-idx3-ubyte.gz"), "step_size": NOISE["step_size"],
                                 "clip_norm": 1, "batch_size": 32, "seed": 1, "final_gossip": 0, "eval_every": NOISE["rounds"], "eval_records": 100}
    summary_of(training | {"mechanism": "none", "run_directory": folder / f"{mechanism}-{mixing}-none"})
    clean = models_of(folder / f"{mechanism}-{mixing}-none")
    measured = []
    first = 100 * list(GRAPHS).index(graph)
    for noise_seed in range(first + 1, first + 1 + NOISE["seeds"]):
        run = folder / f"{mechanism}-{mixing}-{noise_seed}"
        summary_of(training | planned | {"noise_seed": noise_seed, "run_directory": run})
        measured.append(float(numpy.mean((models_of(run) - clean) ** 2)))
    return {"graph": graph, "mixing": mixing, "mechanism": mechanism, "measured": measured,
            "planned": plan["objective"] / plan["kappa"] / AGENTS * NOISE["step_size"] ** 2}


def main():
    graphs = list(GRAPHS)[:1] if common.QUICK else list(GRAPHS)
    if sys.argv[1:] == ["noise"]:
        losses = json.loads((common.RESULTS / "directed.json").read_text())["losses"]
    else:
        losses = [best_without_noise(graph, directed, seed)
                  for graph in graphs for seed in GRAPHS[graph][1][:1 if common.QUICK else None] for directed in (False, True)]
    noise = []
    with tempfile.TemporaryDirectory() as name:
        for graph in graphs:
            for mixing in ("push-sum", "row-stochastic"):
                for mechanism in ("ldp", "corn"):
                    folder = pathlib.Path(name) / graph.replace(" ", "")
                    folder.mkdir(exist_ok=True)
                    noise.append(noise_left(graph, mechanism, mixing, folder))
    rows = [[entry["graph"], "directed" if entry["directed"] else "undirected", entry["seed"], f"{entry['step_size']:g}",
             f"{entry['optimality_gap']:.5f}", f"{entry['test_loss']:.5f}", f"{entry['consensus_distance']:.4f}"] for entry in losses]
    factors = []
    for ldp, corn in zip(noise[::2], noise[1::2]):
        logs = [math.log(a / b) for a, b in zip(ldp["measured"], corn["measured"])]
        mean, width = common.interval95(logs)
        factors.append([ldp["graph"], ldp["mixing"], f"{ldp['planned'] / corn['planned']:.3f}", f"{math.exp(mean):.3f}",
                        f"{math.exp(mean - width):.3f} to {math.exp(mean + width):.3f}",
                        f"{sum(ldp['measured']) / len(ldp['measured']) / ldp['planned']:.3f}",
                        f"{sum(corn['measured']) / len(corn['measured']) / corn['planned']:.3f}"])
    common.write_results(
        "directed", {"rounds": ROUNDS, "noise": NOISE, "losses": losses, "noise_left": noise},
        f"a9a, logistic, {AGENTS} agents, no noise, full batches, {ROUNDS} rounds, the best of step sizes: training loss of the mean model above\n"
        "the lowest possible, test loss of the agents' models, their distance from their mean. Directed graphs mix by push-sum.\n\n" +
        common.table(["graph", "", "seed", "step", "gap", "test loss", "distance"], rows) +
        f"\nNoise that is left after {NOISE['rounds']} rounds, ldp over corn, by the plan (for the last round) and in models, with 95% intervals over\n"
        "noise seeds; and measured over planned of each.\n\n" +
        common.table(["graph", "mixing", "planned", "measured", "95%", "ldp", "corn"], factors))


if __name__ == "__main__":
    main()
