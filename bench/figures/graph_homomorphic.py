"""[H] Graph-homomorphic perturbations."""
import csv
import math
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
# The text asks for symmetric, doubly stochastic weights and gives none. Lazy ones, (I + Metropolis) / 2, keep at least half for the own model.
WEIGHTS = {"": {}, ": lazy weights": {"mixing": "lazy-metropolis"}}
LAZY = list(WEIGHTS)[1]
SMALLEST = 1e-9  # double precision cannot tell smaller gaps from the minimum
SAME_FACTOR = 1.1
NEARLY = 0.1  # part of the harm of independent noise that is nearly none
FLAT = 1.5  # factor within which a figure stays of the same size
ZERO, AT_ZERO = "zero model", math.log(2)  # its logistic loss
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
    cells = [(curve, weights, step) for curve in WITH_STEPS for weights in WEIGHTS for step in size["steps"]]
    jobs = [(*cell, seed) for cell in cells for seed in (seeds if cell[0] != "none" else [1])]
    found = dict(zip(jobs, running.parallel(curves, [(folder, "fixed", curve, rounds, max(1, rounds // POINTS), seed,
                                                      {"step_size": step} | WEIGHTS[weights]) for curve, weights, step, seed in jobs])))
    rows = []
    for curve, weights, step in cells:
        runs = {str(seed): found[curve, weights, step, seed] for *cell, seed in jobs if tuple(cell) == (curve, weights, step)}
        late = lambda run, key: [figures[key] for t, figures in run.items() if t > rounds / 2]
        mean = {key: {seed: max(sum(late(run, key)) / len(late(run, key)), SMALLEST) for seed, run in runs.items()} for key in MODELS}
        mean["gradient"] = {seed: max(run[rounds]["gradient"], SMALLEST ** 2) for seed, run in runs.items()}
        rows += [mean_row(f"step-{key}", curve + weights, step, values) if curve != "none" else
                 Row(f"step-{key}", curve + weights, step, values["1"]) for key, values in mean.items()]
    return rows + [Row("step-own", ZERO, step, AT_ZERO) for step in size["steps"]]


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
                     for panel, t, values in points]
    return rows + [Row(f"{kind}-own", ZERO, t, AT_ZERO) for t in (0, rounds)]


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
MODEL_NAMES = {"loss": "loss of the mean model", "own": "test loss of agents' own models",
               "mean": "loss of the mean model above its minimum"}
WEIGHT_NAMES = {"": "Metropolis weights", LAZY: "lazy weights"}


def everywhere(table, first, second, key, margin=None):
    return [cell for kind in NAMES for cell in late(table, kind, key, first, second, NAMES[kind], margin)]


def added(table, panel, curve, weights, x):
    """What noise adds to a loss."""
    return verdicts.difference(table.values(panel, curve + weights, x), table.values(panel, f"none{weights}", x))


def share_of_harm(table, panel, weights, x):
    """What homomorphic noise adds to the mean model's loss, over what independent noise adds."""
    return verdicts.ratio(added(table, panel, "homomorphic", weights, x), added(table, panel, "laplace", weights, x))


def at_steps(table, first, second, key, weights, margin=None):
    """Verdicts on fixed records at the step size 1 and at OTHER_STEP."""
    chosen = (homomorphic.SETTINGS["step_size"], OTHER_STEP)
    return table.cells(f"step-{key}", first + weights, second + weights, lambda x: x in chosen, margin)


def readings(table, first, second, expect, keys, margin=None):
    """One for every figure that the text may mean, under both weights and step sizes; records that stream had Metropolis weights and the
    step size 1."""
    found = []
    for key in keys:
        for weights in WEIGHTS:
            found += [Claim(f"{MODEL_NAMES[key]}, {WEIGHT_NAMES[weights]}, {label}", [("", cell)], expect)
                      for label, cell in at_steps(table, first, second, key, weights, margin)]
        found += [Claim(f"{MODEL_NAMES[key]}, {NAMES['stream']}", [("", cell)], expect)
                  for _, cell in late(table, "stream", key, first, second, "", margin)]
    return found


