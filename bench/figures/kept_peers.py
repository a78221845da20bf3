"""Our own figures of kept results: sites whose data differ, late peers, lying peers, averages."""
import price
from figure import Caption, Claim, Figure, Panel, Told
from kept import by_seed, less, places, results, runs_of
from rows import mean_row
from verdicts import HIGHER, LOWER, SAME, verdict

NO_WORSE = (SAME, HIGHER)
MARGIN = 0.01

# --- SITES -------------------------------------------------------------------------------------------------------------

DATA = {"iid": "iid", "by-label:1": "one label an agent"}
RING, RANDOM = "ring", "Erdos-Renyi, p 0.5"
GRAPHS = {RING: "ring of 20", RANDOM: "Erdős–Rényi p = 0.5, 20 agents"}
EXCHANGES = {"plain": "one a\nround", "exact diffusion": "exact\ndiffusion", "default": "default", "cdp": "cdp", "central": "one\nserver"}
BOTH = "default with exact diffusion"  # only in the table
BUDGETS = {None: "no noise", 8: "ε = 8", 1: "ε = 1"}
HOSPITALS = {"cleveland": "Cleveland", "hungarian": "Hungary", "switzerland": "Switzerland", "va": "Long Beach"}


def of_hospital(values, site):
    """Those of {seed: value} where bench/price.py takes this one of its sites as the hospital that is alone."""
    return {seed: value for seed, value in values.items() if price.SITES[int(seed) % len(price.SITES)] == site}


def measure_sites(size):
    kept, rows = results("differing_softmax"), []
    at = lambda way, graph, data: runs_of(kept, "test_accuracy", way=way, graph="" if way in ("cdp", "central") else graph, data=data)
    for graph in GRAPHS:
        rows += [mean_row(graph, name, place, at(way, graph, data)) for data, name in DATA.items()
                 for place, way in enumerate(EXCHANGES, 1) if (way, data) != ("central", "by-label:1")]
        rows += [mean_row(f"{graph}, both", name, 1, at(BOTH, graph, data)) for data, name in DATA.items()]
    corrections = results("corrections")
    rows += [mean_row(f"fixed, {run['data']}", run["method"], list(BUDGETS).index(run["epsilon"]) + 1,
                      {str(corrections["settings"]["seed"]): run["test_accuracy"]}) for run in corrections["runs"]]
    hospitals = results("price_hospitals")
    for epsilon in hospitals["settings"]["epsilons"]:
        joint, alone = (runs_of(hospitals, "test_accuracy", way=way, epsilon=epsilon) for way in ("pairs, q = 1", "alone"))
        rows += [mean_row("gain", name, epsilon, of_hospital(less(joint, alone), site)) for site, name in HOSPITALS.items()]
    return rows


