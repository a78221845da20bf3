"""[G] figure 3: MNIST over 100 agents: the paper's training, and accuracy against the budget."""
import csv
import dataclasses
import pathlib
import tempfile

import running
from epsilon import epsilon_of, mu_of
from figure import Caption, Claim, Figure, Panel, Sized, Told, shown, told
from gossip import ALL, DELTA, LOST, MESSAGES, NAMES, NOISE, PROBABILITY, THEOREM_4, of_messages, published_mean, published_values
from images import FILES
from rows import Row, mean_row
from running import words
from verdicts import HIGHER, SAME

RECORDS, CLIP, STEP = 60000, 1, 1.0
NONE, NOISY = "none", "ldp"
CENTRAL = "dp-fedavg"
COMPARABLE = 0.01  # margin of "comparable" accuracies


def weights(agents):
    """The paper's weights: 1/(degree + 1) over the closed neighbourhood."""
    return {"agents": agents, "topology": "erdos-renyi", "edge_probability": PROBABILITY, "graph_seed": 1, "mixing": "row-stochastic"}


def training(size, mechanism):
    """Options of gradient descent on all records of every agent. One record changes a gradient by 2 C over their number."""
    noise = {"noise_std": NOISE * 2 * CLIP * size["agents"] / RECORDS, "noise_seed": 1} if mechanism != NONE else {}
    return weights(size["agents"]) | noise | {
        "mechanism": mechanism, "task": "softmax", "data": running.data_path(FILES[0]), "test_data": running.data_path(FILES[2]),
                                              "partition": "iid",
        "adjacency": "record", "batch_size": "all", "clip_norm": CLIP, "rounds": size["paper_rounds"], "step_size": STEP, "final_gossip": 0,
                                              "eval_every": 1}


def accuracies(job):
    """{round: test accuracy} of a training, mean over the agents' own models."""
    size, mechanism, seed = job
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        options = training(size, mechanism) | {"run_directory": run, "threads": 1, "seed": seed}
        if "noise_seed" in options:
            options["noise_seed"] = seed
        running.sotto_json("train", options)
        with open(run / "metrics.csv", encoding="ascii") as file:
            return {int(line["round"]): float(line["test_accuracy"]) for line in csv.DictReader(file)}


def paper_rows(size):
    """Mean epsilon of all pairs after every round, and the accuracies of that training."""
    base = weights(size["agents"]) | {"noise_std": NOISE, "sensitivity": 1, "delta": DELTA, "threads": 1, "inputs": "fixed",
                                      "mechanism": NOISY}

    def of_round(t):
        pairs = running.sotto_json("account", base | {"rounds": t, "view": "all-nodes"})["pairs"]
        return of_messages(pairs) | {
            THEOREM_4: published_mean(base | {"rounds": t}, "node", "gossip_messages_bound", size["observers"])}

    rounds = [t for t in size["shown"] if t <= size["paper_rounds"]]
    rows = [Row("pairs", curve, t, mean) for t, means in zip(rounds, running.parallel(of_round, rounds)) for curve,
            mean in means.items() if mean is not None]
    seeds = range(1, 1 + size["seeds"])
    jobs = [(size, mechanism, seed) for mechanism in (NONE, NOISY) for seed in seeds]
    found = dict(zip([job[1:] for job in jobs], running.parallel(accuracies, jobs)))
    return rows + [mean_row("rounds", mechanism, t, {seed: found[mechanism, seed][t] for seed in seeds}) for mechanism in (NONE, NOISY)
                   for t in found[mechanism, 1]]


