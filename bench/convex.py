"""What partial views of a convex training reveal, and what the limits cost in accuracy: logistic regression on a9a with --feature-norm.

Records of an agent are used in every round, with ldp at epsilon 8 for a record against whoever sees all messages. Epsilon of agent 0's
view of the messages that it receives, by the target's distance (mean over targets): of all messages; the bound for convex losses, which
holds for the training; and of inputs fixed in advance, which does not. Accuracy of the mean model on a9a.t, mean of the seeds with 95%
intervals: with R and the longest step that it allows, and without a limit for the best of four step sizes, chosen on the test records.

bench/run convex
"""
import json
import shutil

import common

GRAPHS = {"ring of 16": (16, ["--topology", "ring"]), "ring of 64": (64, ["--topology", "ring"]), "grid of 64": (64, ["--topology", "grid"])}
ROUNDS = [50] if common.QUICK else [50, 200]
NORMS = [2, 3, 4]
STEPS = [0.5, 2, 4, 8]
DISTANCES = [1, 2, 3, 4, 6, 8]
SEEDS = [1, 2] if common.QUICK else [1, 2, 3]
FOLDER = common.BUILD / "convex"
kept = common.Kept(__file__)


def train(graph, rounds, seed, *words):
    agents, topology = GRAPHS[graph]
    shutil.rmtree(FOLDER, ignore_errors=True)
    return json.loads(common.output_of([
        common.SOTTO, "train", "--task", "logistic", "--data", common.data_file("a9a.gz"), "--test-data", common.data_file("a9a.t.gz"),
        "--partition", "iid", "--agents", agents, *topology, "--rounds", rounds, "--mechanism", "ldp", "--adjacency", "record",
        "--participation", "every", "--batch-size", "all", "--clip-norm", 1, "--epsilon", 8, "--final-gossip", 0, "--seed", seed,
        "--noise-seed", seed, "--optimality-gap", "off", "--eval-every", 100000, "--run-directory", FOLDER, "--json", "-", "--quiet",
        *words]))["test_accuracy"]


def by_distance(inputs):
    account = json.loads(common.output_of([common.SOTTO, "account", "--run", FOLDER, "--inputs", inputs, "--view", "node:0", "--json", "-",
                                           "--quiet"]))
    return {row["distance"]: [row["mean"], row["ldp"]] for row in account["by_distance"] if row["distance"] in DISTANCES}


def limited(graph, rounds, norm):
    """Accuracy by seed, and epsilon by distance: all messages, convex, fixed."""
    accuracy = [train(graph, rounds, seed, "--feature-norm", norm, "--step-size", 8 / norm**2) for seed in SEEDS]
    convex, fixed = by_distance("convex"), by_distance("adaptive")
    return {"accuracy": accuracy, "epsilon": {d: [convex[d][1], convex[d][0], fixed[d][0]] for d in convex}}


def unlimited(graph, rounds):
    return {step: [train(graph, rounds, seed, "--step-size", step) for seed in SEEDS] for step in STEPS}


def markdown(head, rows):
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in [head, ["---"] * len(head), *rows])


def percent(values):
    mean, half = common.interval95([100 * value for value in values])
    return f"{mean:.2f} ± {half:.2f}"


def main():
    results, accuracies, epsilons = {}, [], []
    for graph in GRAPHS:
        for rounds in ROUNDS:
            free = kept.part(f"free {graph} {rounds} {len(SEEDS)}", lambda: unlimited(graph, rounds))
            best = max(free, key=lambda step: sum(free[step]))
            row = [graph, rounds, f"{percent(free[best])} ({best})"]
            results[f"{graph}, {rounds} rounds, no limit"] = free
            for norm in NORMS:
                own = kept.part(f"limited {graph} {rounds} {norm} {len(SEEDS)}", lambda: limited(graph, rounds, norm))
                results[f"{graph}, {rounds} rounds, R = {norm}"] = own
                row.append(f"{percent(own['accuracy'])} ({8 / norm**2:.2g})")
            accuracies.append(row)
            line = [graph, rounds]
            for distance in DISTANCES:
                found = own["epsilon"].get(distance, own["epsilon"].get(str(distance)))
                line.append("" if found is None else " / ".join(f"{value:.2f}" for value in found))
            epsilons.append(line)
    head = ["graph", "rounds", "no limit (step)", *(f"R = {norm} (step)" for norm in NORMS)]
    text = "\nTest accuracy in percent at epsilon 8 a record (and step size)\n\n" + markdown(head, accuracies)
    text += "\nEpsilon of one agent's view by distance: all messages / convex / fixed inputs, no guarantee for a training\n\n"
    text += markdown(["graph", "rounds", *map(str, DISTANCES)], epsilons)
    common.write_results("convex", {"results": results}, text)


if __name__ == "__main__":
    main()