def sites_caption(table, size):
    place = {way: number for number, way in enumerate(EXCHANGES, 1)}
    values = lambda graph, way, data: table.values(graph, DATA[data], place[way])
    cells = lambda first, second, margin=None: [(GRAPHS[graph], verdict(values(graph, *first), values(graph, *second), margin=margin))
                                                for graph in GRAPHS]
    sorted_out, mixed = "by-label:1", "iid"
    fixed = lambda method, budget: table.y("fixed, one label an agent", method, list(BUDGETS).index(budget) + 1)
    return Caption(
        paper="",
        setting="test accuracy on MNIST (softmax, `pairs`) of the agents' own models. (a) and (b): ε = 1 for one record, first runs without "
                "knobs, 3 seeds, by what agents exchange: one message of float64 a round, the same with `--correction exact-diffusion`, or "
                "what sotto chooses by default (more and shorter messages); `cdp` is a trusted aggregator, one server has all data. "
                "Measured by `bench/run differing`. (c) one label an agent on a ring of 20, 300 rounds, no final gossip, step sizes that "
                "are best on the test set for ε = 8, one seed, so without intervals; K: exchanges a round. Measured by `bench/run corrections`. (d) four hospitals (heart disease, "
                "logistic): test accuracy of the joint model of `pairs q=1` less that of one hospital's own, at the same ε, both without "
                "knobs; patients of all four hospitals test it, five seeds each. Measured by `bench/run price`.",
        claims=[
            Claim("with one label an agent the default is as good as one server with all data (margin: 0.01)",
                  cells(("default", sorted_out), ("central", mixed), MARGIN), NO_WORSE),
            Claim("with one label an agent the default is as good as with iid data (margin: 0.01)",
                  cells(("default", sorted_out), ("default", mixed), MARGIN), NO_WORSE),
            Claim("with one label an agent the default is better than one exchange a round",
                  cells(("default", sorted_out), ("plain", sorted_out)), (HIGHER,)),
            Claim("with one label an agent and one exchange a round, exact diffusion is better than none",
                  cells(("exact diffusion", sorted_out), ("plain", sorted_out)), (HIGHER,)),
            *(Claim(f"{name}: the joint model is better than the hospital's own", table.against("gain", name, 0), (HIGHER,))
              for name in HOSPITALS.values())],
        ours=[Told("one label an agent: the default with exact diffusion against the default",
                   [(GRAPHS[graph], verdict(table.values(f"{graph}, both", DATA[sorted_out], 1), values(graph, "default", sorted_out)))
                    for graph in GRAPHS])],
        notes=f"(c), one seed: exact diffusion has {fixed('exact diffusion', 8):.3f} at ε = 8 where D-SGD has {fixed('D-SGD', 8):.3f}, and "
              f"{fixed('exact diffusion', 1):.3f} against {fixed('D-SGD', 1):.3f} at ε = 1.")


ACCURACY = ("test_accuracy", "test accuracy")
SITES = Figure(
    "SITES", "sites whose data differ",
    [Panel(graph, f"({letter}) {name}", ("exchanges", "exchanges"), ACCURACY, "", bars=True, joined=False, ticks=places(EXCHANGES.values()))
     for letter, (graph, name) in zip("ab", GRAPHS.items())]
    + [Panel("fixed, one label an agent", "(c) ring, 300 rounds, one label an agent", ("budget", "budget"), ACCURACY,
             ticks=places(BUDGETS.values()), left_out=("exact diffusion, K = 4",)),
       Panel("gain", "(d) what one hospital gains by joining", ("epsilon", "ε for one record"), ("accuracy_gained", "accuracy gained"), "ε",
             log_x=True, ticks=[0.5, 1, 2, 4, 8], bars=True),
       *(Panel(f"{graph}, both", "", ("exchanges", "exchanges"), ACCURACY, drawn=False) for graph in GRAPHS),
       Panel("fixed, iid", "", ("budget", "budget"), ACCURACY, drawn=False)],
    measure_sites, sites_caption)

# --- LATE --------------------------------------------------------------------------------------------------------------

WAITING = "undisturbed, all wait"
CASES = {"undisturbed": "no fault", "one slow": "one\nslow", "silent": "silent\n1 in 5", "silent, one slow": "silent,\none slow"}
LIMIT = 1.3  # the goal of bench/late.py, in times of the undisturbed training


def measure_late(size):
    rows = []
    for graph, cases in results("late")["results"].items():
        curve, of = f"{graph} of 20", lambda case, figure: by_seed([run[figure] for run in cases[case]])
        for place, case in enumerate(CASES, 1):
            times = {seed: value / of(WAITING, "seconds")[seed] for seed, value in of(case, "seconds").items()}
            rows += [mean_row("accuracy", curve, place, less(of(case, "accuracy"), of(WAITING, "accuracy"), 100)),
                     mean_row("missing", curve, place, {seed: 100 * value for seed, value in of(case, "missing").items()}),
                     mean_row("time", curve, place, times)]
    return rows


