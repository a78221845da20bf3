"""[U] figures 3 to 6: housing and FEMNIST with MAFALDA-SGD."""
import dataclasses
import math
import pathlib

import running
import verdicts
from figure import Caption, Claim, Figure, Panel, Readings, Sized, Told
from rows import mean_row, span
from running import words
from unified import EGO, FLORENTINE, GRAPHS, MASTODON, OWN, graph_options
from verdicts import HIGHER, LOWER, SAME, Values

HOUSING = "cal_housing.data.gz"
SHOWN = 5.0  # epsilon of the learning curves, our choice
LAST = 50  # "the last 50 training steps"
REDUCTION, REDUCTION_MARGIN = 0.31, 0.05
TARGET, FOLD, FOLD_MARGIN = 0.75, 2, 1.1  # "for a fixed test-loss value of 0.75, a 2-fold reduction in ε"
DRAWN = 6.0  # losses above are not drawn, as in the paper
# The paper's losses have no unit. Ours are in variances of the target; in common copies of the data the target is in 100 000 dollars and
# its variance 1.33.
UNITS = {"variances of the target": 1.0, "(100 000 dollars)²": 1.33}
STEPS = [0.005, 0.01, 0.02, 0.04, 0.08]
ONE_STEP = [0.04, 0.06]  # one step size for all mechanisms, the other reading of the curves over time
# Names in pictures, where a mechanism trusts agents with more than `mafalda` does.
TRUST = {"space-time": "space-time (ours), not LDP"}
PRIVATE = ("ldp", "anti-pgd")


def seeds(size):
    return words(range(1, 1 + size["seeds"]))


def settings(size, graph):
    """Options of the sweep of housing on a graph."""
    return {"data": running.data_path(HOUSING), "rounds": size["rounds"], "epsilon": words(size["epsilons"]), "seed": seeds(size),
            "step-size": words(size["steps"])} | {name.replace("_", "-"): value for name, value in graph_options(graph).items()}


def last_losses(panel, size, options, epsilons):
    """Rows of the losses after the last round, the only one evaluated."""
    runs = running.trainings("housing", size, options | {"eval-every": 1000000, "keep-runs": "off"})
    return running.training_rows(panel, runs, running.varied("epsilon", epsilons), "test_loss")


# --- U3 --------------------------------------------------------------------------------------------------------------

def curves(panel, runs):
    """Rows of the losses over time."""
    found = {}
    for folder, run in runs:
        if run["status"] == "done":
            for line in running.table_of(folder / run["run_directory"] / "metrics.csv"):
                found.setdefault((run["variant"], int(line["round"])), {})[run["seed"]] = float(line["test_loss"])
    return [mean_row(panel, curve, t, values) for (curve, t), values in found.items()]


def one_step_panel(step):
    return f"time-{step:g}"


LATER = one_step_panel(ONE_STEP[-1])  # not of the grid


def measure_u3(size):
    options = settings(size, "ego")
    # A run directory has a file for every agent: keep only those of the curves.
    shown_options = options | {"epsilon": words([SHOWN])}
    folder = running.sweep_folder("housing", size, shown_options)
    shown = running.tested(folder)
    rows = curves("time", [(folder, run) for run in shown])
    for step in size["one_step"]:
        part = dataclasses.replace(size, work=size.work / one_step_panel(step))
        folder = running.sweep_folder("housing", part, shown_options | {"step-size": step, "choose-further": 0})
        rows += curves(one_step_panel(step), [(folder, run) for run in running.tested(folder)])
    rows += running.training_rows("budget", shown, SHOWN, "test_loss")
    others = [epsilon for epsilon in size["epsilons"] if epsilon != SHOWN]
    if others:
        rows += last_losses("budget", size, options | {"epsilon": words(others)}, others)
    return rows


def reduction(table, panel, last, baseline="ldp"):
    """The part by which MAFALDA's loss is below a baseline's in the last rounds, seed by seed."""
    late = [t for t in table.xs(panel, baseline, "mafalda") if t > last - LAST]
    each = [verdicts.combine(lambda ours, theirs: 1 - ours / theirs, table.values(panel, "mafalda", t), table.values(panel, baseline, t))
            for t in late]
    return verdicts.combine(lambda *values: sum(values) / len(values), *each), len(late)


def final_reductions(table):
    """The same after the last round with the best steps, for every epsilon: (ε, reduction)."""
    return [(x, verdicts.combine(lambda ours, theirs: 1 - ours / theirs, table.values("budget", "mafalda", x), table.values("budget", "ldp", x)))
            for x in table.xs("budget", "ldp", "mafalda")]


