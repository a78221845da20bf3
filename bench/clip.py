"""A clip that is learnt and paid for (--clip-norm auto) beside the best of many that are given, chosen in hindsight.

bench/run clip, or python3 bench/clip.py a9a-record ...: only these.
"""
import sys

import common
import grid

A9A = {"data": "a9a.gz", "test_data": "a9a.t.gz", "rounds": 1000, "batch_size": 64}
TASKS = {
    "a9a-record": A9A | {"epsilon": 1, "adjacency": "record-zero-out", "first_step": 0.1},
    "a9a-agent": A9A | {"epsilon": 10, "adjacency": "agent", "first_step": 0.002},
    "housing-record": {"data": "cal_housing.data.gz", "task": "mlp", "hidden": 64, "rounds": 200, "batch_size": 32,
                       "epsilon": 8, "adjacency": "record-zero-out", "first_step": 0.1},
}
GIVEN = [0.01, 0.03, 0.1, 0.3, 1, 3, 10]
START = 0.1
LEARNT = {"": {}, "quantile 0.5": {"clip_quantile": 0.5}, "quantile 0.75": {"clip_quantile": 0.75}, "share 0.01": {"clip_share": 0.01}, "share 0.2": {"clip_share": 0.2}}
SEEDS, VALIDATION = [1, 2, 3, 4, 5], [101, 102]


def cells():
    return [{"clip": clip} for clip in GIVEN] + [{"clip": "auto", "options": name} for name in LEARNT]


def options_of(task, cell, step, seed, testing):
    """Steps are lengths: how far a round moves a model at most, whatever the clip."""
    options = {key: value for key, value in task.items() if key not in ("first_step", "test_data")}
    options |= {"data": common.data_file(task["data"]), "agents": 20, "edge_probability": 0.5, "mechanism": "pairs",
                "seed": seed, "graph_seed": seed, "noise_seed": seed, "eval_every": task["rounds"]}
    options |= {"test_data": common.data_file(task["test_data"])} if testing and "test_data" in task else {
        "test_fraction": 0.2 if testing else 0.1}
    if cell["clip"] == "auto":
        return options | {"clip_norm": f"auto:{START}", "step_size": step / START} | LEARNT[cell["options"]]
    return options | {"clip_norm": cell["clip"], "step_size": step / cell["clip"]}


def write(name):
    task = dict(TASKS[name])
    if common.QUICK:
        task["rounds"] = 40
    first = task["first_step"]
    settings = {"task": task, "given": GIVEN, "learnt": LEARNT, "step_sizes": [first / 2, first, first * 2], "widen": 2,
                "validation_seeds": VALIDATION[:1] if common.QUICK else VALIDATION,
                "seeds": SEEDS[:2] if common.QUICK else SEEDS}
    table = grid.Grid(f"clip_{name}", settings, lambda *cell: options_of(task, *cell), "test_loss", largest_is_best=False)
    wanted = cells()
    table.measure(wanted)
    given = [table.find(cell) for cell in wanted if cell["clip"] != "auto"]
    best = min((cell for cell in given if cell["mean"] is not None), key=lambda cell: cell["mean"])["clip"]
    rows = []
    for cell in wanted:
        found = table.find(cell)
        difference = "" if cell["clip"] == best else "{:+.4f} ± {:.4f}".format(*table.difference(cell, {"clip": best}))
        rows.append([f"{cell['clip']} {cell.get('options', '')}".strip(), grid.text_of(found), f"{found['step_size']:g}", difference])
    table.write(
        f"{name}: pairs, 20 agents, p = 0.5, epsilon {task['epsilon']}, T = {task['rounds']}, batch {task['batch_size']}: test loss of agents'\n"
        f"own models, {len(settings['seeds'])} seeds with 95% intervals. Step: the length a round moves a model at most (step size times clip), chosen\n"
        f"for every row on held-out training records until the best is at no edge. Best given clip, in hindsight: {best:g}; differences\n"
        f"from it are paired by seed.\n\n" +
        common.table(["clip", "test loss", "step", "less the best given"], rows))


if __name__ == "__main__":
    for chosen in sys.argv[1:] or TASKS:
        write(chosen)
