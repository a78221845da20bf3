"""California housing on the ego-414 graph as in [U]: mean squared error by mechanism and mu.

148 agents, each record in one of 19 batches, 20 times each: 380 rounds. Budgets are given as mu; what epsilon they
are at delta is converted by `sotto account`.
"""
import json

import common
import grid

SETTINGS = {
    "task": "mlp", "hidden": 64, "rounds": 380, "participation": "cyclic:19", "clip_norm": 1.0,
    "delta": 1e-6, "mus": [0.5, 1, 2, 5], "step_sizes": [0.01, 0.02, 0.04, 0.08], "widen": 2,
    "validation_seeds": [101], "seeds": [1, 2, 3, 4, 5],
    "plans": ["anti-pgd", "ldp", "mafalda", "space-time corn"],
}
if common.QUICK:
    SETTINGS |= {"rounds": 38, "mus": [1], "step_sizes": [0.03, 0.1], "validation_seeds": [101],
                 "seeds": [1, 2], "plans": ["anti-pgd", "ldp", "mafalda"]}


def epsilon_of(mu):
    return json.loads(common.output_of([common.SOTTO, "account", "--mu", mu, "--delta", SETTINGS["delta"],
                                        "--json", "-"]))["epsilon"]


def options_of(cell, step, seed, testing):
    mechanism, _, spatial = cell["plan"].partition(" ")
    options = {
        "graph": common.data_file("facebook_ego_414.edges"), "adjacency": "record",
        "task": SETTINGS["task"], "hidden": SETTINGS["hidden"], "data": common.data_file("cal_housing.data.gz"),
        "standardise": "public", "partition": "iid", "step_size": step, "seed": seed, "noise_seed": seed, "mechanism": mechanism,
        "eval_every": SETTINGS["rounds"]}
    for name in ["rounds", "participation", "clip_norm", "delta"]:
        options[name] = SETTINGS[name]
    if mechanism != "none":
        options["epsilon"] = cell["epsilon"]
    if spatial:
        options["spatial_mechanism"] = spatial
    return options


def main():
    s = SETTINGS
    table = grid.Grid("housing", s, options_of, "test_loss", largest_is_best=False)
    epsilons = {mu: epsilon_of(mu) for mu in s["mus"]}
    table.measure([{"plan": "none", "mu": 0, "epsilon": 0}] +
                  [{"plan": plan, "mu": mu, "epsilon": epsilons[mu]} for mu in s["mus"] for plan in s["plans"]])
    table.write(
        "Test error on California housing in variances of the target, mean over the agents' own models, "
        f"{len(s['seeds'])} seeds with 95% intervals;\nego 414 (148 agents), MLP 8-{s['hidden']}-1, T = {s['rounds']}, "
        f"{s['participation']}, adjacency record, C = {s['clip_norm']}, delta = {s['delta']:g}; step size chosen\nfor "
        f"every cell on other seeds. Without noise: {grid.text_of(table.find({'plan': 'none'}))}.\n\n" +
        grid.markdown("mu", s["mus"], s["plans"], lambda mu, plan: table.find({"plan": plan, "mu": mu})) +
        grid.differences(table, "mu", s["mus"], s["plans"]))


if __name__ == "__main__":
    main()