def against_reduction(found):
    return verdicts.against(found, REDUCTION, margin=REDUCTION_MARGIN)




def budget_for(table, curve, target):
    """The epsilon at which a curve falls to the target, seed by seed, linear in log ε and log loss between points. None if a seed's
    curve does not."""
    xs = table.xs("budget", curve)
    losses = [table.values("budget", curve, x).by_seed for x in xs]
    found = {}
    for seed in losses[0]:
        values = [by_seed[seed] for by_seed in losses]
        crossing = [k for k in range(len(xs) - 1) if values[k] > target >= values[k + 1]]
        if not crossing:
            return None
        k = crossing[0]
        share = math.log(values[k] / target) / math.log(values[k] / values[k + 1])
        found[seed] = xs[k] * (xs[k + 1] / xs[k]) ** share
    return Values(by_seed=found)


NOT_PASSED = "not every seed's curve passes that loss between the smallest and the largest ε"


def folds(table, curve, target):
    """The budget of independent noise over that of a curve at a loss, seed by seed, or None."""
    both = [budget_for(table, name, target) for name in ("ldp", curve)]
    return None if None in both else verdicts.ratio(*both)


def fold_readings(table):
    """The paper's halved budget, in every unit of the loss."""
    found = [(unit, TARGET / variance, folds(table, "mafalda", TARGET / variance)) for unit, variance in UNITS.items()]
    return [Claim(f"{TARGET:g} {unit}" + (f", which is {target:.3g} variances" if target != TARGET else ""), [("", verdicts.against(fold, FOLD, log=True, margin=FOLD_MARGIN))] if fold else [],
                  (SAME, HIGHER), NOT_PASSED) for unit, target, fold in found]


def diverging_readings(table, protocols):
    """AntiPGD's losses against DRAWN, in every unit of the loss."""
    return [Claim(f"{protocol}, {DRAWN:g} {unit}" + (f", which is {DRAWN / variance:.3g} variances" if variance != 1 else ""),
                  table.against(panel, "anti-pgd", DRAWN / variance, lambda t: t > 0), (HIGHER,), "it diverged")
            for panel, protocol in protocols.items() for unit, variance in UNITS.items()]


