"""Data that differ between agents, without knobs: accuracy of agents' own models by correction, exchanges and format of messages.

20 agents, epsilon 1 for one record, noise of `pairs` that withstands any one curious agent, --tune auto: batches, rounds, clip and steps
are chosen by the program, and what it measures for that is part of epsilon. plain: one exchange of float64 a round, no correction. cdp: a
trusted aggregator. central: one agent has all data. Graphs and how data are spread vary by seed.

bench/run differing, or python3 bench/differing.py softmax ...: only these tasks.
"""
import sys

import common
import grid

AGENTS, EPSILON = 20, 1
SEEDS = [1, 2] if common.QUICK else [1, 2, 3]
MANY = {"precision": "nibble", "gossip": "chebyshev", "gossip_steps": "auto"}
WAYS = {
    "plain": {},
    "nibbles": {"precision": "nibble"},
    "nibbles, K auto": MANY,
    "exact diffusion": {"correction": "exact-diffusion"},
    "exact diffusion, nibbles, K auto": MANY | {"correction": "exact-diffusion"},
    "cdp": {"mechanism": "cdp"},
    "central": {"mechanism": "ldp"},
}
PLAIN = "plain"
MIXED = [way for way in WAYS if way not in ("cdp", "central")]
GRAPHS = {"ring": {"topology": "ring"}, "Erdos-Renyi, p 0.5": {"topology": "erdos-renyi", "edge_probability": 0.5}}
MNIST = {"data": "train-images-idx3-ubyte.gz", "test_data": "t10k-images-idx3-ubyte.gz"}
TASKS = {
    "softmax": MNIST | {"task": "softmax", "partitions": ["iid", "dirichlet:0.1", "by-label:1"]},
    "a9a": {"task": "logistic", "data": "a9a.gz", "test_data": "a9a.t.gz", "partitions": ["iid", "dirichlet:0.1"]},
    "mlp": MNIST | {"task": "mlp", "hidden": 128, "partitions": ["iid", "by-label:1"]},
}


def options_of(task, cell, seed):
    way, central = cell["way"], cell["way"] == "central"
    options = {"task": task["task"], "agents": 1 if central else AGENTS, "partition": "iid" if central else cell["data"],
               "mechanism": "pairs", "epsilon": EPSILON, "adjacency": "record-add-remove", "delta": 1e-5, "seed": seed, "graph_seed": seed,
               "noise_seed": seed, "eval_every": 100000, "final_gossip": "auto", "optimality_gap": "off"}
    options |= {name: common.data_file(task[name]) for name in ("data", "test_data")} | GRAPHS.get(cell["graph"], {}) | WAYS[way]
    if "hidden" in task:
        options["hidden"] = task["hidden"]
    return options


def cells_of(task):
    """One server has no graph; all data in one place are spread in no way."""
    yield {"way": "central", "graph": "", "data": "iid"}
    for data in task["partitions"]:
        yield {"way": "cdp", "graph": "", "data": data}
        yield from ({"way": way, "graph": graph, "data": data} for graph in GRAPHS for way in MIXED)


def table_of(name):
    task = TASKS[name] | ({"partitions": ["by-label:1"]} if common.QUICK else {})
    settings = {"task": task, "seeds": SEEDS, "agents": AGENTS, "epsilon": EPSILON, "ways": WAYS, "step_sizes": [None]}
    table = grid.Grid(f"differing_{name}", settings, lambda cell, step, seed, testing: options_of(task, cell, seed), "test_accuracy",
                      largest_is_best=True, searched=lambda cell: False)
    table.measure(list(cells_of(task)))
    return table


def row_of(table, cell):
    runs = table.find(cell)["runs"]
    mean = lambda key: sum(run[key] for run in runs) / len(runs)
    plain = cell | {"way": PLAIN}
    less = "" if cell["way"] in (PLAIN, "cdp", "central") else "{:+.4f} ± {:.4f}".format(*table.difference(cell, plain))
    return [cell["graph"], cell["way"], grid.text_of(table.find(cell)), less, f"{mean('gossip_steps'):.1f}",
            f"{1e-6 * mean('bytes_sent'):.1f}" if cell["graph"] else "", f"{mean('loop_seconds'):.1f}"]


def write(name):
    table = table_of(name)
    text = (f"{name}: accuracy of agents' own models without knobs, epsilon {EPSILON} for one record, {AGENTS} agents,\n{len(SEEDS)} seeds; "
            "differences are paired, with 95% intervals.\n")
    for data in table.settings["task"]["partitions"]:
        rows = [row_of(table, cell) for cell in cells_of(table.settings["task"]) if cell["data"] == data]
        text += f"\n{name}, {data}:\n\n" + "".join(
            "| " + " | ".join(row) + " |\n"
            for row in [["graph", "messages", "accuracy", "more than plain", "K", "MB sent", "loop, s"], ["---"] * 7, *rows])
    table.write(text)


if __name__ == "__main__":
    for one in sys.argv[1:] or TASKS:
        write(one)
