"""[U] Unified guarantees by matrix factorization, MAFALDA-SGD."""
import pathlib

import shared
from shared import Caption, Figure, Panel, Row, at, span

EGO, MASTODON, FLORENTINE = "facebook_ego_414.edges", "mastodon_servers_2020-12.edges", "florentine_families.edges"
HOUSING = "cal_housing.data.gz"
ER = {"topology": "erdos-renyi", "agents": 100, "edge_probability": 0.2, "graph_seed": 1}
PAPER, OURS, THEIRS, LDP = "the paper's formula", "exact accounting", "Muffliato's bound", "local DP"
GRAPHS = {"florentine": ("Florentine families (15)", FLORENTINE), "er": ("Erdős–Rényi, p = 0.2 (100)", None),
          "ego": ("Facebook ego 414 (148)", EGO), "fediverse": ("Mastodon servers (176)", MASTODON)}


def graph_options(key):
    file = GRAPHS[key][1]
    return {"graph": shared.data_path(file)} if file else ER


# --- U2: what is learnt at which distance ----------------------------------------------------------------------------

def by_distance(pairs, figure):
    """(distance, smallest, mean, largest figure) over the pairs of every distance."""
    values = {}
    for pair in pairs:
        values.setdefault(pair["distance"], []).append(figure(pair))
    return [(d, min(of), sum(of) / len(of), max(of)) for d, of in sorted(values.items())]


def measure_u2(size):
    base = {"noise_std": 1, "sensitivity": 1, "delta": 1e-6, "mixing": "row-stochastic", "view": "all-nodes",
            "rounds": size.of(10, 10, 3), "threads": 1}
    rows = []
    for key in GRAPHS:
        # Shared noise makes every view's covariance dense: minutes on the larger graphs.
        plans = [{"mechanism": "ldp"}]
        if key == "florentine":
            plans.append({"mechanism": "pairs", "seed_groups": "edges", "mixing": "metropolis"})
        answers = shared.sotto_many("account", [base | graph_options(key) | plan for plan in plans], lambda answer: answer)
        for row in answers[0]["by_distance"]:
            divergence = row["renyi_alpha2"]
            rows += [Row(key, LDP, row["distance"], divergence["ldp"]),
                     Row(key, THEIRS, row["distance"], divergence["muffliato_bound"])]
        # At unit noise and sensitivity squared sensitivities are divergences of order 2.
        for curve, pairs, figure in [(PAPER, answers[0]["pairs"], lambda pair: pair["sensitivity_squared"]["abs_sum"]),
                                     (OURS, answers[0]["pairs"], lambda pair: pair["renyi_alpha2"]),
                                     *(("pairs q=1", answer["pairs"], lambda pair: pair["renyi_alpha2"]) for answer in answers[1:])]:
            rows += [Row(key, curve, d, mean, low, high) for d, low, mean, high in by_distance(pairs, figure)]
    return rows


def caption_u2(rows, size):
    keys = list(dict.fromkeys(row.panel for row in rows))
    paper, ours, bound, ldp = ({key: at(rows, key, curve) for key in keys} for curve in (PAPER, OURS, THEIRS, LDP))
    gain = {key: {d: bound[key][d] / paper[key][d] for d in paper[key] if paper[key][d] > 0} for key in keys}
    near = [ldp[key][d] / bound[key][d] for key in keys for d in (1, 2) if d in bound[key]]
    at_two = [gain[key][2] for key in keys]
    three = [gain[key][d] for key in keys for d in gain[key] if d >= 3]
    excess = [paper[key][d] / ours[key][d] for key in keys for d in ours[key] if ours[key][d] > 0]
    pairs = at(rows, "florentine", "pairs q=1")
    return Caption(
        paper="Rényi divergence (α = 2) of DP-D-SGD by graph distance, minimum, mean and maximum over pairs: Muffliato's bound gives nothing "
              "beyond LDP up to distance 2; the paper's accounting is below it at all distances, up to an order of magnitude there and two "
              "orders from distance 3 on. Graphs: Erdős–Rényi (100, p = 0.2), Facebook ego (148), PeerTube (271), Florentine families (15).",
        setting=f"`sotto account --view all-nodes`, K = 1, {size.of(10, 10, 3)} rounds, noise and sensitivity 1, row-stochastic weights as in the paper's "
                "code. Mean over pairs, bars from minimum to maximum. The paper's formula is its (12), the sum of absolute values; the exact figure "
                "is the maximum over contributions, and never above what all messages show.",
        claims=[
            ("the paper's formula is nowhere above Muffliato's bound in the mean", all(g >= 1 - 1e-9 for key in keys for g in gain[key].values())),
            (f"at distance 2 it is {span(at_two, '{:.0f}')} times smaller", min(at_two) > 2),
            (f"from distance 3 on it is {span(three, '{:.0f}')} times smaller", min(three) > 10),
            (f"Muffliato's bound is close to LDP up to distance 2 (LDP is at most {max(near):.1f} times the bound)", max(near) < 1.5)],
        differs="the PeerTube graph was not to be had; the Mastodon servers stand for the fediverse. T is not in the text. For training these figures "
                "hold only if gradients do not carry others' data on (docs/accounting.md): [U] Theorem 8 overlooks that.",
        extra=f"The exact figure is at most {max(excess):.3g} times below the formula in the mean of a distance. On the Florentine families also `pairs q=1`, "
              "a seed an edge, made to withstand any one agent who sees all messages, at the same figure: a neighbour learns "
              f"{pairs[1]:.3g} in the mean, with independent noise {ours['florentine'][1]:.3g}, and mixing cancels the shared part.")


