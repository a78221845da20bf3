"""Time to account for what observers learn, at real sizes; growth in agents and rounds; a dense pseudo-inverse."""
import json
import pathlib
import tempfile

import common
from common import median

# what, arguments of bench_account, target seconds, target MiB
GOALS = [
    ("florentine, all pairs, T=10", ["pairs", "florentine_families.edges", 10], 0.2, None),
    ("facebook_ego_414, all pairs, T=10", ["pairs", "facebook_ego_414.edges", 10], 15, None),
    ("mastodon, all pairs, T=10", ["pairs", "mastodon_servers_2020-12.edges", 10], 25, None),
    ("facebook_ego_414, one observer, all targets, T=1000",
     ["observer", "facebook_ego_414.edges", "median", 1000, "all"], 120, None),
    ("facebook_combined, median degree, its neighbours, T=50",
     ["observer", "facebook_combined.txt.gz", "median", 50, "neighbours"], 120, 4096),
    ("facebook_combined, largest degree, its neighbours, T=50",
     ["observer", "facebook_combined.txt.gz", "largest", 50, "neighbours"], 120, 4096),
]
DENSE = (40, 20) if common.QUICK else (100, 50)
DENSE_TARGET = 200
AGENTS = [20, 40] if common.QUICK else [25, 50, 100, 200, 400]
ROUNDS = [10, 20] if common.QUICK else [10, 30, 100, 300, 1000]
REPETITIONS = 1 if common.QUICK else 3
QUICK_GOALS = 2
NUMPY_THREADS = {"OPENBLAS_NUM_THREADS": str(common.THREADS)}


def run(arguments):
    words = [str(common.data_file(w)) if isinstance(w, str) and "." in w else w for w in arguments]
    result = json.loads(common.output_of([common.program("account"), *words, REPETITIONS]))
    result["median_seconds"] = median(result["seconds"])
    return result


def pinv(dense):
    """The same graph and target by numpy's pseudo-inverse of B."""
    agents, rounds = DENSE
    with tempfile.TemporaryDirectory() as folder:
        edges = pathlib.Path(folder) / "er.edges"
        common.output_of([common.SOTTO, "graph", "--agents", agents, "--edge-probability", 8 / (agents - 1),
                          "--out", edges, "--quiet"])
        result = json.loads(common.output_of(
            ["/usr/bin/python3", common.ROOT / "bench" / "account_pinv.py", edges, dense["observer"], dense["target"], rounds,
             REPETITIONS], **NUMPY_THREADS))
    if abs(result["sum"] - dense["sum"]) > 1e-8 * abs(dense["sum"]):
        raise SystemExit(f"bench: the pseudo-inverse gives {result['sum']}, the accountant {dense['sum']}")
    result["times_slower"] = median(result["seconds"]) / dense["median_seconds"]
    return result


def main():
    goals = []
    for what, arguments, seconds, memory in GOALS[:QUICK_GOALS] if common.QUICK else GOALS:
        goals.append({"what": what, "target_seconds": seconds, "target_mib": memory} | run(arguments))
        print(f"{what}: {goals[-1]['median_seconds']:.3f} s", flush=True)
    dense = run(["dense", *DENSE])
    dense["times_slower"] = median(dense["dense_seconds"]) / dense["median_seconds"]
    dense["pinv"] = pinv(dense)
    in_agents = [run(["observer", f"er:{n}", 0, 20, "all"]) for n in AGENTS]
    in_rounds = [run(["observer", "er:50", 0, t, "all"]) for t in ROUNDS]

    text = ("Private noise, Metropolis weights, what one agent's neighbours send it; tight sensitivity to a relative\n"
            "gap of 1e-5 asked for (gap: the largest reached). Two threads. Medians.\n\n")
    text += common.table(
        ["", "agents", "degree", "targets", "T", "s", "target s", "MiB", "target MiB", "gap"],
        [[g["what"], g["agents"], g.get("degree", ""), g.get("targets", "all pairs"), g["rounds"],
          f"{g['median_seconds']:.3f}", g["target_seconds"], f"{g['memory_mib']:.0f}", g["target_mib"] or "",
          f"{g['largest_tight_gap']:.1e}"] for g in goals])
    text += ("\nOne target, beside two dense ways with a row for every observed message of every round: (B B^T)^+ by an\n"
             "eigendecomposition, in turn, and B^+ as the papers write it, by numpy.linalg.pinv. Results compared.\n\n")
    text += common.table(
        ["agents", "degree", "T", "s", "(B B^T)^+ s", "times slower", "B^+ s", "times slower", "target", "values differ by"],
        [[dense["agents"], dense["degree"], dense["rounds"], f"{dense['median_seconds']:.5f}",
          f"{median(dense['dense_seconds']):.3f}", f"{dense['times_slower']:.0f}",
          f"{median(dense['pinv']['seconds']):.3f}", f"{dense['pinv']['times_slower']:.0f}", DENSE_TARGET,
          f"{dense['largest_difference']:.1e}"]])
    text += "\nGrowth: Erdos-Renyi, average degree 8, one observer, all targets.\n\n"
    text += common.table(
        ["agents", "T", "s", "ms a target", "MiB"],
        [[r["agents"], r["rounds"], f"{r['median_seconds']:.4f}",
          f"{1e3 * r['median_seconds'] / r['targets']:.3f}", f"{r['memory_mib']:.0f}"]
         for r in in_agents + in_rounds])
    common.write_results("account", {"goals": goals, "dense": dense, "in_agents": in_agents,
                                     "in_rounds": in_rounds}, text)


main()
