"""[H] Graph-homomorphic perturbations."""
import csv
import json
import pathlib
import random
import tempfile

import homomorphic
import running
import verdicts
from figure import Caption, Claim, Figure, Panel, Readings, Sized, Told
from rows import Row, mean_row
from verdicts import LOWER, SAME

NOISE_STD = 1.4142  # the paper's sigma_p^2 = 2
HORIZON = 200
CURVES = {"none": {"mechanism": "none"},
          "laplace": {"mechanism": "laplace", "noise_std": NOISE_STD},
          "homomorphic": {"mechanism": "homomorphic", "noise_std": NOISE_STD},
          "ldp": {"mechanism": "ldp", "noise_std": NOISE_STD},
          "corn horizon": {"mechanism": "corn", "utility": f"horizon:{HORIZON}", "noise_std": NOISE_STD}}
# Records per agent; each round takes all of them, or one of so many that hardly any comes twice.
RECORDS = {"fixed": homomorphic.RECORDS, "stream": 10000}
BATCHES = {"fixed": "all", "stream": 1}
# Columns of metrics.csv and their labels: of the mean model above the minimum and as it is, and the mean over the agents' own models.
# (Column optimality_gap_agents does not fit: it uses each agent's own function, whose minimum is lower.)
MODELS = {"mean": ("optimality_gap", "loss above the minimum"), "own": ("test_loss", "test loss"),
          "loss": ("train_loss_mean_model", "training loss")}
GRADIENT = ("gradient_squared", "E ‖∇J‖² of the mean model")  # what Corollary 1 bounds
# The other reading of the caption's "μ = 1": the mean of a class, so that the step size is not given.
STEPS, OTHER_STEP = [0.05, 0.1, 0.2, 0.5, 1], 0.1
WITH_STEPS = ("none", "laplace", "homomorphic")
SMALLEST = 1e-9  # double precision cannot tell smaller gaps from the minimum
SAME_FACTOR = 1.1
NEARLY = 0.1  # part of the harm of independent noise that is nearly none
POINTS = 25  # points of a curve


def options(folder, kind, curve, rounds, seed):
    """Options of one training."""
    settings = homomorphic.SETTINGS
    chosen = {"agents": homomorphic.AGENTS, "task": "logistic", "data": folder / f"{kind}-%r.svm", "test_data": folder / "test.svm",
              "batch_size": BATCHES[kind], "rounds": rounds, "noise_seed": seed, "seed": seed, "final_gossip": 0} | CURVES[curve]
    return chosen | {name: settings[name] for name in ["step_size", "l2", "clip_norm", "edge_probability", "graph_seed"]}


def write_data(folder, kind):
    """Writes the agents' records and the test records."""
    source = random.Random(homomorphic.SETTINGS["data_seed"])
    longest = max(homomorphic.write_records(folder / f"{kind}-{agent}.svm", RECORDS[kind], source) for agent in range(homomorphic.AGENTS))
    homomorphic.write_records(folder / "test.svm", 2000, source)
    if kind == "fixed" and longest >= homomorphic.SETTINGS["clip_norm"]:
        raise SystemExit(f"figures: a gradient may be {longest:.1f} long, above the clip")


def curves(job):
    """{round: {models: figure}} of one training; of the last round also the squared gradient, where records are fixed."""
    folder, kind, curve, rounds, every, seed, further = job
    with tempfile.TemporaryDirectory() as name:
        run = pathlib.Path(name) / "run"
        running.sotto_json("train", options(folder, kind, curve, rounds, seed) | {
            "run_directory": run, "threads": 1, "optimality_gap": "on", "eval_every": every, "eval_records": "all"} | further)
        with open(run / "metrics.csv", encoding="ascii") as file:
            found = {int(line["round"]): {key: float(line[column]) for key, (column, _) in MODELS.items()} for line in csv.DictReader(file)}
        if kind == "fixed":
            found[rounds]["gradient"] = gradient_squared(run, folder)
        return found


def gradient_squared(run, folder):
    """|grad J(w)|^2 at the mean w of the agents' models, J the mean of their logistic losses with ridge."""
    import numpy
    models = numpy.array([numpy.load(run / "agents" / str(agent) / "model.npy") for agent in range(homomorphic.AGENTS)])
    mean = models.mean(axis=0)
    gradient = homomorphic.SETTINGS["l2"] * mean
    for agent in range(homomorphic.AGENTS):
        lines = [line.split() for line in (folder / f"fixed-{agent}.svm").read_text(encoding="ascii").splitlines()]
        labels = numpy.array([float(line[0]) for line in lines])
        features = numpy.array([[float(word.split(":")[1]) for word in line[1:]] + [1.0] for line in lines])
        slopes = -labels / (1 + numpy.exp(labels * (features @ mean)))
        gradient += features.T @ slopes / len(labels) / homomorphic.AGENTS
    return float(gradient @ gradient)


