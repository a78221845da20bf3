"""Gradients of single records of PyTorch models by sotto.torch, beside one plain gradient of the whole batch, on MNIST."""
import runpy
import sys
import time

import torch
from torch import nn

import common
from common import median

sys.path[:0] = [str(common.BUILD / "python"), str(common.ROOT / "python")]
from sotto.torch.data import Batch  # noqa: E402
from sotto.torch.flat import FlatParameters  # noqa: E402
from sotto.torch.gradients import WAYS, sum_gradient  # noqa: E402
from sotto.torch.losses import RecordLoss  # noqa: E402
from sotto.torch.threads import set_threads  # noqa: E402

REPETITIONS = 2 if common.QUICK else 15
RECORDS = 64


def wide_kernels():
    """A small model with wide kernels, d = 26 010."""
    return nn.Sequential(nn.Conv2d(1, 16, 8, stride=2, padding=3), nn.ReLU(), nn.MaxPool2d(2, 1),
                         nn.Conv2d(16, 32, 4, stride=2), nn.ReLU(), nn.MaxPool2d(2, 1),
                         nn.Flatten(), nn.Linear(512, 32), nn.ReLU(), nn.Linear(32, 10))


def seconds(work):
    """Seconds of processor time of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(model, batch):
    """Seconds by way, every repetition; the ways take turns."""
    flat, loss = FlatParameters(model), RecordLoss(nn.CrossEntropyLoss(), torch.device("cpu"))
    row, matrix = flat.vector.new_empty(flat.dimension), flat.vector.new_empty(batch.records, flat.dimension)
    works = {"plain": lambda: sum_gradient(model, loss, flat, batch, row)}
    for name, way in WAYS.items():
        works[name] = lambda made=way(model, loss, flat): made.fill(batch, matrix)
    for work in works.values():
        work()
    found = {name: [] for name in works}
    for _ in range(REPETITIONS):
        for name, work in works.items():
            found[name].append(seconds(work))
    return flat.dimension, found


def main():
    set_threads(1)
    torch.manual_seed(1)
    example = runpy.run_path(str(common.ROOT / "examples" / "torch_mnist.py"))
    folder = common.data_file("train-images-idx3-ubyte.gz").parent
    data = example["read_mnist"](folder, "train", 0, 60000 // RECORDS, 1)
    batch = Batch((data.tensors[0][:RECORDS],), data.tensors[1][:RECORDS])
    models = {"cnn of sotto": example["cnn"](1), "wide kernels": wide_kernels()}
    runs, rows = {}, []
    for name, model in models.items():
        dimension, runs[name] = measure(model, batch)
        middle = {way: median(values) for way, values in runs[name].items()}
        rows.append([f"{name}, d = {dimension}", *(f"{1000 * value:.1f}" for value in middle.values()),
                     f"{middle['hooks'] / middle['plain']:.2f}", f"{middle['one-by-one'] / middle['hooks']:.1f}"])
    text = (f"Milliseconds of one core for the gradients of {RECORDS} MNIST records (torch {torch.__version__}), medians of {REPETITIONS};\n"
            "plain: one gradient of the batch.\n\n")
    text += common.table(["model", "plain", *WAYS, "hooks / plain", "one-by-one / hooks"], rows)
    common.write_results("torch_gradients", {"records": RECORDS, "torch": torch.__version__, "runs": runs}, text)


if __name__ == "__main__":
    main()
