"""Our own figure: mixing weights optimised jointly with noise. Trainings come from bench/free.py."""
import free
from exchanges import GRAPHS, NAMES, NEEDS, SETTING, cell_of
from figure import Caption, Claim, Figure, Panel
from kept import cell_row
from verdicts import LOWER, verdict

# Places on the x axis: the lever of bench/free.py with Metropolis weights, the same with optimised weights, and its label.
PLACES = [("K = 1", "optimised mixing", "last models"), ("final gossip, tail mean", "K = 1, all", "final gossip and tail mean")]
METROPOLIS, OPTIMISED = "Metropolis", "optimised"


def measure(size):
    rows = []
    for graph in GRAPHS:
        table = free.table_of(graph)
        for mechanism in free.MECHANISMS:
            for place, (plain, better, _) in enumerate(PLACES):
                rows += [cell_row(graph, f"{NAMES[mechanism]}: {name}", place + 1, table, cell_of(table, mechanism, lever))
                         for name, lever in ((METROPOLIS, plain), (OPTIMISED, better))]
    return rows


def caption(table, size):
    shown = [graph for graph in GRAPHS if table.curves(graph)]

    def cells(mechanism, place):
        name = NAMES[mechanism]
        return [(GRAPHS[graph], verdict(table.values(graph, f"{name}: {OPTIMISED}", place + 1),
                                        table.values(graph, f"{name}: {METROPOLIS}", place + 1))) for graph in shown]

    return Caption(
        paper="",
        setting=f"test loss on a9a with Metropolis weights and with `--mixing optimised` "
                f"([equations](equations.md#mixing-weights-and-noise-together); future work in [W]), one exchange per round; {SETTING}. "
                f"Measured by `bench/run free`.",
        claims=[Claim(f"`{NAMES[mechanism]}`, {name}: optimised weights have less loss", cells(mechanism, place), (LOWER,))
                for mechanism in free.MECHANISMS for place, (_, _, name) in enumerate(PLACES)])


FIGURES = [Figure("JOINT", "mixing weights and noise optimised together",
                  [Panel(key, title, ("place", "what agents end up with"), ("test_loss", "test loss"), bars=True, joined=False,
                         ticks={place + 1: name.replace(" and ", "\nand ") for place, (_, _, name) in enumerate(PLACES)})
                   for key, title in GRAPHS.items()],
                  measure, caption, needs=NEEDS)]
