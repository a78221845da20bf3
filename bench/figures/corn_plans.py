"""[C] figure 1, and what [W] figure 1 shares with it: noise plans."""
import pathlib
import tempfile

import running
import verdicts
from figure import Caption, Claim, Figure, Panel, Readings, Sized, Told, shown
from rows import mean_row
from verdicts import HIGHER, LOWER, NOT_ABOVE, SAME

AGENTS = 20
EPSILONS = [3, 5, 7, 10, 15, 20, 25, 30, 40]
PROBABILITIES = [0.2, 0.4, 0.6, 0.8, 1.0]
SPARSE = 0.4  # the largest p of the papers' "lower connectivities"
# The papers' settings: budget, clip and rounds; then ε where p varies, and p where ε varies.
BUDGET = {"delta": 1e-5, "clip_norm": 0.1, "rounds": 5000}
EPSILON, PROBABILITY = 10, 0.5
HORIZON = 200
PLANS = {
    "ldp": {"mechanism": "ldp", "utility": "one-step"},
    "decor": {"mechanism": "decor", "utility": "one-step"},
    "corn one-step": {"mechanism": "corn", "utility": "one-step"},
    "corn horizon": {"mechanism": "corn", "utility": f"horizon:{HORIZON}"},
    "decor horizon": {"mechanism": "decor", "utility": f"horizon:{HORIZON}"},
    "pairs q=1": {"mechanism": "pairs", "coalition_size": 1, "utility": "one-step"},
    "cdp": {"mechanism": "cdp", "utility": "one-step"},
}
EXACT, CDP_EXACT = "corn one-step, exact", "cdp, exact"
# From this ε on the paper calibration spends more than its target, and sotto refuses it (docs/accounting.md).
PAPER_LIMIT = 36
# Every plan is certified within this factor of the optimum.
SOLVED = 1.01

EPSILON_TICKS = [3, 5, 10, 20, 40]
EPSILON_PANEL = ("epsilon", "privacy budget ε")
PROBABILITY_PANEL = ("p", "connectivity p")
SIZES = {"graphs": Sized("random graphs", 5, 10, 1), "epsilons": Sized("ε", EPSILONS, EPSILONS, [3, 30]),
         "probabilities": Sized("p", PROBABILITIES, PROBABILITIES, [0.2, 1.0])}


def setting_text(size):
    """The setting of figures of plans, in words."""
    return (f"{AGENTS} agents, C = {BUDGET['clip_norm']:g}, δ = {shown(BUDGET['delta'])}, T = {BUDGET['rounds']}, `sotto plan`, mean of "
            f"{size['graphs']} Erdős–Rényi graphs; calibration `paper` unless a curve says exact; plans do not depend on chance "
            f"and are compared graph by graph (brackets: the smallest and the largest value over graphs)")



def plan_options(curve, **setting):
    options = dict(PLANS[curve.removesuffix(", exact")]) | BUDGET | {"agents": AGENTS} | setting
    return options | {"calibration": "exact" if curve.endswith(", exact") else "paper"}


def graphs(size):
    return range(1, 1 + size["graphs"])


def plan_rows(size, panels, keep):
    """Rows of plans over random graphs. panels: (panel, [curves], [(x, setting)]); keep(plan) -> y."""
    cells, jobs = [], []
    for panel, curves, points in panels:
        for curve in curves:
            for x, setting in points:
                options = plan_options(curve, **setting)
                if options["calibration"] == "paper" and options["epsilon"] > PAPER_LIMIT:
                    continue
                cells.append((panel, curve, x))
                jobs += [options | {"graph_seed": seed} for seed in graphs(size)]
    values = iter(running.sotto_many("plan", jobs, keep))
    return [mean_row(panel, curve, x, {str(seed): next(values) for seed in graphs(size)}) for panel, curve, x in cells]


def by_epsilon(size):
    return [(e, {"epsilon": e, "edge_probability": PROBABILITY}) for e in size["epsilons"]]


def by_probability(size):
    return [(p, {"epsilon": EPSILON, "edge_probability": p}) for p in size["probabilities"]]


