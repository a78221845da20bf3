"""What protection against colluding agents costs: time to solve the plans, and test loss on a9a.

Plans are `published`, made for the noise that one mixing step leaves as the papers have it, or `ours`, made for the noise of
50 rounds. The step size of every cell is chosen on other seeds, of steps that go on until the best is at no edge.
"""
import json

import common
import grid
from common import median

OURS = {"utility": "horizon:50"}
PLANS = {
    "ldp": {"mechanism": "ldp"},
    "decor, published": {"mechanism": "decor", "utility": "one-step"},
    "decor, ours": {"mechanism": "decor"} | OURS,
    "pairs over edges, ours": {"mechanism": "pairs", "seed_groups": "edges"} | OURS,
    "pairs over all pairs, ours": {"mechanism": "pairs", "seed_groups": "all-pairs"} | OURS,
    "corn, published": {"mechanism": "corn", "utility": "one-step"},
    "corn, ours": {"mechanism": "corn"} | OURS,
}
# What stands for q = 1 and 2 where there is nothing to measure.
INSTEAD = {"ldp": "the same", "corn, published": "unprotected", "corn, ours": "unprotected"}
SETTINGS = {"agents": 20, "edge_probability": 0.5, "rounds": 1000, "epsilon": 10, "delta": 1e-5, "calibration": "rdp", "clip_norm": 0.1,
            "step_sizes": [0.1, 0.05, 0.02, 0.01, 0.005], "widen": 2, "validation_seeds": [101, 102, 103], "seeds": [1, 2, 3, 4, 5],
            "sizes": [0, 1, 2], "plans": PLANS}
if common.QUICK:
    SETTINGS |= {"rounds": 100, "step_sizes": [0.05, 0.02], "validation_seeds": [101], "seeds": [1, 2]}
SOLVES = [("pairs", 20, 1, 3), ("pairs", 20, 2, 20), ("pairs", 50, 1, 60), ("corn-hbc", 20, 1, None)]
TARGET_GAP = 1e-3


def solve(mechanism, agents, size):
    """Seconds of `sotto plan`'s solver, its certified gap and what it leaves."""
    runs = [json.loads(common.output_of(
        [common.SOTTO, "plan", "--json", "-", "--quiet", "--mechanism", mechanism, "--agents", agents,
         "--coalition-size", size, "--seed-groups", "all-pairs"])) for _ in range(1 if common.QUICK else 3)]
    return {"seconds": median([run["seconds"] for run in runs]), "gap": runs[0]["relative_gap"],
            "objective": runs[0]["objective"], "streams": runs[0]["streams_per_agent"]}


def options_of(cell, step, seed, testing):
    """The loss is that of a held-out fifth, another one for every seed; so there is nothing else to test on."""
    options = {name: SETTINGS[name] for name in
               ("agents", "edge_probability", "rounds", "epsilon", "delta", "calibration", "clip_norm")}
    return options | {"data": common.data_file("a9a.gz"), "coalition_size": cell["coalition_size"], "step_size": step, "seed": seed,
                      "graph_seed": seed, "noise_seed": seed, "eval_every": SETTINGS["rounds"]} | PLANS[cell["plan"]]


def markdown(table):
    s = SETTINGS
    cell_at = lambda plan, column: INSTEAD[plan] if plan in INSTEAD and column != "q = 0" else table.find(
        {"plan": plan, "coalition_size": int(column.removeprefix("q = "))})
    return (f"Test loss on a held-out fifth of a9a, {len(s['seeds'])} seeds with 95% intervals, step size chosen for every cell on other "
            f"seeds; {s['agents']} agents, p = {s['edge_probability']},\nepsilon {s['epsilon']}, delta {s['delta']:g}, {s['calibration']} "
            f"calibration, {s['rounds']} rounds. ours: horizon:50.\n\n" +
            grid.markdown("", s["plans"], [f"q = {size}" for size in s["sizes"]], cell_at))


def main():
    solves = [{"mechanism": m, "agents": n, "coalition_size": q, "target_seconds": target} | solve(m, n, q)
              for m, n, q, target in SOLVES if not common.QUICK or n <= 20]
    table = grid.Grid("coalitions", SETTINGS, options_of, "test_loss", largest_is_best=False)
    table.measure([{"plan": plan, "coalition_size": size} for plan in PLANS for size in SETTINGS["sizes"]
                   if size == 0 or plan not in INSTEAD])
    common.replace_file(common.RESULTS / "coalitions.md", markdown(table))
    text = (f"Plans over all pairs, horizon:200, Erdos-Renyi p=0.5: seconds, median of three; certified gap (target {TARGET_GAP:g}).\n\n")
    text += common.table(["", "agents", "q", "seconds", "target", "gap", "objective", "streams an agent"],
                         [[s["mechanism"], s["agents"], s["coalition_size"], f"{s['seconds']:.2f}",
                           s["target_seconds"] or "", f"{s['gap']:.1e}", f"{s['objective']:.3f}", s["streams"]]
                          for s in solves])
    table.write(text + "\n" + markdown(table), solves=solves)


if __name__ == "__main__":
    main()
