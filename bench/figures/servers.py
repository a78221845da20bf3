"""Our own figure: what it costs that no server is trusted. Trainings and results are those of bench/price.py."""
import price
import shared
from shared import Caption, Figure, Panel, Row

TASKS = {"a9a": "a9a, logistic regression", "mlp": "MNIST, 784-128-10", "housing": "California housing, 8-64-1"}
NAMES = {"central": "one server, all data", "cdp": "trusted aggregator", "pairs, q = 1": "pairs q=1",
         "pairs, q = 2": "pairs q=2", "corn": "corn horizon", "ldp": "ldp", "alone": "each agent alone",
         "pairs, cyclic": "pairs, records in turn"}


def table_of(name, size):
    return price.table_of(name, folder=size.of(None, None, size.work), small=size.name == "tiny")


def measure(size):
    rows = []
    for name in size.of(list(TASKS), list(TASKS), ["a9a"]):
        table = table_of(name, size)
        for cell in table.cells:
            if cell["way"] != "none":
                values = [run[table.metric] for run in cell["runs"]]
                rows.append(shared.mean_row(name, NAMES[cell["way"]], cell["epsilon"], values))
        free = shared.mean_row(name, "none", 0, [run[table.metric] for run in table.find({"way": "none"})["runs"]])
        rows += [Row(name, "none", epsilon, free.y) for epsilon in table.settings["epsilons"]]
    return rows


def gains(table, way):
    """What pairs have more (accuracy) or less (loss) than another way, seed by seed: ends of the 95% interval at every epsilon."""
    found = [table.difference({"way": price.OURS, "epsilon": epsilon}, {"way": way, "epsilon": epsilon})
             for epsilon in table.settings["epsilons"]]
    return [(-table.sign * mean - width, -table.sign * mean + width) for mean, width in found]


def caption(rows, size):
    shown = [task for task in TASKS if any(row.panel == task for row in rows)]
    tables = {task: table_of(task, size) for task in shown}
    claims = [(f"{TASKS[task]}: pairs {words} {NAMES[way]} at every ε",
               all(holds(low, high) for low, high in gains(tables[task], way)))
              for task in shown for words, way, holds in (
                  ("do not differ from", "central", lambda low, high: low <= 0 <= high),
                  ("are better than", "ldp", lambda low, high: low > 0),
                  ("are better than", "alone", lambda low, high: low > 0))]
    return Caption(
        paper="",
        setting="test accuracy (housing: mean squared error) of the agents' own models against ε for one record (added or removed, δ = 1e-5), batches sampled in secret; "
                f"{price.AGENTS} agents, Erdős–Rényi p = 0.5, T = 200, mean of {len(price.SEEDS)} seeds with 95% intervals, step size chosen for "
                "every cell on held-out training records. One server, all data: DP-SGD with the same sampling; each agent alone: DP-SGD on "
                "one twentieth of the data; records in turn: pairs without secret sampling. `bench/run price` measures. Differences are paired by seed, with 95% intervals.",
        claims=claims,
        extra=" ".join(f"{TASKS[task]}: at ε = 1 pairs have {more(tables[task], 'central')} than one server and "
                       f"{more(tables[task], 'alone')} than each agent alone." for task in shown))


def more(table, way):
    """At epsilon 1, in words."""
    mean, width = table.difference({"way": price.OURS, "epsilon": 1}, {"way": way, "epsilon": 1})
    return f"{abs(mean):.3f} ± {width:.3f} {'more' if mean > 0 else 'less'}"


METRICS = {"test_accuracy": "test accuracy", "test_loss": "mean squared error"}
FIGURES = [Figure("SERVER", "the price of having no server",
                  [Panel(key, title, ("epsilon", "ε for one record"), (metric, METRICS[metric]), log_x=True,
                         ticks=[0.5, 1, 2, 4, 8])
                   for key, title in TASKS.items() for metric in [price.TASKS[key]["metric"]]],
                  measure, caption,
                  needs=("a9a.gz", "a9a.t.gz", "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz",
                         "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz", "cal_housing.data.gz"))]