def both_panels(curves, size):
    """Panels (a) and (b). Plans of pairs take longest: (a), where only the scale differs, has two budgets of them."""
    ends = [point for point in by_epsilon(size) if point[0] in (3, 30)]
    return [("epsilon", curves, by_epsilon(size)), ("epsilon", ["pairs q=1"], ends),
            ("p", [*curves, "pairs q=1"], by_probability(size))]


def effective_claims(table):
    """Both papers: correlation becomes more effective as ε and p increase. Compares both ends of each axis: the noise itself, and what LDP
    has over it."""
    found = []
    for panel, symbol in (("epsilon", "ε"), ("p", "p")):
        cells = {"noise": [], "ratio": []}
        for curve in ("decor", "corn one-step"):
            xs = table.xs(panel, curve, "ldp")
            label = f"`{curve}` at {table.label(panel, xs[-1])} against {xs[0]:g}"
            at = lambda x: table.values(panel, curve, x)
            over = lambda x: verdicts.ratio(table.values(panel, "ldp", x), at(x))
            cells["noise"].append((label, verdicts.by_graph(at(xs[-1]), at(xs[0]), log=True)))
            cells["ratio"].append((label, verdicts.by_graph(over(xs[-1]), over(xs[0]), log=True)))
        found.append(Readings(f"as {symbol} increases, correlation becomes more effective",
                              [Claim("their noise falls", cells["noise"], (LOWER,)),
                               Claim("LDP's noise over theirs grows", cells["ratio"], (HIGHER,))]))
    return found


def gap_claim(table, panel, text):
    """The gap between DECOR and CorN is largest on sparse graphs: every p up to SPARSE against every larger p, as a ratio and as a
    difference."""
    xs = table.xs(panel, "decor", "corn one-step")
    dense = [x for x in xs if x > SPARSE]
    return Readings(f"{text} (p ≤ {SPARSE:g} against denser ones)", [
        Claim(reading, [cell for x in xs if x <= SPARSE for cell in table.gap_cells(panel, "decor", "corn one-step", x, dense, as_difference)],
              (HIGHER,)) for reading, as_difference in (("as a ratio", False), ("as a difference", True))])


# --- C1: noise left after mixing ----------------------------------------------------------------------------------------

def surviving(plan):
    """Tr(M R) at the configured budget, for the utility of the plan."""
    return plan["objective"] / plan["kappa"]


def surviving_horizon(options):
    """The noise that a plan leaves over HORIZON rounds, whatever it minimised."""
    with tempfile.TemporaryDirectory() as folder:
        plan = pathlib.Path(folder) / "plan.json"
        running.sotto_json("plan", options | {"out": plan})
        judged = {key: value for key, value in options.items() if key not in PLANS["pairs q=1"]}
        return surviving(running.sotto_json("plan", judged | {"plan": plan, "utility": f"horizon:{HORIZON}"}))


def measure_c1(size):
    main = ["ldp", "decor", "corn one-step", EXACT, "cdp", CDP_EXACT]
    by_agents = [(n, {"epsilon": EPSILON, "edge_probability": PROBABILITY, "agents": n}) for n in size["agents"]]
    few = [point for point in by_agents if point[0] <= size["pairs_agents"]]
    rows = plan_rows(size, [*both_panels(main, size), ("n", main, by_agents), ("n", ["pairs q=1"], few)], surviving)
    for curve in ["ldp", "decor", "decor horizon", "pairs q=1", "corn one-step", "corn horizon", "cdp"]:
        for p, setting in by_probability(size):
            jobs = [plan_options(curve, **setting) | {"graph_seed": seed} for seed in graphs(size)]
            found = running.parallel(surviving_horizon, jobs)
            rows.append(mean_row("late", curve, p, {str(seed): value for seed, value in zip(graphs(size), found)}))
    return rows


