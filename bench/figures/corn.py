"""[C] CorN-DSGD, and what [W] has in common with it."""
import random

import shared
from shared import Caption, Figure, Panel, at, compare, ratios, span

AGENTS = 20
EPSILONS = [3, 5, 7, 10, 15, 20, 25, 30, 40]
PROBABILITIES = [0.2, 0.4, 0.6, 0.8, 1.0]
# What the papers fix: budget, clip, rounds.
BUDGET = {"delta": 1e-5, "clip_norm": 0.1, "rounds": 5000}
PLANS = {
    "ldp": {"mechanism": "ldp", "utility": "one-step"},
    "decor": {"mechanism": "decor", "utility": "one-step"},
    "corn one-step": {"mechanism": "corn", "utility": "one-step"},
    "corn horizon": {"mechanism": "corn", "utility": "horizon:200"},
    "pairs q=1": {"mechanism": "pairs", "coalition_size": 1, "utility": "one-step"},
    "cdp": {"mechanism": "cdp", "utility": "one-step"},
}
EXACT = "corn one-step, exact"
# The paper calibration misses its target from here on (docs/accounting.md), and sotto refuses it.
PAPER_LIMIT = 36


def plan_options(curve, **setting):
    options = dict(PLANS[curve.removesuffix(", exact")]) | BUDGET | {"agents": AGENTS} | setting
    return options | {"calibration": "exact" if curve == EXACT else "paper"}


def graphs(size):
    return range(1, 1 + size.of(5, 10, 1))


def plan_rows(size, panels, keep):
    """Rows of plans over random graphs. panels: (panel, [curves], [(x, setting)]); keep(plan) -> y."""
    cells, jobs = [], []
    for panel, curves, points in panels:
        for curve in curves:
            for x, setting in points:
                options = plan_options(curve, **setting)
                if options["calibration"] == "paper" and options["epsilon"] > PAPER_LIMIT:
                    continue
                found = [options | {"graph_seed": seed} for seed in graphs(size)]
                cells.append((panel, curve, x, len(found)))
                jobs += found
    values = iter(shared.sotto_many("plan", jobs, keep))
    return [shared.mean_row(panel, curve, x, [next(values) for _ in range(count)])
            for panel, curve, x, count in cells]


def by_epsilon(size):
    return [(e, {"epsilon": e, "edge_probability": 0.5}) for e in size.of(EPSILONS, EPSILONS, [3, 30])]


def by_probability(size):
    return [(p, {"epsilon": 10, "edge_probability": p}) for p in size.of(PROBABILITIES, PROBABILITIES, [0.2, 1.0])]


def both_panels(curves, size):
    """Panels (a) and (b). Pairs take longest to solve: in (a), where nothing but the scale differs, two budgets."""
    ends = [point for point in by_epsilon(size) if point[0] in (3, 30)]
    return [("epsilon", curves, by_epsilon(size)), ("epsilon", ["pairs q=1"], ends),
            ("p", [*curves, "pairs q=1"], by_probability(size))]


EPSILON_TICKS = [3, 5, 10, 20, 40]
EPSILON_PANEL = ("epsilon", "privacy budget ε")
PROBABILITY_PANEL = ("p", "connectivity p")


# --- C1: noise that survives mixing ------------------------------------------------------------------------------------

def surviving(plan):
    """Tr(M R) at the configured budget, for the utility that was asked for."""
    return plan["objective"] / plan["kappa"]


def surviving_200(options):
    """The noise of 200 rounds that a plan leaves, whatever the plan minimised."""
    with shared.tempfile.TemporaryDirectory() as folder:
        plan = folder + "/plan.json"
        shared.sotto_json("plan", options | {"out": plan})
        judged = {key: value for key, value in options.items() if key not in PLANS["pairs q=1"]}
        return surviving(shared.sotto_json("plan", judged | {"plan": plan, "utility": "horizon:200"}))


