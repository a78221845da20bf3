"""MNIST with a linear model at epsilon 1 for one record: test accuracy, bytes and time by --precision and gossip steps."""
import json
import pathlib
import statistics
import tempfile

import common

SEEDS = [1] if common.QUICK else [1, 2, 3]
ROUNDS = 20 if common.QUICK else 300
GRAPHS = [("ring", ["--topology", "ring"]), ("Erdos-Renyi, p 0.5", ["--topology", "erdos-renyi", "--edge-probability", "0.5"])]
WAYS = [("float64", "float64", 1), ("float32", "float32", 1), ("nibble", "nibble", 1), ("nibble, K = 8", "nibble", 8)]
SETTING = ["--task", "softmax", "--data", "train-images-idx3-ubyte.gz", "--agents", 20, "--mechanism", "pairs", "--epsilon", 1,
           "--adjacency", "record-add-remove", "--participation", "poisson", "--batch-size", 128, "--clip-norm", 1, "--step-size", 0.5,
           "--rounds", ROUNDS, "--final-gossip", 0, "--optimality-gap", "off", "--eval-every", ROUNDS, "--tune=off"]


def training(folder, graph, precision, exchanges, seed):
    result = pathlib.Path(folder) / "result.json"
    setting = [common.data_file(word) if str(word).endswith(".gz") else word for word in SETTING]
    common.output_of([common.SOTTO, "train", "--quiet", "--json", result, *setting, *graph, "--precision", precision,
                      "--gossip-steps", exchanges, "--seed", seed, "--noise-seed", seed,
                      "--run-directory", f"{folder}/{precision}-{exchanges}-{seed}-{graph[1]}"])
    summary = json.loads(result.read_text())
    return {"accuracy": summary["test_accuracy"], "bytes": summary["bytes_sent"], "seconds": summary["seconds"]["loop"],
            "epsilon": summary["epsilon"], "consensus_distance": summary["consensus_distance"]}


def measure():
    runs = {}
    with tempfile.TemporaryDirectory() as folder:
        for seed in SEEDS:
            for graph, options in GRAPHS:
                for way, precision, exchanges in WAYS:
                    one = training(folder, options, precision, exchanges, seed)
                    runs.setdefault((graph, way), []).append(one)
                    print(graph, way, seed, one, flush=True)
    return runs


def rows_of(runs):
    for (graph, way), repeated in runs.items():
        wide = runs[graph, "float64"]
        accuracy = statistics.fmean(one["accuracy"] for one in repeated)
        lost, width = common.interval95([b["accuracy"] - a["accuracy"] for a, b in zip(repeated, wide)])
        yield [graph, way, f"{accuracy:.4f}", "" if way == "float64" else f"{lost:+.4f}" + (f" ± {width:.4f}" if width else ""),
               f"{1e-6 * common.median(one['bytes'] for one in repeated):.1f}",
               f"{common.median(a['bytes'] for a in wide) / common.median(one['bytes'] for one in repeated):.1f}",
               f"{common.median(one['seconds'] for one in repeated):.1f}"]


def main():
    runs = measure()
    lines = ["| graph | messages | accuracy | lost against float64 | MB sent | times fewer | loop, s |", "|---|---|---|---|---|---|---|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows_of(runs)]
    text = (f"MNIST, softmax (7850 parameters), 20 agents in one process, {ROUNDS} rounds, pairs, epsilon 1 for one record, secretly "
            f"sampled\nbatches of 128, C = 1, step size 0.5, {len(SEEDS)} seed(s), means: the agents' own models on the test set.\n\n"
            "Test accuracy and bytes by the format of messages:\n\n" + "\n".join(lines) + "\n")
    common.write_results("short_messages", {"runs": [{"graph": graph, "way": way, "repeated": repeated}
                                                     for (graph, way), repeated in runs.items()]}, text)


main()
