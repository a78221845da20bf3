"""Adam's scales for private training: shared by all agents, of every agent alone, or none, at epsilon 2 a record.

    PYTHONPATH=build/python python3 bench/torch_adam.py [attention|lora]

attention: bench/torch_tuning.py's block of a transformer. lora: the same block, trained on public texts and then fixed, with
low-rank changes of its weights for private texts whose words have other names. Four agents on a ring with 2500 records each, in
one process; rounds and batches of the tuning rule, clip 1, steps that fall linearly. Rows: SGD, SGD with momentum .9, SGD with
the shared preconditioner (precondition_every=10), all with noise of `pairs`; and with `ldp` Adam of every agent's own noisy
gradients (Kingma and Ba 2015) and the same without the noise's bias (DP-AdamBC, Tang, Shpilevskiy and Lecuyer 2024), betas .9
and .999. Every row has a grid of steps by factors of two, widened until its best is not at an edge; the best of seed 1 (and of
the floors of DP-AdamBC) is run with three seeds. Writes bench/results/torch_adam.txt.
"""
import copy
import functools
import pathlib
import statistics
import sys

import numpy
import torch
from torch import nn
from torch.utils.data import TensorDataset

import sotto
import sotto.torch
from torch_tuning import TOKENS, Attention, texts

EPSILON, AGENTS, RECORDS, CLIP, SEEDS = 2, 4, 2500, 1.0, (1, 2, 3)


class LowRank(nn.Module):
    """W + B A; B is zero at first."""

    def __init__(self, weight, rank=4):
        super().__init__()
        self.b, self.a = nn.Parameter(torch.zeros(len(weight), rank)), nn.Parameter(torch.randn(rank, weight.shape[1]) / 4)

    def forward(self, weight):
        return weight + self.b @ self.a


@functools.cache
def public_model():
    torch.manual_seed(1)
    model, data = Attention(), texts(6000, 7).tensors
    optimiser = torch.optim.Adam(model.parameters(), 3e-3)
    for rows in torch.randperm(6000).split(64):
        optimiser.zero_grad()
        nn.functional.cross_entropy(model(data[0][rows]), data[1][rows]).backward()
        optimiser.step()
    return model.requires_grad_(False)


def renamed(data):
    """Words 1 and up get other names; 0 is padding."""
    names = torch.cat([torch.zeros(1, dtype=torch.long), 1 + torch.randperm(TOKENS - 1, generator=torch.Generator().manual_seed(5))])
    return TensorDataset(names[data.tensors[0]], data.tensors[1])


def task_of(name, seed):
    """Model, shards and test set."""
    shards, test = [texts(RECORDS, 100 + agent) for agent in range(AGENTS)], texts(3000, 99)
    torch.manual_seed(seed)
    if name == "attention":
        return Attention(), shards, test
    model = copy.deepcopy(public_model())
    for layer in (model.query, model.key, model.value, model.back, model.wide, model.narrow):
        nn.utils.parametrize.register_parametrization(layer, "weight", LowRank(layer.weight))
    return model, [renamed(shard) for shard in shards], renamed(test)


def simulation_of(name, seed, **options):
    model, shards, test = task_of(name, seed)
    return test, sotto.torch.simulate(model, shards, loss=nn.CrossEntropyLoss(), epsilon=EPSILON, topology="ring", clip_norm=CLIP,
                                      step_schedule="linear", seed=seed, quiet=True, **options)


def by_sgd(name, step, seed, **options):
    """Loss and accuracy on the test set, mean over agents, and the tuning."""
    test, simulation = simulation_of(name, seed, tune="auto", step_size=step, **options)
    with simulation:
        tuning = simulation.train()["tuning"]
        found = simulation.evaluate(test)
    return found.loss, found.accuracy, tuning


