"""MNIST with the convolutional model, record-level budgets: test accuracy by mechanism and epsilon.

20 agents share the 60 000 training records at random; every record takes part in one of 20 batches, so in 5 of 100
rounds. One step size for all cells; a training takes two minutes of one core.
"""
import common
import grid

SETTINGS = {
    "task": "cnn", "agents": 20, "rounds": 100, "participation": "cyclic:20", "clip_norm": 1.0, "delta": 1e-5,
    "epsilons": [10, 40], "step_sizes": [1], "validation_seeds": [], "seeds": [1, 2],
    "plans": ["ldp", "decor", "corn horizon:200", "space-time corn"],
}
if common.QUICK:
    SETTINGS |= {"rounds": 2, "epsilons": [40], "plans": ["ldp", "corn horizon:200"]}


def options_of(cell, step, seed, testing):
    return grid.record_level_options(SETTINGS, cell, step, seed, testing)


def main():
    s = SETTINGS
    table = grid.Grid("cnn", s, options_of, "test_accuracy", largest_is_best=True)
    table.measure([{"plan": "none", "epsilon": 0}] +
                  [{"plan": plan, "epsilon": epsilon} for epsilon in s["epsilons"] for plan in s["plans"]])
    table.write(
        f"Test accuracy on MNIST, convolutional model, mean over the agents' own models, {len(s['seeds'])} seeds with 95% "
        f"intervals; {s['agents']} agents,\nT = {s['rounds']}, adjacency record, participation {s['participation']}, "
        f"C = {s['clip_norm']}, delta = {s['delta']:g}, step size {s['step_sizes'][0]}, Erdos-Renyi graphs, p = 0.5.\n"
        f"Without noise (same clip): {grid.text_of(table.find({'plan': 'none'}))}.\n\n" +
        grid.markdown("epsilon", s["epsilons"], s["plans"],
                      lambda epsilon, plan: table.find({"plan": plan, "epsilon": epsilon})) +
        grid.differences(table, "epsilon", s["epsilons"], s["plans"]))


main()
