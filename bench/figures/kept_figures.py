"""Our own figures of kept results: training without knobs, random allocation, neural networks."""
import running
from figure import Caption, Claim, Figure, Panel, Told
from kept import by_seed, has_results, less, places, results, runs_of
from rows import Row, mean_row
from verdicts import HIGHER, LOWER, SAME, against, difference, verdict

OURS = "pairs q=1"
NO_WORSE = (SAME, HIGHER)
POINTS = 100.0  # of accuracy in 1

# --- KNOBS -------------------------------------------------------------------------------------------------------------

IID = {"graph": "ER .5", "partition": "iid"}
DIRICHLET = IID | {"partition": "Dirichlet .5"}
# Neighbours' words fit beside each other.
TUNED = {"a9a": "a9a", "cifar": "CIFAR\n-10", "w8a": "w8a", "mushrooms": "mush-\nrooms", "ijcnn1": "ijc-\nnn1", "softmax": "MNIST",
         "heart": "hos-\npitals", "phishing": "phish-\ning"}
TUNED_NAMES = [word.replace("-\n", "").replace("\n", "") for word in TUNED.values()]
# Ways of bench/choice.py to pay for a choice among 16 trainings, and their names here.
PAID = {"first run, `--tune auto`": "first run without knobs", "private choice of 16": "private choice of 16",
        "best of 16, all added up": "best of 16, all counted", "best of 16, not counted": "best of 16, not counted"}
FIRST, PRIVATE, COUNTED, NOT_COUNTED = PAID.values()
TRIED = [2, 4, 8, 16, 32, 64]
CHOICE_BUDGETS = [1, 3]


def named(epsilon):
    return f"ε = {epsilon}"


def knob_gaps(kept, figure, scale, place, panel, x):
    """The row of the first run less the best of the grid, or none where there is no grid."""
    at = lambda way: runs_of(kept, figure, way=way, **place)
    if not any(cell["way"] == "best" and all(cell[key] == value for key, value in place.items()) for cell in kept["cells"]):
        return []
    return [mean_row(panel, named(place["epsilon"]), x, less(at("auto"), at("best"), scale))]


def measure_knobs(size):
    tune, rows = results("tune"), []
    for epsilon in (1, 8):
        for x, task in enumerate(TUNED, 1):
            for panel, where in (("gap", IID), ("dirichlet", DIRICHLET)):
                rows += knob_gaps(tune[task], "test_accuracy_mean_model", POINTS, {"epsilon": epsilon} | where, panel, x)
        rows += knob_gaps(tune["housing"], "test_loss_mean_model", 1.0, {"epsilon": epsilon} | IID, "housing", 1)
    for name, cell in results("choice")["results"].items():
        epsilon, _, way = name.partition(": ")
        rows.append(mean_row("paid", PAID[way], CHOICE_BUDGETS.index(int(epsilon)) + 1, by_seed(cell["accuracies"])))
    for tried in TRIED:
        told = running.sotto_json("account", {"private_choice": tried, "epsilon": 1, "delta": 1e-5})
        rows += [Row("spent", name, tried, told[key]) for name, key in (("all counted", "epsilon_added_up"), ("private choice", "epsilon"))]
    return rows


