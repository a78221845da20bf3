"""What can be had without privacy: exchanges after the first of a round, exchanges and means of models after the last
round, momentum, and mixing weights that are made for the noise, one at a time and together.

bench/run free, or python3 bench/free.py sparse|ring.
"""
import functools
import json
import sys

import common
import grid

GRAPHS = {
    "sparse": {"edge_probability": 0.2, "agents": 20},
    "ring": {"topology": "ring", "agents": 64},
}
END = {"final_gossip": "auto", "average": "tail:0.5"}
LEVERS = {
    "K = 1": {},
    "final gossip": {"final_gossip": "auto"},
    "tail mean": {"average": "tail:0.5"},
    "final gossip, tail mean": END,
    "momentum": {"momentum": 0.9},
    "optimised mixing": {"mixing": "optimised"},
    "K = 2": {"gossip": "chebyshev", "gossip_steps": 2},
    "K = 4": {"gossip": "chebyshev", "gossip_steps": 4},
    "K = 8": {"gossip": "chebyshev", "gossip_steps": 8},
    "K auto": {"gossip": "chebyshev", "gossip_steps": "auto"},
    "K = 1, all": END | {"mixing": "optimised"},
    "K auto, all": END | {"gossip": "chebyshev", "gossip_steps": "auto", "mixing": "optimised"},
}
MECHANISMS = ["pairs", "corn"]
SEEDS, VALIDATION = [1, 2, 3, 4, 5], [101, 102]


def cells():
    aggregator = [{"mechanism": "cdp", "lever": lever} for lever in ("K = 1", "tail mean")]
    return aggregator + [{"mechanism": mechanism, "lever": lever} for mechanism in MECHANISMS for lever in LEVERS]


@functools.cache
def steps_of_ring(mechanism, lever):
    """K that --gossip-steps auto comes to on a graph that is the same for every seed: chosen once."""
    options = {"mechanism": mechanism, "epsilon": 10, "rounds": 1000} | GRAPHS["ring"] | LEVERS[lever]
    result = json.loads(common.output_of([common.SOTTO, "plan", "--quiet", "--json", "-", *grid.arguments(options)]))
    return result["gossip_steps"]


def options_of(graph, rounds, cell, step, seed, testing):
    data = {"test_data": common.data_file("a9a.t.gz")} if testing else {"test_fraction": 0.1}
    options = {"data": common.data_file("a9a.gz"), "mechanism": cell["mechanism"], "epsilon": 10, "rounds": rounds,
               "step_size": step, "seed": seed, "graph_seed": seed, "noise_seed": seed, "eval_every": rounds}
    options |= GRAPHS[graph] | data | LEVERS[cell["lever"]]
    if graph == "ring" and options.get("gossip_steps") == "auto":
        options["gossip_steps"] = steps_of_ring(cell["mechanism"], cell["lever"])
    return options


def table_of(graph, folder=None, small=common.QUICK):
    """Every mechanism with every lever; what is in the results file is not measured again.
    small: only see that everything works. folder: of the results file, if it is not kept with the others."""
    rounds = 40 if small else 1000
    settings = {"graph": GRAPHS[graph], "rounds": rounds, "levers": LEVERS, "step_sizes": [0.02, 0.05], "widen": 2,
                "validation_seeds": VALIDATION[:1] if small else VALIDATION, "seeds": SEEDS[:2] if small else SEEDS}
    table = grid.Grid(f"free_{graph}", settings, lambda *cell: options_of(graph, rounds, *cell), "test_loss",
                      largest_is_best=False, folder=folder)
    table.measure(cells())
    return table


def mean_of(cell, key):
    return sum(run[key] for run in cell["runs"]) / len(cell["runs"])


def with_width(mean, width):
    return f"{mean:+.4f} ± {width:.4f}"


def write(graph):
    table = table_of(graph)
    rows = []
    for wanted in cells():
        cell = table.find(wanted)
        base = {"mechanism": wanted["mechanism"], "lever": "K = 1"}
        cdp = {"mechanism": "cdp", "lever": "K = 1"}
        rows.append([f"{wanted['mechanism']}, {wanted['lever']}", grid.text_of(cell), f"{cell['step_size']:g}",
                     "" if wanted == base else with_width(*table.difference(wanted, base)),
                     "" if wanted["mechanism"] == "cdp" else with_width(*table.difference(wanted, cdp)),
                     f"{mean_of(cell, 'bytes_sent') / 1e6:.0f}", f"{mean_of(cell, 'loop_seconds'):.2f}"])
    table.write(
        f"a9a, {GRAPHS[graph]}, agent adjacency, epsilon 10, T = {table.settings['rounds']}: test loss of what agents end up with, {len(table.settings['seeds'])} seeds\n"
        "with 95% intervals, step size chosen for every cell on held-out training records until the best is at no edge; differences are\n"
        "paired by seed. MB: sent by all agents. s: of the rounds, all agents in one process.\n\n" +
        common.table(["", "test loss", "step", "less K = 1", "less cdp", "MB", "s"], rows))


if __name__ == "__main__":
    for chosen in sys.argv[1:] or (["sparse"] if common.QUICK else GRAPHS):
        write(chosen)