def late_caption(table, size):
    words = [word.replace("\n", " ") for word in CASES.values()]
    cells = lambda panel, number: [
        (f"{curve}, {words[int(x) - 1]}" if len(table.curves(panel)) > 1 else words[int(x) - 1],
         table.against(panel, curve, number, lambda at: at == x)[0][1])
        for curve in table.curves(panel) for x in table.xs(panel, curve)]
    return Caption(
        paper="",
        setting="20 ranks in a ring on three emulated hosts (0.2 ms, 1 Gbit/s) train softmax on MNIST with `pairs` at ε = 1 for one record, 1000 "
                "rounds, `--round-deadline auto`, against the same training in which all wait for all and nothing is late; 3 seeds. Silent: "
                "every agent in a fifth of the rounds; slow: one agent computes seven times as long. Measured by `bench/run late`.",
        claims=[Claim("it loses less than one point of accuracy", cells("accuracy", -1), (HIGHER,)),
                Claim(f"it takes less than {LIMIT:g} times as long", cells("time", LIMIT), (LOWER,))],
        ours=[Told("points of accuracy over the training in which all wait", cells("accuracy", 0))],
        notes="messages that came too late or never (only in the table): " + "; ".join(
            f"{curve}, {words[int(x) - 1]}: {table.y('missing', curve, x):.0f}%" for curve in table.curves("missing")
            for x in table.xs("missing", curve)) + ".")


LATE = Figure(
    "LATE", "rounds that go on without late peers",
    [Panel("accuracy", "(a) accuracy gained or lost", ("case", "case"), ("points", "points of accuracy"), "", bars=True, joined=False,
           ticks=places(CASES.values())),
     Panel("time", "(b) time, against rounds in which all wait", ("case", "case"), ("times", "times"), "", bars=True,
           joined=False, ticks=places(CASES.values())),
     Panel("missing", "", ("case", "case"), ("percent", "% of all messages"), drawn=False)],
    measure_late, late_caption)

# --- LIARS -------------------------------------------------------------------------------------------------------------

# From the least harmful to the worst for `pairs` without a rule in (a).
LIES = {"none": "no\nlie", "label-flip": "label\nflip", "little": "little",
        "inner-product": "inner\nprod.", "sign-flip": "sign\nflip", "noise": "noise", "label-flip x 10": "label\n× 10"}
OF_PAIRS = {"no-pair-noise": "lacks noise", "wrong-sign": "wrong sign"}  # lies that only `pairs` can tell; only in the table
PLACES = {lie: place for place, lie in enumerate([*LIES, *OF_PAIRS], 1)}
SITUATIONS = {"p = .5, iid": "(a) p = 0.5, iid", "p = .5, two labels an agent": "(b) p = 0.5, two labels an agent",
              "ring, iid": "(c) ring, iid", "ring, two labels an agent": "(d) ring, two labels an agent",
              "p = .2, iid": "", "p = .2, two labels an agent": ""}


def of_pairs(situation):
    """The panel of lies that only `pairs` can tell."""
    return f"{situation}, of pairs"


def measure_liars(size):
    return [mean_row(situation if lie in LIES else of_pairs(situation), column.replace(", off", ", no rule").replace(", ", ": ", 1),
                     PLACES[lie], {"1": run["accuracy"]})
            for situation, lies in results("liars")["results"].items() for lie, runs in lies.items() for column, run in runs.items() if run]


def counted(table, first, second, by=MARGIN):
    """'45 of 48 (less in 2)': in how many situations with a lie the first curve is higher by more than `by`, and lower."""
    gaps = [table.y(panel, first, x) - table.y(panel, second, x) for situation in SITUATIONS for panel in (situation, of_pairs(situation))
            for x in table.xs(panel, first, second) if x > PLACES["none"]]
    return f"{sum(gap > by for gap in gaps)} of {len(gaps)} (less in {sum(gap < -by for gap in gaps)})"