def caption_u3(table, size):
    protocols = {"time": "the best step size of each mechanism"} | {one_step_panel(step): f"step {step:g} for all" for step in
                                                                   size["one_step"]}
    _, evaluations = reduction(table, "time", size["rounds"])
    final = final_reductions(table)
    largest = [max(final, key=lambda cell: verdicts.mean(cell[1]))] if len(final) > 1 else []
    fold = folds(table, "space-time", TARGET)
    quiet = verdicts.numbers(table.values("budget", "none", table.xs("budget", "none")[0])) if table.xs("budget", "none") else []
    return Caption(
        paper="test loss on housing over the Facebook ego graph, over time at one ε, and final against ε, 20 runs; AntiPGD's is not drawn over time.",
        setting=f"`sotto sweep bench/figures/housing.ini`: 148 agents, MLP 8-64-1, {size['rounds']} rounds (20 passes of 19 batches), "
                f"record level, δ = 1e-6, C = 1, records dealt uniformly at random, Metropolis weights, {size['seeds']} seeds, step sizes "
                f"{', '.join(f'{s:g}' for s in size['steps'])}, tuned on held-out training records; loss in variances of the target. Over "
                f"time: ε = {SHOWN:g}, with the best step size of each mechanism (a), and with one for all (c), (d). The step 0.06 is not "
                f"of that grid: it was added afterwards, because the published reduction lies between those at 0.04 and at 0.06.",
        claims=[
            *[Claim(f"`mafalda` outperforms `{curve}` for every ε", table.cells("budget", "mafalda", curve), (LOWER,))
              for curve in PRIVATE],
            Readings(f"{REDUCTION:.0%} average improvement in the last {LAST} rounds (over what is not said), read as at least {REDUCTION:g} less "
                     f"loss (margin: {REDUCTION_MARGIN:g}, absolute)",
                     [*[Claim(f"than independent noise, ε = {SHOWN:g}, {protocol}{', to see that there is such a step' if panel == LATER else ''}, "
                              f"the last {evaluations} evaluations",
                              [("", against_reduction(reduction(table, panel, size["rounds"])[0]))], (SAME, HIGHER))
                        for panel, protocol in protocols.items()],
                      Claim(f"than AntiPGD, ε = {SHOWN:g}, {protocols['time']}, the last {evaluations} evaluations",
                            [("", against_reduction(reduction(table, "time", size["rounds"], "anti-pgd")[0]))], (SAME, HIGHER)),
                      *[Claim(f"than independent noise, ε = {x:g}, where it is largest, the best step size of each mechanism, after the last round",
                              [("", against_reduction(found))], (SAME, HIGHER)) for x, found in largest]]),
            Readings(f"at a loss of {TARGET:g} at least a 2-fold reduction in ε, best step sizes: independent noise's ε divided by MAFALDA's (between the measured ε "
                     f"linear in the logarithms of ε and loss), against {FOLD} (margin: factor {FOLD_MARGIN:g})", fold_readings(table)),
            Readings(f"AntiPGD's loss is always greater than {DRAWN:g}: every 19th round after the start, ε = {SHOWN:g}",
                     diverging_readings(table, protocols)),
            *[Claim(f"there are regimes where MAFALDA converges and AntiPGD diverges: last loss against that at the start, ε = {SHOWN:g}, "
                    f"step {step:g}, {curve}",
                    [("", verdicts.verdict(table.values(panel, curve, max(table.xs(panel, curve))), table.values(panel, curve, 0), log=True))],
                    (expected,))
              for step in size["one_step"][:1] for panel in [one_step_panel(step)]
              for curve, expected in (("mafalda", LOWER), ("anti-pgd", HIGHER)) if table.xs(panel, curve)],
        ],
        notes="the text gives neither the unit of the loss, nor ε of the curves over time, nor how step sizes were chosen, nor weights, clip, "
              "test set or whose model is tested. At the start all losses are below 6 here, so unit or start differ from the paper's. In "
              f"(c) and (d) losses above {DRAWN:g} are not drawn, which leaves nothing of AntiPGD's."
              + (f" The loss without noise is {span(quiet)} by seed." if quiet else ""),
        ours=[Told(f"reduction of the loss after the last round, best step sizes, against {REDUCTION:g} (same margin)",
                   [(f"ε = {x:g}", against_reduction(found)) for x, found in final]),
              Told("`space-time`, also correlated between agents and with weaker protection (agents must not hold its seeds; see U5), against "
                   "`mafalda`", table.cells("budget", "space-time", "mafalda")),
              Told(f"independent noise's ε divided by that of `space-time` at a loss of {TARGET:g}, against {FOLD}",
                   [("", verdicts.against(fold, FOLD, log=True, margin=FOLD_MARGIN))] if fold else [], NOT_PASSED)])



# --- U5 --------------------------------------------------------------------------------------------------------------

FURTHER = ("florentine", "er", "fediverse")


def measure_u5(size):
    rows = []
    for key in FURTHER:
        rows += last_losses(key, size, settings(size, key), size["epsilons"])
    return rows


def caption_u5(table, size):
    smallest, others = FURTHER[0], FURTHER[1:]
    by_graph = [(f"{GRAPHS[key][0]}, ε = {x:g}", verdicts.verdict(table.values(smallest, "mafalda", x), table.values(key, "mafalda", x),
                                                                  log=True))
                for key in others if key != OWN for x in table.xs(smallest, "mafalda") if x in table.xs(key, "mafalda")]
    return Caption(
        paper="final test loss on housing against ε (δ = 1e-6) on further graphs.",
        setting=f"as U3, on the Florentine families, an Erdős–Rényi graph of 100 agents and the Mastodon servers; {size['seeds']} seeds, "
                f"step sizes {', '.join(f'{s:g}' for s in size['steps'])}.",
        claims=[
            *[Claim(f"{GRAPHS[key][0]}: `mafalda` improves on `{curve}`", table.cells(key, "mafalda", curve), (LOWER,)) for key in FURTHER
              if key != OWN for curve in PRIVATE],
            Claim("the smallest graph has a lower loss than larger ones (`mafalda`)", by_graph, (LOWER,))],
        notes="the Mastodon servers take the place of PeerTube and enter no comparison with the paper. `mafalda` protects against everybody who sees all messages. `space-time` "
              "uses the seeds of `corn` as well, which do not protect against agents that hold them (`--spatial-mechanism pairs` does).",
        ours=[*[Told(f"{GRAPHS[OWN][0]}: `mafalda` against `{curve}`", table.cells(OWN, "mafalda", curve)) for curve in PRIVATE],
              *[Told(f"{GRAPHS[key][0]}: `space-time` against `mafalda`", table.cells(key, "space-time", "mafalda")) for key in FURTHER]])