def tuned_rows(size):
    """Accuracy of the paper's training with tuned steps against its mean epsilon over pairs by Theorem 4, for several noises; and of
    central aggregation at these epsilons."""
    base = weights(size["agents"]) | {"noise_std": NOISE, "sensitivity": 1, "delta": DELTA, "threads": 1, "inputs": "fixed",
                                      "mechanism": NOISY, "rounds": size["tuned_rounds"]}
    losses = [mu_of(value, DELTA) for value in published_values(base, "node", "gossip_messages_bound", size["tuned_observers"])]
    whole = size["tuned_rounds"] ** 0.5  # mu of all messages at noise 1
    mean = {epsilon_of(whole / noise, DELTA): sum(epsilon_of(mu * NOISE / noise, DELTA) for mu in losses) / len(losses)
            for noise in size["noises"]}
    found = []
    for mechanism, at in ((NOISY, mean), (CENTRAL, {epsilon: epsilon for epsilon in mean.values()})):
        part = dataclasses.replace(size, work=size.work / mechanism)
        runs = running.trainings("mnist_full_batch", part, settings(size) | {
            "mechanism": mechanism, "rounds": size["tuned_rounds"], "step-size": words(size["tuned_steps"]),
            "epsilon": " ".join(f"{epsilon:.10g}" for epsilon in at), "seed": words(range(1, 1 + size["tuned_seeds"]))})
        for epsilon, x in at.items():
            of = {run["seed"]: float(run["test_accuracy"]) for run in runs
                  if len(at) == 1 or abs(float(run["epsilon"]) / epsilon - 1) < 1e-6}
            found.append(mean_row("tuned", mechanism, float(f"{x:.4g}"), of))
    return found


def settings(size):
    return {"data": running.data_path(FILES[0]), "test-data": running.data_path(FILES[2]), "agents": size["agents"],
            "rounds": size["rounds"],
            "step-size": words(size["steps"])}


def measure(size):
    runs = running.trainings("mnist_gossip", size, settings(size) | {"epsilon": words(size["epsilons"]),
                                                                     "seed": words(range(1, 1 + size["seeds"]))})
    return paper_rows(size) + tuned_rows(size) + running.training_rows("accuracy", runs, running.varied("epsilon", size["epsilons"]), "test_accuracy")


def caption(table, size):
    last = max(table.xs("pairs", MESSAGES))
    end = max(table.xs("rounds", NOISY))
    compared = [(table.label("tuned", x), table.compare("tuned", NOISY, CENTRAL, x, COMPARABLE))
                for x in table.xs("tuned", NOISY, CENTRAL)[::-1]]
    return Caption(
        paper="mean ε of all pairs during training: MNIST, IID over 100 nodes of an Erdős–Rényi graph, logistic regression by gradient "
              "descent, weights 1/(degree + 1) over closed neighbourhoods, locally private models as messages, beside full-batch "
              "DP-FedAvg; accuracy of a node chosen at random. The abstract: “utility comparable to central aggregation”; the appendix tunes the "
              "step size.",
        setting=f"(a), (b): our reading of the paper's training with step 1, untuned: softmax regression, {size['agents']} agents, p = {PROBABILITY:g}, `--mixing "
                f"row-stochastic`, full batches, record level, noise {NOISE} times a record's influence in every round, C = {CLIP}, step "
                f"{STEP:g}, {size['seeds']} seeds. (a): mean ε over all pairs, `sotto account --view all-nodes`, δ = {shown(DELTA)} "
                f"(Theorem 4: averaged over the pairs of {size['observers']} observers). (b): test accuracy of the agents' own models. (c): our experiment, `sotto "
                f"sweep bench/figures/mnist_gossip.ini`: Metropolis weights, {size['rounds']} rounds, batches of cyclic:10, accuracy "
                f"against ε for an observer of all messages (for pairs also any one agent), step size tuned on held-out training records. (d): "
                f"the paper's training with tuned steps ({words(size['tuned_steps'])}, {size['tuned_rounds']} rounds, {size['tuned_seeds']} seeds) and noise "
                f"{words(size['noises'])}, against its mean ε over pairs by Theorem 4 (averaged over the pairs of {size['tuned_observers']} observers), "
                f"beside dp-fedavg, one server that adds the noise, at the same ε; both with steps of this grid tuned on held-out training "
                f"records, test accuracy of the agents' own models (mean); `sotto sweep bench/figures/mnist_full_batch.ini`. {LOST}",
        claims=[Claim("utility comparable to central aggregation", [], (SAME,),
                      f"our text lost the paper's ε, and “comparable” has no margin. (d), accuracy of gossip less that of dp-fedavg at the same "
                      f"mean ε over pairs by Theorem 4: {told(compared)} (the same: within {COMPARABLE:g})")],
        notes="a mean over pairs is no guarantee for any one of them, and Theorem 4's figure, as we read it, can be "
              "below what a neighbour learns even of inputs fixed in advance ([findings](findings.md)); ours is proved for such inputs. For this "
              "training we have a proof for LDP's curve alone ([views](accounting.md#views)); [G] proves Theorem 4 in appendix D, of which we could "
              "not follow one step (G2).",
        ours=[Told("(a): Theorem 4 against LDP", table.cells("pairs", THEOREM_4, ALL, lambda t: t > 1)),
              Told("(a): ours for fixed inputs against LDP", table.cells("pairs", MESSAGES, ALL, lambda t: t == last)),
              Told("(a): ours for fixed inputs against Theorem 4 (at T = 200 the order is reversed: G2)",
                   table.cells("pairs", MESSAGES, THEOREM_4, lambda t: t == last)),
              Told("(b): accuracy with noise less without", table.cells("rounds", NOISY, NONE, lambda t: t == end)),
              *[Claim(f"(c): `{ours}` has more accuracy than `ldp`", table.cells("accuracy", ours, NOISY), (HIGHER,))
                for ours in ("corn horizon", "pairs q=1")],
              *[Told(f"(c), against an observer of all messages: `{curve}` against `cdp`", table.cells("accuracy", curve, "cdp"))
                for curve in (NOISY, "pairs q=1")]])


