"""MNIST with a linear model, record-level budgets: test accuracy by mechanism and epsilon.

20 agents share the 60 000 training records at random; every record takes part in one of 20 batches, so in 15 of
300 rounds. The step size is chosen on a tenth of the training records held out.
"""
import common
import grid

SETTINGS = {
    "task": "softmax", "agents": 20, "rounds": 300, "participation": "cyclic:20", "clip_norm": 1.0,
    "delta": 1e-5, "epsilons": [10, 20, 30, 40], "step_sizes": [1, 2, 4, 8], "widen": 2, "validation_seeds": [101],
    "seeds": [1, 2, 3, 4, 5], "plans": ["ldp", "decor", "corn horizon:200", "space-time corn"],
}
if common.QUICK:
    SETTINGS |= {"rounds": 40, "epsilons": [10], "step_sizes": [0.3, 1], "seeds": [1, 2]}


if __name__ == "__main__":
    grid.mnist_table("mnist", "linear model", SETTINGS)