def caption(table, size):
    repeats = size["rounds"] * (size["rounds"] - 1) / 2 / RECORDS["stream"]
    steps = [x for x in (homomorphic.SETTINGS["step_size"], OTHER_STEP) if x in size["steps"]]
    on_scale = [Claim(f"what it adds to the loss of the mean model, over what independent noise adds, {WEIGHT_NAMES[weights]}, "
                      f"{table.label('step-loss', x)}, against {NEARLY:g}",
                      [("", verdicts.against(share_of_harm(table, "step-loss", weights, x), NEARLY))], (LOWER, SAME))
                for weights in WEIGHTS for x in steps]
    flat = lambda curve: [(f"step = {x:g}", verdicts.verdict(table.values("step-gradient", curve, x), table.values("step-gradient", curve, 1),
                                                            log=True, margin=FLAT)) for x in table.xs("step-gradient", curve) if x != 1]
    harm = lambda curve, x: "{:.3g}".format(verdicts.ratio(verdicts.exact(mean(table, curve, x)), table.values("step-loss", "none", x)).number)
    return Caption(
        paper="performance of decentralized logistic regression (M = 5, K = 20 agents, μ = 1, ρ = 0.1, σ_h² = 1, σ_p² = 2) without noise, "
              "with independent noise, and with graph-homomorphic noise of the same power. The text has two sentences about it, which are "
              "the claims here. We had no picture: graph, weights, class means, number of rounds and the statistic drawn are not in the text.",
        setting=f"`sotto train --task logistic`, {homomorphic.AGENTS} agents on an Erdős–Rényi graph (p = "
                f"{homomorphic.SETTINGS['edge_probability']:g}), features N(± {homomorphic.SETTINGS['mean']:g}, I), step size "
                f"{homomorphic.SETTINGS['step_size']}, ridge {homomorphic.SETTINGS['l2']:g}, Laplace noise of variance "
                f"{NOISE_STD ** 2:.3g}, {size['seeds']} seeds. `laplace`: one draw per agent and round, for all neighbours and for the agent's "
                f"own copy. Drawn are the training loss of the mean model and the mean test loss of agents' own models. Fixed: "
                f"{RECORDS['fixed']} records per agent, full batches. Streaming: each round draws one of {RECORDS['stream']} records per "
                f"agent; {repeats:.2g} pairs of its {size['rounds']} draws are of one record on average. Compared are means over the second "
                f"half of the rounds. (e) to (g): these against the step size, for Metropolis weights and for lazy ones, which keep at least "
                f"half of the weight for the own model ({size['step_seeds']} seeds); the squared gradient is of the last round.",
        claims=[
            Readings("homomorphic noise outperforms independent noise", readings(table, "homomorphic", "laplace", (LOWER,), ("loss", "own"))),
            Readings(f"homomorphic noise approximately matches no noise (the text gives no margin; ours: factor {SAME_FACTOR:g}; as a part of "
                     f"independent noise's harm: {NEARLY:g})",
                     [*readings(table, "homomorphic", "none", (SAME, LOWER), ("loss", "own"), SAME_FACTOR),
                      *[Claim(f"{MODEL_NAMES['mean']}, {NAMES['stream']}", [("", cell)], (SAME, LOWER))
                        for _, cell in late(table, "stream", "mean", "homomorphic", "none", "", SAME_FACTOR)], *on_scale]),
            *[Claim(f"the remaining squared gradient stays of the same size while the step shrinks (Corollary 1: O(b_v²)), {name}: at other "
                    f"steps against step 1 (margin: factor {FLAT:g})", flat(f"homomorphic{weights}"), (SAME,)) for weights, name in WEIGHT_NAMES.items()],
        ],
        notes="the caption's μ = 1 may be the step size or the mean of a class, whose records the text calls N(μ_γ, σ_h²); the second, with a "
              "mean of 1 and an unknown step, was not run. The paper's results (Theorem 2, Corollary 1) are about the mean model: each round "
              "adds a term of order μ b_v², and an error of order b_v² remains; Lemma 3 says that own models deviate by as much. They are "
              f"compared because the picture may draw them. Loss of the mean model over that without noise at step {OTHER_STEP:g}: "
              f"{harm('homomorphic', OTHER_STEP)} times with homomorphic noise, {harm('laplace', OTHER_STEP)} times with independent noise. "
              "On fixed records the loss above its minimum is below 1e-5 without noise, and ratios to it say nothing. Privacy is not "
              "compared: the figure has equal noise, not equal ε.",
        ours=[Told("agents' own models under homomorphic noise against the zero model, whose loss is ln 2",
                   [(f"{name}, {label}", cell) for weights, name in WEIGHT_NAMES.items()
                    for label, cell in table.cells("step-own", f"homomorphic{weights}", ZERO, lambda x: x in steps)]),
              Told("squared gradient with independent noise at other steps against step 1, Metropolis weights", flat("laplace")),
              *[Told(f"squared gradient, last round, homomorphic against independent noise, {name}",
                     table.cells("step-gradient", f"homomorphic{weights}", f"laplace{weights}")) for weights, name in WEIGHT_NAMES.items()],
              *[Told(f"Gaussian noise of the same standard deviation per round, on gradients, with another protection (not drawn), "
                     f"{MODEL_NAMES[key]}: `corn horizon` against `ldp`", everywhere(table, "corn horizon", "ldp", key))
                for key in ("mean", "own")]])


def mean(table, curve, x):
    """The mean over seeds of the mean model's loss at a step size."""
    return table.y("step-loss", curve, x)


def panels():
    found = []
    letters = iter("abcdefg")
    for kind in NAMES:
        for key in ("loss", "own", "mean"):
            drawn = key != "mean"
            title = f"({next(letters)}) {NAMES[kind]}, {'mean model' if key == 'loss' else 'own models'}" if drawn else ""
            found.append(Panel(f"{kind}-{key}", title, ("round", "round"), MODELS[key], "t", log_y=True, drawn=drawn,
                               left_out=("ldp", "corn horizon")))
            found.append(Panel(f"late-{kind}-{key}", "", ("rounds", "round"), MODELS[key], "T", log_y=True, drawn=False))
    for key, title, label in (("loss", "mean model", MODELS["loss"]), ("own", "own models", MODELS["own"]),
                              ("gradient", "squared gradient", GRADIENT), ("mean", "", MODELS["mean"])):
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