EPSILONS = [3, 10, 30]
STEPS = [0.5, 1, 2, 4, 8]
FIGURES = [Figure(
    "G3", "MNIST with 100 agents",
    [Panel("pairs", "(a) mean ε of training and of fixed inputs", ("round", "round"), ("mean_epsilon", "mean ε over pairs"), "T", log_y=True,
           names=NAMES),
     Panel("rounds", "(b) our reading of the training, step 1", ("round", "round"), ("test_accuracy", "test accuracy"), "T"),
     Panel("accuracy", "(c) our experiment: accuracy against ε", ("epsilon", "privacy budget ε"), ("test_accuracy", "test accuracy"), "ε", log_x=True,
           ticks=EPSILONS, bars=True),
     Panel("tuned", "(d) tuned, against mean ε over pairs", ("mean_epsilon", "mean ε over pairs (Theorem 4)"),
           ("test_accuracy", "test accuracy"), "mean ε", log_x=True, bars=True)],
    measure, caption, needs=FILES,
    sizes={"agents": Sized("agents", 100, 100, 8), "observers": Sized("observers of Theorem 4", 5, 100, 8),
           "seeds": Sized("seeds", 3, 10, 2), "paper_rounds": Sized("rounds of the "
                                                                                                            "paper's training", 20, 100, 3),
           "shown": Sized("rounds in (a)", [1, 2, 3, 5, 7, 10, 15, 20], [1, 2, 5, 10, 20, 30, 50, 70, 100], [1, 3]),
           "tuned_rounds": Sized("rounds in (d)", 100, 100, 3), "tuned_observers": Sized("observers in (d)", 5, 10, 8),
           "tuned_seeds": Sized("seeds in (d)", 3, 5, 2), "noises": Sized("noise in (d)", [4], [2, 4, 8, 16], [4]),
           "tuned_steps": Sized("steps in (d)", [4, 8, 16], [1, 2, 4, 8, 16], [1]),
           "rounds": Sized("rounds in (c)", 100, 100, 4),
           "epsilons": Sized("ε", EPSILONS, EPSILONS, [20]), "steps": Sized("steps", STEPS, STEPS, [1])},
    checked=lambda size: {key.replace("_", "-"): value for key, value in training(size, NOISY).items()} | {"seed": 1})]
