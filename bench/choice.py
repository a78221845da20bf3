"""What a grid costs: test accuracy on a9a where tuning is paid, at one total epsilon.

One record protected, 20 agents, ER .5, pairs, delta = 1e-5. A grid of four clips and four step sizes (100 rounds, all records, steps
that fall linearly) is used in three ways: the best of 16 trainings with what all, with the one that measures, reveal together within
epsilon; a private choice among 16 trainings on average whose price is epsilon; and the best of 16 that count nothing, as papers do.
Beside them the first run without knobs (--tune auto). No step or clip is chosen by test records.

bench/run choice
"""
import json
import os
import shutil

import common

CLIPS, STEPS = "0.1 0.5 2 8", "0.1 0.4 1.6 6.4"
EPSILONS = [1, 3]
SEEDS = [1, 2] if common.QUICK else [1, 2, 3, 4, 5]
DELTA = 1e-5
kept = common.Kept(__file__)


def account(*options):
    return json.loads(common.output_of([common.SOTTO, "account", "--delta", DELTA, *options, "--json", "-", "--quiet"]))


def shared():
    return {"data": common.data_file("a9a.gz"), "agents": 20, "edge-probability": 0.5, "adjacency": "record-add-remove", "delta": DELTA,
            "eval-every": 100000, "final-gossip": "auto"}


def gridded(epsilon):
    return shared() | {"tune": "off", "batch-size": "all", "rounds": 20 if common.QUICK else 100, "step-schedule": "linear",
                       "clip-norm": CLIPS, "step-size": STEPS, "epsilon": epsilon}


def sweep(name, options):
    """Folder of a finished sweep of these options."""
    folder = common.BUILD / "choice" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    file = folder / "grid.ini"
    file.write_text("".join(f"{key} = {value}\n" for key, value in options.items()))
    common.output_of([common.SOTTO, "sweep", file, "--output", folder / "out", "--threads", 1, "--quiet"])
    return folder / "out"


def accuracy_of_released(epsilon, seed):
    one = account("--private-choice", 16, "--epsilon", epsilon)["epsilon_for_the_same"]
    out = sweep("private", gridded(one) | {"seed": seed, "graph-seed": seed, "private-choice": 16})
    found = json.loads((out / "released" / "choice.json").read_text())
    assert found["epsilon"] <= epsilon * 1.001, found
    return json.loads(common.output_of([common.SOTTO, "predict", "--run", out / "released", "--data", common.data_file("a9a.t.gz"), "--out",
                                        os.devnull, "--json", "-", "--quiet"]))["accuracy"]


def accuracies_of_best(epsilon):
    out = sweep("open", gridded(epsilon) | {"seed": " ".join(map(str, SEEDS)), "graph-seed": "seed", "choose": "clip-norm step-size",
                                            "choose-further": 0, "test-data": common.data_file("a9a.t.gz"), "keep-runs": "off",
                                            "choose-by": "test_accuracy"})
    rows = [dict(zip(lines[0], line)) for lines in [[line.split(",") for line in (out / "runs.csv").read_text().splitlines()]]
            for line in lines[1:]]
    return [float(row["test_accuracy"]) for row in rows if row["purpose"] == "test"]


def accuracies_of_first(epsilon):
    found = []
    for seed in SEEDS:
        options = shared() | {"test-data": common.data_file("a9a.t.gz"), "epsilon": epsilon, "seed": seed, "graph-seed": seed,
                              "run-directory": common.BUILD / "choice" / "first"}
        shutil.rmtree(options["run-directory"], ignore_errors=True)
        words = [word for name, value in options.items() for word in (f"--{name}", value)]
        found.append(json.loads(common.output_of([common.SOTTO, "train", *words, "--json", "-", "--quiet"]))["test_accuracy"])
    return found


def epsilon_of_each(epsilon, trainings):
    """Of trainings with Gaussian losses that together have this epsilon."""
    mu = account("--epsilon", epsilon)["mu"] / trainings ** 0.5
    return account("--mu", mu)["epsilon"]


def main():
    results, rows = {}, []
    for epsilon in EPSILONS:
        each = epsilon_of_each(epsilon, 17)
        ways = {
            "first run, `--tune auto`": (epsilon, lambda: accuracies_of_first(epsilon)),
            "private choice of 16": (account("--private-choice", 16, "--epsilon", epsilon)["epsilon_for_the_same"],
                                     lambda: [accuracy_of_released(epsilon, seed) for seed in SEEDS]),
            "best of 16, all added up": (each, lambda: accuracies_of_best(each)),
            "best of 16, not counted": (epsilon, lambda: accuracies_of_best(epsilon)),
        }
        for way, (one, measure) in ways.items():
            values = kept.part(f"{epsilon} {way} {len(SEEDS)}", measure)
            mean, half = common.interval95(values)
            results[f"{epsilon}: {way}"] = {"epsilon_one": one, "accuracies": values}
            real = account("--epsilon", epsilon, "--private-choice", 16)["epsilon_added_up"] if "not counted" in way else epsilon
            rows.append([way, epsilon, f"{one:.3f}", f"{real:.2f}", f"{mean:.4f} ± {half:.4f}"])
    head = ["way", "stated epsilon", "of one training", "spent", "test accuracy"]
    text = "Who sees the chosen model alone, a9a\n\n" + "".join(
        f"| {' | '.join(map(str, row))} |\n" for row in [head, ["---"] * len(head), *rows])
    common.write_results("choice", {"results": results}, text)


if __name__ == "__main__":
    main()