def knob_caption(table, size):
    by_task = lambda panel, curve, number: [(TUNED_NAMES[int(x) - 1], table.against(panel, curve, number, lambda at: at == x)[0][1])
                                            for x in table.xs(panel, curve)]
    paid = lambda other: [(named(epsilon), table.compare("paid", FIRST, other, place)) for place, epsilon in enumerate(CHOICE_BUDGETS, 1)]
    spent = table.ys("spent", "all counted")
    return Caption(
        paper="",
        setting="(a) test accuracy of the mean model in the first run without knobs (`--tune auto`, whose measurement is in ε) less that of "
                "the best of a grid over clips and step sizes, which is chosen on held-out records and whose other trainings no ε counts; "
                "one record protected, δ = 1e-5, 20 agents (hospitals: four), Erdős–Rényi p = 0.5, iid, `pairs`, 5 seeds; MNIST and "
                "CIFAR-10 (features made without other data): softmax. Measured by `bench/run tune`. (b) a9a where the choice is paid: all "
                "ways but \"not counted\" have the same ε in all; grid of four clips and four step sizes, 5 seeds. Measured by `bench/run choice`. "
                "(c) ε against whoever sees the chosen model if each training tried has ε = 1, by `sotto account --private-choice`; "
                "a private choice draws the number of trainings at random, with this mean.",
        claims=[Claim(f"{named(epsilon)}: the first run loses less than one point to the best of a grid that nobody counts",
                      by_task("gap", named(epsilon), -1), (HIGHER,)) for epsilon in (1, 8)]
               + [Claim(f"a9a, total ε the same: the first run is better than {text}", paid(other), (HIGHER,))
                  for other, text in ((PRIVATE, "a private choice of 16"), (COUNTED, "the best of 16 that are all counted"))],
        ours=[Told("a9a: the first run against the best of 16 that are not counted", paid(NOT_COUNTED)),
              Told("Dirichlet .5, ε = 1: points of the first run over the best of the grid", by_task("dirichlet", named(1), 0)),
              Told("California housing: squared error of the first run less that of the best of the grid",
                   [(named(epsilon), table.against("housing", named(epsilon), 0)[0][1]) for epsilon in (1, 8)])],
        notes=f"16 trainings at ε = 1 spend {spent[16]:.3g} if all are counted, 64 spend {spent[64]:.3g}; a private choice costs "
              f"{table.y('spent', 'private choice', 16):.3g} and {table.y('spent', 'private choice', 64):.3g}.")


KNOBS = Figure(
    "KNOBS", "what it costs to choose step size and clip",
    [Panel("gap", "(a) first run less the best of an uncounted grid", ("task", "task"),
           ("points", "points of accuracy"), "task", bars=True, joined=False, ticks=places(TUNED.values())),
     Panel("paid", "(b) a9a: accuracy at one total ε", ("budget", "total ε"), ("test_accuracy", "test accuracy"), "ε", bars=True,
           joined=False, ticks=places(map(named, CHOICE_BUDGETS))),
     Panel("spent", "(c) ε of a choice among trainings of ε = 1", ("tried", "trainings tried"), ("epsilon", "ε of the chosen model"),
           "trainings", log_x=True, ticks=TRIED),
     Panel("dirichlet", "", ("task", "task"), ("points", "points of accuracy"), "task", drawn=False),
     Panel("housing", "", ("task", "task"), ("test_loss", "squared error"), "task", drawn=False)],
    measure_knobs, knob_caption)

# --- ALLOCATION --------------------------------------------------------------------------------------------------------

SAMPLED = {"a9a": "a9a", "phishing": "phishing", "heart": "hospitals", "csv": "mixed\nunits", "softmax": "MNIST"}
ALLOCATED, POISSON = "allocation", "Poisson"


def measure_allocation(size):
    rows = []
    for name, cell in results("allocation")["results"].items():
        task, _, epsilon = name.partition(", epsilon ")
        x, curve = list(SAMPLED).index(task) + 1, named(epsilon)
        new, old = by_seed(cell["allocation"]), by_seed(cell["poisson"])
        saved = POINTS * (1 - cell["noise"])
        rows += [Row("noise", curve, x, saved, saved, saved), mean_row("gain", curve, x, less(new, old, POINTS))]
        rows += [mean_row("accuracy", f"{way}, {curve}", x, values) for way, values in ((ALLOCATED, new), (POISSON, old))]
    return rows


def allocation_caption(table, size):
    tasks = [word.replace("\n", " ") for word in SAMPLED.values()]
    cells = lambda panel, number=0: [(f"{tasks[int(x) - 1]}, {curve}", table.against(panel, curve, number, lambda at: at == x)[0][1])
                                     for curve in table.curves(panel) for x in table.xs(panel, curve)]
    return Caption(
        paper="",
        setting="every record in one batch of each pass, drawn at random (`--participation allocation:PLACES`), against batches sampled by "
                "coins (`poisson`) of the same mean size, with the same rounds, clips and step sizes, which `--tune auto` found for "
                "`poisson`; one record protected, δ = 1e-5, `pairs`, 20 agents (hospitals: four), Erdős–Rényi p = 0.5, iid. (a) is "
                "computed, (b) is the accuracy of the mean model, 10 seeds. Measured by `bench/run allocation`.",
        claims=[Claim("allocation saves noise, in % of that of `poisson`", cells("noise"), (HIGHER,)),
                Claim("allocation gains accuracy, in points", cells("gain"), (HIGHER,)),
                Claim("allocation loses less than half a point of accuracy", cells("gain", -0.5), (HIGHER,))])


