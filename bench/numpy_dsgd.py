"""The training of `sotto train` on one-hot data, as one would write it in numpy: all agents in one array.

Same data, shares, batch sizes, clipping, graph, mixing and noise covariance (of a saved plan); noise is drawn
a round at a time. In numpy's favour: batches are drawn with replacement, generators are not cryptographic,
nothing is snapped to a grid. Prints JSON: seconds of the rounds, test loss averaged over the agents.
    numpy_dsgd.py DATA PLAN EDGES ROUNDS STEP_SIZE
"""
import gzip
import json
import sys
import time

import numpy as np

CLIP_NORM = 0.1
BATCH = 128
TEST_FRACTION = 0.2
DIRICHLET = 10


def read_one_hot(path):
    """Labels and, for every record, the columns that are 1: the bias is one, the last column pads."""
    labels, lists = [], []
    with gzip.open(path, "rt") as lines:
        for line in lines:
            words = line.split()
            labels.append(1.0 if float(words[0]) > 0 else -1.0)
            lists.append([int(word.split(":")[0]) - 1 for word in words[1:]])
    features = 1 + max(max(columns, default=0) for columns in lists)
    width = 1 + max(map(len, lists))
    table = np.full((len(lists), width), features + 1)
    for row, columns in enumerate(lists):
        table[row, :len(columns)] = columns
        table[row, len(columns)] = features
    return np.array(labels), table, features + 1


def metropolis(path, agents):
    edges = np.loadtxt(path, dtype=int, comments="#")
    degree = np.bincount(edges.ravel(), minlength=agents)
    mixing = np.zeros((agents, agents))
    for u, v in edges:
        mixing[u, v] = mixing[v, u] = 1 / (1 + max(degree[u], degree[v]))
    return mixing + np.diag(1 - mixing.sum(axis=1))


def noise_factor(path):
    with open(path, encoding="utf-8") as file:
        plan = json.load(file)
    factor = np.zeros((plan["agents"], len(plan["streams"])))
    for row in plan["rows"]:
        factor[row["sender"], row["streams"]] = row["coefficients"]
    return plan["scale"] * factor


def deal(rows, labels, agents, rng):
    """Dirichlet shares of every label; shards padded to a table, and their sizes."""
    shards = [[] for _ in range(agents)]
    for label in (-1.0, 1.0):
        members = rng.permutation(rows[labels[rows] == label])
        cuts = np.cumsum(rng.dirichlet([DIRICHLET] * agents))[:-1] * len(members)
        for shard, part in zip(shards, np.split(members, cuts.astype(int))):
            shard.extend(part)
    sizes = np.array([len(shard) for shard in shards])
    table = np.zeros((agents, sizes.max()), dtype=int)
    for agent, shard in enumerate(shards):
        table[agent, :len(shard)] = shard
    return table, sizes


def train(data, factor, mixing, rounds, step_size, rng):
    labels, columns, dimension = data
    agents, width = len(mixing), columns.shape[1]
    order = rng.permutation(len(labels))
    test, rows = np.split(order, [int(TEST_FRACTION * len(labels))])
    shards, sizes = deal(rows, labels, agents, rng)
    models = np.zeros((agents, dimension + 1))  # the last column belongs to the padding and stays 0
    each = np.arange(agents)[:, None]
    offsets = (each * (dimension + 1))[:, :, None]
    start = time.perf_counter()
    for _ in range(rounds):
        batch = shards[each, rng.integers(sizes[:, None], size=(agents, BATCH))]
        places = columns[batch] + offsets
        wanted = labels[batch]
        margins = wanted * models.ravel()[places].sum(axis=2)
        slopes = -wanted / (1 + np.exp(margins)) / BATCH
        gradient = np.bincount(places.ravel(), np.repeat(slopes.ravel(), width),
                               models.size).reshape(models.shape)[:, :dimension]
        norms = np.sqrt(np.einsum("ud,ud->u", gradient, gradient))
        gradient *= np.minimum(1, CLIP_NORM / norms)[:, None]
        noise = factor @ rng.standard_normal((factor.shape[1], dimension))
        models[:, :dimension] = mixing @ (models[:, :dimension] - step_size * (gradient + noise))
    seconds = time.perf_counter() - start
    margins = labels[test] * models[:, columns[test]].sum(axis=2)
    return seconds, float(np.logaddexp(0, -margins).mean())


data_path, plan_path, edges_path, round_count, step = sys.argv[1:]
plan_factor = noise_factor(plan_path)
loop, loss = train(read_one_hot(data_path), plan_factor, metropolis(edges_path, len(plan_factor)),
                   int(round_count), float(step), np.random.Generator(np.random.PCG64(1)))
print(json.dumps({"numpy": np.__version__, "loop_seconds": loop, "test_loss": loss}))