def liars_caption(table, size):
    worst = lambda curve: min(table.y("p = .5, iid", curve, x) for x in table.xs("p = .5, iid", curve))
    return Caption(
        paper="",
        setting="accuracy of honest agents' own models where 3 of 20 agents lie in the way named, with and without a rule of `--robust`; "
                "MNIST, softmax, ε = 1 for one record, 300 rounds, one run each. Lies are those of `--faults lie`, from the least "
                "harmful to the worst for `pairs` without a rule in (a); lines only guide the eye. Measured by `bench/run liars`; p = 0.2 "
                "and the lies that only `pairs` can tell (`no-pair-noise`, `wrong-sign`) are only in the table.",
        claims=[],
        notes="one run each, so no interval and no verdict. With a lie, accuracy is higher by more than 0.01 with `clip` than with no rule "
              f"in {counted(table, 'pairs: clip', 'pairs: no rule')} situations of `pairs` and "
              f"{counted(table, 'ldp: clip', 'ldp: no rule')} of `ldp`; with `clip`, more than with `trimmed:3` in "
              f"{counted(table, 'pairs: clip', 'pairs: trimmed:3')}. The worst lie at p = 0.5, iid, leaves `pairs` "
              f"{worst('pairs: no rule'):.3f} with no rule, {worst('pairs: trimmed:3'):.3f} with `trimmed:3` and "
              f"{worst('pairs: clip'):.3f} with `clip`.")


LIARS = Figure(
    "LIARS", "peers that lie",
    [Panel(situation, title, ("lie", "lie"), ACCURACY, "", bars=True, joined=False, ticks=places(LIES.values()), drawn=bool(title))
     for situation, title in SITUATIONS.items()]
    + [Panel(of_pairs(situation), "", ("lie", "lie"), ACCURACY, drawn=False) for situation in SITUATIONS],
    measure_liars, liars_caption)

# --- AVERAGING ---------------------------------------------------------------------------------------------------------

AVERAGED = {"ring of 30": "(a) ring of 30", "ER .3 of 30": "(b) Erdős–Rényi p = 0.3, 30 agents",
            "Florentine (15)": "(c) Florentine families, 15", "complete of 30": "(d) complete graph of 30"}
VIEWS = {"eavesdropper": "all messages", "node:1": "one agent's messages", "secure-sum:1": "one agent's sums"}
MECHANISMS = ("ldp", "pairs")


def measure_averaging(size):
    rows = []
    for name, values in results("averaging")["results"].items():
        mechanism, graph, rounds, view = name.split(", ")
        rows.append(mean_row(graph, f"{mechanism}: {VIEWS[view]}", int(rounds.removesuffix(" rounds")), by_seed(values)))
    return rows


def averaging_caption(table, size):
    cells = lambda first, second: [(f"{graph}, {label}", found) for graph in AVERAGED for label, found in table.cells(graph, first, second)]
    later = lambda curve: [(graph, verdict(table.values(graph, curve, 100), table.values(graph, curve, 10), log=True)) for graph in AVERAGED]
    everything, messages, sums = VIEWS.values()
    return Caption(
        paper="",
        setting="half the squared distance of an agent's model from the mean of fixed inputs after T rounds, ε = 2 for an agent against "
                "whoever sees all messages, those that one agent receives, or with secure summation the sums that it receives "
                "(`--protect-against`); 3 seeds of the noise. `ldp` against one agent's messages is only in the table. Measured by "
                "`bench/run averaging`.",
        claims=[Claim(f"seen are {view}: `pairs` has less error than `ldp`", cells(f"pairs: {view}", f"ldp: {view}"), (LOWER,))
                for view in VIEWS.values()]
               + [Claim(f"`{mechanism}`, where not all are neighbours: less error if seen are {weaker} than {stronger}",
                        [cell for cell in cells(f"{mechanism}: {weaker}", f"{mechanism}: {stronger}") if not cell[0].startswith("complete")],
                        (LOWER,))
                  for mechanism in MECHANISMS for weaker, stronger in ((messages, everything), (sums, messages))]
               + [Claim(f"`pairs` against {everything}: less error after 100 rounds than after 10", later(f"pairs: {everything}"), (LOWER,))],
        ours=[Told(f"`ldp` against {everything}: after 100 rounds against after 10", later(f"ldp: {everything}"))])


AVERAGING = Figure(
    "AVERAGING", "averages: graph, rounds and observer",
    [Panel(graph, title, ("T", "rounds T"), ("error", "error of the average"), "T", log_x=True, log_y=True, ticks=[10, 30, 100], bars=True,
           left_out=(f"ldp: {VIEWS['node:1']}",))
     for graph, title in AVERAGED.items()],
    measure_averaging, averaging_caption)

FIGURES = [SITES, LATE, LIARS, AVERAGING]