def measure_c1(size):
    main = ["ldp", "decor", "corn one-step", EXACT, "cdp"]
    agents = size.of([10, 20, 30, 40, 50, 60, 70, 80, 90, 100], list(range(10, 101, 5)), [10, 30])
    by_agents = [(n, {"epsilon": 10, "edge_probability": 0.5, "agents": n}) for n in agents]
    few = [point for point in by_agents if point[0] <= size.of(30, 50, 10)]
    rows = plan_rows(size, [*both_panels(main, size), ("n", main, by_agents), ("n", ["pairs q=1"], few)], surviving)
    late = ["ldp", "decor", "pairs q=1", "corn one-step", "corn horizon", "cdp"]
    for curve in late:
        for p, setting in by_probability(size):
            jobs = [plan_options(curve, **setting) | {"graph_seed": seed} for seed in graphs(size)]
            with shared.concurrent.futures.ThreadPoolExecutor(max_workers=shared.CORES) as pool:
                rows.append(shared.mean_row("late", curve, p, list(pool.map(surviving_200, jobs))))
    return rows


def caption_c1(rows, size):
    e, p = at(rows, "epsilon", "corn one-step"), ratios(rows, "p", "decor", "corn one-step")
    first, last = min(p), max(p)
    away = {x: at(rows, "p", "decor", x) - at(rows, "p", "corn one-step", x) for x in sorted(p)}
    late = ratios(rows, "late", "corn one-step", "corn horizon")
    exact = ratios(rows, "epsilon", "corn one-step", EXACT)
    n_ratio = ratios(rows, "n", "ldp", "corn one-step")
    pairs = ratios(rows, "p", "pairs q=1", "corn one-step")
    against_pairs = ratios(rows, "p", "decor", "pairs q=1")
    ldp = ratios(rows, "epsilon", "ldp", "corn one-step")
    slope = e[min(e)] / e[max(e)] / (max(e) / min(e)) ** 2
    return Caption(
        paper="Tr(W R Wᵀ), the noise left after one mixing step, of CorN, DECOR and LDP against ε (p = 0.5), p (ε = 10) and "
              "n (p = 0.5, ε = 10), log scale. LDP leaves most; CorN is below DECOR everywhere, by most on sparse graphs; n goes to "
              "100. The text has no numbers.",
        setting=f"the same quantity, in units of the gradient squared: {AGENTS} agents, C = 0.1, δ = 1e-5, T = 5000, Metropolis "
                f"weights, mean of {len(graphs(size))} Erdős–Rényi graphs, `sotto plan`; calibration `paper` unless a curve says exact.",
        claims=[
            ("LDP leaves most and CorN least of the papers' three in every cell of (a), (b), (c) (to 1%: at p = 1 DECOR is as good)",
             all(compare(rows, k, "corn one-step", "decor", 0.01) and compare(rows, k, "decor", "ldp") for k in ("epsilon", "p", "n"))),
            (f"CorN's distance to DECOR grows as graphs get sparser: from {abs(away[last]):.0f} at p = {last:g} to {away[first]:.0f} at p = {first:g}",
             list(away.values()) == sorted(away.values(), reverse=True) and abs(away[last]) < 0.01 * away[first]),
            (f"plans are found for up to {max(n_ratio):g} agents", max(n_ratio) >= size.of(100, 100, 30)),
        ],
        differs=f"LDP leaves {span(ldp.values())} times CorN's noise in (a): a constant, since all curves there are 1/ε² times a "
                "number (checked: the "
                f"ratio of CorN's ends is {slope:.4f} of that), so ε cannot make correlation “more effective”, as the text has it. With "
                f"the `paper` calibration curves end below ε = {PAPER_LIMIT}: sotto refuses it beyond, where it would spend more than "
                "it says (at ε = 40 really 41.8). As a ratio CorN's gain over DECOR is "
                + ", ".join(f"{p[x]:.2f} at p = {x:g}" for x in sorted(p)) + ".",
        extra=f"Exact calibration spends the same ε with {span(exact.values())} times less noise. `pairs q=1`, which withstands any "
              f"curious agent, leaves {span(pairs.values())} times CorN's noise; DECOR, made against outsiders only, leaves "
              + ", ".join(f"{ratio:.2f} times that of pairs at p = {x:g}" for x, ratio in sorted(against_pairs.items())) + ". "
              f"(d): what counts in training is the noise of many rounds together. Over 200 rounds the one-step objective leaves "
              f"{span(late.values(), '{:.1f}')} times as much as a plan made for them (`horizon:200`); on sparse graphs most.")


