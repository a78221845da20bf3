"""What secret sampling costs in time: rounds with batches that are sampled in secret beside batches of that size, with the same
noise, idle and beside as many busy loops as cores."""
import json
import pathlib
import subprocess
import tempfile

import common
from common import median

REPETITIONS = 1 if common.QUICK else 9
MOST_RATIO = 1.05
MNIST = {"data": "train-images-idx3-ubyte.gz", "batch_size": 128, "clip_norm": 1}
JOBS = {
    "a9a, 20 ranks": (20, {"task": "logistic", "data": "a9a.gz", "batch_size": 64, "clip_norm": 0.5, "rounds": 1000}),
    "softmax on MNIST, 20 ranks": (20, {"task": "softmax", "rounds": 60} | MNIST),
    "softmax on MNIST, one process": (1, {"task": "softmax", "rounds": 100} | MNIST),
    "mlp on MNIST, one process": (1, {"task": "mlp", "hidden": 128, "rounds": 15} | MNIST),
    "a9a, one process": (1, {"task": "logistic", "data": "a9a.gz", "batch_size": 64, "clip_norm": 0.5, "rounds": 3000}),
}


def seconds_a_round(job, participation):
    ranks, options = JOBS[job]
    options = options | {"data": common.data_file(options["data"])}
    if common.QUICK:
        options["rounds"] = 3
    with tempfile.TemporaryDirectory() as folder:
        summary = pathlib.Path(folder) / "summary.json"
        command = [*(common.mpirun(ranks) if ranks > 1 else []), common.SOTTO, "train", "--quiet", "--threads", 1,
                   "--json", summary, "--run-directory", pathlib.Path(folder) / "run", "--noise-std", 0.05,
                   "--adjacency", "record-add-remove", "--participation", participation,
                   "--optimality-gap", "off", "--eval-every", options["rounds"]]
        for name, value in options.items():
            command += ["--" + name.replace("_", "-"), value]
        subprocess.run([str(word) for word in command], check=True)
        return json.loads(summary.read_text())["seconds"]["loop"] / options["rounds"]


def measure(loops):
    """Pairs, one after the other."""
    found = {}
    with common.busy_loops(loops):
        for job in JOBS:
            pairs = [[seconds_a_round(job, participation) for participation in ("every", "poisson")]
                     for _ in range(REPETITIONS)]
            found[job] = {"ms": [1000 * median(times) for times in zip(*pairs)],
                          "ratio": median(after / before for before, after in pairs),
                          "ratios": sorted(after / before for before, after in pairs)}
    return found


def main():
    results = {"idle": measure(0), f"beside {common.THREADS} busy loops": measure(common.THREADS)}
    rows = [[f"{job}, {load}", f"{one['ms'][0]:.3f}", f"{one['ms'][1]:.3f}", f"{one['ratio']:.3f}",
             f"{one['ratios'][0]:.2f} to {one['ratios'][-1]:.2f}"]
            for load, jobs in results.items() for job, one in jobs.items()]
    common.write_results(
        "sampling", {"most_ratio": MOST_RATIO, "repetitions": REPETITIONS, "results": results},
        "A round of all agents with batches of a fixed size, and with batches of that size sampled in secret; median of paired ratios.\n"
        f"Wanted: at most {MOST_RATIO}.\n\n" + common.table(["", "fixed ms", "sampled ms", "ratio", "from, to"], rows))


main()
