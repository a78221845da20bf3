"""MNIST with a linear model, record-level budgets: test accuracy by mechanism and epsilon.

20 agents share the 60 000 training records at random; every record takes part in one of 20 batches, so in 15 of
300 rounds. The step size is chosen on a tenth of the training records held out.
"""
import common
import grid

SETTINGS = {
    "task": "softmax", "agents": 20, "rounds": 300, "participation": "cyclic:20", "clip_norm": 1.0,
    "delta": 1e-5, "epsilons": [10, 20, 30, 40], "step_sizes": [1, 2, 4, 8], "validation_seeds": [101],
    "seeds": [1, 2, 3, 4, 5], "plans": ["ldp", "decor", "corn horizon:200", "space-time corn"],
}
if common.QUICK:
    SETTINGS |= {"rounds": 40, "epsilons": [10], "step_sizes": [0.3, 1], "seeds": [1, 2]}


def options_of(cell, step, seed, testing):
    return grid.record_level_options(SETTINGS, cell, step, seed, testing)


def main():
    s = SETTINGS
    table = grid.Grid("mnist", s, options_of, "test_accuracy", largest_is_best=True)
    table.measure([{"plan": "none", "epsilon": 0}] +
                  [{"plan": plan, "epsilon": epsilon} for epsilon in s["epsilons"] for plan in s["plans"]])
    table.write(
        f"Test accuracy on MNIST, linear model, mean over the agents' own models, {len(s['seeds'])} seeds with 95% "
        f"intervals; {s['agents']} agents,\nT = {s['rounds']}, adjacency record, participation {s['participation']}, "
        f"C = {s['clip_norm']}, delta = {s['delta']:g}, Erdos-Renyi graphs, p = 0.5; step size\nchosen for every cell on "
        f"held-out training records. Without noise (same clip): {grid.text_of(table.find({'plan': 'none'}))}.\n\n" +
        grid.markdown("epsilon", s["epsilons"], s["plans"],
                      lambda epsilon, plan: table.find({"plan": plan, "epsilon": epsilon})) +
        grid.differences(table, "epsilon", s["epsilons"], s["plans"]))


main()
