"""[U] Unified guarantees by matrix factorization: figure 2, what agents learn about each other, by distance."""
import running
import verdicts
from epsilon import mu_of
from figure import Caption, Claim, Figure, Panel, Readings, Sized, Told
from rows import Row
from verdicts import HIGHER, LOWER, SAME

EGO, MASTODON, FLORENTINE = "facebook_ego_414.edges", "mastodon_servers_2020-12.edges", "florentine_families.edges"
ER = {"topology": "erdos-renyi", "agents": 100, "edge_probability": 0.2, "graph_seed": 1}
BOUND, SENSITIVITY, THEIRS, LDP = "bound (12)", "sensitivity (7)", "Muffliato's bound", "local DP"
PAIRS = "pairs q=1: Metropolis weights"
GRAPHS = {"florentine": ("Florentine families (15)", FLORENTINE), "er": ("Erdős–Rényi, p = 0.2 (100)", None),
          "ego": ("Facebook ego 414 (148)", EGO), "fediverse": ("Mastodon servers (176)", MASTODON)}
LARGE, SMALL = ("er", "ego"), ("florentine",)
OWN = "fediverse"  # in place of the paper's fourth
PAPERS = SMALL + LARGE
NEAR, FAR = 2, 3  # the paper's claims: up to this distance, from this distance on
DISTANCES = range(1, 8)
SHOWN = 10  # rounds T of the panels by distance
ROUNDS = [10, 30, 100, 380]
TENFOLD, TWO_ORDERS = 10, 10 ** 1.5  # two orders of magnitude, rounded to whole ones
SAME_FACTOR = 1.01
DELTA = 1e-30  # so small that a smallest ε tells even the smallest divergence


def graph_options(key):
    file = GRAPHS[key][1]
    return {"graph": running.data_path(file)} if file else ER


def by_distance(pairs, figure):
    """(distance, smallest, mean, largest figure) over the pairs of every distance."""
    values = {}
    for pair in pairs:
        values.setdefault(pair["distance"], []).append(figure(pair))
    return [(d, min(of), sum(of) / len(of), max(of)) for d, of in sorted(values.items())]


# Divergences of order 2 of a pair, which are squares of mu. With noise and sensitivity 1, (12) is one; like Muffliato's bound it is cut at
# LDP's.
FIGURES_OF_PAIRS = {BOUND: lambda pair: min(pair["sensitivity_squared"]["abs_sum"], pair["sensitivity_squared"]["all_messages"]),
                    SENSITIVITY: lambda pair: pair["renyi_alpha2"],
                    THEIRS: lambda pair: mu_of(pair["muffliato_bound"], DELTA) ** 2 if pair["muffliato_bound"] > 0 else 0.0}


def base(rounds):
    return {"noise_std": 1, "sensitivity": 1, "delta": DELTA, "mixing": "row-stochastic", "view": "all-nodes", "rounds": rounds,
            "threads": 1, "mechanism": "ldp"}


def over_rounds(key):
    """The panel of a graph against T, of divergences over LDP's, T."""
    return f"{key}-rounds"


def mean_at(d, curve):
    """The curve of a panel against T: the mean over pairs at a distance."""
    return f"d = {d:g}: {curve}"


def largest_at(d, curve):
    return f"d = {d:g}, largest: {curve}"


def measure(size):
    rows = []
    jobs = [(key, rounds) for key in GRAPHS for rounds in size["rounds"] if rounds <= size["longest"] or key in SMALL]
    answers = running.sotto_many("account", [base(rounds) | graph_options(key) for key, rounds in jobs], lambda answer: answer["pairs"])
    for (key, rounds), pairs in zip(jobs, answers):
        for curve, figure in FIGURES_OF_PAIRS.items():
            for d, low, mean, high in by_distance(pairs, figure):
                rows += [Row(over_rounds(key), mean_at(d, curve), rounds, mean / rounds),
                         Row(over_rounds(key), largest_at(d, curve), rounds, high / rounds)]
                if rounds == SHOWN:
                    rows.append(Row(key, curve, d, mean, low, high))
        if rounds == SHOWN:
            rows += [Row(key, LDP, d, rounds) for d, *_ in by_distance(pairs, lambda pair: rounds)]
    # Shared noise makes every view's covariance dense, which takes minutes on the larger graphs.
    pairs = running.sotto_json("account", base(SHOWN) | graph_options("florentine") | {
        "mechanism": "pairs", "seed_groups": "edges", "mixing": "metropolis"})["pairs"]
    return rows + [Row("florentine", PAIRS, d, mean, low, high)
                   for d, low, mean, high in by_distance(pairs, FIGURES_OF_PAIRS[SENSITIVITY])]


