"""[H] Graph-homomorphic perturbations."""
import csv
import pathlib
import random
import tempfile

import homomorphic
import running
from figure import Caption, Claim, Figure, Panel, Sized, Told
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
# Columns of metrics.csv and their labels: of the mean model, and the mean over the agents' own models. (Column
# optimality_gap_agents does not fit: it uses each agent's own function, whose minimum is lower.)
MODELS = {"mean": ("optimality_gap", "loss above the minimum"), "own": ("test_loss", "test loss")}
SMALLEST = 1e-9  # double precision cannot tell smaller gaps from the minimum
SAME_FACTOR = 1.1
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
    """{round: {models: figure}} of one training."""
    folder, kind, curve, rounds, every, seed = job
    with tempfile.TemporaryDirectory() as name:
        run = pathlib.Path(name) / "run"
        running.sotto_json("train", options(folder, kind, curve, rounds, seed) | {
            "run_directory": run, "threads": 1, "optimality_gap": "on", "eval_every": every, "eval_records": "all"})
        with open(run / "metrics.csv", encoding="ascii") as file:
            return {int(line["round"]): {key: float(line[column]) for key, (column, _) in MODELS.items()} for line in csv.DictReader(file)}


def kind_rows(size, folder, kind):
    """Learning curves and means over the second half. The curve without noise has seeds only where records stream."""
    rounds, seeds = size["rounds"], range(1, 1 + size["seeds"])
    every = max(1, rounds // POINTS)
    quiet_once = kind == "fixed"
    jobs = [(curve, seed) for curve in CURVES for seed in (seeds if curve != "none" or not quiet_once else [1])]
    found = dict(zip(jobs, running.parallel(curves, [(folder, kind, curve, rounds, every, seed) for curve, seed in jobs])))
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
    return rows


def late(table, kind, key, first, second, label, margin=None):
    """The verdict on means over the second half."""
    panel = f"late-{kind}-{key}"
    return [(label, table.compare(panel, first, second, x, margin)) for x in table.xs(panel, first, second)]


NAMES = {"fixed": "fixed records", "stream": "streaming records"}
MODEL_NAMES = {"mean": "mean model", "own": "agents' own models"}


def everywhere(table, first, second, key, margin=None):
    return [cell for kind in NAMES for cell in late(table, kind, key, first, second, NAMES[kind], margin)]


def caption(table, size):
    repeats = size["rounds"] * (size["rounds"] - 1) / 2 / RECORDS["stream"]
    return Caption(
        paper="learning curves of decentralized logistic regression (M = 5, K = 20 agents, μ = 1, ρ = 0.1, σ_h² = 1, σ_p² = 2) on "
              "streaming records: without noise, with independent Laplace noise, and with graph-homomorphic noise of the same power. The "
              "text does not say which statistic of the network is drawn.",
        setting=f"`sotto train --task logistic`, {homomorphic.AGENTS} agents on an Erdős–Rényi graph (p = "
                f"{homomorphic.SETTINGS['edge_probability']:g}), features N(± {homomorphic.SETTINGS['mean']:g}, I), μ = "
                f"{homomorphic.SETTINGS['step_size']}, ridge {homomorphic.SETTINGS['l2']:g}, Laplace noise of variance "
                f"{NOISE_STD ** 2:.3g} on every message, {size['seeds']} seeds; training loss of the mean model above its minimum, and "
                f"mean test loss of the agents' own models. Fixed: {RECORDS['fixed']} records per agent, full batches. Streaming: each "
                f"round draws one of {RECORDS['stream']} records per agent; in {size['rounds']} rounds {repeats:.2g} come twice on "
                f"average. Compared are means over the second half of the rounds.",
        claims=[
            Claim("homomorphic noise outperforms independent noise, mean model", everywhere(table, "homomorphic", "laplace", "mean"),
                  (LOWER,)),
            Claim("homomorphic noise outperforms independent noise, agents' own models", everywhere(table, "homomorphic", "laplace", "own"),
                  (LOWER,)),
            Claim(f"homomorphic noise approximately matches no noise, mean model (margin: factor {SAME_FACTOR:g})",
                  everywhere(table, "homomorphic", "none", "mean", SAME_FACTOR), (SAME,)),
            Claim(f"homomorphic noise approximately matches no noise, agents' own models (margin: factor {SAME_FACTOR:g})",
                  everywhere(table, "homomorphic", "none", "own", SAME_FACTOR), (SAME,)),
        ],
        notes="noise cancels exactly in the mean, but gradients are taken at the agents' own models, far from it: at this step and noise "
              "an error of second order remains in the mean model, and all of the noise in the agents' own. An observer of all receivers' "
              "messages learns the model from their sums ([accounting](accounting.md)), so the ledger's pure ε is large for both.",
        ours=[Told(f"Gaussian noise of the same standard deviation per round, on gradients, {MODEL_NAMES[key]}: `corn horizon` against "
                   f"`ldp`",
                   everywhere(table, "corn horizon", "ldp", key)) for key in MODELS])



def panels():
    found = []
    for letter, (kind, key) in zip("abcd", [(kind, key) for kind in NAMES for key in MODELS]):
        found.append(Panel(f"{kind}-{key}", f"({letter}) {NAMES[kind]}, {MODEL_NAMES[key]}", ("round", "round"), MODELS[key], "t",
                           log_y=True))
        found.append(Panel(f"late-{kind}-{key}", "", ("rounds", "round"), MODELS[key], "T", log_y=True, drawn=False))
    return found


def checked(size):
    """The training that --check-mpi repeats. Its records stay in size.work until the figure is made."""
    size.work.mkdir(parents=True, exist_ok=True)
    write_data(size.work, "stream")
    # Set explicitly: by default one process computes the gap, but ranks with files of their own do not.
    return options(size.work, "stream", "homomorphic", size["rounds"], 1) | {"optimality_gap": "on"}


FIGURES = [Figure("H1", "learning curves under noise that cancels in the mean", panels(), measure, caption,
                  sizes={"rounds": Sized("rounds", 200, 1000, 20), "seeds": Sized("seeds", 10, 50, 2),
                         "kinds": Sized("records", ["fixed", "stream"], ["fixed", "stream"])},
                  checked=checked)]