ALLOCATION = Figure(
    "ALLOCATION", "random allocation against Poisson sampling",
    [Panel("noise", "(a) noise saved at equal ε", ("task", "task"), ("percent", "% less noise"), "task", bars=True, joined=False,
           ticks=places(SAMPLED.values())),
     Panel("gain", "(b) accuracy gained at equal ε", ("task", "task"), ("points", "points of accuracy"), "task", bars=True, joined=False,
           ticks=places(SAMPLED.values())),
     Panel("accuracy", "", ("task", "task"), ("test_accuracy", "test accuracy"), "task", drawn=False)],
    measure_allocation, allocation_caption)

# --- CNN ---------------------------------------------------------------------------------------------------------------

WAYS = {"none": "no\nnoise", "central": "one\nserver", "cdp": "cdp", "corn": "corn", "pairs, q = 1": "pairs\nq=1",
        "pairs, q = 2": "pairs\nq=2", "ldp": "ldp", "alone": "alone"}
NOT_SECRET = "pairs, cyclic"  # only in the table
PLACE = {way: place for place, way in enumerate([*WAYS, NOT_SECRET], 1)}
NETS = {"cnn": ("convolutional, ε = 2", 2), "mlp": ("784-128-10, ε = 1", 1)}
OLD_PLANS = {"ldp": "ldp", "decor": "decor", "corn horizon:200": "corn horizon", "space-time corn": "space-time"}


def measure_nets(size):
    rows = []
    for task, (curve, epsilon) in NETS.items():
        kept = results(f"price_{task}")
        at = lambda way: runs_of(kept, "test_accuracy", way=way, epsilon=0 if way == "none" else epsilon)
        rows += [mean_row("ways" if way in WAYS else "not secret", curve, place, at(way)) for way, place in PLACE.items()]
    kept = results("cnn")
    return rows + [mean_row("cyclic", name, epsilon, runs_of(kept, "test_accuracy", plan=plan, epsilon=epsilon))
                   for plan, name in OLD_PLANS.items() for epsilon in kept["settings"]["epsilons"]]


def nets_caption(table, size):
    def cells(way, margin=None):
        found = []
        for curve, _ in NETS.values():
            ours, other = (table.values("ways" if one in WAYS else "not secret", curve, PLACE[one]) for one in ("pairs, q = 1", way))
            found.append((curve, verdict(ours, other, margin=margin)))
        return found

    return Caption(
        paper="",
        setting="test accuracy on MNIST of the agents' own models, one record protected (added or removed, δ = 1e-5), 20 agents, "
                "Erdős–Rényi p = 0.5, iid, 5 seeds. Convolutional network: 60 rounds of batches of 32 an agent, step sizes chosen for every way "
                "on held-out records, which no ε counts. 784-128-10: first runs without knobs; without noise stands for `pairs` at ε = 100. "
                "Alone: on one twentieth of the data. No secret batches: every record in the rounds that are its turn, 784-128-10 with 200 "
                "rounds of 128 and a chosen step size (only in the table). Measured by `bench/run price`, what else is in the table by "
                "`bench/run cnn`.",
        claims=[Claim(f"`{OURS}` is better than {text}", cells(way), (HIGHER,)) for way, text in
                (("ldp", "`ldp`"), ("alone", "each agent alone"), (NOT_SECRET, "`pairs` without secret batches"))]
               + [Claim(f"`{OURS}` is as good as one server with all data (margin: 0.01)", cells("central", 0.01), NO_WORSE)],
        ours=[Told(f"`{OURS}` against `corn`, whose seeds all agents share", cells("corn")),
              Told(f"`{OURS}` against `pairs q=2`", cells("pairs, q = 2")),
              Told("convolutional network, 100 rounds, no secret batches, two seeds (`bench/run cnn`): `corn horizon` against `ldp`",
                   table.cells("cyclic", "corn horizon", "ldp"))])


