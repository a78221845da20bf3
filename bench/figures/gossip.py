"""[G] Gossip averaging under varying threat models."""
import shared
from shared import Caption, Figure, Panel, Row, at, compare, span

FACEBOOK = "facebook_combined.txt.gz"
UNIT = {"noise_std": 1, "sensitivity": 1, "inputs": "fixed", "threads": 1}
CONSTANT, CERTIFIED, ALL = "constant sign ([G])", "certified", "all messages (LDP)"


def account(options):
    """The pairs of one view."""
    return shared.sotto_json("account", options)


def squared(pair, kind):
    figures = pair["sensitivity_squared"]
    return {CONSTANT: figures["constant_sign"], ALL: figures["all_messages"],
            CERTIFIED: min(figures["tight_upper"], figures["abs_sum"], figures["all_messages"])}[kind]


# --- G1: growth of the squared sensitivity with T --------------------------------------------------------------------

CENTRAL, ONE_SIGN = "central aggregation, T/n", "first neighbour: one sign"
OBSERVER = 300  # on the Facebook graph


def facebook_targets():
    """Two neighbours of the observer, the first with the lowest number of all targets, and two others."""
    import gzip
    neighbours = set()
    with gzip.open(shared.data_path(FACEBOOK), "rt", encoding="ascii") as file:
        for line in file:
            u, v = map(int, line.split()[:2])
            if OBSERVER in (u, v):
                neighbours.add(u + v - OBSERVER)
    near = sorted(neighbours)[:2]
    others = [u for u in range(near[0] + 1, OBSERVER) if u not in neighbours]
    return {near[0]: "first neighbour", near[1]: "second neighbour", others[0]: "first other", others[1]: "second other"}


def measure_g1(size):
    n, rounds = 100, size.of([1, 2, 5, 10, 20, 40, 70, 100], [1, 2, 5, *range(10, 201, 10)], [1, 5])
    er = UNIT | {"topology": "erdos-renyi", "agents": n, "edge_probability": 0.2, "graph_seed": 1, "mixing": "max-degree"}
    rows = []
    for mechanism, name in [({"mechanism": "ldp"}, ""),
                            ({"mechanism": "pairs", "seed_groups": "edges", "coalition_size": 1}, "pairs q=1")]:
        # Shared noise makes the view's covariance dense.
        shown = [t for t in rounds if not name or t <= size.of(10, 50)]
        found = shared.sotto_many(
            "account", [er | mechanism | {"rounds": t, "view": "secure-sum:0", "targets": 1} for t in shown],
            lambda answer: answer["pairs"][0])
        for t, pair in zip(shown, found):
            for kind in ([CONSTANT, CERTIFIED] if not name else [CERTIFIED]):
                rows.append(Row("er", name or kind, t, squared(pair, kind)))
    rows += [Row("er", CENTRAL, t, t / n) for t in rounds]
    targets = facebook_targets()
    for view, panel, rounds in [("node", "facebook", size.of([1, 2, 5, 10, 20, 50], [1, 2, 5, 10, 20, 50, 100, 200], [1, 3])),
                                ("secure-sum", "facebook-sum", size.of([1, 2, 5, 10], [1, 2, 5, 10, 20, 50, 100], [1, 3]))]:
        found = shared.sotto_many(
            "account", [UNIT | {"graph": shared.data_path(FACEBOOK), "mixing": "max-degree", "mechanism": "ldp", "rounds": t,
                                "view": f"{view}:{OBSERVER}", "targets": ",".join(map(str, targets))} for t in rounds],
            lambda answer: {pair["target"]: pair for pair in answer["pairs"]})
        for t, pairs in zip(rounds, found):
            rows += [Row(panel, name, t, squared(pairs[target], CERTIFIED) / t) for target, name in targets.items()]
            if panel == "facebook-sum":
                rows.append(Row(panel, ONE_SIGN, t, squared(pairs[min(targets)], CONSTANT) / t))
    return rows


