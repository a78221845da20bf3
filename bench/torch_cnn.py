"""The same private training of a CNN on MNIST by sotto's own task and by PyTorch: 8 ranks, epsilon 2 a record, sampled in secret.

`sotto train --task cnn` and examples/torch_mnist.py have the same layers, kinds of first weights, options and seeds of the shards;
first weights and batches are drawn apart. Accuracy is the mean over the agents of their own models, on the whole test set.
"""
import json
import pathlib
import sys
import tempfile
import time

import common

SEEDS = [1, 2] if common.QUICK else [1, 2, 3, 4, 5]
RANKS = 8
OPTIONS = {"epsilon": 2, "mechanism": "pairs", "rounds": 5 if common.QUICK else 60, "batch-size": 32, "step-size": 2.0, "clip-norm": 1.0,
           "topology": "complete"}
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}


def measured(how, seed):
    train, test = (common.data_file(f"{part}-images-idx3-ubyte.gz") for part in ("train", "t10k"))
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        words = [str(word) for name, value in (OPTIONS | {"seed": seed, "run-directory": run}).items() for word in ("--" + name, value)]
        if how == "C++":
            command = [common.SOTTO, "train", "--task", "cnn", "--data", train, "--test-data", test, "--partition", "iid",
                       "--adjacency", "record-add-remove", "--participation", "poisson", "--quiet"]
        else:
            command = [sys.executable, common.ROOT / "examples" / "torch_mnist.py", "--data", train.parent]
        start = time.monotonic()
        common.output_of(common.mpirun(RANKS) + command + words, PYTHONPATH=str(common.BUILD / "python"), **ENVIRONMENT)
        summary = json.loads((run / "summary.json").read_text())
        return {"accuracy": summary["test_accuracy"], "loss": summary["test_loss"], "epsilon": summary["epsilon"],
                "seconds": time.monotonic() - start}


def main():
    runs = {how: [measured(how, seed) for seed in SEEDS] for how in ("C++", "PyTorch")}
    rows = []
    for how, of in runs.items():
        mean, half = common.interval95([100 * run["accuracy"] for run in of])
        rows.append([how, f"{mean:.2f} +- {half:.2f}", f"{max(run['epsilon'] for run in of):.4f}",
                     f"{common.median([run['seconds'] for run in of]):.0f}"])
    differences = [100 * (a["accuracy"] - b["accuracy"]) for a, b in zip(runs["PyTorch"], runs["C++"])]
    mean, half = common.interval95(differences)
    text = (f"MNIST, {RANKS} ranks, {OPTIONS['rounds']} rounds, pairs, epsilon {OPTIONS['epsilon']} for a record, Poisson sampling, {len(SEEDS)} seeds;\n"
            f"means and 95% intervals. Load of the machine before: {common.LOAD:.1f}.\n\n")
    text += common.table(["gradients by", "test accuracy, %", "epsilon", "seconds"], rows)
    text += f"\nPyTorch less C++, by seed: {mean:.2f} +- {half:.2f} points\n"
    common.write_results("torch_cnn", {"load": common.LOAD, "runs": runs}, text)


main()
