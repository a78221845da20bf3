"""What a round costs from Python beside C++: sotto.Agent against a task of one's own with the same gradients.

Both clip one record's gradient in a round and agent, a vector that is there already, so all that is left is sotto's:
clipping, noise, exchange, mixing. Runs alternate; a figure is the time of the loop per round, of the slowest rank.
"""
import json
import pathlib
import sys
import tempfile

import common
from common import median

REPETITIONS = 2 if common.QUICK else 7
DIMENSIONS = [1000, 100000] if common.QUICK else [1000, 100000, 1000000]
RANKS = 2
PROGRAM = """
import sys
import numpy as np
from mpi4py import MPI
import sotto
dimension, words, single = int(sys.argv[1]), eval(sys.argv[2]), sys.argv[3] == "float32"
gradient = 1e-3 * (np.arange(dimension) % 7)[None, :]
if single:
    gradient = gradient.astype(np.float32)
agent = sotto.Agent(MPI.COMM_WORLD, dimension, records=8, **words)
while agent.more:
    agent.batch()
    agent.step(gradient)
agent.finish()
"""
OPTIONS = {"mechanism": "pairs", "topology": "ring", "adjacency": "record", "batch_size": 1, "epsilon": 5,
           "noise_seed": 3, "final_gossip": 0, "quiet": True}


def seconds_a_round(command, folder, rounds):
    common.output_of(common.mpirun(RANKS) + command, PYTHONPATH=str(common.BUILD / "python"),
                     OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_mpi_yield_when_idle="1")
    return json.loads((pathlib.Path(folder) / "summary.json").read_text())["seconds"]["loop"] / rounds


def measured(how, dimension):
    rounds = max(40, min(2000, 30_000_000 // dimension))
    with tempfile.TemporaryDirectory() as folder:
        options = OPTIONS | {"rounds": rounds, "eval_every": rounds, "run_directory": folder + "/run"}
        if how == "C++":
            words = [word for name, value in options.items() if value is not True
                     for word in ("--" + name.replace("_", "-"), value)]
            command = [common.SOTTO, "train", "--task", common.BUILD / "bench" / "libbench_constant_task.so",
                       "--data", dimension, "--quiet"] + words
        else:
            program = pathlib.Path(folder) / "program.py"
            program.write_text(PROGRAM)
            command = [sys.executable, program, dimension, repr(options), how.removeprefix("Python, ")]
        return seconds_a_round(command, folder + "/run", rounds)


def main():
    ways = ["C++", "Python, float64", "Python, float32"]
    runs = {dimension: {how: [] for how in ways} for dimension in DIMENSIONS}
    for dimension in DIMENSIONS:
        for _ in range(REPETITIONS):
            for how in ways:
                runs[dimension][how].append(measured(how, dimension))
    rows = []
    for dimension, of in runs.items():
        ratios = {how: [a / b for a, b in zip(of[how], of["C++"])] for how in ways}
        rows.append([f"{dimension}"] + [f"{1000 * median(of[how]):.3f}" for how in ways] +
                    [f"{median(ratios[how]):.3f}" for how in ways[1:]])
    text = (f"{RANKS} ranks, pairs, one record a round: milliseconds of a round, medians of {REPETITIONS} runs in turn, and medians of the\n"
            f"ratios to C++ of the same turn; load of the machine before: {common.LOAD:.1f}.\n\n")
    text += common.table(["parameters", *ways, "ratio float64", "ratio float32"], rows)
    common.write_results("module", {"load": common.LOAD, "runs": {str(k): v for k, v in runs.items()}}, text)


main()