def caption_g1(rows, size):
    constant = at(rows, "er", CONSTANT)
    one_sign, certified = at(rows, "facebook-sum", ONE_SIGN), at(rows, "facebook-sum", "first neighbour")
    late = max(certified)
    last = max(constant)
    slope = constant[last] / last * 100
    before = sorted(constant)[-2]
    growth = (constant[last] - constant[before]) / (last - before) * 100
    near = max(at(rows, "facebook", "first neighbour").values())
    far = max(max(at(rows, "facebook", name).values()) for name in ("first other", "second other"))
    return Caption(
        paper="Left: the squared sensitivity of a random agent as seen by another through secure sums grows linearly with T and "
              "approaches that of central aggregation; Erdős–Rényi graph. Right: sensitivity on the Facebook graph (4039 nodes), observer 300, two "
              "neighbours and two others. Graph size and p of the left figure are lost in the text at hand.",
        setting="`sotto account --inputs fixed`, max-degree weights, noise and sensitivity 1, the observer's own noise taken out. "
                "(a): 100 agents, p = 0.2, `--view secure-sum:0`, target 1. (b), (c): squared sensitivity divided by T (1 is what all "
                "messages show), from messages and from secure sums.",
        claims=[
            (f"with contributions of one sign the squared sensitivity grows linearly with T in the end: {growth:.2f} T/n from "
             f"{before:g} to {last:g} rounds, near the T/n of central aggregation", abs(growth - 1) < 0.1),
            (f"on the Facebook graph agents that are no neighbours are hardly seen: at most {far:.1e} T, against {near:.2f} T of a neighbour",
             far < 0.1 * near)],
        differs="contributions of one sign are one attack, not the worst case ([G] Lemma 1 assumes that no entry of its matrix is "
                f"negative, which mixing makes untrue). In (a), where observer and target are no neighbours, both agree; in (c), over all "
                f"contributions of norm 1, a neighbour is seen {certified[late] / one_sign[late]:.0f} times as well after {late:g} rounds as with "
                "one sign. sotto's guarantees use the certified figure.",
        extra="`pairs q=1` (a seed an edge, made to withstand any one agent): the same budget against all messages with less noise "
              "left after mixing, and what the secure sums show is accounted with it.")


# --- G2: mean epsilon over all pairs ---------------------------------------------------------------------------------

def mean_epsilon(options, agents, view):
    """Over all ordered pairs of agents; mean and the LDP epsilon."""
    if view == "node":
        answer = account(options | {"view": "all-nodes"})
        return answer["mean_epsilon"], answer["pairs"][0]["ldp"]
    answers = [account(options | {"view": f"secure-sum:{a}"}) for a in range(agents)]
    return sum(answer["mean_epsilon"] for answer in answers) / agents, answers[0]["pairs"][0]["ldp"]


def measure_g2(size):
    agents = size.of(100, 100, 6)
    rounds = size.of([1, 2, 5, 10, 20, 50, 100], [1, 2, 5, 10, 20, 50, 100, 200], [1, 3])
    base = {"topology": "erdos-renyi", "agents": agents, "edge_probability": 0.2, "graph_seed": 1, "mixing": "max-degree",
            "noise_std": 4, "sensitivity": 1, "delta": 1e-5, "threads": 1, "inputs": "fixed"}
    jobs = [(t, name, view, mechanism) for t in rounds for name, view, mechanism in [
        ("messages", "node", {"mechanism": "ldp"}), ("secure sums", "secure-sum", {"mechanism": "ldp"}),
        ("pairs q=1: messages", "node", {"mechanism": "pairs", "coalition_size": 1})]]
    with shared.concurrent.futures.ThreadPoolExecutor(max_workers=shared.CORES) as pool:
        found = list(pool.map(lambda job: mean_epsilon(base | job[3] | {"rounds": job[0]}, agents, job[2]), jobs))
    rows = []
    for (t, name, _, _), (mean, ldp) in zip(jobs, found):
        rows.append(Row("mean", name, t, mean))
        if name == "messages":
            rows.append(Row("mean", ALL, t, ldp))
    return rows


def caption_g2(rows, size):
    messages, sums, ldp = (at(rows, "mean", name) for name in ("messages", "secure sums", ALL))
    last = max(ldp)
    return Caption(
        paper="Mean ε over all pairs against T: secure sums and plain messages are both clearly below LDP, and the paper's bound for plain "
              "messages becomes tighter than its bound for secure sums as T grows, which the paper takes for a weakness of the latter.",
        setting=f"`sotto account`, Erdős–Rényi graph of {size.of(100, 100, 6)} agents (p = 0.2), max-degree weights, noise 4 and sensitivity 1 in "
                "every round, δ = 1e-5, certified sensitivities, `--view all-nodes` and `secure-sum:a` for every a.",
        claims=[
            (f"both are below LDP: at T = {last:g} {messages[last]:.2f} and {sums[last]:.2f}, LDP {ldp[last]:.2f}",
             all(messages[t] < ldp[t] and sums[t] < ldp[t] for t in ldp))],
        differs="secure sums never show more than messages here (a sum is a function of the messages): "
                f"{span([sums[t] / messages[t] for t in ldp])} times the mean ε of messages. That the paper's bounds cross at large T is "
                "the looseness it suspects. Its adaptive bounds are for observers inside the network and [U] shows how; a training's "
                "gradients carry data on, so these figures are for fixed inputs (docs/accounting.md), and what holds for training is LDP's "
                "curve or a view of all messages.",
        extra="`pairs q=1`: the same budget against all messages and any one agent, with shared noise that mixing cancels.")


