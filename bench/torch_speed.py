"""What a round of sotto.torch costs beside a plain training step of the same model: time and memory, one agent, one thread.

    PYTHONPATH=build/python python3 bench/torch_speed.py [MODEL...] [--batch B] [--steps N] [--gradients ghost|vectorised|one-by-one]

A plain step is forward pass, backward pass and SGD. A round is a whole `peer.step()` of the only agent of a run (mechanism ldp
or none, epsilon 8, as many records in every batch, no evaluation within): gradients, clipping, checks with passes of their own, noise,
grid, model. Steps and rounds take turns; the ratio is that of their medians. Memory is what a process of its own has at most
beyond what it had before the first step, less six vectors of d doubles, over that of a plain step.
"""
import argparse
import ctypes
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import torch
from torch import nn
from torch.utils.data import TensorDataset

import sotto
import sotto.torch

CLASSES = 10


def classes(count):
    return torch.randint(CLASSES, (count,))


class Gpt(nn.Module):
    """Four blocks of causal attention over tokens, which predict the next one."""

    def __init__(self, tokens=256, length=64, width=128, blocks=4):
        super().__init__()
        self.tokens, self.places = nn.Embedding(tokens, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(nn.TransformerEncoderLayer(width, 4, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True)
                                    for _ in range(blocks))
        self.norm, self.out = nn.LayerNorm(width), nn.Linear(width, tokens)
        self.register_buffer("mask", torch.triu(torch.full((length, length), float("-inf")), 1))

    def forward(self, x):
        x = self.tokens(x) + self.places(torch.arange(x.shape[1]).expand(len(x), -1))
        for block in self.blocks:
            x = block(x, self.mask)
        return self.out(self.norm(x)).transpose(1, 2)


class Lstm(nn.Module):
    """A recurrent layer over 32 steps."""

    def __init__(self):
        super().__init__()
        self.lstm, self.out = nn.LSTM(64, 128, batch_first=True), nn.Linear(128, CLASSES)

    def forward(self, x):
        return self.out(self.lstm(x)[0][:, -1])


class Vit(nn.Module):
    """Patches of an image through four blocks with dropout."""

    def __init__(self, width=128):
        super().__init__()
        self.patches, self.places = nn.Conv2d(3, width, 4, 4), nn.Embedding(64, width)
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(width, 4, 4 * width, 0.1, "gelu", batch_first=True, norm_first=True), 4)
        self.out = nn.Linear(width, CLASSES)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = x + self.places(torch.arange(x.shape[1]).expand(len(x), -1))
        return self.out(self.encoder(x).mean(1))


def mlp():
    return nn.Sequential(nn.Linear(784, 768), nn.ReLU(), nn.Linear(768, 600), nn.ReLU(), nn.Linear(600, CLASSES))


def cnn():
    layers, before = [], 3
    for width in (32, 64, 128):
        layers += [nn.Conv2d(before, width, 3, padding=1), nn.GroupNorm(8, width), nn.ReLU(), nn.MaxPool2d(2)]
        before = width
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(128 * 16, CLASSES))


#: Model, records of a count, and whether ghost norms are an opt-in.
MODELS = {
    "mlp": (mlp, lambda n: (torch.randn(n, 784), classes(n)), False),
    "cnn": (cnn, lambda n: (torch.randn(n, 3, 32, 32), classes(n)), False),
    "gpt": (Gpt, lambda n: (torch.randint(256, (n, 64)), torch.randint(256, (n, 64))), True),
    "lstm": (Lstm, lambda n: (torch.randn(n, 32, 64), classes(n)), True),
    "vit": (Vit, lambda n: (torch.randn(n, 3, 32, 32), classes(n)), True),
    "bag": (lambda: nn.Sequential(nn.EmbeddingBag(20000, 64), nn.Linear(64, CLASSES)),
            lambda n: (torch.randint(20000, (n, 64)), classes(n)), False),
}


