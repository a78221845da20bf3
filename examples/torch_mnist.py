"""Private training of a PyTorch model on MNIST without a server: every MPI rank is an agent with a part of the records.

    SOTTO_DATA_DIR=DIR mpirun -n 8 --oversubscribe --bind-to none python3 examples/torch_mnist.py

DIR holds the four MNIST files (`deploy/fetch-data DIR`). The model is that of `sotto train --task cnn`: d = 20 586. Every
record is protected with epsilon 2 against whoever sees all messages, and any one curious agent. Without mpirun there is one
agent, which has all records.
"""
from __future__ import annotations

import argparse
import gzip
import os
import pathlib
import sys

import numpy
import numpy.typing
import torch
from torch.utils.data import TensorDataset

import sotto
import sotto.torch


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", type=pathlib.Path, default=os.environ.get("SOTTO_DATA_DIR"), help="folder of the MNIST files (default: $SOTTO_DATA_DIR)")
    add("--epsilon", type=float, default=2.0, help="budget of a record over the whole run (default: %(default)s)")
    add("--delta", type=float, default=1e-5, help="(default: %(default)s)")
    add("--mechanism", default="pairs", help="noise: pairs, ldp, corn, none, ... (default: %(default)s)")
    add("--rounds", type=int, default=60, help="(default: %(default)s)")
    add("--batch-size", type=int, default=32, help="records an agent draws in a round, on average (default: %(default)s)")
    add("--step-size", type=float, default=2.0, help="(default: %(default)s)")
    add("--clip-norm", type=float, default=1.0, help="longest gradient of a record, L2 (default: %(default)s)")
    add("--topology", default="complete", help="who talks to whom: complete, ring, erdos-renyi, ... (default: %(default)s)")
    add("--seed", type=int, default=1, help="of the shards and the first model; noise, batches and masks of Dropout stay secret (default: %(default)s)")
    add("--gradients", default="auto", choices=["auto", "ghost", "vectorised", "one-by-one"], help="(default: %(default)s)")
    add("--run-directory", help="where ledger, metrics and models go (default: runs/...)")
    options = parser.parse_args()
    if options.data is None:
        parser.error("--data DIR or SOTTO_DATA_DIR must name the folder of the MNIST files")
    return options


def read_idx(path: pathlib.Path) -> numpy.typing.NDArray[numpy.uint8]:
    """An array from a gzipped IDX file: two zero bytes, type 8 (unsigned bytes), number of axes, their lengths, the values."""
    with gzip.open(path) as file:
        content = file.read()
    if content[:3] != b"\0\0\x08":
        raise SystemExit(f"{path}: no IDX file of unsigned bytes")
    axes = content[3]
    shape = numpy.frombuffer(content, ">i4", axes, offset=4)
    return numpy.frombuffer(content, numpy.uint8, offset=4 + 4 * axes).reshape(shape)


def read_mnist(folder: pathlib.Path, part: str, agent: int = 0, agents: int = 1, seed: int = 0) -> TensorDataset:
    """Images (records, 1, 28, 28) in [0, 1] and classes of one agent's shard; part is "train" or "t10k"."""
    images = read_idx(folder / f"{part}-images-idx3-ubyte.gz")
    labels = read_idx(folder / f"{part}-labels-idx1-ubyte.gz")
    rows = rows_of(len(labels), agent, agents, seed)
    return TensorDataset(torch.from_numpy(images[rows].astype(numpy.float32) / 255).unsqueeze(1),
                         torch.from_numpy(labels[rows].astype(numpy.int64)))


def rows_of(records: int, agent: int, agents: int, seed: int) -> numpy.typing.NDArray[numpy.int64]:
    """Rows of one agent: every agents-th of an order that all ranks draw alike, so no record is in two shards."""
    return numpy.random.default_rng(seed).permutation(records)[agent::agents]


def cnn(seed: int) -> torch.nn.Module:
    """The convolutional model of sotto, with the same kind of first weights: d = 20 586."""
    torch.manual_seed(seed)
    layers: list[torch.nn.Module] = []
    for inputs, channels in ((1, 16), (16, 32)):
        layers += [torch.nn.Conv2d(inputs, channels, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
                   torch.nn.GroupNorm(channels // 4, channels)]
    model = torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.Linear(32 * 7 * 7, 10))
    for layer in model:
        if isinstance(layer, torch.nn.Conv2d):
            torch.nn.init.normal_(layer.weight, std=(2 / layer.weight[0].numel()) ** 0.5)
        elif isinstance(layer, torch.nn.Linear):
            torch.nn.init.xavier_normal_(layer.weight)
        if isinstance(layer, (torch.nn.Conv2d, torch.nn.Linear)) and layer.bias is not None:
            torch.nn.init.zeros_(layer.bias)
    return model


def main() -> int:
    """Trains, and prints what agent 0 knows at the end."""
    options = arguments()
    comm = sotto.communicator()
    rank, ranks = (comm.rank, comm.size) if comm is not None else (0, 1)
    shard = read_mnist(options.data, "train", rank, ranks, options.seed)
    test = read_mnist(options.data, "t10k")
    model = cnn(options.seed)
    places = {} if options.run_directory is None else {"run_directory": options.run_directory}
    agent = sotto.Agent(
        comm, sotto.torch.dimension(model), records=len(shard), initial=sotto.torch.parameters(model),
        adjacency="record-add-remove", participation="poisson", mechanism=options.mechanism, epsilon=options.epsilon,
        delta=options.delta, rounds=options.rounds, batch_size=options.batch_size, step_size=options.step_size,
        clip_norm=options.clip_norm, topology=options.topology, seed=options.seed, eval_every=max(1, options.rounds // 6), **places)
    peer = sotto.torch.PrivatePeer(model, torch.nn.CrossEntropyLoss(), shard, agent, test=test,
                                   gradients=options.gradients, seed=options.seed)
    result = peer.train()
    own = peer.evaluate(test)
    if rank == 0:
        print(f"{agent.agents} agents, d = {agent.dimension}, gradients by {peer.gradients}, {agent.round} rounds")
        print(f"epsilon {result.get('epsilon')} at delta {options.delta}; agent 0's own model: test loss {own.loss:.4f}, accuracy {own.accuracy:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