# --- U3, U5: housing -------------------------------------------------------------------------------------------------

SHOWN = 5.0  # epsilon of the learning curves


def loss_rows(panel, cells):
    rows = []
    for cell in cells:
        if cell["test_loss"]:
            mean, width = float(cell["test_loss"]), float(cell["test_loss_half_width"] or 0)
            rows.append(Row(panel, cell["variant"], float(cell["epsilon"]), mean, mean - width, mean + width))
    return rows


def measure_u3(size):
    folder = shared.sweep_folder(
        "housing", size,
        tiny={"epsilon": "5", "rounds": 38, "seed": "1 2", "step-size": "0.02"},
        full={"seed": " ".join(map(str, range(1, 21))), "epsilon": "1 2 3 5 7 10 15"},
        settings={"data": shared.data_path(HOUSING), "graph": shared.data_path(EGO)})
    rows = loss_rows("budget", shared.table_of(folder / "results.csv"))
    curves = {}
    for run in shared.table_of(folder / "runs.csv"):
        if run["purpose"] == "test" and run["status"] == "done" and float(run["epsilon"]) == SHOWN:
            for line in shared.table_of(folder / run["run_directory"] / "metrics.csv"):
                curves.setdefault(run["variant"], {}).setdefault(int(line["round"]), []).append(float(line["test_loss"]))
    return rows + [shared.mean_row("time", curve, t, values) for curve, by_round in curves.items()
                   for t, values in by_round.items()]


def caption_u3(rows, size):
    curves = {curve: at(rows, "budget", curve) for curve in dict.fromkeys(row.curve for row in rows if row.panel == "budget")}
    none = curves.pop("none", {})
    ldp, mafalda = curves["ldp"], curves["mafalda"]
    anti, joint = curves.get("anti-pgd", {}), curves.get("space-time", {})
    first = min(mafalda)
    gains = {e: 1 - mafalda[e] / ldp[e] for e in mafalda if e in ldp}
    anti_text = f"{anti[first]:.3g} at ε = {first:g}" if first in anti else "diverged"
    return Caption(
        paper="Housing on the Facebook ego graph: test loss over time at one ε, and final loss against ε, 20 runs. MAFALDA-SGD is below DP-D-SGD "
              "everywhere, 31% less loss on average in the last 50 steps at fixed ε; AntiPGD's loss is always above 6 and not drawn.",
        setting=f"`sotto sweep bench/figures/housing.ini`: 148 agents, MLP 8-64-1, 380 rounds (20 passes of 19 batches), adjacency record, δ = 1e-6, "
                f"C = 1, {size.of(6, 20, 2)} seeds, step size chosen for every cell on held-out training records; loss in variances of the "
                f"target. (a) at ε = {SHOWN:g}.",
        claims=[
            (f"MAFALDA is below DP-D-SGD (`ldp`) at every ε, by {span([100 * g for g in gains.values()], '{:.0f}')}%",
             all(g > 0 for g in gains.values())),
            (f"AntiPGD is far worse than independent noise: {anti_text}", not anti or anti[first] > 2 * ldp[first])],
        differs="the paper's loss is in units it does not give and its noise is not the one it accounts for (its factor is normalised "
                "differently in code and text); here the injected noise is the accounted one, so gains differ. "
                + (f"Without noise: {max(none.values()):.3f}." if none else ""),
        extra=(f"`space-time`, correlated between agents too (shared seeds of `corn`): {joint[first]:.3f} at ε = {first:g} where MAFALDA has "
               f"{mafalda[first]:.3f}." if first in joint else ""))


DRAWN = 6.0  # losses above it are not, as in the paper


def measure_u5(size):
    rows = []
    for key in ("florentine", "er", "fediverse"):
        graph = {name.replace("_", "-"): value for name, value in graph_options(key).items()}
        rows += loss_rows(key, shared.sweep(
            "housing", size,
            tiny={"epsilon": "5", "rounds": 38, "seed": "1 2", "step-size": "0.02"},
            full={"seed": " ".join(map(str, range(1, 21)))},
            settings={"data": shared.data_path(HOUSING), "eval-every": 1000000, "keep-runs": "off"} | graph |
                     size.of({"epsilon": "1 5", "step-size": "0.01 0.04"}, {})))
    return rows