def plain_step(name, batch):
    """A function that makes one step, and the number of parameters."""
    make, data, _ = MODELS[name]
    model, (inputs, targets) = make(), data(batch)
    loss, optimiser = nn.CrossEntropyLoss(), torch.optim.SGD(model.parameters(), 0.01)

    def step():
        optimiser.zero_grad()
        loss(model(inputs), targets).backward()
        optimiser.step()

    return step, sotto.torch.dimension(model)


def private_peer(name, batch, rounds, gradients, folder, mechanism="ldp"):
    make, data, opt_in = MODELS[name]
    model = make()
    agent = sotto.Agent(None, sotto.torch.dimension(model), records=batch, initial=sotto.torch.parameters(model), rounds=rounds + 8,
                        mechanism=mechanism, epsilon=8 if mechanism != "none" else None, adjacency="record", batch_size=batch, clip_norm=1, step_size=0.01,
                        eval_every=1000, quiet=True, run_directory=f"{folder}/run")
    way = gradients or ("ghost" if opt_in else "auto")
    return sotto.torch.PrivatePeer(model, nn.CrossEntropyLoss(), TensorDataset(*data(batch)), agent, gradients=way, threads=0), agent


def resident(key):
    """VmRSS (now) or VmHWM (at most) in bytes."""
    line = next(line for line in pathlib.Path("/proc/self/status").read_text().splitlines() if line.startswith(key))
    return int(line.split()[1]) * 1024


def memory_of(kind, name, options):
    """What two steps or rounds need at most, in bytes, in a process of its own."""
    words = [sys.executable, __file__, name, "--batch", str(options.batch), "--memory", kind]
    words += ["--gradients", options.gradients] if options.gradients else []
    return int(subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()[-1])


def say_memory(kind, name, options):
    with tempfile.TemporaryDirectory() as folder:
        step = plain_step(name, options.batch)[0] if kind == "plain" else private_peer(
            name, options.batch, 2, options.gradients, folder)[0].step
        ctypes.CDLL(None).malloc_trim(0)
        pathlib.Path("/proc/self/clear_refs").write_text("5")  # VmHWM begins anew
        before = resident("VmRSS")
        for _ in range(2):
            step()
        print(max(resident("VmHWM") - before, 1))


def measured(name, options):
    step, dimension = plain_step(name, options.batch)
    with tempfile.TemporaryDirectory() as folder:
        peer, agent = private_peer(name, options.batch, options.steps, options.gradients, folder, options.mechanism)
        plain, private = [], []
        for turn in range(options.steps + 3):
            for times, work in ((plain, step), (private, peer.step)):
                start = time.perf_counter()
                work()
                if turn >= 3:
                    times.append(time.perf_counter() - start)
        phases = {phase: 1e3 * spent / (options.steps + 3) for phase, spent in agent.seconds.items()}
    plain_ms, private_ms = 1e3 * statistics.median(plain), 1e3 * statistics.median(private)
    memory = "-"
    if not options.no_memory:
        ours, theirs = memory_of("private", name, options), memory_of("plain", name, options)
        memory = f"{max(0, ours - 6 * 8 * dimension) / theirs:.2f} ({ours >> 20} of {theirs >> 20} MiB)"
    return [name, peer.gradients, f"{dimension}", f"{plain_ms:.2f}", f"{private_ms:.2f}", f"{private_ms / plain_ms:.2f}", memory,
            " ".join(f"{phase} {spent:.1f}" for phase, spent in phases.items())]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=list(MODELS))
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--gradients")
    parser.add_argument("--mechanism", default="ldp", help="none: without noise (default: %(default)s)")
    parser.add_argument("--no-memory", action="store_true")
    parser.add_argument("--memory", choices=["plain", "private"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    if options.memory:
        say_memory(options.memory, options.models[0], options)
        return
    rows = [["model", "way", "parameters", "step, ms", "round, ms", "ratio", "memory", "phases of a round, ms"]]
    rows += [measured(name, options) for name in options.models]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    print(f"batches of {options.batch}, medians of {options.steps} steps in turn, one thread")
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


main()
