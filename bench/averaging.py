"""Noise of averages of fixed inputs against graph and number of rounds, for what observers really see (--protect-against).

Half the squared distance of an agent's model from the mean of all inputs, after T rounds at epsilon 2, mean of three noise seeds with
95% intervals. `everything`: an eavesdropper on all messages; node:1: what an agent receives; secure-sum:1: the sums that it receives.

bench/run averaging
"""
import json
import shutil

import common

GRAPHS = {"ring of 30": ["--agents", 30, "--topology", "ring"], "ER .3 of 30": ["--agents", 30, "--edge-probability", 0.3],
          "Florentine (15)": None, "complete of 30": ["--agents", 30, "--topology", "complete"]}
ROUNDS = [10, 30] if common.QUICK else [10, 30, 100]
SEEDS = [1, 2] if common.QUICK else [1, 2, 3]
VIEWS = {"everything": "eavesdropper", "`node:1`": "node:1", "`secure-sum:1`": "secure-sum:1"}
kept = common.Kept(__file__)


def run(mechanism, graph, rounds, view, seed):
    words = GRAPHS[graph] or ["--graph", common.data_file("florentine_families.edges")]
    folder = common.BUILD / "averaging"
    shutil.rmtree(folder, ignore_errors=True)
    return json.loads(common.output_of([common.SOTTO, "train", "--task", "averaging", *words, "--rounds", rounds, "--epsilon", 2,
                                        "--final-gossip", 0, "--noise-seed", seed, "--mechanism", mechanism, "--secure-sum", "on",
                                        "--protect-against", view, "--eval-every", 100000, "--run-directory", folder, "--json", "-",
                                        "--quiet"]))["optimality_gap_agents"]


def main():
    results, text = {}, ""
    for mechanism in ("pairs", "ldp"):
        rows = []
        for graph in GRAPHS:
            for rounds in ROUNDS:
                row = [graph, rounds]
                for name, view in VIEWS.items():
                    values = kept.part(f"{mechanism} {graph} {rounds} {view} {len(SEEDS)}",
                                       lambda: [run(mechanism, graph, rounds, view, seed) for seed in SEEDS])
                    mean, half = common.interval95(values)
                    results[f"{mechanism}, {graph}, {rounds} rounds, {view}"] = values
                    row.append(f"{mean:.3f} ± {half:.3f}")
                rows.append(row)
        head = ["graph", "rounds", *VIEWS]
        text += f"\nError of averages with {mechanism} at epsilon 2 for\n\n" + "".join(
            f"| {' | '.join(map(str, row))} |\n" for row in [head, ["---"] * len(head), *rows])
    common.write_results("averaging", {"results": results}, text)


if __name__ == "__main__":
    main()
