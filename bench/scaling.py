"""How cost grows: plans, rounds, memory and accounts at growing sizes, each with the power law that fits best."""
import json
import math
import pathlib
import statistics
import tempfile

import common

RUNS = 1 if common.QUICK else 3


def summary_of(command):
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "result.json"
        more = ["--run-directory", folder + "/run"] if command[0] == "train" else []
        common.output_of([common.SOTTO] + command + ["--json", result] + more)
        return json.loads(result.read_text())


def median(command, figure):
    return statistics.median(figure(summary_of(command)) for _ in range(RUNS))


def sparse(n):
    """Ten neighbours an agent on average."""
    return ["--agents", n, "--edge-probability", 10 / n]


def plan(*options):
    return lambda n: median(["plan", *sparse(n), *options], lambda json: json["seconds"])


def complete_plan(n):
    return median(["plan", "--agents", n, "--topology", "complete", "--mechanism", "corn", "--mixing", "lazy-metropolis"],
                  lambda json: json["seconds"])


def training(figure, options):
    """Of agents on a ring, all in one process on one thread."""
    fixed = ["train", "--quiet", "--threads", "1", "--final-gossip", "0", "--optimality-gap", "off", "--noise-seed", "3", "--task",
             "mlp", "--data", common.data_file("train-images-idx3-ubyte.gz"), "--rounds", ROUNDS, "--eval-every", ROUNDS,
             "--batch-size", "32"]
    return lambda x: median(fixed + options(x), figure)


def phase(name):
    return lambda json: json["seconds"][name] / ROUNDS


def memory(json):
    return json["peak_memory_mib"]


def hidden(x):
    """A model of 795 x + 10 parameters."""
    return ["--hidden", x, "--agents", 20, "--topology", "ring", "--mechanism", "ldp"]


def agents(n):
    return ["--hidden", 16, "--agents", n, "--topology", "ring", "--mechanism", "ldp"]


def degree(neighbours):
    return ["--hidden", 64, "--agents", 65, "--edge-probability", neighbours / 64, "--mechanism", "ldp"]


def gossip(steps):
    return ["--hidden", 64, "--agents", 20, "--topology", "ring", "--mechanism", "ldp", "--gossip-steps", steps]


def account(options):
    return lambda x: median(["account", "--mechanism", "pairs", "--seed-groups", "edges", "--view", "node:0"] + options(x),
                            lambda json: json["seconds"])


ROUNDS = 10
# What, of what, sizes, the power that counting operations gives, how it is measured.
GROWTH = [
    ("plan of corn, complete graph", "n", [100, 200, 400, 800], "3", complete_plan),
    ("plan of decor, 10 neighbours", "n", [100, 200, 400, 800], "3", plan("--mechanism", "decor")),
    ("plan of pairs along edges, 10 neighbours, gap .05", "n", [100, 200, 400, 800], "2 to 3",
     plan("--mechanism", "pairs", "--seed-groups", "edges", "--plan-gap", "0.05")),
    ("gradients of a round, mlp", "hidden", [32, 64, 128, 256], "1", training(phase("gradient"), hidden)),
    ("private noise of a round", "hidden", [32, 64, 128, 256], "1", training(phase("noise"), hidden)),
    ("mixing of a round, ring", "hidden", [32, 64, 128, 256], "1", training(phase("mix"), hidden)),
    ("gradients of a round", "n", [20, 40, 80, 160], "1", training(phase("gradient"), agents)),
    ("mixing of a round", "neighbours", [8, 16, 32, 64], "1", training(phase("mix"), degree)),
    ("mixing of a round", "K", [1, 2, 4, 8], "1", training(phase("mix"), gossip)),
    ("memory of a training (with data)", "hidden", [128, 256, 512, 1024], "1", training(memory, hidden)),
    ("account of one agent about all, T = 50", "n", [100, 200, 400, 800], "3",
     account(lambda n: sparse(n) + ["--rounds", 50])),
    ("the same, n = 100", "T", [50, 100, 200, 400], "1, and 2 where no round is like another",
     account(lambda rounds: sparse(100) + ["--rounds", rounds])),
    ("the same, n = 100, T = 50", "K", [1, 2, 4], "1",
     account(lambda steps: sparse(100) + ["--rounds", 50, "--gossip-steps", steps])),
]
if common.QUICK:
    GROWTH = [(*one[:2], one[2][:2], *one[3:]) for one in GROWTH]


def power(sizes, values):
    """Least squares of log value on log size."""
    x, y = [math.log(size) for size in sizes], [math.log(max(value, 1e-9)) for value in values]
    x0, y0 = statistics.mean(x), statistics.mean(y)
    return sum((a - x0) * (b - y0) for a, b in zip(x, y)) / sum((a - x0) ** 2 for a in x)


def main():
    rows, results = [], []
    for name, variable, sizes, counted, figure in GROWTH:
        values = [figure(size) for size in sizes]
        results.append({"what": name, "of": variable, "sizes": sizes, "values": values, "power": power(sizes, values)})
        rows.append([name, variable, ", ".join(map(str, sizes)), ", ".join(f"{value:.3g}" for value in values),
                     f"{results[-1]['power']:.2f}", counted])
        print(name, variable, rows[-1][3], flush=True)
    text = (f"How cost grows, sotto in one process: seconds (memory: MiB), median of {RUNS}; trainings on one thread, {ROUNDS} rounds.\n"
            "The power law that fits best over these sizes, and the power that counting operations gives for large ones.\n\n")
    text += common.table(["", "of", "sizes", "measured", "power", "counted"], rows)
    common.write_results("scaling", {"growth": results}, text)


main()