# --- G3: MNIST, 100 agents -------------------------------------------------------------------------------------------

def measure_g3(size):
    rows = []
    for cell in shared.sweep("mnist_gossip", size,
                             tiny={"epsilon": "20", "rounds": 4, "agents": 8, "seed": "1 2", "step-size": "1"},
                             full={"rounds": 1000, "seed": "1 2 3 4 5 6 7 8 9 10"},
                             settings={"data": shared.data_path("train-images-idx3-ubyte.gz"),
                                       "test_data": shared.data_path("t10k-images-idx3-ubyte.gz")}):
        if cell["test_accuracy"]:
            mean, width = float(cell["test_accuracy"]), float(cell["test_accuracy_half_width"] or 0)
            rows.append(Row("accuracy", cell["variant"], float(cell["epsilon"]), mean, mean - width, mean + width))
    return rows


def caption_g3(rows, size):
    curves = {curve: at(rows, "accuracy", curve) for curve in dict.fromkeys(row.curve for row in rows)}
    ldp = curves["ldp"]
    first = min(ldp)
    none = curves.get("none", {})
    return Caption(
        paper="MNIST, IID over 100 nodes of an Erdős–Rényi graph, logistic regression by gradient descent with Gaussian noise on the "
              "models: mean ε of all pairs during training. The text gives no numbers.",
        setting=f"`sotto sweep bench/figures/mnist_gossip.ini`: 100 agents, p = 0.2, softmax regression, IID, adjacency record, "
                f"{size.of(100, 1000, 4)} rounds, batches of cyclic:10; test accuracy of the agents' own models over ε against everybody who sees "
                "all messages (and, for pairs, any one agent), three seeds, step size chosen on held-out training records.",
        claims=[(f"training works with 100 agents under local noise: accuracy {ldp[max(ldp)]:.3f} at ε = {max(ldp):g}, without noise "
                 + (f"{max(none.values()):.3f}" if none else "not measured"), ldp[max(ldp)] > 0.5)],
        differs="the paper shows how ε of pairs grows over the rounds of one training (G2 has that for a graph of this size); what a user of "
                "sotto chooses is ε, so accuracy is drawn against it. Weights are Metropolis', not row-stochastic.",
        extra=f"At ε = {first:g}: " + ", ".join(f"`{curve}` {curves[curve][first]:.3f}" for curve in curves if first in curves[curve])
              + ". `corn` needs a seed that all agents share; `pairs` withstands any one curious agent.")


FIGURES = [
    Figure("G1", "how the squared sensitivity grows with T",
           [Panel("er", "(a) secure sums, 100 agents", ("rounds", "rounds T"), ("squared_sensitivity", "squared sensitivity"),
                  log_x=True, log_y=True),
            Panel("facebook", "(b) Facebook, messages", ("rounds", "rounds T"), ("squared_sensitivity_over_T", "squared sensitivity / T"),
                  log_x=True, log_y=True),
            Panel("facebook-sum", "(c) Facebook, secure sums", ("rounds", "rounds T"),
                  ("squared_sensitivity_over_T", "squared sensitivity / T"), log_x=True, log_y=True)],
           measure_g1, caption_g1, needs=(FACEBOOK,)),
    Figure("G2", "mean ε over all pairs against T",
           [Panel("mean", "all pairs, fixed inputs", ("rounds", "rounds T"), ("mean_epsilon", "mean ε over pairs"), log_x=True,
                  log_y=True)],
           measure_g2, caption_g2),
    Figure("G3", "MNIST with 100 agents",
           [Panel("accuracy", "softmax regression", ("epsilon", "privacy budget ε"), ("test_accuracy", "test accuracy"), log_x=True,
                  ticks=[3, 10, 30], bars=True)],
           measure_g3, caption_g3, needs=("train-images-idx3-ubyte.gz", "t10k-images-idx3-ubyte.gz")),
]