CNN = Figure(
    "CNN", "neural networks without a server",
    [Panel("ways", "MNIST, 20 agents, by who may see what", ("way", "way"), ("test_accuracy", "test accuracy"), "way", bars=True,
           joined=False, ticks=places(WAYS.values())),
     Panel("not secret", "", ("way", "way"), ("test_accuracy", "test accuracy"), "way", drawn=False),
     Panel("cyclic", "", ("epsilon", "ε for one record"), ("test_accuracy", "test accuracy"), "ε", drawn=False)],
    measure_nets, nets_caption)

# --- CONVEX ------------------------------------------------------------------------------------------------------------

LIMITS = {"no limit": "no limit", "R = 2": "R = 2", "R = 3": "R = 3", "R = 4": "R = 4"}
ROUNDS = ["50 rounds", "200 rounds"]
SHAPES = {"ring of 64": "ring of 64", "grid of 64": "8 × 8 grid"}
BOUNDS = ["all messages", "one agent, convex bound", "one agent, fixed inputs"]  # of every distance, in the order of bench/convex.py


def best_step(found):
    """{step: accuracies} to the accuracies of the step with the highest mean."""
    return max(found.values(), key=lambda values: sum(values) / len(values))


def measure_convex(size):
    rows = []
    for name, cell in results("convex")["results"].items():
        graph, rounds, limit = name.split(", ")
        if graph not in SHAPES:
            continue
        accuracies = cell["accuracy"] if "accuracy" in cell else best_step(cell)
        rows.append(mean_row(f"{graph}, accuracy", rounds, list(LIMITS).index(limit) + 1, by_seed(accuracies)))
        # Epsilon does not depend on R.
        if limit == "R = 2":
            rows += [Row(graph, bound if bound == BOUNDS[0] else f"{bound}, {rounds}", float(distance), values[place])
                     for distance, values in cell["epsilon"].items() for place, bound in enumerate(BOUNDS)
                     if bound != BOUNDS[0] or rounds == ROUNDS[0]]
    return rows


def convex_caption(table, size):
    shown = [graph for graph in SHAPES if table.curves(graph)]
    bounds = lambda rounds: [(f"{graph}, {label}", found) for graph in shown for label, found in
                             table.cells(graph, f"{BOUNDS[1]}, {rounds}", BOUNDS[0], lambda distance: distance > 1)]
    at = lambda graph, rounds, limit: table.values(f"{graph}, accuracy", rounds, list(LIMITS).index(limit) + 1)
    cost = lambda rounds, limit: [(SHAPES[graph], against(difference(at(graph, rounds, limit), at(graph, rounds, "no limit")), -0.01))
                                  for graph in shown]
    return Caption(
        paper="",
        setting="logistic regression on a9a whose features are limited to length R (`--feature-norm R`), with the longest step that R "
                "allows: `ldp`, all records of an agent in every round, ε = 8 for one record against whoever sees all messages, 3 seeds. "
                "(a), (b): ε of what one agent receives about the records of another, by distance; the bound for convex losses holds for this "
                "training, fixed inputs (only in the table) give it no guarantee. (c), (d): accuracy of the mean model; without a limit, of "
                "the best of four step sizes, "
                "chosen on the test records. Measured by `bench/run convex`.",
        claims=[Claim(f"{rounds}: from distance 2 on an agent learns less than whoever sees all messages", bounds(rounds), (LOWER,))
                for rounds in ROUNDS]
               + [Claim(f"{rounds}: {limit} costs less than 0.01 of accuracy", cost(rounds, limit), (HIGHER,))
                  for rounds in ROUNDS for limit in ("R = 2", "R = 4")])


CONVEX = Figure(
    "CONVEX", "what one agent learns of a convex training",
    [Panel(graph, f"({letter}) {name}: ε of one agent's view", ("distance", "distance in the graph"), ("epsilon", "ε for one record"),
           "distance", log_y=True, ticks=[1, 2, 3, 4, 6, 8], left_out=tuple(f"{BOUNDS[2]}, {rounds}" for rounds in ROUNDS))
     for letter, (graph, name) in zip("ab", SHAPES.items())]
    + [Panel(f"{graph}, accuracy", f"({letter}) {name}: accuracy", ("limit", "limit"), ("test_accuracy", "test accuracy"), "", bars=True,
             joined=False, ticks=places(LIMITS.values())) for letter, (graph, name) in zip("cd", SHAPES.items())],
    measure_convex, convex_caption)

FIGURES = [KNOBS, ALLOCATION, CNN, *([CONVEX] if has_results("convex") else [])]
