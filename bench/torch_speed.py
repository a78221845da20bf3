"""What a round of sotto.torch costs beside a plain training step of the same model: time and memory, one agent, one thread.

    bench/run torch_speed
    python3 bench/torch_speed.py [MODEL...] [--batch B] [--steps N] [--gradients WAY]        # shown, not kept

A plain step is forward pass, backward pass and SGD. A round is a whole `peer.step()` of the only agent of a run (mechanism ldp,
epsilon 8, as many records in every batch, no evaluation within): gradients, clipping, checks with passes of their own, noise,
grid, model. Opacus' method is that of its ghost clipping, two backward passes, in plain torch (torch_opacus.py), with torch's noise, for the
models whose layers it has. All take turns; a ratio is the median of those of the same turn. Times are the processor's, which are also
those of a clock where the machine is idle. Memory is what a process of its own has at most beyond what it had before the first step,
less six vectors of d doubles, over that of a plain step.
"""
import argparse
import contextlib
import ctypes
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import common

sys.path.insert(0, str(common.BUILD / "python"))

import torch
from torch import nn
from torch.utils.data import TensorDataset

import sotto
import sotto.torch
from torch_opacus import private_step

STEPS = 3 if common.QUICK else 40
CELLS = [("mlp", 64), ("mlp", 256), ("cnn", 64), ("gpt", 64), ("lstm", 64), ("vit", 64), ("bag", 64)]
OPACUS = ("mlp", "cnn", "bag")
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


def opacus_step(name, batch):
    """A function that makes one private step by Opacus' method."""
    make, data, _ = MODELS[name]
    model, (inputs, targets) = make(), data(batch)
    optimiser = torch.optim.SGD(model.parameters(), 0.01)
    return lambda: private_step(model, nn.CrossEntropyLoss(reduction="none"), optimiser, 1.0, 1.0, inputs, targets)


def private_peer(name, options, rounds, folder):
    """A peer of sotto.torch, with a few rounds more than are measured, and its agent."""
    make, data, opt_in = MODELS[name]
    model, batch = make(), options.batch
    agent = sotto.Agent(None, sotto.torch.dimension(model), records=batch, initial=sotto.torch.parameters(model), rounds=rounds + 8,
                        mechanism="ldp", epsilon=8, adjacency="record", batch_size=batch, clip_norm=1, step_size=0.01,
                        eval_every=1000, quiet=True, threads=1, run_directory=f"{folder}/run")
    way = options.gradients or ("ghost" if opt_in else "auto")
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
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as ended:
        if kind == "private":
            step = ended.enter_context(private_peer(name, options, 2, folder)[0]).step
        else:
            step, _ = plain_step(name, options.batch)
        ctypes.CDLL(None).malloc_trim(0)
        pathlib.Path("/proc/self/clear_refs").write_text("5")  # VmHWM begins anew
        before = resident("VmRSS")
        for _ in range(2):
            step()
        print(max(resident("VmHWM") - before, 1))


def in_turn(ways, steps):
    """Milliseconds of processor time of so many calls of each, in turn, after three to begin with."""
    times = {way: [] for way in ways}
    for turn in range(steps + 3):
        for way, work in ways.items():
            start = time.process_time()
            work()
            if turn >= 3:
                times[way].append(1e3 * (time.process_time() - start))
    return times


def measured(name, options):
    """Milliseconds of all steps, and bytes."""
    step, dimension = plain_step(name, options.batch)
    with tempfile.TemporaryDirectory() as folder:
        peer, agent = private_peer(name, options, options.steps, folder)
        with peer:
            ways = {"plain": step, "sotto": peer.step} | ({"opacus": opacus_step(name, options.batch)} if name in OPACUS else {})
            times = in_turn(ways, options.steps)
            phases = {phase: 1e3 * spent / (options.steps + 3) for phase, spent in agent.seconds.items()}
    return {"model": name, "batch": options.batch, "gradients": peer.gradients, "parameters": dimension, "milliseconds": times,
            "phases": phases, "bytes": {kind: memory_of(kind, name, options) for kind in ("plain", "private")}}


def ratio(cell, way):
    """Of the times of this way to those of plain steps, turn by turn: the median; '-' if it was not measured."""
    times = cell["milliseconds"]
    return f"{statistics.median(a / b for a, b in zip(times[way], times['plain'])):.2f}" if way in times else "-"


def row(cell):
    plain, private = (statistics.median(cell["milliseconds"][way]) for way in ("plain", "sotto"))
    own = max(0, cell["bytes"]["private"] - 6 * 8 * cell["parameters"])
    return [cell["model"], cell["gradients"], cell["batch"], cell["parameters"], f"{plain:.1f}", f"{private:.1f}", ratio(cell, "sotto"),
            ratio(cell, "opacus"), f"{own / cell['bytes']['plain']:.2f}"]


def markdown(rows):
    """A table as the pages have them."""
    lines = [["model", "gradients", "batch", "parameters", "plain step, ms", "round, ms", "round / step", "Opacus' method / step", "memory / step's"]]
    lines += [["---"] * len(lines[0]), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n".replace("| --- ", "|---").replace("|--- |", "|---|") for line in lines)


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*")
    parser.add_argument("--batch", type=int)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--gradients")
    parser.add_argument("--memory", choices=["plain", "private"], help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = parsed()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    if options.memory:
        say_memory(options.memory, options.models[0], options)
        return
    cells = []
    for name, batch in [(name, options.batch or 64) for name in options.models] or CELLS:
        cells.append(measured(name, argparse.Namespace(**vars(options) | {"batch": options.batch or batch})))
    text = (f"Rounds of sotto.torch beside plain steps, one thread, torch {torch.__version__}: medians of the processor time of {options.steps} steps in turn; "
            f"load of the machine before: {common.LOAD:.1f}\n\n" + markdown([row(cell) for cell in cells]))
    if options.models or options.batch or options.gradients:
        print(text)
    else:
        common.write_results("torch_speed", {"load": common.LOAD, "torch": torch.__version__, "cells": cells}, text)


if __name__ == "__main__":
    main()