# --- U4: FEMNIST -----------------------------------------------------------------------------------------------------

def settings_u4(size):
    files = ",".join(sorted(str(path) for path in pathlib.Path(size.femnist).glob("*.json")))
    return {"data": files, "graph": running.data_path(size["graph"]), "rounds": size["rounds"], "epsilon": words(size["epsilons"]),
            "seed": seeds(size),
            "step-size": words(size["steps"])}


def measure_u4(size):
    runs = running.trainings("femnist", size, settings_u4(size))
    return running.training_rows("accuracy", runs, running.varied("epsilon", size["epsilons"]), "test_accuracy")


def caption_u4(table, size):
    return Caption(
        paper="test accuracy on FEMNIST against ε on the Facebook ego and Florentine graphs (figures 4 and 6).",
        setting=f"`sotto sweep bench/figures/femnist.ini` with LEAF's files: graph {size['graph']}, ten writers per agent, the small "
                f"convolutional network, {size['rounds']} rounds of 16 batches, record level, {size['seeds']} seeds.",
        claims=[Claim("`mafalda` has consistently higher accuracy than `ldp`", table.cells("accuracy", "mafalda", "ldp"), (HIGHER,))],
        ours=[Told("`space-time` against `mafalda`", table.cells("accuracy", "space-time", "mafalda"))])


LOSS, BUDGET = ("test_loss", "test loss"), ("epsilon", "privacy budget ε")
TICKS = [1, 2, 5, 10]
# The smallest ε bring every seed's loss above TARGET.
HOUSING_SIZES = {"rounds": Sized("rounds", 380, 380, 38), "epsilons": Sized("ε", [0.5, *TICKS], [0.25, 0.5, 1, 2, 3, 5, 7, 10, 15], [5]),
                 "seeds": Sized("seeds", 6, 20, 2), "steps": Sized("steps", STEPS, STEPS, [0.02])}
FIGURES = [
    Figure("U3", "housing on the Facebook ego graph",
           [Panel("time", f"(a) ε = {SHOWN:g}, best steps", ("round", "round"), LOSS, "t", log_y=True, names=TRUST),
            Panel("budget", "(b) after all rounds", BUDGET, LOSS, "ε", log_x=True, log_y=True, ticks=[0.5, *TICKS], bars=True, names=TRUST),
            *[Panel(one_step_panel(step), f"({letter}) ε = {SHOWN:g}, step {step:g} for all", ("round", "round"), LOSS, "t", log_y=True,
                    top=DRAWN, names=TRUST) for letter, step in zip("cd", ONE_STEP)]],
           measure_u3, caption_u3, needs=(HOUSING, EGO), sizes=HOUSING_SIZES | {"one_step": Sized("steps for all", ONE_STEP, ONE_STEP)},
           checked=lambda size: running.one_training("housing", "mafalda", settings(size, "ego") | {"epsilon": SHOWN})),
    Figure("U4", "FEMNIST", [Panel("accuracy", "FEMNIST", BUDGET, ("test_accuracy", "test accuracy"), "ε", log_x=True, bars=True)],
           measure_u4, caption_u4, needs=("--femnist", FLORENTINE, EGO), aliases=("U6",),
           sizes={"graph": Sized("graph", FLORENTINE, EGO), "rounds": Sized("rounds", 320, 320, 16),
                  "epsilons": Sized("ε", [3, 10, 30], [3, 10, 30], [10]),
                  "seeds": Sized("seeds", 3, 20, 2), "steps": Sized("steps", [0.05, 0.2], [0.05, 0.2], [0.1])},
           checked=lambda size: running.one_training("femnist", "mafalda", settings_u4(size))),
    Figure("U5", "housing on further graphs",
           [Panel(key, GRAPHS[key][0], BUDGET, LOSS, "ε", log_x=True, log_y=True, ticks=TICKS, bars=True, names=TRUST)
            for key in FURTHER],
           measure_u5, caption_u5, needs=(HOUSING, FLORENTINE, MASTODON),
           sizes=HOUSING_SIZES | {"epsilons": Sized("ε", [1, 5], [1, 2, 3, 5, 7, 10, 15], [5]),
                                  "steps": Sized("steps", STEPS[:4], STEPS, [0.02])},
           checked=lambda size: running.one_training("housing", "mafalda", settings(size, "florentine") | {"epsilon": SHOWN})),
]
