"""[C] figure 2: the number of independent seeds, and who holds them."""
import random

import running
from corn_plans import AGENTS, BUDGET, EPSILON, PROBABILITY
from figure import Caption, Claim, Figure, Panel, Sized, Told
from rows import Row, mean_row
from verdicts import SAME, verdict

COALITIONS = [0, 1, 2]
EVERY_PAIR, LDP = "a seed for every pair (190)", "no shared seed (ldp)"
# Plans are certified within one per cent of the optimum.
SOLVED = 0.01


def blocks(m):
    return [list(range(i * AGENTS // m, (i + 1) * AGENTS // m)) for i in range(m)]


def windows(length):
    return lambda m: [[(i * AGENTS // m + j) % AGENTS for j in range(length)] for i in range(m)]


def random_groups(length):
    return lambda m: [sorted(random.Random(f"{length} {i}").sample(range(AGENTS), length)) for i in range(m)]


# Who holds seed i of m, by name.
DESIGNS = {"disjoint blocks": blocks, "windows of 10": windows(10), "windows of 5": windows(5), "random fives": random_groups(5)}


def left_over(job):
    """Noise left by the best plan for these seed groups, as a part of LDP's. A seed that one agent holds is private noise."""
    groups, options = job
    groups = [group for group in groups if len(group) > 1]
    if not groups:
        return 1.0
    with running.group_file(groups) as path:
        plan = running.sotto_json("plan", options | {"seed_groups": path})
    return plan["objective"] / plan["ldp_objective"]


def measure(size):
    options = BUDGET | {"agents": AGENTS, "epsilon": EPSILON, "edge_probability": PROBABILITY, "calibration": "paper",
                        "utility": "one-step", "mechanism": "corn-hbc"}
    seeds, counts = range(1, 1 + size["graphs"]), size["counts"]
    every_pair = [[u, v] for u in range(AGENTS) for v in range(u)]
    cells = [(f"q{q}", name, m, [(design(m), options | {"coalition_size": q, "graph_seed": seed}) for seed in seeds])
             for q in size["coalitions"] for name, design in DESIGNS.items() for m in counts]
    cells += [(f"q{q}", EVERY_PAIR, m, [(every_pair, options | {"mechanism": "pairs", "coalition_size": q, "graph_seed": seed})
                                        for seed in seeds]) for q in size["coalitions"] for m in counts[:1]]
    values = iter(running.parallel(left_over, [job for cell in cells for job in cell[3]]))
    rows = []
    for panel, curve, m, _ in cells:
        row = mean_row(panel, curve, m, {str(seed): next(values) for seed in seeds})
        # One seed per pair does not depend on m: a line.
        rows += [Row(panel, curve, x, row.y, row.low, row.high, row.seeds) for x in ([m] if curve != EVERY_PAIR else counts)]
    return rows + [Row(f"q{q}", LDP, m, 1.0) for q in size["coalitions"] for m in counts]


def caption(table, size):
    counts = table.xs("q0", "disjoint blocks")
    first, last = counts[0], counts[-1]
    steps = [(f"m = {b:g} against {a:g}", verdict(table.values("q0", "disjoint blocks", b), table.values("q0", "disjoint blocks", a),
                                                  margin=SOLVED))
             for a, b in zip(counts, counts[1:])]
    overlapping = [name for name in DESIGNS if name != "disjoint blocks"]
    at_last = lambda panel, name: [(f"{name}, q = {panel[1:]}, m = {last:g}", table.compare(panel, name, LDP, last, SOLVED))]
    panels = [f"q{q}" for q in COALITIONS if table.curves(f"q{q}")]
    return Caption(
        paper="Tr(W R Wᵀ) against the number m of independent seeds, for disjoint groups of agents; m = 1 with q = 0 is CorN, m = n with "
              "q = n - 1 is LDP. The text gives no q; it says disjoint and prints ∩ₖ Hₖ = ∅, "
              "which overlapping groups also satisfy.",
        setting=f"the same over LDP's on the same graph; {AGENTS} agents, p = {PROBABILITY:g}, one-step objective, mean of "
                f"{size['graphs']} graphs; `sotto plan --mechanism corn-hbc --seed-groups FILE --coalition-size q`. Seeds belong to m "
                f"blocks of consecutive agents, m cyclic windows of 10 or 5 agents, or m random sets of five. Margin: {SOLVED:g}, to which "
                f"plans are certified.",
        claims=[Claim("m = n is LDP (each agent alone holds its seed, so q does not matter)",
                      at_last("q0", "disjoint blocks") if last == AGENTS else [], (SAME,))],
        notes="the variance of the independent noise may differ between agents, which leaves no more noise than the paper's common one. "
              "Dividing by LDP's noise removes the effect of ε, T and C. The curve of windows of 10 goes up and down with the parity of m; for "
              "even m they are pairs of complements. The paper's special case, DECOR with a seed per edge and q "
              "≥ 1, is not drawn; C1's DECOR is planned against outsiders (q = 0).",
        ours=[
            Told("disjoint groups, q = 0, from each m to the next", steps),
            Told(f"one seed for all (m = {first:g}) less LDP, q = 0", [("", table.compare("q0", "disjoint blocks", LDP, first))]),
            Told("against one curious agent (q = 1) disjoint groups leave as much noise as LDP: noise left, less LDP's",
                 table.cells("q1", "disjoint blocks", LDP, margin=SOLVED)),
            Told("overlapping groups help if no agent holds every seed of another: noise left, less LDP's",
                 [cell for panel in panels if panel != "q0" for name in overlapping for cell in at_last(panel, name)]),
            Told("a seed for every pair: noise left, less LDP's",
                 [(f"q = {panel[1:]}", table.compare(panel, EVERY_PAIR, LDP, last, SOLVED)) for panel in panels]),
        ])


AGAINST = ["outsiders (q = 0)", "any one agent (q = 1)", "any two (q = 2)"]
COUNTS = [1, 2, 4, 5, 7, 10, 15, 20]
FIGURES = [Figure(
    "C2", "noise left, against the number of seeds and who holds them",
    [Panel(f"q{q}", f"({'abc'[q]}) against {AGAINST[q]}", ("seeds", "independent seeds m"),
           ("surviving_noise_of_ldp", "Tr(W R Wᵀ), of LDP's"),
           "m", ticks=[1, 5, 10, 15, 20]) for q in COALITIONS],
    measure, caption,
    sizes={"graphs": Sized("random graphs", 3, 10, 1), "counts": Sized("m", COUNTS, list(range(1, AGENTS + 1)), [1, 4]),
           "coalitions": Sized("q", COALITIONS, COALITIONS, [0, 1])})]
