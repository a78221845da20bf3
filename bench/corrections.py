"""Corrections for data that differ between agents: accuracy of agents' own models, with one label an agent and with data spread at
random, without noise and at epsilon 8 and 1 for a record.

20 agents on a ring share the 60 000 training images of MNIST: softmax, 300 rounds, secretly sampled batches of 128, clip 1, noise of
`pairs` that withstands any one curious agent. Every method has the step that is best for it at epsilon 8 (accuracy on the test set,
which favours all alike); one seed. Own models are what agents have after the last round, without final gossip.
"""
import common
import grid

SETTINGS = {"agents": 20, "rounds": 300, "batch_size": 128, "clip_norm": 1, "seed": 1}
STEPS = [0.25, 0.5, 1, 2, 4, 8, 16]
DATA = {"one label an agent": "by-label:1", "iid": "iid"}
EPSILONS = [None, 8, 1]
METHODS = {
    "D-SGD": {},
    "exact diffusion": {"correction": "exact-diffusion"},
    "tracking": {"correction": "tracking"},
    "D-SGD, K = 4": {"gossip_steps": 4},
    "exact diffusion, K = 4": {"correction": "exact-diffusion", "gossip_steps": 4},
}
if common.QUICK:
    SETTINGS |= {"rounds": 60}
    DATA = {"one label an agent": "by-label:1"}
    EPSILONS, STEPS = [8], [1, 4]


def trained(method, data, epsilon, step):
    noise = {"mechanism": "none"} if epsilon is None else {"mechanism": "pairs", "epsilon": epsilon, "noise_seed": SETTINGS["seed"]}
    figures = grid.train(SETTINGS | METHODS[method] | noise | {
        "task": "softmax", "topology": "ring", "partition": DATA[data], "adjacency": "record-add-remove", "participation": "poisson",
        "data": common.data_file("train-images-idx3-ubyte.gz"), "test_data": common.data_file("t10k-images-idx3-ubyte.gz"),
        "step_size": step, "eval_every": SETTINGS["rounds"]})
    return figures | {"method": method, "data": data, "epsilon": epsilon, "step_size": step}


def of_all_budgets(method, data):
    """With the step that is best at epsilon 8."""
    tried = [trained(method, data, 8, step) for step in STEPS]
    best = max(tried, key=lambda run: run["test_accuracy"])
    return [best if epsilon == 8 else trained(method, data, epsilon, best["step_size"]) for epsilon in EPSILONS]


def name_of(epsilon):
    return "no noise" if epsilon is None else f"epsilon {epsilon}"


def main():
    runs = [run for data in DATA for method in METHODS for run in of_all_budgets(method, data)]
    text = f"MNIST, softmax, ring of 20 agents, {SETTINGS['rounds']} rounds: accuracy of agents' own models.\n"
    for data in DATA:
        found = {(run["method"], run["epsilon"]): run for run in runs if run["data"] == data}
        text += f"\n{data}:\n\n| {data} | step | " + " | ".join(name_of(epsilon) for epsilon in EPSILONS) + " |\n"
        text += "|---" * (2 + len(EPSILONS)) + "|\n"
        for method in METHODS:
            text += f"| {method} | {found[method, 8]['step_size']:g} | " + " | ".join(
                f"{found[method, epsilon]['test_accuracy']:.4f}" for epsilon in EPSILONS) + " |\n"
    common.write_results("corrections", {"settings": SETTINGS, "runs": runs}, text)


if __name__ == "__main__":
    main()