C1 = Figure(
    "C1", "noise that survives mixing, against ε, p and n",
    [Panel("epsilon", "(a) p = 0.5", EPSILON_PANEL, ("surviving_noise", "Tr(W R Wᵀ)"), log_x=True, log_y=True, ticks=EPSILON_TICKS),
     Panel("p", "(b) ε = 10", PROBABILITY_PANEL, ("surviving_noise", "Tr(W R Wᵀ)"), log_y=True, ticks=PROBABILITIES),
     Panel("n", "(c) p = 0.5, ε = 10", ("agents", "agents n"), ("surviving_noise", "Tr(W R Wᵀ)"), log_y=True),
     Panel("late", "(d) ε = 10, all noise of 200 rounds", PROBABILITY_PANEL,
           ("surviving_noise_200", "Tr(M R), 200 rounds"), log_y=True, ticks=PROBABILITIES)],
    measure_c1, caption_c1)


# --- C2: independent seeds ---------------------------------------------------------------------------------------------

def blocks(m):
    return [list(range(i * AGENTS // m, (i + 1) * AGENTS // m)) for i in range(m)]


def windows(length):
    return lambda m: [[(i * AGENTS // m + j) % AGENTS for j in range(length)] for i in range(m)]


def random_groups(length):
    return lambda m: [sorted(random.Random(f"{length} {i}").sample(range(AGENTS), length)) for i in range(m)]


# Who holds seed i of m.
DESIGNS = {"disjoint blocks": blocks, "windows of 10": windows(10), "windows of 5": windows(5),
           "random fives": random_groups(5)}
COALITIONS = [0, 1, 2]


EVERY_PAIR, LDP = "a seed for every pair (190)", "no shared seed (ldp)"


def left_over(job):
    """Noise left by the best plan for these seed groups, of what LDP leaves; a seed of one agent is private noise."""
    groups, options = job
    groups = [group for group in groups if len(group) > 1]
    if not groups:
        return 1.0
    with shared.group_file(groups) as path:
        plan = shared.sotto_json("plan", options | {"seed_groups": path})
    return plan["objective"] / plan["ldp_objective"]


def measure_c2(size):
    options = BUDGET | {"agents": AGENTS, "epsilon": 10, "edge_probability": 0.5, "calibration": "paper",
                        "utility": "one-step", "mechanism": "corn-hbc"}
    seeds = range(1, 1 + size.of(3, 10, 1))
    counts = size.of([1, 2, 4, 5, 7, 10, 15, 20], list(range(1, AGENTS + 1)), [1, 4])
    coalitions = size.of(COALITIONS, COALITIONS, [0, 1])
    every_pair = [[u, v] for u in range(AGENTS) for v in range(u)]
    cells = [(f"q{q}", name, m, [(design(m), options | {"coalition_size": q, "graph_seed": seed}) for seed in seeds])
             for q in coalitions for name, design in DESIGNS.items() for m in counts]
    cells += [(f"q{q}", EVERY_PAIR, counts[-1], [(every_pair, options | {
        "mechanism": "pairs", "coalition_size": q, "graph_seed": seed}) for seed in seeds]) for q in coalitions]
    with shared.concurrent.futures.ThreadPoolExecutor(max_workers=shared.CORES) as pool:
        values = iter(list(pool.map(left_over, [job for cell in cells for job in cell[3]])))
    rows = []
    for panel, curve, m, jobs in cells:
        row = shared.mean_row(panel, curve, m, [next(values) for _ in jobs])
        rows.append(row)
        if curve == EVERY_PAIR:  # does not depend on m: a line
            rows.append(shared.dataclasses.replace(row, x=counts[0]))
    return rows + [shared.Row(f"q{q}", LDP, m, 1.0) for q in coalitions for m in (counts[0], counts[-1])]


def caption_c2(rows, size):
    disjoint = at(rows, "q0", "disjoint blocks")
    flat = max(abs(y - 1) for y in at(rows, "q1", "disjoint blocks").values())
    growing = list(disjoint.values())
    last = max(disjoint)
    pair = {q: at(rows, f"q{q}", EVERY_PAIR, last) for q in (0, 1, 2) if at(rows, f"q{q}", EVERY_PAIR)}
    overlapping = ", ".join(f"{at(rows, 'q1', name, last):.2f} ({name})" for name in DESIGNS if name != "disjoint blocks")
    claims = [
        (f"with disjoint groups and q = 0, the more seeds, the more noise is left, from CorN's at m = 1 ({disjoint[1]:.2f} of LDP's) "
         f"to {disjoint[last]:.2f} at m = {last:g}", growing == sorted(growing) and disjoint[last] <= 1 + 1e-6)]
    return Caption(
        paper="Tr(W R Wᵀ) against the number m of independent seeds, disjoint groups of agents; m = 1 is CorN, m = n is LDP. The "
              "text gives no numbers, and says neither who is in a group nor which q was used.",
        setting=f"the same, divided by LDP's on the same graph; {AGENTS} agents, p = 0.5, one-step objective, mean of "
                f"{size.of(3, 10, 1)} graphs; `sotto plan --mechanism corn-hbc --seed-groups FILE --coalition-size q`. Who holds the seeds: "
                "m blocks of consecutive agents; m cyclic windows of 10 or of 5 agents; m random sets of five.",
        claims=claims,
        differs="the paper gives all agents one private variance, here each has its own, which leaves no more noise. Dividing by LDP's "
                "takes away what ε, T and C do, which is one factor for all curves.",
        extra=f"Against one curious agent (q = 1) disjoint groups are worth nothing: whoever shares your seed removes its "
              f"noise, and the optimum is LDP's at every m (within {flat:.0e}). Overlapping groups help once no agent holds every "
              f"seed that another one holds; at m = {last:g} they leave {overlapping}. A seed for every pair of agents leaves "
              + ", ".join(f"{value:.2f} at q = {q}" for q, value in pair.items()) + ".")


C2 = Figure(
    "C2", "noise that survives, against the number of seeds and who holds them",
    [Panel(f"q{q}", f"({'abc'[q]}) against {['outsiders (q = 0)', 'any one agent (q = 1)', 'any two (q = 2)'][q]}",
           ("seeds", "independent seeds m"), ("surviving_noise_of_ldp", "Tr(W R Wᵀ), of LDP's"), ticks=[1, 5, 10, 15, 20]) for q in COALITIONS],
    measure_c2, caption_c2)

# --- C3, C4, C5: trainings ---------------------------------------------------------------------------------------------

ORDER = ["ldp", "decor", "corn one-step", "pairs q=1", "corn horizon", "cdp", "none"]


def budget_and_connectivity(name, size, metric, row=None, tiny=None, full=None, probabilities=(0.2, 0.8, 1.0), settings=None):
    """Panels (a) and (b) of a sweep: the file's budgets at p = 0.5; the probabilities at epsilon = 10."""
    settings = settings or {}
    runs = shared.trainings(name, size, tiny=tiny, full=full, settings=settings)
    spread = size.of(probabilities, [p for p in PROBABILITIES], probabilities[:1])
    connected = shared.trainings(name, size, tiny=tiny, full=full,
                                 settings=settings | {"epsilon": "10", "edge-probability": " ".join(map(str, spread))})
    key = "edge_probability" if len(spread) > 1 else spread[0]
    rows = shared.training_rows("epsilon", runs, "epsilon", metric, row)
    rows += shared.training_rows("p", connected, key, metric, row)
    rows += [shared.dataclasses.replace(r, panel="p", x=0.5) for r in rows if r.panel == "epsilon" and r.x == 10]
    return sorted(rows, key=lambda r: (r.panel, ORDER.index(r.curve), r.x))


def data(train, test):
    return {"data": shared.data_path(train), "test-data": shared.data_path(test)}


def measure_c3(size):
    tiny = {"epsilon": "10 40", "seed": "1 2 3", "rounds": "200"}
    full = {"epsilon": " ".join(map(str, EPSILONS)), "seed": " ".join(map(str, range(1, 21)))}

    def gap(panel, curve, x, values):
        if min(values) <= 0:  # agents may end below the network's optimum, each on its own function
            return shared.mean_row(panel, curve, x, values)
        return shared.geometric_row(panel, curve, x, values)

    rows = budget_and_connectivity("quadratic", size, "optimality_gap_agents", gap, tiny=tiny, full=full)
    clipped = shared.trainings("quadratic", size, tiny=tiny, full=full, settings={"clip-norm": "0.1", "epsilon": "3 40", "seed": "1 2 3"})
    printed = shared.training_rows("printed", clipped, "epsilon", "optimality_gap_agents")
    return [r for r in rows if r.curve != "none"] + sorted(printed, key=lambda r: (ORDER.index(r.curve), r.x))


def overlap(rows, panel, first, second, x):
    """Whether the intervals of two curves overlap."""
    a, b = shared.row_at(rows, panel, first, x), shared.row_at(rows, panel, second, x)
    return a.low <= b.high and b.low <= a.high


def caption_c3(rows, size):
    one, horizon = ratios(rows, "epsilon", "ldp", "corn one-step"), ratios(rows, "epsilon", "ldp", "corn horizon")
    decor = ratios(rows, "epsilon", "ldp", "decor")
    by_p = ratios(rows, "p", "decor", "corn one-step")
    over_horizon = ratios(rows, "p", "decor", "corn horizon")
    pairs = ratios(rows, "epsilon", "pairs q=1", "corn horizon")
    printed = [r.y for r in rows if r.panel == "printed"]
    quiet = [r.y for r in rows if r.panel == "printed" and r.curve == "none"]
    top = max(by_p)
    return Caption(
        paper="the optimality gap (1/n) Σ f_i(x_i) - f* of eq. 11 against ε (p = 0.5) and p (ε = 10), mean of 10 seeds. DECOR and CorN are "
              "far below LDP, “by up to an order of magnitude” in [W]; CorN is below DECOR at every p, by most at p ≤ 0.4, and the "
              "same at p = 1.",
        setting=f"(a), (b): {AGENTS} agents, T = 5000, steps 0.01/√t, exact calibration, clip 600, which no gradient near the start "
                f"exceeds; geometric mean and its interval over {size.of(6, 20, 3)} seeds of graph and noise. (c): the same with the clip "
                "as printed, C = 0.1 (arithmetic mean, three seeds). Sweep file: `bench/figures/quadratic.ini`.",
        claims=[
            (f"DECOR, CorN are below LDP at every ε: by {span(decor.values(), '{:.1f}')} and {span(one.values(), '{:.1f}')} times",
             min(decor.values()) > 1 and min(one.values()) > 1),
            ("CorN (`corn one-step`) is below DECOR at every p below 1 by "
             + ", ".join(f"{r:.1f} times at p = {x:g}" for x, r in by_p.items() if x < 1), all(r > 1 for x, r in by_p.items() if x < 1)),
            (f"at p = {top:g} intervals of both overlap ({by_p[top]:.1f} times)",
             overlap(rows, "p", "decor", "corn one-step", top)),
        ],
        differs="as printed the experiment cannot show anything: gradients of eq. 11 are up to 600 long, and clipped to 0.1 half of the agents pull "
                f"one way and half the other, so with or without noise the gap stays at {span(quiet, '{:.0f}')} ({span(printed, '{:.0f}')} over "
                "mechanisms and budgets in (c); differences are noise). So (a) and (b) do not clip near the start, and pay for it: the noise "
                "belongs to a clip of 600, and losses are those of a private run.",
        extra=f"`corn horizon` is {span(horizon.values(), '{:.1f}')} times below LDP, and "
              + ", ".join(f"{r:.1f} times below DECOR at p = {x:g}" for x, r in over_horizon.items() if x in (0.2, 0.5))
              + f". `pairs q=1`, safe against any curious agent, has {span(pairs.values(), '{:.1f}')} times its gap.")


GAP = ("optimality_gap", "optimality gap, mean over agents")
C3 = Figure(
    "C3", "quadratic functions: optimality gap against ε and p",
    [Panel("epsilon", "(a) p = 0.5, clip 600", EPSILON_PANEL, GAP, log_x=True, log_y=True, ticks=EPSILON_TICKS),
     Panel("p", "(b) ε = 10, clip 600", PROBABILITY_PANEL, GAP, log_y=True, ticks=PROBABILITIES),
     Panel("printed", "(c) p = 0.5, clip 0.1 as printed", EPSILON_PANEL, GAP, log_x=True, ticks=EPSILON_TICKS)],
    measure_c3, caption_c3, aliases=("W2",))


def measure_c4(size):
    return budget_and_connectivity(
        "logistic", size, "test_loss", tiny={"epsilon": "10 40", "rounds": "50", "seed": "1 2", "step-size": "0.05"},
        full={"epsilon": " ".join(map(str, EPSILONS)), "rounds": "5000", "step-size": "0.1 0.05 0.01 0.005 0.001",
              "seed": " ".join(map(str, range(1, 11))), "validation-seeds": "101 102 103"},
        probabilities=(0.2, 0.4, 0.8, 1.0), settings=data("a9a.gz", "a9a.t.gz"))


def order_of(rows, panel, curves, x):
    return ", ".join(f"{curve} {at(rows, panel, curve, x):.3f}" for curve in curves)


def gap_closed(rows, panel, x, curve):
    """How much of the distance between ldp and cdp a curve closes."""
    ldp, cdp = at(rows, panel, "ldp", x), at(rows, panel, "cdp", x)
    return (ldp - at(rows, panel, curve, x)) / (ldp - cdp)


def trained_claims(rows, sign, form):
    """What [C] says of its figures 3 to 5. sign: 1 where less is better, -1 where more is."""
    better = lambda panel, a, b, x: sign * at(rows, panel, a, x) < sign * at(rows, panel, b, x)
    xs, ps = sorted(at(rows, "epsilon", "ldp")), sorted(at(rows, "p", "ldp"))
    text = lambda panel, curve, x: form.format(at(rows, panel, curve, x))
    margin = {x: sign * (at(rows, "p", "decor", x) - at(rows, "p", "corn one-step", x)) for x in ps}
    claims = [
        ("DECOR is better than LDP at every ε (at ε = 10: " + f"{text('epsilon', 'decor', 10)} and {text('epsilon', 'ldp', 10)})",
         all(better("epsilon", "decor", "ldp", x) for x in xs)),
        (f"CorN as published (`corn one-step`) is better than LDP at every ε (at ε = 10: {text('epsilon', 'corn one-step', 10)})",
         all(better("epsilon", "corn one-step", "ldp", x) for x in xs)),
        ("CorN as published is better than DECOR at every p below 1 ("
         + ", ".join(f"{text('p', 'corn one-step', x)} and {text('p', 'decor', x)} at p = {x:g}" for x in ps if x < 1) + ")",
         all(margin[x] > 0 for x in ps if x < 1))]
    if ps[-1] == 1:
        claims.append((f"at p = 1 they are nearly the same ({text('p', 'corn one-step', 1)} and {text('p', 'decor', 1)})",
                       abs(margin[1]) < 0.1 * abs(at(rows, "p", "ldp", 1) - at(rows, "p", "cdp", 1))))
    return claims


def trained_extra(rows, sign, form):
    """What our curves add: the horizon, seeds of pairs, the trusted aggregator."""
    ps = sorted(at(rows, "p", "ldp"))
    text = lambda curve, x: form.format(at(rows, "p", curve, x))
    horizon = all(sign * at(rows, "p", "corn horizon", x) <= sign * at(rows, "p", "decor", x) for x in ps if x < 1)
    return ("At ε = 10: " + "; ".join(
        f"p = {x:g}: corn horizon {text('corn horizon', x)}, pairs q=1 {text('pairs q=1', x)}, decor {text('decor', x)}, cdp {text('cdp', x)}"
        for x in ps) + ". " + ("The plan for 200 rounds is at least as good as DECOR at every p below 1. " if horizon else
                               "The plan for 200 rounds is not better than DECOR at every p. ")
        + f"Of the distance from LDP to the trusted aggregator at p = {ps[0]:g} it closes {100 * gap_closed(rows, 'p', ps[0], 'corn horizon'):.0f}%, "
          f"the published plan {100 * gap_closed(rows, 'p', ps[0], 'corn one-step'):.0f}%, DECOR {100 * gap_closed(rows, 'p', ps[0], 'decor'):.0f}%, "
          f"and pairs, which keep any one curious agent out as well, {100 * gap_closed(rows, 'p', ps[0], 'pairs q=1'):.0f}%.")


def caption_c4(rows, size):
    none = at(rows, "epsilon", "none", 10)
    return Caption(
        paper="test loss of regularised logistic regression on a9a against ε (p = 0.5) and p (ε = 10), T = 5000, mean of 10 seeds. DECOR and CorN "
              "are below LDP at every ε ([W]: by up to an order of magnitude), CorN below DECOR at every p, by most at p ≤ 0.4, nearly the same at p = 1. "
              "No numbers in the text.",
        setting=f"{AGENTS} agents, batches of 128, C = 0.1, δ = 1e-5, exact calibration, T = {size.of(1000, 5000, 50)}, Dirichlet(10) shards, mean of "
                f"{size.of(3, 10, 2)} seeds, step size chosen for every cell on a fifth of the training data; loss of the agents' own "
                "models on a9a.t. Sweep file: `bench/figures/logistic.ini`.",
        claims=trained_claims(rows, 1, "{:.3f}"),
        differs=f"not regularised (the paper does not say how strongly), and tested on a9a.t instead of a fifth of a9a. Without noise the "
                f"loss is {none:.3f}, so no curve can be an order of magnitude below LDP's {at(rows, 'epsilon', 'ldp', min(at(rows, 'epsilon', 'ldp'))):.2f}. "
                "Exact calibration needs less noise for the same ε than the paper's (C1); bench/results/loss.md has what that is worth in loss.",
        extra=trained_extra(rows, 1, "{:.3f}"))


LOSS = ("test_loss", "test loss")
C4 = Figure(
    "C4", "logistic regression on a9a: test loss against ε and p",
    [Panel("epsilon", "(a) p = 0.5", EPSILON_PANEL, LOSS, log_x=True, ticks=EPSILON_TICKS),
     Panel("p", "(b) ε = 10", PROBABILITY_PANEL, LOSS, ticks=PROBABILITIES)],
    measure_c4, caption_c4, needs=("a9a.gz", "a9a.t.gz"), aliases=("W3",))


def measure_c5(size):
    return budget_and_connectivity(
        "image", size, "test_accuracy", tiny={"epsilon": "10 40", "rounds": "5", "seed": "1 2", "step-size": "0.2", "hidden": "4"},
        full={"epsilon": " ".join(map(str, EPSILONS)), "rounds": "5000", "step-size": "0.1 0.05 0.01 0.005 0.001", "hidden": "128",
              "seed": " ".join(map(str, range(1, 11)))},
        probabilities=(0.2, 1.0), settings=data("train-images-idx3-ubyte.gz", "t10k-images-idx3-ubyte.gz"))


def caption_c5(rows, size):
    return Caption(
        paper="test accuracy of a shallow neural network on MNIST against ε (p = 0.5) and p (ε = 10), otherwise as C4. Order and trends as there. "
              "No numbers in the text, nor the size of the network.",
        setting=f"{AGENTS} agents, one hidden layer of {size.of(32, 128, 4)} units with ReLU, batches of 128, C = 0.1, δ = 1e-5, exact calibration, adjacency "
                f"agent, T = {size.of(100, 5000, 5)}, Dirichlet(10) shards of the 60 000 training images, mean of {size.of(3, 10, 2)} seeds, step size "
                "chosen for every cell on held-out training images; accuracy of the agents' own models on the 10 000 test images. Sweep file: "
                "`bench/figures/image.ini`.",
        claims=trained_claims(rows, -1, "{:.2f}"),
        differs=f"{size.of(100, 5000, 5)} rounds: with a clip that always binds, signal and noise both grow in proportion to T at a "
                "fixed ε; longer runs were not measured. Another split (MNIST's own). " + ("The network is smaller than `--full`'s 128 units; noise grows with the "
                "number of parameters." if size.name != "full" else ""),
        extra=trained_extra(rows, -1, "{:.2f}"))


ACCURACY = ("test_accuracy", "test accuracy")
C5 = Figure(
    "C5", "image classification on MNIST: test accuracy against ε and p",
    [Panel("epsilon", "(a) p = 0.5", EPSILON_PANEL, ACCURACY, log_x=True, ticks=EPSILON_TICKS),
     Panel("p", "(b) ε = 10", PROBABILITY_PANEL, ACCURACY, ticks=PROBABILITIES)],
    measure_c5, caption_c5,
    needs=("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"))


# --- A9A: privacy and utility at one glance ----------------------------------------------------------------------------

def measure_a9a(size):
    runs = shared.trainings("a9a", size, settings=data("a9a.gz", "a9a.t.gz"),
                            tiny={"epsilon": "1 10", "rounds": "50", "seed": "1 2", "step-size": "0.05"},
                            full={"rounds": "5000", "seed": " ".join(map(str, range(1, 11))), "validation-seeds": "101 102 103"})
    return sorted(shared.training_rows("loss", runs, "epsilon", "test_loss"), key=lambda r: (ORDER.index(r.curve), r.x))


def caption_a9a(rows, size):
    budgets = sorted(at(rows, "loss", "ldp"))
    saved = [(x, next((y for y in budgets if at(rows, "loss", "pairs q=1", y) <= at(rows, "loss", "ldp", x)), None)) for x in budgets]
    cheap = [(x, y) for x, y in saved if y is not None and y < x]
    example = f"With ldp it takes ε = {cheap[-1][0]:g} to have the loss of pairs at ε = {cheap[-1][1]:g}. " if cheap else ""
    ordered = [c for c in ("cdp", "corn horizon", "pairs q=1", "decor", "ldp")]
    return Caption(
        paper="",
        setting=f"the question of C4 for more budgets, with sotto's defaults: {AGENTS} agents, Erdős–Rényi p = 0.5, T = {size.of(1000, 5000, 50)}, batches of 128, C = 0.1, δ = 1e-5, exact calibration, every plan made "
                f"for 200 rounds (`horizon:200`, also decor), mean of {size.of(3, 10, 2)} seeds, step size chosen for every cell on a fifth of the training "
                "data; loss of the agents' own models on a9a.t. Sweep file: `bench/figures/a9a.ini`.",
        claims=[("from least to most loss the order is cdp, corn, pairs, decor, ldp at every ε of 2 and more, to 0.01",
                 all(at(rows, "loss", a, x) <= at(rows, "loss", b, x) + 0.01 for a, b in zip(ordered, ordered[1:]) for x in budgets if x >= 2))],
        extra=example + "At ε = 10: " + order_of(rows, "loss", ordered, 10) + ".")


A9A = Figure("A9A", "a9a: test loss against ε, five mechanisms",
             [Panel("loss", "a9a, p = 0.5", EPSILON_PANEL, LOSS, log_x=True, ticks=[1, 2, 3, 5, 7, 10, 15, 20])],
             measure_a9a, caption_a9a, needs=("a9a.gz", "a9a.t.gz"))

FIGURES = [C1, C2, C3, C4, C5, A9A]