def caption_u5(rows, size):
    keys = list(dict.fromkeys(row.panel for row in rows))
    gains = {}
    for key in keys:
        ldp, mafalda = at(rows, key, "ldp"), at(rows, key, "mafalda")
        gains[key] = [1 - mafalda[e] / ldp[e] for e in mafalda if e in ldp]
    worst = min(min(values) for values in gains.values())
    smallest = {key: min(at(rows, key, "mafalda").values()) for key in keys}
    anti = [value for key in keys for value in at(rows, key, "anti-pgd").values()]
    return Caption(
        paper="Final test loss of housing against ε (δ = 1e-6) on further graphs: MAFALDA-SGD improves on the others on all; small graphs "
              "have better trade-offs since their agents hold more data.",
        setting="as U3, on the Florentine families, an Erdős–Rényi graph of 100 agents and the Mastodon servers; ε = 1 and 5.",
        claims=[
            ("MAFALDA is below DP-D-SGD (`ldp`) on every graph at every ε, by "
             + ", ".join(f"{span([100 * g for g in gains[key]], '{:.0f}')}% ({key})" for key in keys), worst > 0),
            ("the smallest graph has the lowest loss: " + ", ".join(f"{value:.3f} ({key})" for key, value in smallest.items()),
             min(smallest, key=smallest.get) == "florentine")],
        differs="the PeerTube graph was not to be had; the Mastodon servers stand for the fediverse."
                + (f" AntiPGD's loss is {min(anti):.2g} to {max(anti):,.0f}; what is above {DRAWN:g} is not drawn, as in the paper." if anti else ""),
        extra="`space-time` correlates noise between agents as well, with the seeds of `corn`: who holds the seed is not kept out; "
              "`--spatial-mechanism pairs` does that.")


# --- U4: FEMNIST -----------------------------------------------------------------------------------------------------

def measure_u4(size):
    files = ",".join(sorted(str(path) for path in pathlib.Path(size.femnist).glob("*.json")))
    rows = []
    for cell in shared.sweep("femnist", size, tiny={"epsilon": "10", "rounds": 16, "seed": "1 2", "step-size": "0.1"},
                             full={"seed": " ".join(map(str, range(1, 21)))},
                             settings={"data": files, "graph": shared.data_path(FLORENTINE)}):
        if cell["test_accuracy"]:
            mean, width = float(cell["test_accuracy"]), float(cell["test_accuracy_half_width"] or 0)
            rows.append(Row("accuracy", cell["variant"], float(cell["epsilon"]), mean, mean - width, mean + width))
    return rows


def caption_u4(rows, size):
    ldp, mafalda = at(rows, "accuracy", "ldp"), at(rows, "accuracy", "mafalda")
    return Caption(
        paper="Test accuracy on FEMNIST against ε on the Facebook ego and Florentine graphs (figures 4 and 6): MAFALDA-SGD is above the private "
              "baselines throughout.",
        setting="`sotto sweep bench/figures/femnist.ini` with LEAF's files: 15 agents of the Florentine graph with ten writers each, "
                "the small convolutional network, 320 rounds of 16 batches, adjacency record.",
        claims=[("MAFALDA's accuracy is above DP-D-SGD's at every ε", all(mafalda[e] >= ldp[e] for e in ldp if e in mafalda))],
        differs="the Facebook ego graph needs 1480 writers and hours; `--graph facebook_ego_414.edges` on the sweep file gives it.")


FIGURES = [
    Figure("U2", "what agents learn about each other, by distance",
           [Panel(key, title, ("distance", "graph distance"), ("renyi", "Rényi divergence, α = 2"), log_y=True, bars=True,
                  ticks=[1, 2, 3, 4, 5, 6, 7])
            for key, (title, _) in GRAPHS.items()],
           measure_u2, caption_u2, needs=(FLORENTINE, EGO, MASTODON)),
    Figure("U3", "housing on the Facebook ego graph",
           [Panel("time", f"(a) ε = {SHOWN:g}", ("round", "round"), ("test_loss", "test loss"), log_y=True),
            Panel("budget", "(b) after 380 rounds", ("epsilon", "privacy budget ε"), ("test_loss", "test loss"), log_x=True,
                  log_y=True, ticks=[1, 2, 5, 10], bars=True)],
           measure_u3, caption_u3, needs=(HOUSING, EGO)),
    Figure("U4", "FEMNIST", [Panel("accuracy", "Florentine families", ("epsilon", "privacy budget ε"),
                                   ("test_accuracy", "test accuracy"), log_x=True, bars=True)],
           measure_u4, caption_u4, needs=("--femnist", FLORENTINE), aliases=("U6",)),
    Figure("U5", "housing on further graphs",
           [Panel(key, GRAPHS[key][0], ("epsilon", "privacy budget ε"), ("test_loss", "test loss"), log_x=True, log_y=True,
                  ticks=[1, 2, 5, 10], top=DRAWN, bars=True)
            for key in ("florentine", "er", "fediverse")],
           measure_u5, caption_u5, needs=(HOUSING, FLORENTINE, MASTODON)),
]
