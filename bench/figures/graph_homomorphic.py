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
# Records a round: all that an agent has, or one new one (of so many that hardly one comes twice).
RECORDS = {"fixed": homomorphic.RECORDS, "stream": 10000}
BATCHES = {"fixed": "all", "stream": 1}
# Columns of metrics.csv and what they are: of the mean model, and the mean over the agents' own. (Its column optimality_gap_agents
# takes every agent's own function, whose minimum is lower.)
MODELS = {"mean": ("optimality_gap", "loss above the minimum"), "own": ("test_loss", "test loss")}
SMALLEST = 1e-9  # below what double precision can tell from the minimum
SAME_FACTOR = 1.1
POINTS = 25  # of a curve


def options(folder, kind, curve, rounds, seed):
    """Of one training."""
    settings = homomorphic.SETTINGS
    chosen = {"agents": homomorphic.AGENTS, "task": "logistic", "data": folder / f"{kind}-%r.svm", "test_data": folder / "test.svm",
              "batch_size": BATCHES[kind], "rounds": rounds, "noise_seed": seed, "seed": seed, "final_gossip": 0} | CURVES[curve]
    return chosen | {name: settings[name] for name in ["step_size", "l2", "clip_norm", "edge_probability", "graph_seed"]}


def write_data(folder, kind):
    """Files of the agents' records and of tests."""
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
    """Learning curves, and means over the second half; the curve without noise has seeds too where records stream."""
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
        paper="Learning curves of decentralized logistic regression (M = 5, K = 20 agents, μ = 1, ρ = 0.1, σ_h² = 1, σ_p² = 2), records "
              "streaming: "
              "without noise, with independent Laplace noise, and with graph-homomorphic noise of the same power. The text says "
              "that the third approximately matches the first and outperforms the second, and not which statistic of the network is drawn.",
        setting=f"`sotto train --task logistic`, {homomorphic.AGENTS} agents on an Erdős–Rényi graph (p = "
                f"{homomorphic.SETTINGS['edge_probability']:g}), features "
                f"N(± {homomorphic.SETTINGS['mean']:g}, I), μ = {homomorphic.SETTINGS['step_size']}, ridge "
                f"{homomorphic.SETTINGS['l2']:g}, Laplace noise of variance {NOISE_STD ** 2:.3g} on "
                f"every message; training loss of the mean model above the lowest possible, and mean test loss of the agents' own models, "
                f"{size['seeds']} "
                f"seeds. Fixed: {RECORDS['fixed']} records an agent, full batches. Streaming: every round one record, drawn of "
                f"{RECORDS['stream']} an agent, so that in {size['rounds']} rounds {repeats:.2g} come twice on average. "
                f"Comparisons are of means over the second half of the rounds.",
        claims=[
            Claim("homomorphic noise outperforms independent noise, mean model", everywhere(table, "homomorphic", "laplace", "mean"),
                  (LOWER,)),
            Claim("homomorphic noise outperforms independent noise, agents' own models", everywhere(table, "homomorphic", "laplace", "own"),
                  (LOWER,)),
            Claim(f"homomorphic noise approximately matches no noise, mean model (the same: a factor below {SAME_FACTOR:g})",
                  everywhere(table, "homomorphic", "none", "mean", SAME_FACTOR), (SAME,)),
            Claim(f"homomorphic noise approximately matches no noise, agents' own models (the same: a factor below {SAME_FACTOR:g})",
                  everywhere(table, "homomorphic", "none", "own", SAME_FACTOR), (SAME,)),
        ],
        notes="class means, records and graph are not given. Noise cancels in the mean exactly, but each agent's own "
              "model is far from the mean while gradients are taken there, which at this step and noise leaves an error of second order "
              "in the mean model, "
              "and all of the noise in agents' own. Sums of all receivers' messages show an observer of all of them the model "
              "(docs/accounting.md), so the pure ε of the "
              "ledger is large for both.",
        ours=[Told(f"Gaussian noise of the same standard deviation a round, on gradients and accounted for training, {MODEL_NAMES[key]}: "
                   f"`corn horizon` against `ldp`",
                   everywhere(table, "corn horizon", "ldp", key)) for key in MODELS])


def panels():
    found = []
    for letter, (kind, key) in zip("abcd", [(kind, key) for kind in NAMES for key in MODELS]):
        found.append(Panel(f"{kind}-{key}", f"({letter}) {NAMES[kind]}, {MODEL_NAMES[key]}", ("round", "round"), MODELS[key], "t",
                           log_y=True))
        found.append(Panel(f"late-{kind}-{key}", "", ("rounds", "round"), MODELS[key], "T", log_y=True, drawn=False))
    return found


def checked(size):
    """Streaming records in a folder of their own, which is left until the figure is made."""
    size.work.mkdir(parents=True, exist_ok=True)
    write_data(size.work, "stream")
    # The default differs: where agents have files of their own, one process computes the gap and ranks do not.
    return options(size.work, "stream", "homomorphic", size["rounds"], 1) | {"optimality_gap": "on"}


FIGURES = [Figure("H1", "learning curves under noise that cancels in the mean", panels(), measure, caption,
                  sizes={"rounds": Sized("rounds", 200, 1000, 20), "seeds": Sized("seeds", 10, 50, 2),
                         "kinds": Sized("records", ["fixed", "stream"], ["fixed", "stream"])},
                  checked=checked)]