def caption_c1(table, size):
    below_one, at_one = (lambda x: x < 1), (lambda x: x == 1)
    everywhere = lambda first, second: [cell for panel in ("epsilon", "p", "n") for cell in table.graphs(panel, first, second)]
    return Caption(
        paper="the noise left after one mixing step, Tr(W R Wᵀ), of CorN, DECOR and LDP against ε (p = 0.5), p (ε = 10) and n (p = 0.5, "
              "ε = 10), log scale.",
        setting=f"the same, in units of the gradient squared, drawn over LDP's: {setting_text(size)}. (a) to (c) are in the table with `cdp` "
                f"too; `pairs q=1` has two budgets in (a), since only the scale differs, and at most {size['pairs_agents']} agents in (c), for "
                f"its time. (d): Tr(M R), where M sums how much of every message is left in the models over {HORIZON} rounds.",
        claims=[
            Claim("LDP has the highest variance: DECOR is nowhere above it", everywhere("decor", "ldp"), (LOWER, NOT_ABOVE)),
            Claim("LDP has the highest variance: CorN is below it", everywhere("corn one-step", "ldp"), (LOWER,)),
            *effective_claims(table),
            Claim("CorN is consistently below DECOR, against ε", table.graphs("epsilon", "corn one-step", "decor"), (LOWER,)),
            Claim("CorN is consistently below DECOR, against n", table.graphs("n", "corn one-step", "decor"), (LOWER,)),
            Claim("CorN is consistently below DECOR, against p (below 1)", table.graphs("p", "corn one-step", "decor", below_one),
                  (LOWER,)),
            Claim(f"at p = 1 CorN and DECOR are nearly the same (margin: factor {SOLVED:g})",
                  table.graphs("p", "corn one-step", "decor", at_one, margin=SOLVED), (SAME,)),
            gap_claim(table, "p", "the gap between DECOR and CorN is particularly large on sparse graphs"),
        ],
        notes=f"every curve of the `paper` calibration is 1/ε² times a number, so ε changes no ratio. These curves end below ε = "
              f"{PAPER_LIMIT}, beyond which it would spend more than it says, and sotto refuses it ([accounting](accounting.md)).",
        ours=[
            Told("graphs on which DECOR's pairs of neighbours leave as much noise as LDP", [], table.equal_graphs("p", "decor", "ldp")),
            Told(f"`{EXACT}` against `corn one-step`", table.graphs("epsilon", EXACT, "corn one-step")),
            Told("`pairs q=1`, which withstands any curious agent, against `corn one-step`, CorN with one seed, which withstands none",
                 table.graphs("p", "pairs q=1", "corn one-step")),
            Told("`pairs q=1` against `decor`, planned against outsiders only", table.graphs("p", "pairs q=1", "decor")),
            Told(f"(d), the noise of {HORIZON} rounds: `corn horizon` against `corn one-step`",
                 table.graphs("late", "corn horizon", "corn one-step")),
            Told("(d): `decor horizon` against `decor`", table.graphs("late", "decor horizon", "decor")),
        ])


SURVIVING = ("surviving_noise", "Tr(W R Wᵀ)")
OVER_LDP = {"log_y": True, "over": "ldp"}
C1 = Figure(
    "C1", "noise left after mixing, against ε, p and n",
    [Panel("epsilon", f"(a) p = {PROBABILITY:g}", EPSILON_PANEL, SURVIVING, "ε", log_x=True, ticks=EPSILON_TICKS,
           left_out=("cdp", CDP_EXACT), **OVER_LDP),
     Panel("p", f"(b) ε = {EPSILON}", PROBABILITY_PANEL, SURVIVING, "p", ticks=PROBABILITIES, left_out=("cdp", CDP_EXACT), **OVER_LDP),
     Panel("n", f"(c) p = {PROBABILITY:g}, ε = {EPSILON}", ("agents", "agents n"), SURVIVING, "n", left_out=("cdp", CDP_EXACT), **OVER_LDP),
     Panel("late", f"(d) ε = {EPSILON}, all noise of {HORIZON} rounds", PROBABILITY_PANEL,
           ("surviving_noise_200", f"Tr(M R), {HORIZON} rounds"), "p", ticks=PROBABILITIES, **OVER_LDP)],
    measure_c1, caption_c1,
    sizes=SIZES | {"agents": Sized("n", list(range(10, 101, 10)), list(range(10, 101, 5)), [10, 30]),
                   "pairs_agents": Sized("n of pairs q=1, up to", 30, 50, 10)})
FIGURES = [C1]