def by_own_adam(name, step, seed, rounds, batch, floor=None):
    """The same for Adam of every agent's own noisy gradients; floor: of v in units of the noise's, without the noise's bias."""
    test, simulation = simulation_of(name, seed, mechanism="ldp", rounds=rounds, batch_size=batch, step_size=1)
    random, share = numpy.random.default_rng(seed), batch / RECORDS
    noise = sotto.noise_multiplier(EPSILON, share, rounds) * CLIP / batch
    with simulation:
        peers = simulation.peers
        models = [sotto.torch.parameters(peer.model).astype(float) for peer in peers]
        first, second = [[numpy.zeros_like(models[0]) for _ in peers] for _ in range(2)]
        for t in range(1, rounds + 1):
            messages = []
            for a, peer in enumerate(peers):
                rows = peer._rows_of_records(models[a], numpy.flatnonzero(random.random(RECORDS) < share)).astype(float)
                rows *= numpy.minimum(1, CLIP / numpy.maximum(numpy.linalg.norm(rows, axis=1), 1e-12))[:, None]
                noisy = rows.sum(0) / batch + noise * random.standard_normal(len(models[a]))
                first[a] += 0.1 * (noisy - first[a])
                second[a] += 0.001 * (noisy**2 - second[a])
                mean, square = first[a] / (1 - 0.9**t), second[a] / (1 - 0.999**t)
                scale = numpy.sqrt(square) + 1e-8 if floor is None else numpy.sqrt(numpy.maximum(square - noise**2, floor * noise**2))
                messages.append(models[a] - step * 2 * (1 - (t - 0.5) / rounds) * mean / scale)
            models = [(messages[a - 1] + messages[a] + messages[(a + 1) % AGENTS]) / 3 for a in range(AGENTS)]
        found = []
        for peer, model in zip(peers, models):
            judged = copy.deepcopy(peer.model)
            nn.utils.vector_to_parameters(torch.from_numpy(model).float(), [p for p in judged.parameters() if p.requires_grad])
            with torch.no_grad():
                outputs = judged(test.tensors[0])
            found.append((nn.functional.cross_entropy(outputs, test.tensors[1]).item(),
                          (outputs.argmax(1) == test.tensors[1]).float().mean().item()))
    return (*numpy.mean(found, axis=0), None)


def best_step(run, steps):
    """The step with the least loss at seed 1, not at an edge of those tried."""
    tried = {step: run(step, 1)[0] for step in steps}
    while True:
        best = min(tried, key=tried.get)
        if best == min(tried):
            tried[best / 2] = run(best / 2, 1)[0]
        elif best == max(tried):
            tried[best * 2] = run(best * 2, 1)[0]
        else:
            return best, tried[best]


def measured(name):
    tuning = by_sgd(name, 1.0, 1)[2]
    rounds, batch = tuning["rounds"], round(tuning["batch"] * RECORDS)
    print(f"{name}: {rounds} rounds, batches of {batch}", flush=True)
    rows = {
        "SGD": (functools.partial(by_sgd, name), (1.0, 2.0, 4.0)),
        "SGD, momentum 0.9": (functools.partial(by_sgd, name, momentum=0.9), (0.1, 0.2, 0.4)),
        "SGD, shared preconditioner": (functools.partial(by_sgd, name, precondition_every=10), (1.0, 2.0, 4.0)),
        "ldp, Adam of each agent": (lambda step, seed: by_own_adam(name, step, seed, rounds, batch), (0.005, 0.01, 0.02)),
    }
    floors = {floor: functools.partial(by_own_adam, name, rounds=rounds, batch=batch, floor=floor) for floor in (0.1, 1.0, 10.0)}
    found = {floor: best_step(run, (0.005, 0.01, 0.02)) for floor, run in floors.items()}
    floor = min(found, key=lambda each: found[each][1])
    lines = [f"Model {name}, {rounds} rounds, batches of {batch}:", "", f"| {name} | step | test loss | accuracy |", "|---|---|---|---|"]
    for row, run, step in [(row, run, best_step(run, steps)[0]) for row, (run, steps) in rows.items()] + [
            (f"ldp, DP-AdamBC of each agent (floor {floor:g})", floors[floor], found[floor][0])]:
        results = [run(step, seed) for seed in SEEDS]
        loss, accuracy = ([result[k] for result in results] for k in (0, 1))
        lines.append(f"| {row} | {step:g} | {statistics.mean(loss):.4f} ± {statistics.stdev(loss):.4f} | "
                     f"{statistics.mean(accuracy):.4f} ± {statistics.stdev(accuracy):.4f} |")
        print(lines[-1], flush=True)
    return "\n".join(lines) + "\n"


def main():
    torch.set_num_threads(1)
    tables = [measured(name) for name in sys.argv[1:] or ("attention", "lora")]
    if not sys.argv[1:]:
        path = pathlib.Path(__file__).parent / "results" / "torch_adam.txt"
        path.write_text("Test loss and accuracy, mean and standard deviation of three seeds.\n\n" + "\n".join(tables))


if __name__ == "__main__":
    main()
