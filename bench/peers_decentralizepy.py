"""A training by decentralizepy's own nodes, which peers.py starts: a process each, a ring over TCP, MNIST.

    peers_decentralizepy.py MNIST.npz FOLDER MODEL AGENTS ROUNDS BATCH STEP        # with PYTHONPATH=CHECKOUT/src

Nodes are those of eval/testing.py (DPSGDNode, Training, Sharing, TCP), with one thread of torch each and no evaluation. Prints JSON: ms a
round, from the times that nodes log, after the first tenth of the rounds, and the mean accuracy of the nodes' models on the test set. In
the peer's favour the images are read once, before the nodes start, and its configuration comes as a dictionary. The module smallworld,
which it imports for graphs that are not used, is empty here.
"""
import datetime
import json
import pathlib
import re
import statistics
import sys
import time
import types

sys.modules.setdefault("smallworld", types.ModuleType("smallworld"))

import numpy as np
import peers_mnist
import torch
from decentralizepy.datasets.Data import Data
from decentralizepy.datasets.Dataset import Dataset
from decentralizepy.graphs.Ring import Ring
from decentralizepy.mappings.Linear import Linear
from decentralizepy.models.Model import Model
from decentralizepy.node.DPSGDNode import DPSGDNode
from torch import multiprocessing

LIMIT = 900  # seconds that the nodes may take
INFO = 20
STARTED = re.compile(r"^\[(.*?)\].*Starting training iteration: (\d+)$", re.MULTILINE)


class Mnist(Dataset):
    """A shard of the images that `main` has read; neither test nor validation data."""
    images = labels = None

    def __init__(self, rank, machine_id, mapping, **options):
        super().__init__(rank, machine_id, mapping, **options)
        own = np.random.RandomState(self.random_seed).permutation(len(self.labels))[self.uid::self.num_partitions]
        self.shard = Data(self.images[own], self.labels[own])

    def get_trainset(self, batch_size=1, shuffle=False):
        return torch.utils.data.DataLoader(self.shard, batch_size=batch_size, shuffle=shuffle)

    def get_testset(self):
        return None


class Softmax(Model):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Linear(784, 10)
        peers_mnist.start(self)

    def forward(self, images):
        return self.layers(images)


class Mlp(Softmax):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(784, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
        peers_mnist.start(self)


def configuration(folder, model, batch, step):
    """What its config.ini says."""
    addresses = folder / "addresses.json"
    addresses.write_text(json.dumps({"0": "127.0.0.1"}))
    return {
        "DATASET": {"dataset_package": "__main__", "dataset_class": "Mnist", "model_class": model},
        "OPTIMIZER_PARAMS": {"optimizer_package": "torch.optim", "optimizer_class": "SGD", "lr": step},
        "TRAIN_PARAMS": {"training_package": "decentralizepy.training.Training", "training_class": "Training", "rounds": 1,
                         "full_epochs": False, "batch_size": batch, "shuffle": True, "loss_package": "torch.nn",
                         "loss_class": "CrossEntropyLoss"},
        "COMMUNICATION": {"comm_package": "decentralizepy.communication.TCP", "comm_class": "TCP", "addresses_filepath": str(addresses)},
        "SHARING": {"sharing_package": "decentralizepy.sharing.Sharing", "sharing_class": "Sharing"},
    }


def run_nodes(folder, config, agents, rounds):
    never = rounds + 1
    nodes = [multiprocessing.Process(target=DPSGDNode, args=[rank, 0, Linear(1, agents), Ring(agents), config, rounds, str(folder),
                                                             str(folder), INFO, never, never, 0]) for rank in range(agents)]
    for node in nodes:
        node.start()
    end = time.monotonic() + LIMIT
    while any(node.is_alive() for node in nodes) and time.monotonic() < end and not any(node.exitcode for node in nodes):
        time.sleep(0.05)
    failed = [rank for rank, node in enumerate(nodes) if node.exitcode != 0]
    for node in nodes:
        node.kill()
        node.join()
    if failed:
        raise SystemExit(f"bench: nodes {failed} of decentralizepy failed or took more than {LIMIT} s")


def milliseconds(log, rounds):
    """A round of this node, after the first tenth."""
    times = {int(number): datetime.datetime.strptime(when, "%Y-%m-%d %H:%M:%S,%f") for when, number in STARTED.findall(log.read_text())}
    first = rounds // 10
    return 1e3 * (times[rounds - 1] - times[first]).total_seconds() / (rounds - 1 - first)


def accuracy_of(model, weights, data):
    model.load_state_dict(torch.load(weights))
    return peers_mnist.accuracy(model, data)


def main():
    source, folder, model, agents, rounds, batch, step = sys.argv[1:]
    folder, agents, rounds = pathlib.Path(folder), int(agents), int(rounds)
    data = peers_mnist.tensors(source)
    Mnist.images, Mnist.labels = data["images"], data["labels"]
    run_nodes(folder, configuration(folder, model, int(batch), float(step)), agents, rounds)
    own = {"Softmax": Softmax, "Mlp": Mlp}[model]()
    print(json.dumps({
        "ms": statistics.median(milliseconds(folder / f"{rank}.log", rounds) for rank in range(agents)),
        "accuracy": statistics.mean(accuracy_of(own, folder / f"{rounds - 1}_weight_{rank}.pt", data) for rank in range(agents)),
        "parameters": own.count_params(), "torch": torch.__version__}))


main()