def on_graphs(keys, cells_of):
    """Cells of several graphs, labelled with the graph. cells_of(key) -> cells."""
    return [(f"{GRAPHS[key][0]}{', ' if label else ''}{label}", found) for key in keys for label, found in cells_of(key)]


def tighter(table, distances, expect):
    """Whether the paper's accounting is below Muffliato's bound at these distances: by its definition and by its bound, of means and of
    the largest over pairs."""
    means = lambda curve: on_graphs(PAPERS, lambda key: table.cells(key, curve, THEIRS, lambda d: d in distances, SAME_FACTOR))
    largest = lambda curve: on_graphs(PAPERS, lambda key: [
        (f"d = {d:g}", verdicts.verdict(*(table.values(over_rounds(key), largest_at(d, one), SHOWN) for one in (curve, THEIRS)), log=True,
                                      margin=SAME_FACTOR)) for d in table.xs(key, curve) if d in distances])
    return [Claim(f"{curve}, {what}", cells(curve), expect) for curve in (SENSITIVITY, BOUND)
            for what, cells in (("means over pairs", means), ("largest pair", largest))]


def all_rounds(table):
    """The numbers of rounds that were computed on all of the paper's graphs."""
    return [t for t in table.xs(over_rounds(PAPERS[0])) if all(t in table.xs(over_rounds(key)) for key in PAPERS)]


def value(table, key, curve, t):
    return table.values(over_rounds(key), curve, t)


def gains(table, key, t, distances, below, at=mean_at):
    """[(label, gain)] of (12) below Muffliato's bound or below LDP at the distances that a graph has."""
    found = [(d, value(table, key, at(d, BOUND), t)) for d in distances if at(d, BOUND) in table.curves(over_rounds(key))]
    return [(f"d = {d}", verdicts.ratio(value(table, key, at(d, THEIRS), t) if below == THEIRS else verdicts.exact(1), ours))
            for d, ours in found if ours.number > 0]


def extreme(which, found):
    """The least or the largest gain."""
    return [which(found, key=lambda cell: cell[1].number)] if found else []


def against(found, number):
    return [(label, verdicts.against(gain, number, log=True)) for label, gain in found]


BELOW = {THEIRS: "below Muffliato's bound", LDP: "below LDP"}
PAIRS_OF = {"means over pairs": mean_at, "largest pairs": largest_at}


def up_to_tenfold(table, t, below):
    """The largest gain of all graphs up to NEAR, which 'up to' is about."""
    found = [(f"{GRAPHS[key][0]}, {label}", gain) for key in PAPERS for label, gain in gains(table, key, t, [NEAR], below)]
    return against(extreme(max, found), TENFOLD)


def far_readings(table, keys):
    """Whether the least gain from FAR on is two orders of magnitude."""
    return [Claim(f"{of}, {text}, T = {t:g}", on_graphs(keys, lambda key: against(
        extreme(min, gains(table, key, t, DISTANCES[FAR - 1:], below, at)), TWO_ORDERS)), (HIGHER, SAME))
            for of, at in PAIRS_OF.items() for below, text in BELOW.items() for t in all_rounds(table)]


