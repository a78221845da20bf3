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


if __name__ == "__main__":
    grid.mnist_table("cnn", "convolutional model", SETTINGS)
