"""Random allocation beside Poisson sampling at one epsilon: accuracy on five tasks, paired by seed.

One record protected, 20 agents (heart: four hospitals), ER .5, pairs, delta = 1e-5. Rounds, clip and step size are those that the rule
of --tune auto finds for Poisson sampling in a first run; both are then trained with them, by coins of probability q or with every record
in one of every 1/q rounds. Allocation needs less noise, and its step could be larger: this is not used.

bench/run allocation
"""
import json
import shutil

import common
import tune

TASKS = ["a9a", "phishing", "heart", "csv"] if common.QUICK else ["a9a", "phishing", "heart", "csv", "softmax"]
EPSILONS = [1] if common.QUICK else [1, 3]
SEEDS = [1, 2] if common.QUICK else [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
kept = common.Kept(__file__)


def train(task, epsilon, seed, more):
    cell = {"way": "auto", "epsilon": epsilon, "graph": "ER .5", "partition": "iid"}
    options = tune.options_of(tune.TASKS[task], cell, None, seed, True) | more
    options["run_directory"] = common.BUILD / "allocation"
    shutil.rmtree(options["run_directory"], ignore_errors=True)
    words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value)]
    return json.loads(common.output_of([common.SOTTO, "train", *words, "--json", "-", "--quiet"]))


def measure(task, epsilon):
    found = train(task, epsilon, 101, {})["tuning"]
    places = round(1 / found["batch"])
    epochs = max(1, round(found["rounds"] / places))
    same = {"tune": "off", "rounds": epochs * places, "clip_norm": found["clip_norm"], "step_size": found["step_size"],
            "step_schedule": "linear"}
    ways = {"poisson": {"participation": "poisson", "batch_size": 1 / places}, "allocation": {"participation": f"allocation:{places}"}}
    return {"places": places, "rounds": epochs * places} | {
        way: [train(task, epsilon, seed, same | more)["test_accuracy_mean_model"] for seed in SEEDS] for way, more in ways.items()}


def noise_of(epsilon, options):
    return json.loads(common.output_of([common.SOTTO, "account", "--epsilon", epsilon, "--delta", 1e-5, *options, "--json", "-", "--quiet"]))[
        "noise_multiplier"]


def main():
    results, rows = {}, []
    for task in TASKS:
        for epsilon in EPSILONS:
            found = kept.part(f"{task} {epsilon} {len(SEEDS)}", lambda: measure(task, epsilon))
            places, rounds = found["places"], found["rounds"]
            less = 1.0
            if places > 1:
                less = noise_of(epsilon, ["--allocation", places, "--epochs", rounds // places]) / noise_of(
                    epsilon, ["--sampling-probability", 1 / places, "--rounds", rounds])
            gain, width = common.interval95([100 * (b - a) for a, b in zip(found["poisson"], found["allocation"])])
            means = [f"{sum(found[way]) / len(SEEDS):.4f}" for way in ("poisson", "allocation")]
            results[f"{task}, epsilon {epsilon}"] = found | {"noise": less}
            rows.append([task, epsilon, f"1/{places}", rounds, f"{less:.3f}", *means, f"{gain:+.2f} ± {width:.2f}"])
    head = ["task", "epsilon", "q", "rounds", "noise of allocation", "Poisson", "allocation", "gain in points"]
    common.write_results("allocation", {"results": results}, f"Test accuracy of the mean model, {len(SEEDS)} seeds\n\n" + "".join(
        f"| {' | '.join(map(str, row))} |\n" for row in [head, ["---"] * len(head), *rows]))


if __name__ == "__main__":
    main()
