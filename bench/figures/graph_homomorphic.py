"""[H] Graph-homomorphic perturbations."""
import csv
import math
import pathlib
import random
import tempfile

import homomorphic
import running
import verdicts
from figure import Caption, Claim, Figure, Panel, Readings, Sized, Told, told
from rows import Row, mean_row
from verdicts import LOWER, SAME

NOISE_STD = 1.4142  # the paper's sigma_p^2 = 2
CURVES = {"none": {"mechanism": "none"},
          "laplace": {"mechanism": "laplace", "noise_std": NOISE_STD},
          "homomorphic": {"mechanism": "homomorphic", "noise_std": NOISE_STD}}
# Records per agent; each round takes all of them, or one of so many that hardly any comes twice.
RECORDS = {"fixed": homomorphic.RECORDS, "stream": 10000}
BATCHES = {"fixed": "all", "stream": 1}
# Columns of metrics.csv and their labels: of the mean model, and the mean over the agents' own models.
MODELS = {"loss": ("train_loss_mean_model", "training loss"), "own": ("test_loss", "test loss")}
GRADIENT = ("gradient_squared", "E ‖∇J‖² of the mean model")  # what Corollary 1 bounds
STEPS = [0.05, 0.1, 0.2, 0.5, 1]
# The text asks for symmetric, doubly stochastic weights and gives none. Lazy ones, (I + Metropolis) / 2, keep at least half for the own model.
WEIGHTS = {"": {}, ": lazy weights": {"mixing": "lazy-metropolis"}}
LAZY = list(WEIGHTS)[1]
SMALLEST = 1e-18  # double precision cannot tell smaller squared gradients from zero
FLAT = 1.5  # factor within which a figure stays of the same size
ZERO, AT_ZERO = "zero model", math.log(2)  # its logistic loss
POINTS = 20  # points of a curve


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
    cells = [(curve, weights, step) for curve in CURVES for weights in WEIGHTS for step in size["steps"]]
    jobs = [(*cell, seed) for cell in cells for seed in (seeds if cell[0] != "none" else [1])]
    found = dict(zip(jobs, running.parallel(curves, [(folder, "fixed", curve, rounds, max(1, rounds // POINTS), seed,
                                                      {"step_size": step} | WEIGHTS[weights]) for curve, weights, step, seed in jobs])))
    rows = []
    for curve, weights, step in cells:
        runs = {str(seed): found[curve, weights, step, seed] for *cell, seed in jobs if tuple(cell) == (curve, weights, step)}
        late = lambda run, key: [figures[key] for t, figures in run.items() if t > rounds / 2]
        mean = {key: {seed: sum(late(run, key)) / len(late(run, key)) for seed, run in runs.items()} for key in MODELS}
        mean["gradient"] = {seed: max(run[rounds]["gradient"], SMALLEST) for seed, run in runs.items()}
        rows += [mean_row(f"step-{key}", curve + weights, step, values) if curve != "none" else
                 Row(f"step-{key}", curve + weights, step, values["1"]) for key, values in mean.items()]
    return rows + [Row("step-own", ZERO, step, AT_ZERO) for step in size["steps"]]


def stream_rows(size, folder):
    """Learning curves of streaming records, and means over the second half of the rounds."""
    rounds, seeds = size["rounds"], range(1, 1 + size["seeds"])
    cells = [(curve, weights) for curve in CURVES for weights in WEIGHTS]
    jobs = [(*cell, seed) for cell in cells for seed in seeds]
    found = dict(zip(jobs, running.parallel(curves, [(folder, "stream", curve, rounds, max(1, rounds // POINTS), seed, WEIGHTS[weights])
                                                     for curve, weights, seed in jobs])))
    rows = []
    for curve, weights in cells:
        runs = {str(seed): found[curve, weights, seed] for seed in seeds}
        shown = sorted(next(iter(runs.values())))
        for key in MODELS:
            rows += [mean_row(f"stream-{key}", curve + weights, t, {seed: run[t][key] for seed, run in runs.items()}) for t in shown]
            late = {seed: [run[t][key] for t in shown if t > rounds / 2] for seed, run in runs.items()}
            rows.append(mean_row(f"late-stream-{key}", curve + weights, rounds, {seed: sum(of) / len(of) for seed, of in late.items()}))
    return rows + [Row("stream-own", ZERO, t, AT_ZERO) for t in (0, rounds)]


def measure(size):
    with tempfile.TemporaryDirectory() as name:
        for kind in RECORDS:
            write_data(pathlib.Path(name), kind)
        return stream_rows(size, pathlib.Path(name)) + step_rows(size, pathlib.Path(name))


MODEL_NAMES = {"loss": "mean model", "own": "agents' own models"}
WEIGHT_NAMES = {"": "Metropolis weights", LAZY: "lazy weights"}


def late(table, first, second, key):
    """Verdicts on means over the second half of the rounds with streaming records, for all weights."""
    panel = f"late-stream-{key}"
    return [(WEIGHT_NAMES[weights], table.compare(panel, first + weights, second + weights, x))
            for weights in WEIGHTS for x in table.xs(panel, first + weights, second + weights)]


def at_steps(table, first, second, key):
    """Verdicts on fixed records at every step size, for all weights."""
    return [(f"{WEIGHT_NAMES[weights]}, {label}", cell) for weights in WEIGHTS
            for label, cell in table.cells(f"step-{key}", first + weights, second + weights)]


def share_of_harm(table, panel, weights, x):
    """What homomorphic noise adds to the mean model's loss, over what independent noise adds."""
    added = lambda curve: verdicts.difference(table.values(panel, curve + weights, x), table.values(panel, f"none{weights}", x))
    return verdicts.ratio(added("homomorphic"), added("laplace"))


def shares(table, panels):
    """As cells, against all of it. panels: (label, panel, x)."""
    return [(f"{WEIGHT_NAMES[weights]}, {label}", verdicts.against(share_of_harm(table, panel, weights, x), 1))
            for weights in WEIGHTS for label, panel, x in panels]


def caption(table, size):
    repeats = size["rounds"] * (size["rounds"] - 1) / 2 / RECORDS["stream"]
    end = max(table.xs("late-stream-loss", "none"))
    flat = lambda curve: [(f"step = {x:g}", verdicts.verdict(table.values("step-gradient", curve, x), table.values("step-gradient", curve, 1),
                                                            log=True, margin=FLAT)) for x in table.xs("step-gradient", curve) if x != 1]
    return Caption(
        paper="performance of decentralized logistic regression (M = 5, K = 20 agents, μ = 1, ρ = 0.1, σ_h² = 1, σ_p² = 2), of which one "
              "sentence says that homomorphic noise “approximately matches” no noise, “while outperforming” independent noise of the same power. "
              "Graph, weights, class means, number of rounds and the statistic drawn are not in the text. Its analytical results are about "
              "the mean model, which therefore comes first; agents' own models are a second reading.",
        setting=f"`sotto train --task logistic`, {homomorphic.AGENTS} agents on an Erdős–Rényi graph (p = "
                f"{homomorphic.SETTINGS['edge_probability']:g}), features N(± {homomorphic.SETTINGS['mean']:g}, I), step size "
                f"{homomorphic.SETTINGS['step_size']}, ridge {homomorphic.SETTINGS['l2']:g}, Laplace noise of variance "
                f"{NOISE_STD ** 2:.3g}, {size['seeds']} seeds; weights Metropolis or lazy, which keep at least half of the weight for the own "
                f"model. `laplace`: one draw per agent and round, for all neighbours and for the agent's own copy. Training loss of the mean "
                f"model, mean test loss of agents' own models. Streaming: each round draws one of {RECORDS['stream']} records per agent; "
                f"{repeats:.2g} pairs of its {size['rounds']} draws are of one record on average. Compared are means over the second half of "
                f"the rounds with streaming records. Our variations: {RECORDS['fixed']} fixed records per agent with full batches, and other "
                f"step sizes, (c) to (e) ({size['step_seeds']} seeds; the squared gradient is of the last round).",
        claims=[
            *[Readings(f"homomorphic noise outperforms independent noise, {name}",
                       [Claim(weights, [("", cell)], (LOWER,)) for weights, cell in late(table, "homomorphic", "laplace", key)])
              for key, name in MODEL_NAMES.items()],
            *[Claim(f"homomorphic noise approximately matches no noise, {name} (the text gives no margin): loss over that without noise", [], (SAME,),
                    told(late(table, "homomorphic", "none", key))) for key, name in MODEL_NAMES.items()],
        ],
        notes="the caption's μ = 1 may also be the mean of a class, whose records the text calls N(μ_γ, σ_h²); then the step is not known, which "
              "was not run. Theorem 2 and Corollary 1 bound what noise does to the mean model: each round adds at most a term of order μ b_v², "
              "and at most an error of order b_v² remains; by Lemma 3 own models deviate by O(μ²) + O(b_v²). Privacy is"
              "  not compared: the figure has equal noise, not equal ε.",
        ours=[Told("what homomorphic noise adds to the mean model's loss, over what independent noise adds, against all of it",
                   shares(table, [("streaming records", "late-stream-loss", end),
                                  *[(f"fixed records, step = {x:g}", "step-loss", x) for x in table.xs("step-loss", "homomorphic")]])),
              *[Told(f"fixed records, {name}: homomorphic against independent noise", at_steps(table, "homomorphic", "laplace", key))
                for key, name in MODEL_NAMES.items()],
              *[Told(f"fixed records, {name}: homomorphic noise against none", at_steps(table, "homomorphic", "none", key))
                for key, name in MODEL_NAMES.items()],
              Told("agents' own models under homomorphic noise, streaming records, against the zero model, whose loss is ln 2",
                   [(WEIGHT_NAMES[weights], verdicts.against(table.values("late-stream-own", f"homomorphic{weights}", end), AT_ZERO, log=True))
                    for weights in WEIGHTS]),
              *[Told(f"squared gradient in the last round (Corollary 1 bounds its average over rounds by a term O(b_v²) without the step, and others), "
                     f"{name}: at other steps against step 1 (margin: factor {FLAT:g})", flat(f"homomorphic{weights}"))
                for weights, name in WEIGHT_NAMES.items()],
              Told("the same with independent noise, Metropolis weights", flat("laplace"))])


def panels():
    found = []
    letters = iter("abcde")
    for key in MODELS:
        found.append(Panel(f"stream-{key}", f"({next(letters)}) streaming records, {MODEL_NAMES[key]}", ("round", "round"), MODELS[key], "t",
                           log_y=True))
        found.append(Panel(f"late-stream-{key}", "", ("rounds", "round"), MODELS[key], "T", log_y=True, drawn=False))
    for key, title, label in [*[(key, MODEL_NAMES[key], MODELS[key]) for key in MODELS], ("gradient", "squared gradient", GRADIENT)]:
        found.append(Panel(f"step-{key}", f"({next(letters)}) fixed records, {title}", ("step_size", "step size"), label, "step", log_x=True,
                           log_y=True, ticks=STEPS, bars=True))
    return found


def checked(size):
    """The training that --check-mpi repeats. Its records stay in size.work until the figure is made."""
    size.work.mkdir(parents=True, exist_ok=True)
    write_data(size.work, "stream")
    # Set explicitly: by default one process computes the gap, but ranks with files of their own do not.
    return options(size.work, "stream", "homomorphic", size["rounds"], 1) | {"optimality_gap": "on"}


FIGURES = [Figure("H1", "learning curves under noise that cancels in the mean", panels(), measure, caption,
                  sizes={"rounds": Sized("rounds", 200, 1000, 20), "seeds": Sized("seeds", 10, 50, 2),
                         "steps": Sized("step sizes", STEPS, STEPS, [0.1, 1]), "step_seeds": Sized("seeds of the step sizes", 5, 20, 2)},
                  checked=checked)]
