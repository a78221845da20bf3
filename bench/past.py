"""Noise correlated over rounds beside independent rounds: what past noise costs a training, and which shape is chosen."""
import pathlib
import re
import tempfile

import common
from common import median

REPETITIONS = 1 if common.QUICK else 3
ROUNDS, AGENTS, HIDDEN, BATCH = (20 if common.QUICK else 200), 20, 128, 64
SHAPES = ["banded:0", "one-lag", "banded:8", "banded:32", "auto", "dense"]
# dense draws all earlier noise again and is measured once.
ONCE = {"dense"}


def trained(shape):
    """Times of one training in one process, and what its plan says."""
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        text = common.output_of(
            [common.SOTTO, "train", "--task", "mlp", "--hidden", HIDDEN, "--data", common.data_file("train-images-idx3-ubyte.gz"),
             "--agents", AGENTS, "--topology", "ring", "--mechanism", "mafalda", "--temporal", shape, "--adjacency", "record-zero-out",
             "--participation", "cyclic:10", "--batch-size", BATCH, "--rounds", ROUNDS, "--eval-every", ROUNDS, "--epsilon", 4,
             "--final-gossip", 0, "--optimality-gap", "off", "--verbose", "--run-directory", run])
        chosen = re.search(r"^temporal = (\S+)", (run / "config.ini").read_text(), re.M).group(1)
    number = lambda pattern: float(re.search(pattern, text).group(1))
    return {"chosen": chosen, "loop": number(r"training loop +([\d.]+) s"), "gradient": number(r" gradient +([\d.]+) s"),
            "noise": number(r" noise +([\d.]+) s"), "mib": number(r"peak memory +([\d.]+) MiB"),
            "less_than_ldp": number(r"([\d.]+) times less than ldp")}


def main():
    runs = {shape: [] for shape in SHAPES}
    for repetition in range(REPETITIONS):
        for shape in SHAPES:
            if repetition == 0 or shape not in ONCE:
                runs[shape].append(trained(shape))
    rows = []
    for shape, of_shape in runs.items():
        middle = {key: median([run[key] for run in of_shape]) for key in ("loop", "gradient", "noise", "mib", "less_than_ldp")}
        chosen = of_shape[0]["chosen"]
        rows.append([shape if chosen == shape else f"{shape}: {chosen}", f"{middle['loop']:.2f}", f"{middle['gradient']:.2f}",
                     f"{middle['noise']:.2f}", f"{middle['mib']:.0f}", f"{middle['less_than_ldp']:.2f}"])
    text = (f"mafalda on MNIST, mlp with {HIDDEN} hidden units (d = 101 770), {AGENTS} agents on a ring in one process, {ROUNDS} rounds,\n"
            f"cyclic:10, batches of {BATCH}: seconds of the training loop and its parts, MiB, noise left (times less than ldp). Medians of\n"
            f"{REPETITIONS}, dense once. banded:0 is independent rounds.\n\n")
    text += common.table(["--temporal", "loop", "gradient", "noise", "MiB", "less"], rows)
    common.write_results("past", {"runs": runs}, text)


main()