def caption(table, size):
    over_ldp = lambda t, at: on_graphs(PAPERS, lambda key: [("", verdicts.verdict(value(table, key, at(NEAR, THEIRS), t), verdicts.exact(1),
                                                                                 log=True, margin=SAME_FACTOR))])
    return Caption(
        paper="Rényi divergence (α = 2) of DP-D-SGD by graph distance: minimum, mean and maximum over pairs. Graphs: Erdős–Rényi (100, p = "
              "0.2), Facebook ego (148), PeerTube (271), Florentine families (15). T is not in the text.",
        setting=f"`sotto account --view all-nodes`, K = 1, noise and sensitivity 1, one Erdős–Rényi graph; weights 1/(degree + 1), as the "
                f"paper asks for row-stochastic ones without naming them; its Facebook graph is, by its 148 nodes, our guess. Sensitivity (7) is "
                f"the paper's Definition 7, the maximum over contributions; (12) is Theorem 8's bound for this case, of the square. Muffliato's "
                f"bound (Cyffers et al. 2022, a theorem for symmetric weights) with one gossip step per round: Σ_s Σ_k≤T-s Σ_w "
                f"(Wᵏ)_wu² / |(Wᵏ)_w|², over rounds s and neighbours w of the observer. Both bounds are cut at LDP's "
                f"divergence, T. (a) to (d): T = {SHOWN}, means over pairs with bars from the smallest to the largest pair. (e) to (h): the mean divergence at a distance divided by T, for several T; on all graphs up "
                f"to T = {size['longest']}, beyond on the smallest only, which enters no comparison.",
        claims=[
            Readings(f"from distance {NEAR} on its accounting is tighter than Muffliato's bound (T = {SHOWN}, margin: factor {SAME_FACTOR:g})",
                     tighter(table, DISTANCES[NEAR - 1:], (LOWER,))),
            Readings(f"at distance 1, where both are close to LDP, it is at least as tight (T = {SHOWN}, same margin)",
                     tighter(table, [1], (LOWER, SAME))),
            Readings(f"Muffliato's bound does not improve on LDP up to distance {NEAR}: at {NEAR} against LDP's divergence (margin: factor "
                     f"{SAME_FACTOR:g})", [Claim(f"{of}, T = {t:g}", over_ldp(t, at), (SAME,)) for of, at in PAIRS_OF.items()
                                           for t in all_rounds(table)]),
            Readings(f"at distance {NEAR} (12) gains as much as an order of magnitude: the largest gain of means, against {TENFOLD}",
                     [Claim(f"{text}, T = {t:g}", up_to_tenfold(table, t, below), (HIGHER, SAME))
                      for below, text in BELOW.items() for t in all_rounds(table)]),
            *[Readings(f"from distance {FAR} on reductions are at least two orders of magnitude, {' and '.join(GRAPHS[key][0] for key in keys)}: "
                       f"the least gain from {FAR} on, against {TWO_ORDERS:.3g}, which rounds to two orders", far_readings(table, keys))
              for keys in (LARGE, SMALL)]],
        notes="the Mastodon servers take the place of PeerTube and enter no comparison with the paper. Theorem 8 is stated for gradients "
              "chosen adaptively. For partial views, as here, the figures hold for gradients that are fixed in advance; gradients that "
              "carry on what an agent received can reveal more ([views](accounting.md#views), [findings](findings.md)).",
        ours=[Told(f"sensitivity (7) against (12), means over pairs (T = {SHOWN}, margin: factor {SAME_FACTOR:g})",
                   on_graphs(GRAPHS, lambda key: table.cells(key, SENSITIVITY, BOUND, margin=SAME_FACTOR))),
              Told(f"{GRAPHS[OWN][0]}: (12) against Muffliato's bound, means over pairs", table.cells(OWN, BOUND, THEIRS, margin=SAME_FACTOR)),
              Told("Florentine families, not drawn: `pairs q=1` (a seed per edge, planned against any one agent who sees all messages) with "
                   "Metropolis weights against independent noise with the other weights, so that not all of it is the seeds' gain, means of (7)",
                   table.cells("florentine", PAIRS, SENSITIVITY))])


def panels():
    letters = iter("abcdefgh")
    by_d = [Panel(key, f"({next(letters)}) {title}, T = {SHOWN}", ("distance", "graph distance d"), ("renyi", "Rényi divergence, α = 2"), "d",
                  log_y=True, bars=True, ticks=list(DISTANCES), left_out=(PAIRS,)) for key, (title, _) in GRAPHS.items()]
    far = tuple(mean_at(d, curve) for d in DISTANCES for curve in FIGURES_OF_PAIRS if d not in (NEAR, FAR) or curve == SENSITIVITY)
    largest = tuple(largest_at(d, curve) for d in DISTANCES for curve in FIGURES_OF_PAIRS)
    by_t = [Panel(over_rounds(key), f"({next(letters)}) {title}, over rounds", ("rounds", "rounds T"), ("renyi_over_ldp", "divergence / that of LDP"),
                  "T", log_x=True, log_y=True, ticks=ROUNDS, left_out=far + largest) for key, (title, _) in GRAPHS.items()]
    return by_d + by_t


FIGURES = [Figure("U2", "what agents learn about each other, by distance", panels(), measure, caption, needs=(FLORENTINE, EGO, MASTODON),
                  sizes={"rounds": Sized("T", ROUNDS, ROUNDS, [SHOWN]), "longest": Sized("T on all graphs, up to", 30, 100, SHOWN)})]
