"""Agents without a server beside one with all data, without knobs: accuracy of agents' own models by data, graph, exchanges and messages.

One record protected, noise of `pairs` that withstands any one curious agent, --tune auto: batches, rounds, clip and steps are chosen by the
program, and what it measures for that is part of epsilon. default: nothing else is given, so exchanges of short messages are chosen too.
plain: one exchange of float64 a round. cdp: a trusted aggregator. central: one agent has all data. Graphs and how data are spread vary by
seed.

bench/run differing, or python3 bench/differing.py softmax ...: only these tasks.
"""
import sys

import common
import features
import grid

PLAIN = {"precision": "float64", "gossip": "plain", "gossip_steps": 1}
WAYS = {
    "plain": PLAIN,
    "nibbles": PLAIN | {"precision": "nibble"},
    "nibbles, K = 7": {"precision": "nibble", "gossip": "chebyshev", "gossip_steps": 7},
    "default": {},
    "exact diffusion": PLAIN | {"correction": "exact-diffusion"},
    "default with exact diffusion": {"correction": "exact-diffusion"},
    "cdp": {"mechanism": "cdp"},
    "central": {"mechanism": "ldp"},
}
SERVERS = ["cdp", "central"]
PEERS = [way for way in WAYS if way not in SERVERS]
FEW = ["plain", "default"]
GRAPHS = {"ring": {"topology": "ring"}, "Erdos-Renyi, p 0.5": {"topology": "erdos-renyi", "edge_probability": 0.5}}
BOTH = list(GRAPHS)
MNIST = {"data": "train-images-idx3-ubyte.gz", "test_data": "t10k-images-idx3-ubyte.gz"}
TASKS = {
    "softmax": MNIST | {"task": "softmax", "partitions": ["iid", "by-label:1"]},
    "a9a": {"task": "logistic", "data": "a9a.gz", "test_data": "a9a.t.gz", "partitions": ["iid", "dirichlet:0.1"]},
    "mlp": MNIST | {"task": "mlp", "hidden": 128, "partitions": ["iid", "by-label:1"], "graphs": BOTH[1:], "ways": FEW},
    "cifar": {"task": "softmax", "data": "features of CIFAR-10", "partitions": ["iid", "by-label:1"], "graphs": BOTH[1:], "ways": FEW,
              "epsilon": 3},
}


def files_of(task):
    if task["data"] == "features of CIFAR-10":
        return dict(zip(("data", "test_data"), features.cifar_features()))
    return {name: common.data_file(task[name]) for name in ("data", "test_data")}


def options_of(task, cell, seed):
    way, central = cell["way"], cell["way"] == "central"
    options = {"task": task["task"], "mechanism": "pairs", "epsilon": task.get("epsilon", 1), "adjacency": "record-add-remove",
               "delta": 1e-5, "seed": seed, "graph_seed": seed, "noise_seed": seed, "eval_every": 100000, "final_gossip": "auto",
               "optimality_gap": "off"}
    options |= files_of(task) | GRAPHS.get(cell["graph"], {}) | WAYS[way]
    if "hidden" in task:
        options["hidden"] = task["hidden"]
    return options | {"agents": 1 if central else 20, "partition": "iid" if central else cell["data"]}


def cells_of(task):
    """One server has no graph; all data in one place are spread in no way."""
    yield {"way": "central", "graph": "", "data": task["partitions"][0]}
    for data in task["partitions"]:
        yield {"way": "cdp", "graph": "", "data": data}
        yield from ({"way": way, "graph": graph, "data": data} for graph in task.get("graphs", BOTH) for way in task.get("ways", PEERS))


def table_of(name):
    task = TASKS[name] | ({"partitions": TASKS[name]["partitions"][-1:]} if common.QUICK else {})
    settings = {"task": task, "seeds": [1, 2] if common.QUICK else [1, 2, 3], "ways": WAYS, "step_sizes": [None]}
    table = grid.Grid(f"differing_{name}", settings, lambda cell, step, seed, testing: options_of(task, cell, seed), "test_accuracy",
                      largest_is_best=True, searched=lambda cell: False)
    table.measure(list(cells_of(task)))
    return table


def row_of(table, cell):
    runs = table.find(cell)["runs"]
    mean = lambda key: sum(run[key] for run in runs) / len(runs)
    less = lambda other: "{:+.4f} ± {:.4f}".format(*table.difference(cell, other))
    peers = cell["way"] in PEERS
    central = cell | {"way": "central", "graph": "", "data": table.settings["task"]["partitions"][0]}
    return [cell["graph"], cell["way"], grid.text_of(table.find(cell)), less(cell | {"way": "plain"}) if peers and cell["way"] != "plain" else "",
            less(central) if cell != central else "", f"{mean('rounds'):.0f}", f"{mean('gossip_steps'):.1f}" if peers else "",
            f"{1e-6 * mean('bytes_sent'):.1f}" if peers else "", f"{mean('loop_seconds'):.1f}"]


def write(name):
    table = table_of(name)
    task, seeds = table.settings["task"], table.settings["seeds"]
    text = (f"{name}: accuracy of agents' own models without knobs, epsilon {task.get('epsilon', 1)} for one record,\n{len(seeds)} seeds; "
            "differences are paired, with 95% intervals.\n")
    for data in task["partitions"]:
        rows = [row_of(table, cell) for cell in cells_of(task) if cell["data"] == data]
        text += f"\n{name}, {data}:\n\n" + "".join(
            "| " + " | ".join(row) + " |\n"
            for row in [["graph", "exchanges", "accuracy", "more than plain", "more than central", "rounds", "K", "MB sent", "loop, s"],
                        ["---"] * 9, *rows])
    table.write(text)


if __name__ == "__main__":
    for one in sys.argv[1:] or TASKS:
        write(one)
