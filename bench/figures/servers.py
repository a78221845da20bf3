"""Our own figure: what it costs that no server is trusted. Trainings and results are those of bench/price.py."""
import price
import shared
from shared import Caption, Figure, Panel, Row, at

TASKS = {"a9a": "a9a, logistic regression", "mlp": "MNIST, 784-128-10"}
NAMES = {"central": "one server with all data", "cdp": "trusted aggregator", "pairs, q = 1": "pairs q=1",
         "pairs, q = 2": "pairs q=2", "corn": "corn horizon", "ldp": "ldp", "alone": "each agent alone",
         "pairs, cyclic": "pairs, every record in its turn"}


def measure(size):
    rows = []
    for name in size.of(list(TASKS), list(TASKS), ["a9a"]):
        table = price.table_of(name, folder=size.of(None, None, size.work), small=size.name == "tiny")
        for cell in table.cells:
            if cell["way"] != "none":
                values = [run["test_accuracy"] for run in cell["runs"]]
                rows.append(shared.mean_row(name, NAMES[cell["way"]], cell["epsilon"], values))
        free = shared.mean_row(name, "none", 0, [run["test_accuracy"] for run in table.find({"way": "none"})["runs"]])
        rows += [Row(name, "none", epsilon, free.y) for epsilon in table.settings["epsilons"]]
    return rows


def nearness(rows, task, curve):
    """Largest and smallest of what pairs have more than a curve."""
    ours, others = at(rows, task, "pairs q=1"), at(rows, task, curve)
    return shared.span([100 * (ours[x] - others[x]) for x in ours], "{:+.1f}")


def caption(rows, size):
    shown = [task for task in TASKS if any(row.panel == task for row in rows)]
    claims = []
    for task in shown:
        ours = at(rows, task, "pairs q=1")
        claims.append((f"{TASKS[task]}: pairs are within 0.02 of one server with all data at every ε",
                       all(abs(ours[x] - y) <= 0.02 for x, y in at(rows, task, "one server with all data").items())))
        claims.append((f"{TASKS[task]}: pairs are above each agent alone at every ε, by more than both intervals",
                       all(shared.row_at(rows, task, "pairs q=1", x).low > shared.row_at(rows, task, "each agent alone", x).high
                           for x in ours)))
    return Caption(
        paper="",
        setting="test accuracy of the agents' own models against ε for one record (added or removed, δ = 1e-5), batches sampled in secret; "
                f"{price.AGENTS} agents, Erdős–Rényi p = 0.5, T = 200, mean of {len(price.SEEDS)} seeds with 95% intervals, step size chosen for "
                "every cell on held-out training records. One server with all data: DP-SGD with the same sampling; each agent alone: DP-SGD on "
                "one twentieth of the data; every record in its turn: pairs without secret sampling. `bench/run price` measures.",
        claims=claims,
        extra=" ".join(f"{TASKS[task]}: pairs less one server {nearness(rows, task, 'one server with all data')} points, less alone "
                       f"{nearness(rows, task, 'each agent alone')} points." for task in shown))


ACCURACY = ("test_accuracy", "test accuracy")
FIGURES = [Figure("SERVER", "the price of having no server",
                  [Panel(key, title, ("epsilon", "ε for one record"), ACCURACY, log_x=True, ticks=[0.5, 1, 2, 4, 8])
                   for key, title in TASKS.items()],
                  measure, caption,
                  needs=("a9a.gz", "a9a.t.gz", "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz",
                         "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"))]
