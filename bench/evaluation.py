"""What two evaluations cost beside 20 rounds, at several sizes and by how many records they read."""
import json
import pathlib
import tempfile

import common
from common import median

REPETITIONS = 1 if common.QUICK else 3
ROUNDS = 20
MNIST = "train-images-idx3-ubyte.gz"
# Name, ranks (0: one process), options.
CASES = [("mlp, d = 1.0e6, ring of 8 ranks, batches of 8", 8, ["--task", "mlp", "--hidden", 1258, "--data", MNIST, "--batch-size", 8]),
         ("mlp, d = 1.0e6, ring of 8 ranks", 8, ["--task", "mlp", "--hidden", 1258, "--data", MNIST]),
         ("mlp, d = 407 050, 4 agents", 0, ["--task", "mlp", "--hidden", 512, "--data", MNIST, "--agents", 4]),
         ("mlp, d = 407 050, 4 ranks", 4, ["--task", "mlp", "--hidden", 512, "--data", MNIST]),
         ("cnn, 4 agents", 0, ["--task", "cnn", "--data", MNIST, "--agents", 4]),
         ("softmax, d = 7850, 100 agents", 0, ["--task", "softmax", "--data", MNIST, "--agents", 100]),
         ("logistic, a9a, 20 ranks", 20, ["--data", "a9a.gz"])]
RECORDS = ["all", "auto", "1000"]
if common.QUICK:
    CASES = CASES[-1:]


def trained(ranks, options, records):
    """Seconds of a training's rounds, and of its evaluations: at the start and after the last round."""
    options = [common.data_file(word) if word in (MNIST, "a9a.gz") else word for word in options]
    with tempfile.TemporaryDirectory() as folder:
        summary = pathlib.Path(folder) / "summary.json"
        common.output_of(
            (common.mpirun(ranks) if ranks else []) +
            [common.SOTTO, "train", "--quiet", "--json", summary, "--topology", "ring", "--rounds", ROUNDS, "--eval-every", ROUNDS,
             "--final-gossip", 0, "--optimality-gap", "off", "--noise-seed", 5, "--eval-records", records,
             "--run-directory", pathlib.Path(folder) / "run"] + options, OMPI_MCA_mpi_yield_when_idle="1")
        seconds = json.loads(summary.read_text())["seconds"]
    return {"loop": seconds["loop"], "evaluate": seconds["evaluate"]}


def main():
    cases = []
    for name, ranks, options in CASES:
        runs = {records: [] for records in RECORDS}
        for _ in range(REPETITIONS):
            for records in RECORDS:
                runs[records].append(trained(ranks, options, records))
        cases.append({"case": name, "runs": runs})
        print(name, {records: median([run["evaluate"] for run in of]) for records, of in runs.items()}, flush=True)
    rows = []
    for case in cases:
        loop = median([run["loop"] for of in case["runs"].values() for run in of])
        evaluate = [median([run["evaluate"] for run in case["runs"][records]]) for records in RECORDS]
        rows.append([case["case"], f"{loop:.2f}"] + [f"{seconds:.2f} ({seconds / loop:.2f})" for seconds in evaluate])
    text = (f"Seconds of {ROUNDS} rounds, and of two evaluations (before them and after the last round) with --eval-records all, auto and 1000;\n"
            f"in brackets: times the rounds. Batches of 128 unless said, pairs, a fifth of the file to test on (MNIST: 12 000 records).\n"
            f"Medians of {REPETITIONS}, in turn; load of the machine before: {common.LOAD:.1f}.\n\n")
    text += common.table(["", "rounds"] + RECORDS, rows)
    common.write_results("evaluation", {"load": common.LOAD, "cases": cases}, text)


main()
