"""How well the tuning rule does for PyTorch models, against clip and step by hand, at epsilon 2 a record and 10 000 records.

    SOTTO_DATA_DIR=DIR PYTHONPATH=build/python mpirun -n 4 --oversubscribe --bind-to none \
        python3 bench/torch_tuning.py cnn|bag|attention [--clip-norm C --step-size ETA] [--seed S]

cnn: MNIST, two convolutions with GroupNorm, d = 2874. bag and attention: which of two kinds of tokens is more frequent among
others, of 64 tokens and at most 24 places, by an embedding bag (d = 1058) and by one block of a transformer (d = 3698). Rounds
and batches are those of the rule throughout, and steps fall linearly. Rank 0 prints loss and accuracy of its own model, and
the tenth, median and ninth tenth of its records' gradient norms at the first and at the last model.
"""
import argparse
import os
import pathlib
import runpy

import numpy
import torch
from torch import nn
from torch.utils.data import TensorDataset

import sotto
import sotto.torch

TOKENS, PLACES, PADDING = 64, 24, 0
EXAMPLE = pathlib.Path(__file__).resolve().parents[1] / "examples" / "torch_mnist.py"


def texts(records, seed):
    """Tokens 1 to 4 are more frequent than 5 to 8 in class 1, less in class 0."""
    random = numpy.random.default_rng(seed)
    classes = random.integers(0, 2, records)
    tokens = random.integers(9, TOKENS, (records, PLACES))
    for row, of_class in zip(tokens, classes):
        telling = random.integers(3, 9)
        places = random.permutation(PLACES)[:telling]
        right = random.random(telling) < 0.75
        row[places] = numpy.where(right == (of_class == 1), random.integers(1, 5, telling), random.integers(5, 9, telling))
        row[random.integers(12, PLACES + 1):] = PADDING
    return TensorDataset(torch.from_numpy(tokens), torch.from_numpy(classes))


def mean_of(values, there):
    return (values * there).sum(1) / there.sum(1)


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(TOKENS, 16, padding_idx=PADDING), nn.Linear(16, 2)

    def forward(self, tokens):
        return self.out(mean_of(self.embed(tokens), (tokens != PADDING).unsqueeze(-1).float()))


class Attention(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.embed, self.place = nn.Embedding(TOKENS, width), nn.Parameter(torch.randn(PLACES, width) * 0.1)
        self.query, self.key, self.value, self.back = (nn.Linear(width, width) for _ in range(4))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.wide, self.narrow, self.out = nn.Linear(width, 2 * width), nn.Linear(2 * width, width), nn.Linear(width, 2)

    def forward(self, tokens):
        there = tokens != PADDING
        hidden = self.embed(tokens) + self.place
        normed = self.norms[0](hidden)
        scores = self.query(normed) @ self.key(normed).transpose(1, 2) / 4
        weights = scores.masked_fill(~there[:, None, :], -1e9).softmax(-1)
        hidden = hidden + self.back(weights @ self.value(normed))
        hidden = hidden + self.narrow(torch.relu(self.wide(self.norms[1](hidden))))
        return self.out(mean_of(self.norms[2](hidden), there.unsqueeze(-1).float()))


def cnn():
    return nn.Sequential(nn.Conv2d(1, 8, 5, stride=3), nn.GroupNorm(4, 8), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2),
                         nn.GroupNorm(4, 16), nn.ReLU(), nn.Flatten(), nn.Linear(144, 10))


def data_of(task, rank, ranks, records=10000):
    """The rank's shard, and the test set that all share."""
    if task != "cnn":
        return texts(records // ranks, 100 + rank), texts(3000, 99)
    read = runpy.run_path(str(EXAMPLE))["read_mnist"]
    folder = pathlib.Path(os.environ["SOTTO_DATA_DIR"])
    shard, test = read(folder, "train", rank, ranks, 1), read(folder, "t10k")
    return TensorDataset(*(part[:records // ranks] for part in shard.tensors)), TensorDataset(*(part[::4] for part in test.tensors))


def norms(peer, values):
    """Tenth, median and ninth tenth of 600 records."""
    found = numpy.linalg.norm(peer._rows_of_records(values, numpy.arange(600)), axis=1)
    return " ".join(f"{value:.3g}" for value in numpy.quantile(found, [0.1, 0.5, 0.9]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=["cnn", "bag", "attention"])
    parser.add_argument("--clip-norm", default="auto")
    parser.add_argument("--step-size", default="auto")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    comm = sotto.communicator()
    rank, ranks = (comm.rank, comm.size) if comm is not None else (0, 1)
    shard, test = data_of(given.task, rank, ranks)
    torch.manual_seed(given.seed)
    model = {"cnn": cnn, "bag": Bag, "attention": Attention}[given.task]()
    first = sotto.torch.parameters(model).copy()
    agent = sotto.Agent(comm, sotto.torch.dimension(model), records=len(shard), initial=first, adjacency="record-add-remove",
                        epsilon=2, tune="auto", clip_norm=given.clip_norm, step_size=given.step_size, step_schedule="linear",
                        topology="complete" if ranks < 4 else "ring", micro_batch=512, quiet=True)
    peer = sotto.torch.PrivatePeer(model, nn.CrossEntropyLoss(), shard, agent, test=test, threads=1, seed=given.seed)
    tuning = peer.train()["tuning"]
    reached = peer.evaluate(test)
    if rank == 0:
        print(f"{given.task}: loss {reached.loss:.4f}, accuracy {reached.accuracy:.4f}; {tuning}")
        print(f"norms at the first model {norms(peer, first)}, at the last {norms(peer, agent.model)}")


if __name__ == "__main__":
    main()
