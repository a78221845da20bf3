"""Corrections for data that differ between agents: accuracy of agents' own models, with one label an agent and with data spread at
random, without noise and at epsilon 8 and 1 for a record.

20 agents on a ring share the 60 000 training images of MNIST: softmax, 300 rounds, secretly sampled batches of 128, clip 1, noise of
`pairs` that withstands any one curious agent. All methods have the same step; one seed. Own models are what agents have after the
last round, without final gossip.
"""
import common
import grid

SETTINGS = {"agents": 20, "rounds": 300, "batch_size": 128, "clip_norm": 1, "step_size": 1, "seed": 1}
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
    EPSILONS = [8]


def trained(method, partition, epsilon):
    noise = {"mechanism": "none"} if epsilon is None else {"mechanism": "pairs", "epsilon": epsilon, "noise_seed": SETTINGS["seed"]}
    return grid.train(SETTINGS | METHODS[method] | noise | {
        "task": "softmax", "topology": "ring", "partition": partition, "adjacency": "record-add-remove", "participation": "poisson",
        "data": common.data_file("train-images-idx3-ubyte.gz"), "test_data": common.data_file("t10k-images-idx3-ubyte.gz"),
        "eval_every": SETTINGS["rounds"]})


def name_of(epsilon):
    return "no noise" if epsilon is None else f"epsilon {epsilon}"


def main():
    cells = [{"method": method, "data": data, "epsilon": epsilon} | trained(method, partition, epsilon)
             for data, partition in DATA.items() for epsilon in EPSILONS for method in METHODS]
    text = "MNIST, softmax, ring of 20 agents, 300 rounds: accuracy of agents' own models.\n"
    for data in DATA:
        found = {(cell["method"], cell["epsilon"]): cell["test_accuracy"] for cell in cells if cell["data"] == data}
        text += f"\n{data}:\n\n| {data} | " + " | ".join(name_of(epsilon) for epsilon in EPSILONS) + " |\n"
        text += "|---" * (1 + len(EPSILONS)) + "|\n"
        for method in METHODS:
            text += f"| {method} | " + " | ".join(f"{found[method, epsilon]:.4f}" for epsilon in EPSILONS) + " |\n"
    common.write_results("corrections", {"settings": SETTINGS, "runs": cells}, text)


if __name__ == "__main__":
    main()