def step_rows(size, folder):
    """Means over the second half of the rounds, and the last squared gradient, against the step size; fixed records."""
    rounds, seeds = size["rounds"], range(1, 1 + size["step_seeds"])
    jobs = [(curve, step, seed) for curve in WITH_STEPS for step in size["steps"] for seed in (seeds if curve != "none" else [1])]
    found = dict(zip(jobs, running.parallel(curves, [(folder, "fixed", curve, rounds, max(1, rounds // POINTS), seed, {"step_size": step})
                                                     for curve, step, seed in jobs])))
    rows = []
    for curve in WITH_STEPS:
        for step in size["steps"]:
            runs = {str(seed): found[curve, step, seed] for name, at, seed in jobs if (name, at) == (curve, step)}
            late = lambda run, key: [figures[key] for t, figures in run.items() if t > rounds / 2]
            mean = {key: {seed: max(sum(late(run, key)) / len(late(run, key)), SMALLEST) for seed, run in runs.items()} for key in MODELS}
            mean["gradient"] = {seed: max(run[rounds]["gradient"], SMALLEST ** 2) for seed, run in runs.items()}
            rows += [mean_row(f"step-{key}", curve, step, values) if curve != "none" else Row(f"step-{key}", curve, step, values["1"])
                     for key, values in mean.items()]
    return rows


def kind_rows(size, folder, kind):
    """Learning curves and means over the second half. The curve without noise has seeds only where records stream."""
    rounds, seeds = size["rounds"], range(1, 1 + size["seeds"])
    every = max(1, rounds // POINTS)
    quiet_once = kind == "fixed"
    jobs = [(curve, seed) for curve in CURVES for seed in (seeds if curve != "none" or not quiet_once else [1])]
    found = dict(zip(jobs, running.parallel(curves, [(folder, kind, curve, rounds, every, seed, {}) for curve, seed in jobs])))
    rows = []
    for curve in CURVES:
        runs = {str(seed): found[curve, seed] for name, seed in jobs if name == curve}
        shown = sorted(next(iter(runs.values())))
        for key in MODELS:
            late = {seed: [run[t][key] for t in shown if t > rounds / 2] for seed, run in runs.items()}
            points = [(f"{kind}-{key}", t, {seed: max(run[t][key], SMALLEST) for seed, run in runs.items()}) for t in shown]
            points.append((f"late-{kind}-{key}", rounds, {seed: max(sum(of) / len(of), SMALLEST) for seed, of in late.items()}))
            rows += [mean_row(panel, curve, t, values) if curve != "none" or not quiet_once else Row(panel, curve, t, values["1"])
                     for panel, t,
                     values in points]
    return rows


def measure(size):
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for kind in size["kinds"]:
            write_data(pathlib.Path(name), kind)
            rows += kind_rows(size, pathlib.Path(name), kind)
        rows += step_rows(size, pathlib.Path(name))
    return rows


def late(table, kind, key, first, second, label, margin=None):
    """The verdict on means over the second half."""
    panel = f"late-{kind}-{key}"
    return [(label, table.compare(panel, first, second, x, margin)) for x in table.xs(panel, first, second)]


NAMES = {"fixed": "fixed records", "stream": "streaming records"}
MODEL_NAMES = {"loss": "loss of the mean model", "own": "test loss of agents' own models", "mean": "loss of the mean model above its minimum"}


def everywhere(table, first, second, key, margin=None):
    return [cell for kind in NAMES for cell in late(table, kind, key, first, second, NAMES[kind], margin)]


def share_of_harm(table, panels):
    """What homomorphic noise adds to the mean model's loss, over what independent noise adds, against NEARLY: cells of (label, panel, x)."""
    added = lambda panel, curve, x: verdicts.difference(table.values(panel, curve, x), table.values(panel, "none", x))
    return [(label, verdicts.against(verdicts.ratio(added(panel, "homomorphic", x), added(panel, "laplace", x)), NEARLY))
            for label, panel, x in panels]


def readings(table, first, second, expect, keys, margin=None):
    """One for every figure that the text may mean, at the step size 1 and at OTHER_STEP."""
    at_one = [Claim(f"{MODEL_NAMES[key]}, step {homomorphic.SETTINGS['step_size']:g}", everywhere(table, first, second, key, margin), expect)
              for key in keys]
    return at_one + [Claim(f"{MODEL_NAMES[key]}, step {OTHER_STEP:g}", table.cells(f"step-{key}", first, second, lambda x: x == OTHER_STEP,
                                                                                 margin), expect) for key in keys]


def caption(table, size):
    repeats = size["rounds"] * (size["rounds"] - 1) / 2 / RECORDS["stream"]
    late_panels = [(NAMES[kind], f"late-{kind}-loss", x) for kind in NAMES for x in table.xs(f"late-{kind}-loss", "homomorphic")]
    on_scale = [Claim(f"what it adds to the loss of the mean model, over what independent noise adds, step {step:g}, against {NEARLY:g}",
                      share_of_harm(table, panels), (LOWER, SAME))
                for step, panels in ((homomorphic.SETTINGS["step_size"], late_panels),
                                     (OTHER_STEP, [("", "step-loss", OTHER_STEP)]))]
    return Caption(
        paper="learning curves of decentralized logistic regression (M = 5, K = 20 agents, μ = 1, ρ = 0.1, σ_h² = 1, σ_p² = 2) on "
              "streaming records: without noise, with independent Laplace noise, and with graph-homomorphic noise of the same power. The "
              "text does not say which statistic of the network is drawn.",
        setting=f"`sotto train --task logistic`, {homomorphic.AGENTS} agents on an Erdős–Rényi graph (p = "
                f"{homomorphic.SETTINGS['edge_probability']:g}), features N(± {homomorphic.SETTINGS['mean']:g}, I), μ = "
                f"{homomorphic.SETTINGS['step_size']}, ridge {homomorphic.SETTINGS['l2']:g}, Laplace noise of variance "
                f"{NOISE_STD ** 2:.3g} on every message, {size['seeds']} seeds; training loss of the mean model, also above its minimum, and "
                f"mean test loss of the agents' own models. Fixed: {RECORDS['fixed']} records per agent, full batches. Streaming: each "
                f"round draws one of {RECORDS['stream']} records per agent; in {size['rounds']} rounds {repeats:.2g} come twice on "
                f"average. Compared are means over the second half of the rounds. (e) to (g): these against the step size ({size['step_seeds']} "
                f"seeds); the squared gradient is of the last round.",
        claims=[
            Readings("homomorphic noise outperforms independent noise", readings(table, "homomorphic", "laplace", (LOWER,), ("loss", "own"))),
            Readings(f"homomorphic noise approximately matches no noise (margin: factor {SAME_FACTOR:g})",
                     readings(table, "homomorphic", "none", (SAME, LOWER), MODEL_NAMES, SAME_FACTOR) + on_scale),
        ],
        notes="the caption's μ = 1 may be the step size or the mean of a class, whose records the text calls N(μ_γ, σ_h²). The loss above "
              "its minimum is below 1e-5 without noise, so that no noise can match it. Noise cancels exactly in the mean, but gradients are "
              "taken at the agents' own models: an error of second order in step and noise remains in the mean model, and all of the noise "
              "in the agents' own. An observer of all receivers' messages learns the model from their sums ([accounting](accounting.md)), so "
              "the ledger's pure ε is large for both.",
        ours=[Told("the squared gradient that Corollary 1 bounds by O(1/(μ i)) + O(b²) + O(μ G²), last round, homomorphic against independent "
                   "noise", table.cells("step-gradient", "homomorphic", "laplace")),
              *[Told(f"Gaussian noise of the same standard deviation per round, on gradients, {MODEL_NAMES[key]}: `corn horizon` against `ldp`",
                     everywhere(table, "corn horizon", "ldp", key)) for key in ("mean", "own")]])


def panels():
    found = []
    letters = iter("abcdefg")
    for kind in NAMES:
        for key in MODELS:
            drawn = key != "loss"
            title = f"({next(letters)}) {NAMES[kind]}, {'mean model' if key == 'mean' else 'own models'}" if drawn else ""
            found.append(Panel(f"{kind}-{key}", title, ("round", "round"), MODELS[key], "t", log_y=True, drawn=drawn))
            found.append(Panel(f"late-{kind}-{key}", "", ("rounds", "round"), MODELS[key], "T", log_y=True, drawn=False))
    for key, title, label in (("loss", "mean model", MODELS["loss"]), ("own", "own models", MODELS["own"]),
                              ("gradient", "Corollary 1", GRADIENT), ("mean", "", MODELS["mean"])):
        found.append(Panel(f"step-{key}", f"({next(letters)}) fixed records, {title}" if title else "", ("step_size", "step size"), label,
                           "step", log_x=True, log_y=True, ticks=STEPS, bars=True, drawn=bool(title)))
    return found


def checked(size):
    """The training that --check-mpi repeats. Its records stay in size.work until the figure is made."""
    size.work.mkdir(parents=True, exist_ok=True)
    write_data(size.work, "stream")
    # Set explicitly: by default one process computes the gap, but ranks with files of their own do not.
    return options(size.work, "stream", "homomorphic", size["rounds"], 1) | {"optimality_gap": "on"}


FIGURES = [Figure("H1", "learning curves under noise that cancels in the mean", panels(), measure, caption,
                  sizes={"rounds": Sized("rounds", 200, 1000, 20), "seeds": Sized("seeds", 10, 50, 2),
                         "kinds": Sized("records", ["fixed", "stream"], ["fixed", "stream"]),
                         "steps": Sized("step sizes", STEPS, STEPS, [0.1, 1]), "step_seeds": Sized("seeds of the step sizes", 5, 20, 2)},
                  checked=checked)]
